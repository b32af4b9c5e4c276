//! The options of `storemark calibrate`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, builder::RangedU64ValueParser};
use model::{spec::Talk, units};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark calibrate                        false alarms and detections, in about five minutes
  storemark calibrate sqlite: --same 20 --slowed 0
  storemark calibrate thumbs.db --slow-down 10% --check";

/// How often a comparison is wrong: compares a store with itself, and with itself slowed down by a
/// known time per operation, many times in shuffled order, and counts what `run` would have said.
#[derive(Debug, Args)]
pub(crate) struct CalibrateOptions {
    /// The store to read: one of yours, or an engine with settings for a scratch store; default:
    /// pack:, the steadiest
    pub(crate) target: Option<OsString>,

    /// Comparisons of the store with itself
    #[arg(long, value_name = "N", default_value = "100", value_parser = count(), help_heading = "Comparisons")]
    pub(crate) same: u32,
    /// Time for each of them; at least five rounds are run
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "1s", help_heading = "Comparisons")]
    pub(crate) same_time: Duration,
    /// Comparisons of the store with itself slowed down
    #[arg(long, value_name = "N", default_value = "10", value_parser = count(), help_heading = "Comparisons")]
    pub(crate) slowed: u32,
    /// Time for each of them; at least five rounds are run
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "15s", help_heading = "Comparisons")]
    pub(crate) slowed_time: Duration,
    /// How much time slowing down adds
    #[arg(long, value_name = "PERCENT", value_parser = units::parse_percentage, default_value = "5%", help_heading = "Comparisons")]
    pub(crate) slow_down: f64,

    /// Blobs in a made-up dataset
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) keys: Option<u64>,
    /// Their middle size in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) size: Option<u64>,
    /// How far sizes vary to either side
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) variance: Option<u64>,
    /// Where a scratch store goes; default: the current folder
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub(crate) scratch: Option<PathBuf>,

    /// Drives everything random; default: a new one each time, printed
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Run")]
    pub(crate) seed: Option<u64>,
    /// Exit with 3 if false alarms are surely more than 5 %, or detections surely less than 90 %:
    /// the whole interval lies beyond
    #[arg(long, help_heading = "Run")]
    pub(crate) check: bool,
    /// Write a line for each comparison to FILE (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// What is left out is 0. More than the limit would take weeks.
fn count() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(0..=1_000_000)
}
