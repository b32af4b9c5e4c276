//! Writes records as one HTML file, which loads nothing and runs one script: it draws the charts.
//!
//! [`findings`] is what weakens the charts, [`details`] is below them, [`document`] puts the page of
//! records together, [`crash`] that of power cuts; [`frame`] is around each.

mod chart;
mod crash;
mod details;
mod document;
mod findings;
mod frame;
mod table;

use model::{Error, Result};
use spec::study::Study;

use crate::{
    History, HistoryGroup,
    charts::{Chart, Machine, Make, Part, StudyStep, study::cut_power},
    compare::record_difference,
    experiment::experiment_report,
};
use crash::numbered;
pub use crash::{html_crash, html_crashed_stores};
use document::Chapter;

/// The first bytes of every page.
pub const HTML_HEAD: &str = "<!DOCTYPE html><html lang=\"en\" data-by=\"storemark\">";

/// Returns why pages of this build have no charts and how to get them; `None` if they have them.
pub fn no_charts() -> Option<&'static str> {
    frame::SCRIPT.is_empty().then_some(frame::NO_CHARTS)
}

/// Writes a page of what one plan measured, on one or more machines.
///
/// # Errors
///
/// Fails if the plans differ.
pub fn html(machines: &[Machine<'_>]) -> Result<String> {
    drawn_by(&frame::SCRIPT, machines)
}

fn drawn_by(script: &str, machines: &[Machine<'_>]) -> Result<String> {
    check_same_plan(machines)?;
    let part = Part::new(machines, None);
    let question = experiment_report(part.plan()).question(&part);
    let charts = charts(&part, "");
    let chapter = Chapter { part: Some(part), step: None, charts };
    Ok(document::page(&question, None, &[chapter], script))
}

/// Writes a page of a study, with a chapter for each step.
pub fn html_study(study: &Study, steps: &[StudyStep<'_>]) -> String {
    let chapters = steps.iter().enumerate().map(|(place, step)| {
        let machine = Machine { file: None, records: &step.records };
        let part = (!step.records.is_empty()).then(|| Part::new(&[machine], Some(step)));
        let prefix = if steps.len() > 1 { format!("{}-", place + 1) } else { String::new() };
        let charts = match &part {
            Some(part) => charts(part, &prefix),
            None => charts_of_power_cuts(step, &prefix),
        };
        Chapter { part, step: Some(step), charts }
    });
    let chapters: Vec<_> = chapters.collect();
    let title = format!("Does “{}” hold here?", study.title);
    document::page(&title, Some(study), &chapters, &frame::SCRIPT)
}

/// Writes a page of a history, with a chapter for each group of records; `name` is that of its folder.
pub fn html_history(history: &History, name: &str) -> String {
    let chapters = (1..).zip(&history.groups).map(|(group, records)| {
        let mut charts = crate::history::charts(records);
        for (number, chart) in (1..).zip(&mut charts) {
            chart.id = format!("{group}-{}-{number}", chart.id);
        }
        if let Some(first) = charts.first_mut() {
            first.sentences = about(records);
        }
        Chapter { part: None, step: None, charts }
    });
    let chapters: Vec<_> = chapters.collect();
    document::page(
        &format!("Where does the time change in {name}?"),
        None,
        &chapters,
        &frame::SCRIPT,
    )
}

/// Describes the records of a group, and its changes.
fn about(group: &HistoryGroup) -> Vec<String> {
    let about = crate::sentences::history_group(&group.machine, &group.data);
    [about].into_iter().chain(crate::history::found(group)).collect()
}

/// Fails if the records are not of the same runs: next to each other they would show nothing.
fn check_same_plan(machines: &[Machine<'_>]) -> Result<()> {
    let Some((first, others)) = machines.split_first() else {
        return Err(Error::usage("a page shows one record at least"));
    };
    for other in others {
        if let Some(difference) = record_difference(first.records, other.records) {
            let [first, other] = [first, other].map(|of| of.file.as_deref().unwrap_or_default());
            return Err(Error::usage(format!(
                "{first} and {other} are of different plans, which one page cannot compare: \
                 {difference}"
            )));
        }
    }
    Ok(())
}

/// Returns the charts of a part that have data; `prefix` makes their ids unique.
fn charts(part: &Part<'_>, prefix: &str) -> Vec<Chart> {
    let makers: &[Make] = experiment_report(part.plan()).charts(part);
    let all = makers.iter().flat_map(|make| {
        numbered(make(part).into_iter().filter(|chart| !chart.series.is_empty()), prefix)
    });
    all.collect()
}

/// Returns the charts of a step that cut the power: what was published next to what was found, and what
/// each store lost.
fn charts_of_power_cuts(step: &StudyStep<'_>, prefix: &str) -> Vec<Chart> {
    let published = cut_power(step).into_iter().filter(|chart| !chart.series.is_empty());
    let published = published.filter(|_| !step.crashed.is_empty());
    numbered(published, prefix).into_iter().chain(crash::charts(&step.crashed, prefix)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_script_a_page_has_its_tables_and_says_what_is_missing() {
        let record = include_bytes!("../../tests/records/format-3.jsonl");
        let (records, _) = crate::read(record.as_slice()).unwrap();
        let machine = [Machine { file: None, records: &records }];
        let [with, without] = ["draw();", ""].map(|script| drawn_by(script, &machine).unwrap());
        let tables = |page: &str| page.matches("<table").count();
        assert!(tables(&with) > 2 && tables(&with) == tables(&without));
        for part in ["<script", "data-chart"] {
            assert!(with.contains(part) != without.contains(part), "{part}");
        }
        assert!(without.contains("This page is without charts, because"), "{without}");
        assert!(without.contains("<details open") && !without.contains("<script"));
    }
}
