//! What the user typed after `study`.

use std::path::PathBuf;

use clap::Args;
use model::study::Size;

pub(super) const EXAMPLES: &str = "\
Examples:
  storemark study                                 what there is
  storemark study faster-than-fs --quick          in a few minutes
  storemark study mass-inserts --full             as large as published
  storemark study page-cache --records results    keeping a record of each step";

/// Runs a published experiment, and shows what was published beside what comes out here.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct StudyOptions {
    /// Which; none: list them
    pub(crate) name: Option<String>,

    /// A few minutes: little data, few rounds
    #[arg(long, conflicts_with = "full", help_heading = "Size")]
    pub(crate) quick: bool,
    /// As large as published, which may take hours
    #[arg(long, help_heading = "Size")]
    pub(crate) full: bool,
    /// Only this step, counted from 1
    #[arg(long, value_name = "N", help_heading = "Size")]
    pub(crate) step: Option<usize>,

    /// Run exactly N rounds of each step, however long they take
    #[arg(long, value_name = "N", value_parser = super::up_to(u32::MAX), help_heading = "Run")]
    pub(crate) rounds: Option<u32>,
    /// Where scratch stores go; default: the current folder
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub(crate) scratch: Option<PathBuf>,
    /// Drives key orders, shuffles and payloads of each step; default: a new one each time, printed
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub(crate) seed: Option<u64>,

    /// Write a record of each step into the folder DIR: NAME-1.json and so on
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) records: Option<PathBuf>,
    /// Write a page with charts to FILE, for a browser
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Show all findings
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl StudyOptions {
    pub(crate) fn size(&self) -> Size {
        match (self.quick, self.full) {
            (true, _) => Size::Quick,
            (_, true) => Size::Full,
            _ => Size::Default,
        }
    }
}
