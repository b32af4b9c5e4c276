//! Makes one HTML file of records: it holds all it needs, loads nothing and runs one script, which
//! draws the charts.
//!
//! [`machine`] is what is shown, [`charts`] makes data and tables of it, [`answer`] says in a
//! sentence or two what came out, [`document`] puts the page together.

mod answer;
mod chart;
mod charts;
mod document;
mod environment;
mod explanation;
mod figure;
mod findings;
mod groups;
mod lines;
mod machine;
mod method;
mod plan;
mod table;
mod targets;
mod trials;

use model::{Result, study::Study};

pub use machine::Machine;

use crate::StudyStep;
use document::Chapter;
use machine::Part;

/// The first bytes of every page.
pub const HTML_HEAD: &str = "<!DOCTYPE html><html lang=\"en\" data-by=\"storemark\">";

/// A page of what was measured by one plan, on at least one machine. An error where the plans differ.
pub fn html(machines: &[Machine<'_>]) -> Result<String> {
    machine::alike(machines)?;
    let part = Part::new(machines, None);
    Ok(document::page(&title(&part), None, &[Chapter { part: Some(part), step: None }]))
}

/// A page of a study, with a chapter for each step.
pub fn html_study(study: &Study, steps: &[StudyStep<'_>]) -> String {
    let chapters: Vec<_> = steps.iter().map(chapter).collect();
    document::page(&format!("“{}”", study.title), Some(study), &chapters)
}

fn chapter<'a>(step: &'a StudyStep<'a>) -> Chapter<'a> {
    let machine = Machine { file: None, records: &step.records };
    let part = (!step.records.is_empty()).then(|| Part::new(&[machine], Some(step)));
    Chapter { part, step: Some(step) }
}

/// `files, sqlite and 3 more`.
fn title(part: &Part<'_>) -> String {
    let labels: Vec<_> =
        part.first().header.plan.targets.iter().map(|target| target.label.as_str()).collect();
    match labels.as_slice() {
        [] => "storemark".to_owned(),
        [one] => (*one).to_owned(),
        [some @ .., last] if labels.len() < 5 => format!("{} and {last}", some.join(", ")),
        [first, second, third, rest @ ..] => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        _ => labels.join(", "),
    }
}
