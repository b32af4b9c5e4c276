//! `storemark compare`: two records, and a gate on what became slower.

use std::path::PathBuf;

use clap::Args;
use model::{Error, Result, units};
use report::{Comparison, ComparisonData, comparison, pages};

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
    /// Exit with 3 if any time is more than this share above the old one, by its whole interval
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
    let compared = comparison(&old, &new)?;
    output::print(&shown(&compared, options)?)?;
    options.fail_above.map_or(Ok(()), |share| gate(&compared, share))
}

fn shown(compared: &Comparison, options: &CompareOptions) -> Result<String> {
    let names = [&options.old, &options.new].map(|path| path.display().to_string());
    let names = [names[0].as_str(), names[1].as_str()];
    if options.json {
        return output::json(&ComparisonData::of(compared));
    }
    let detail = pages::Detail { all: options.verbose, ..Default::default() };
    let page = pages::comparison(compared, names, detail);
    Ok(if options.markdown { page.markdown() } else { output::page(&page) })
}

/// Fails if a time is more than `share` longer. What cannot be judged, or is no longer measured,
/// fails too.
fn gate(compared: &Comparison, share: f64) -> Result<(), Failure> {
    if !compared.is_judged() {
        let why = "--fail-above: no row can be judged; see the verdicts";
        return Err(Failure::PartWay(Error::failed(why)));
    }
    let worse = report::worse_rows(compared, 1.0 + share);
    for row in &worse {
        output::say(&format!("worse by more than {} %: {row}", share * 100.0));
    }
    if !worse.is_empty() {
        return Err(Failure::Gate);
    }
    match compared.lost().next() {
        None => Ok(()),
        Some((case, change)) => {
            let row = format!("{}: {}", case.title(), change.target);
            let why = format!("--fail-above: {row}: measured before, and not now");
            Err(Failure::PartWay(Error::failed(why)))
        }
    }
}
