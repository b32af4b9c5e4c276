//! What every command that measures in rounds of its own takes.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use model::units;

/// How long to measure, where, and what becomes of it.
#[derive(Debug, Args)]
pub(crate) struct RoundsOptions {
    /// What the others are compared with: a label, or its number; default: the first (rows, without
    /// targets: SQLite as it is set)
    #[arg(long, value_name = "TARGET", help_heading = "Run")]
    pub(crate) baseline: Option<String>,
    /// Run exactly N rounds, however long they take
    #[arg(long, value_name = "N", value_parser = super::up_to(u32::MAX), help_heading = "Run")]
    pub(crate) rounds: Option<u32>,
    /// Time for the whole run; at least five rounds are run
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "1m", help_heading = "Run")]
    pub(crate) time: Duration,
    /// Drives all that is drawn; default: a new one each time, printed
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Run")]
    pub(crate) seed: Option<u64>,
    /// Where scratch stores and images go; default: the current folder
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Run")]
    pub(crate) scratch: PathBuf,

    /// Write the record to FILE (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with charts to FILE, for a browser
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Show what explains the differences: processor time, calls, bytes from and to devices
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
    /// Show all findings and settings
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// No progress
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
