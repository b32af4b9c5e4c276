//! `storemark compare`: two records, and a gate on what became slower.

use model::{Error, Result};
use report::{Comparison, ComparisonData, comparison, comparison_markdown};

use super::records;
use crate::{args::CompareOptions, exit::Failure, output};

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
