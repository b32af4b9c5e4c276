//! The page of records: the answer, the charts of each chapter, and the details.

use checks::MergedFinding;
use itertools::Itertools;
use maud::{Markup, html};
use model::Severity;
use spec::study::Study;

use super::{
    chart,
    crash::shown,
    details, findings,
    frame::{self, Drawing},
    table,
};
use crate::{
    Answer, StudyStep, answer,
    charts::{Chart, Part, Side},
    experiment::experiment_report,
    pages::{stores_of_study, study_answer, study_claims},
    words,
};

/// A chapter of a page: one plan, or a step of a study.
pub(super) struct Chapter<'a> {
    /// Absent: it could not run.
    pub(super) part: Option<Part<'a>>,
    pub(super) step: Option<&'a StudyStep<'a>>,
    pub(super) charts: Vec<Chart>,
}

/// Writes a page whose charts `script` draws; without charts if `script` is empty.
pub(super) fn page(
    title: &str,
    study: Option<&Study>,
    chapters: &[Chapter<'_>],
    script: &str,
) -> String {
    let drawing = Drawing {
        charts: chapters.iter().flat_map(|chapter| &chapter.charts).collect(),
        targets: labels(chapters, false),
        limits: labels(chapters, true),
    };
    frame::page(title, body(title, study, chapters, !script.is_empty()), &drawing, script)
}

fn body(title: &str, study: Option<&Study>, chapters: &[Chapter<'_>], drawn: bool) -> Markup {
    let parts = || chapters.iter().filter_map(|chapter| chapter.part.as_ref());
    html! {
        a.skip href="#main" { "Skip to the charts" }
        header {
            h1 { (title) }
            (frame::undrawn(drawn))
            @if let ([Chapter { part: Some(part), .. }], None) = (chapters, study) {
                (answered(part)) (details::unlike_environments(part))
            }
            @if let Some(study) = study { (judged(chapters)) (about(study)) }
        }
        main id="main" {
            @for chapter in chapters {
                @if let Some(step) = chapter.step {
                    (in_study(chapter, step, drawn))
                } @else {
                    (in_run(chapter, drawn))
                }
            }
        }
        footer {
            (details::method())
            @for part in parts() {
                (details::judged(part))
                (details::environment(part)) (details::hosts(part)) (details::plan(part))
                (details::requests(part)) (details::trials(part))
            }
        }
    }
}

/// Shows the answer of each machine, and what was measured.
fn answered(part: &Part<'_>) -> Markup {
    let data = experiment_report(part.plan()).data(part.plan());
    let answers: Vec<_> = part.sides.iter().map(answer_of).collect();
    let more = part.each_once(answers.iter().map(|answer| answer.more.clone()));
    html! {
        @for (side, answer) in part.sides.iter().zip(&answers) {
            @let (first, rest) = answer.says.split_at(answer.says.len().min(1));
            p.answer { (named(part, side)) (first.concat()) }
            @for sentence in rest { p { (sentence) } }
            @for one in side.findings.iter().filter(|one| is_wrong(one)).take(1) {
                p.wrong { "Do not rely on it: " (words::finding(part.plan(), one)) "." }
            }
            ul.cases { @for line in &answer.cases { li { (line) } } }
        }
        ul.more { @for (on, text) in more { li { (on) (with_command(&text)) } } }
        @if !part.is_sweep() { p.measured { "Measured: " (data) "." } }
        @for side in &part.sides {
            @let machine = words::machine(&side.records[0].header.environment);
            p.measured { (named(part, side)) (machine) "." }
        }
    }
}

/// Shows a sentence that ends with a command, which a button copies.
fn with_command(text: &str) -> Markup {
    let Some((what, command)) = text.split_once(": storemark ") else { return html! { (text) } };
    html! { (what) ": " code.command { "storemark " (command) } }
}

fn is_wrong(finding: &MergedFinding) -> bool {
    finding.kind.severity() == Severity::Wrong
}

fn answer_of(side: &Side<'_>) -> Answer {
    answer(side.records, side.figures(), &side.findings)
}

/// Shows the name of a machine if there are several.
fn named(part: &Part<'_>, side: &Side<'_>) -> Markup {
    html! { @if part.sides.len() > 1 { strong { (side.name) ": " } } }
}

/// Shows the answer of a study: every published figure next to the one measured here, with a
/// verdict.
fn judged(chapters: &[Chapter<'_>]) -> Markup {
    let steps = (1..).zip(chapters).filter_map(|(number, chapter)| Some((number, chapter.step?)));
    let claims: Vec<_> = steps.map(|(number, step)| (number, study_claims(step))).collect();
    html! {
        @if let Some((counts, all)) = study_answer(&claims) {
            p.answer { (counts) "." }
            div.claims { (table::titled(&all, "Published and measured here")) }
        }
    }
}

/// Shows what a study is, and how its set-up differs here.
fn about(study: &Study) -> Markup {
    html! {
        p { "Source: " (study.source) }
        p { "Published: " (study.published_on) }
        p { "What differs here:" }
        ul { @for sentence in &study.differs { li { (sentence) } } }
    }
}

/// Shows a step with its own answer; the findings follow its charts.
fn in_study(chapter: &Chapter<'_>, step: &StudyStep<'_>, drawn: bool) -> Markup {
    html! {
        section {
            h2 { (step.step.title) }
            @if !step.gaps.is_empty() {
                ul { @for gap in &step.gaps { li { (gap) } } }
            }
            @if let Some(part) = &chapter.part { (answered(part)) }
            @for chart in &chapter.charts { (chart::markup(chart, true, drawn)) }
            @for block in stores_of_study(step) { (shown(&block)) }
            @if let Some(part) = &chapter.part { (findings::findings_section(part, true)) }
        }
    }
}

/// Shows a run; the findings follow the chart that has the answer.
fn in_run(chapter: &Chapter<'_>, drawn: bool) -> Markup {
    let (first, others) = chapter.charts.split_at(chapter.charts.len().min(1));
    html! {
        @for chart in first { (chart::markup(chart, false, drawn)) }
        @if let Some(part) = &chapter.part { (findings::findings_section(part, false)) }
        @for chart in others { (chart::markup(chart, false, drawn)) }
    }
}

/// Returns the labels of all targets in the plans' order, so that a target has the same colour in
/// all charts; with `limits` only those of references, which are no stores to choose.
fn labels<'c>(chapters: &'c [Chapter<'_>], limits: bool) -> Vec<&'c str> {
    let parts = chapters.iter().filter_map(|chapter| chapter.part.as_ref());
    let records = parts.flat_map(|part| part.sides.iter().flat_map(|side| side.records));
    let targets = records.flat_map(|record| &record.header.plan.targets);
    let targets = targets.filter(|target| target.reference || !limits);
    let planned = targets.map(|target| target.label.as_str());
    // A history has no plan of its own.
    let charts = chapters.iter().filter(|chapter| chapter.part.is_none() && !limits);
    let drawn = charts.flat_map(|chapter| chapter.charts.iter().flat_map(Chart::targets));
    planned.chain(drawn).unique().collect()
}
