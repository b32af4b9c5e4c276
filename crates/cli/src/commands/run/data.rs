//! The data that a run measures with.

use std::path::Path;

use engines::registry;
use lab::Data;
use model::{Error, Facet, Generated, Result, Settings, Ycsb};

use crate::{args::RunOptions, commands::copy, targets::Resolved};

/// The article's sizes, and as many blobs as can be measured in less than a minute: more bytes
/// than most processors cache, few enough for several rounds.
pub(in crate::commands) const DEFAULT_DATA: Generated =
    Generated { seed: 0, count: 4_000, size: 10_000, variance: 2_000, random_percent: 100 };

/// As many bytes, in records of YCSB's size.
const YCSB_DATA: Generated =
    Generated { seed: 0, count: 40_000, size: Ycsb::RECORD, variance: 0, random_percent: 100 };

pub(super) fn data(options: &RunOptions, resolved: &[Resolved], seed: u64) -> Result<Data> {
    let located = resolved.iter().find(|target| target.location.is_some());
    let RunOptions { keys, bytes, size, variance, compressible, .. } = *options;
    let made = [keys, bytes, size, variance, compressible.map(u64::from)];
    let made = made.iter().any(Option::is_some);
    match (&options.data, located) {
        (Some(_), Some(target)) => Err(Error::usage(format!(
            "--data names the data, so {} cannot have its own: leave out its location",
            target.text
        ))),
        (_, Some(target)) if made => Err(Error::usage(format!(
            "--keys, --bytes, --size, --variance and --compressible shape made-up data; {} has its own",
            target.text
        ))),
        (Some(_), None) if made => Err(Error::usage(
            "--keys, --bytes, --size, --variance and --compressible shape made-up data; --data has \
             its own",
        )),
        (Some(path), None) => directory(path),
        (None, Some(_)) => Ok(Data::Targets),
        (None, None) => {
            let default = if options.ycsb.is_empty() { DEFAULT_DATA } else { YCSB_DATA };
            let fit = |bytes: u64| (bytes / size.unwrap_or(default.size).max(1)).max(1);
            let made = made_up(default, keys.or(bytes.map(fit)), size, variance, seed);
            let random_percent = compressible.unwrap_or(made.random_percent);
            Ok(Data::Generated(Generated { random_percent, ..made }))
        }
    }
}

/// The data that is made up where the user shapes it so far.
pub(in crate::commands) fn made_up(
    default: Generated,
    keys: Option<u64>,
    size: Option<u64>,
    variance: Option<u64>,
    seed: u64,
) -> Generated {
    Generated {
        seed,
        count: keys.unwrap_or(default.count),
        size: size.unwrap_or(default.size),
        variance: variance.unwrap_or(if size.is_some() { 0 } else { default.variance }),
        random_percent: default.random_percent,
    }
}

/// A user's folder, every file by its path.
fn directory(path: &Path) -> Result<Data> {
    if !path.is_dir() {
        let what = if path.exists() { "is no folder" } else { "no such folder" };
        return Err(Error::usage(format!("--data {}: {what}", path.display())));
    }
    copy::tell_left_out(path)?;
    let engine = registry::blobs("files")?;
    let settings = Settings::check(engine.settings(Facet::Blobs), [("layout", "names")])?;
    Ok(Data::Store { engine, path: path.to_owned(), settings })
}
