//! `storemark verify`: the same keys and the same bytes, or which are not.

use std::{ffi::OsString, fmt::Write, path::PathBuf};

use clap::Args;

use lab::{Differences, Stop, Verified};
use model::{
    spec::Talk,
    units::{show_count, show_size},
};

use super::copy;
use crate::{exit::Failure, listener::Listener, output};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark verify thumbs.db thumbs          exit code 3 if anything differs
  storemark verify thumbs lmdb:thumbs.lmdb";

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// One store
    pub(crate) a: OsString,
    /// The other
    pub(crate) b: OsString,
    /// Where a store that reading would change is copied to be read; default: next to it
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

pub(crate) fn run(options: &VerifyOptions, stop: &Stop) -> Result<(), Failure> {
    let (a, b) = (copy::source(&options.a)?, copy::source(&options.b)?);
    let listener = Listener::new(options.talk);
    let verified = lab::verify([&a, &b], options.scratch.as_deref(), &listener, stop);
    drop(listener);
    let verified = verified?;
    let [a, b] = [&options.a, &options.b].map(|name| name.display().to_string());
    output::print(&show(&verified, &a, &b))?;
    if verified.is_equal() { Ok(()) } else { Err(Failure::Gate) }
}

fn show(verified: &Verified, a: &str, b: &str) -> String {
    let mut text = String::new();
    for (what, differences) in [
        (format!("missing in {b}"), &verified.missing),
        (format!("extra in {b}"), &verified.extra),
        ("different".to_owned(), &verified.different),
    ] {
        text.push_str(&line(&what, differences));
    }
    // Writing to a string does not fail.
    let (same, bytes) = (show_count(verified.same), show_size(verified.bytes));
    let _ = writeln!(text, "same: {same} values, {bytes}");
    for (name, digest) in [a, b].iter().zip(&verified.digests) {
        let _ = writeln!(text, "blake3 {digest} {name}");
    }
    text
}

fn line(what: &str, differences: &Differences) -> String {
    if differences.count == 0 {
        return String::new();
    }
    let more = if differences.count > differences.first.len() as u64 { ", …" } else { "" };
    format!("{what}: {}: {}{more}\n", show_count(differences.count), differences.first.join(", "))
}
