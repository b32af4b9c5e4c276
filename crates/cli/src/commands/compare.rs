//! `storemark compare`: two records, and a gate on what became slower.

use std::path::PathBuf;

use clap::Args;
use model::{Error, Result, units};
use report::{Comparison, ComparisonData, comparison, comparison_markdown};

use super::records;
use crate::{exit::Failure, output};

pub(crate) const EXAMPLES: &str = "\
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
    #[arg(long, value_name = "PERCENT", value_parser = units::parse_percentage)]
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

pub(crate) fn run(options: &CompareOptions) -> Result<(), Failure> {
    let (old, new) = (records::read(&options.old)?, records::read(&options.new)?);
    let told = comparison(&old, &new)?;
    output::print(&shown(&told, options)?)?;
    options.fail_above.map_or(Ok(()), |share| gate(&told, share))
}

fn shown(told: &Comparison, options: &CompareOptions) -> Result<String> {
    let names = [&options.old, &options.new].map(|path| path.display().to_string());
    let names = [names[0].as_str(), names[1].as_str()];
    if options.json {
        return output::json(&ComparisonData::of(told));
    }
    Ok(if options.markdown {
        comparison_markdown(told, names)
    } else {
        report::comparison_page(told, names, &output::style(options.verbose, false))
    })
}

/// Fails where a time is surely more than `share` longer. What cannot be judged, or is measured no
/// more, cannot be passed either.
fn gate(told: &Comparison, share: f64) -> Result<(), Failure> {
    if !told.is_judged() {
        let why = "--fail-above: no row can be judged; see the verdicts";
        return Err(Failure::PartWay(Error::failed(why)));
    }
    let worse = report::worse_rows(told, 1.0 + share);
    for row in &worse {
        output::say(&format!("worse by more than {} %: {row}", share * 100.0));
    }
    if !worse.is_empty() {
        return Err(Failure::Gate);
    }
    match told.lost().next() {
        None => Ok(()),
        Some((case, change)) => {
            let row = format!("{}: {}", case.title(), change.target);
            let why = format!("--fail-above: {row}: measured before, and not now");
            Err(Failure::PartWay(Error::failed(why)))
        }
    }
}
