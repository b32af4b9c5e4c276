//! `storemark clean`: removes what killed runs left on servers.

use std::ffi::OsString;

use clap::Args;
use model::{Cleaned, Error, Facet, Leftover, Result, Settings};

use crate::{
    exit::Failure,
    output,
    targets::{self, FoundTarget},
};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark clean mysql://me@db.example/shop        tables that killed runs left in this database
  storemark clean 'postgres://me@db.example/shop?tls=on'
  storemark clean s3://photos/trial                 objects that they left below this prefix

A table is removed if storemark made it and the connection of its owner has ended; objects of a bucket,
if the process that made them has ended on this machine. Scratch folders of killed runs are removed by the next run in the same place.")]
pub(crate) struct CleanOptions {
    /// Databases of servers and buckets, each as in `run`
    #[arg(required = true)]
    pub(crate) targets: Vec<OsString>,
}

pub(crate) fn run(options: &CleanOptions) -> Result<(), Failure> {
    let targets = options.targets.iter().map(|text| targets::resolve(text));
    let mut kept = Vec::new();
    for (place, target) in targets.collect::<Result<Vec<_>>>()?.into_iter().enumerate() {
        let left =
            clean(&target).map_err(if place > 0 { Failure::PartWay } else { Failure::from })?;
        let shown: String = left.iter().map(|left| line(&target.text, left)).collect();
        let nothing = || format!("{}: nothing was left\n", target.text);
        output::print(&if shown.is_empty() { nothing() } else { shown })?;
        let failed = left.into_iter().filter(|left| matches!(left.outcome, Cleaned::Failed(_)));
        kept.extend(failed.map(|left| left.table));
    }
    if kept.is_empty() {
        return Ok(());
    }
    Err(Failure::PartWay(Error::failed(format!("not removed: {}", kept.join(", ")))))
}

fn clean(target: &FoundTarget) -> Result<Vec<Leftover>> {
    let named = |error: Error| error.context(&target.text);
    let Some(address) = target.place.address() else {
        return Err(named(Error::usage(
            "names no server (accepted: mysql://user@host/database, postgres://user@host/database, \
             redis://user@host/0, s3://bucket/prefix)",
        )));
    };
    let settings = target.engine.settings(Facet::Blobs);
    let own = target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own = Settings::check(settings, own).map_err(named)?;
    target.engine.servers()?.clean(address.reveal(), &own)
}

fn line(target: &str, Leftover { table, owner, outcome }: &Leftover) -> String {
    match outcome {
        Cleaned::Removed => format!("{target}: removed {table} of {owner}\n"),
        Cleaned::InUse => format!("{target}: {owner} uses {table}\n"),
        Cleaned::Failed(why) => {
            format!("{target}: cannot remove {table} of {owner}: {why}\n")
        }
    }
}
