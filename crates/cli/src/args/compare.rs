//! What the user typed after `compare`.

use std::path::PathBuf;

use clap::Args;

use super::calibrate::parse_percent;

pub(super) const EXAMPLES: &str = "\
Examples:
  storemark compare before.json after.json
  storemark compare before.json after.json --fail-above 5%     a gate: exit code 3
  storemark compare before.json after.json --markdown          for a pull request";

#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The record to compare with
    pub(crate) old: PathBuf,
    /// The record to judge (- for standard input)
    pub(crate) new: PathBuf,
    /// Exit with 3 if any time is surely more than this share above the old one: its whole interval
    /// lies beyond
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) fail_above: Option<f64>,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print JSON (docs/compare.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
    /// Show all findings
    #[arg(long, short)]
    pub(crate) verbose: bool,
}
