//! The page: a head that allows nothing from elsewhere, the answer, the charts of each chapter, and
//! the details.

use base64::{Engine, prelude::BASE64_STANDARD};
use itertools::Itertools;
use maud::{Markup, PreEscaped, html};
use model::study::Study;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{HTML_HEAD, charts::Family, details, findings, part::Part};
use crate::{StudyStep, answer};

const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/report.js"));
const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.css"));

/// Version of the data, which the script checks.
const VERSION: u32 = 2;

/// One plan, or a step of a study.
pub(super) struct Chapter<'a> {
    /// Absent: it could not run.
    pub(super) part: Option<Part<'a>>,
    pub(super) step: Option<&'a StudyStep<'a>>,
    pub(super) families: Vec<Family>,
}

pub(super) fn page(title: &str, study: Option<&Study>, chapters: &[Chapter<'_>]) -> String {
    let head = head(title).into_string();
    let body = harmless(&body(title, study, chapters).into_string());
    let data = data(chapters);
    format!(
        "{HTML_HEAD}\n{head}\n<body>\n{body}\n<script type=\"application/json\" \
         id=\"storemark-data\">{data}</script>\n<script>{SCRIPT}</script>\n</body></html>\n"
    )
}

/// Only this script runs, only this style applies, and nothing is loaded.
fn head(title: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            // Without it browsers request an icon.
            link rel="icon" href="data:,";
            title { (harmless(title)) " – storemark" }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// How a policy names a text that may run.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

fn body(title: &str, study: Option<&Study>, chapters: &[Chapter<'_>]) -> Markup {
    let parts = || chapters.iter().filter_map(|chapter| chapter.part.as_ref());
    html! {
        a.skip href="#main" { "Skip to the charts" }
        header {
            h1 { (title) }
            @if let Some(study) = study { (about(study)) }
            @if let [Chapter { part: Some(part), .. }] = chapters {
                (answered(part)) (details::unlike_environments(part)) (findings::weighty(part))
            }
        }
        main id="main" {
            @for chapter in chapters {
                @if let Some(step) = chapter.step {
                    (in_study(chapter, step, chapters.len() > 1))
                } @else {
                    (charts(chapter, false))
                }
            }
        }
        footer {
            @for part in parts() {
                (details::explanation(part)) (findings::all(part))
            }
            (details::method())
            @for part in parts() {
                (details::environment(part)) (details::plan(part)) (details::trials(part))
            }
        }
    }
}

/// The answer of each machine.
fn answered(part: &Part<'_>) -> Markup {
    html! {
        @for side in &part.sides {
            @let answer = answer(side.records, side.figures(), &side.findings);
            p.answer {
                @if part.sides.len() > 1 { strong { (side.name) ": " } }
                (answer.says.join(" "))
            }
            @for text in &answer.more { p { (text) } }
        }
    }
}

/// What a study is, and what of its set-up differs here.
fn about(study: &Study) -> Markup {
    html! {
        p { "Source: " (study.source) }
        p { "Published: " (study.published_on) }
        p { "What differs here:" }
        ul { @for sentence in &study.differs { li { (sentence) } } }
    }
}

/// Of several chapters each has an answer of its own.
fn in_study(chapter: &Chapter<'_>, step: &StudyStep<'_>, several: bool) -> Markup {
    html! {
        section {
            h2 { (step.step.title) }
            @if !step.gaps.is_empty() {
                ul { @for gap in &step.gaps { li { (gap) } } }
            }
            @if let (Some(part), true) = (&chapter.part, several) {
                (answered(part)) (findings::weighty(part))
            }
            (charts(chapter, true))
        }
    }
}

/// Under headings of the second rank, or of the third below a step's.
fn charts(chapter: &Chapter<'_>, below: bool) -> Markup {
    html! {
        @for family in &chapter.families {
            section {
                @if below { h3 { (family.title) } } @else { h2 { (family.title) } }
                @for chart in &family.charts { (chart.markup()) }
            }
        }
    }
}

/// JSON that cannot end the element it is in.
fn data(chapters: &[Chapter<'_>]) -> String {
    let families = chapters.iter().flat_map(|chapter| &chapter.families);
    let charts: Vec<_> = families.flat_map(|family| &family.charts).collect();
    let data = json!({ "version": VERSION, "targets": labels(chapters), "charts": charts });
    harmless(&data.to_string()).replace('<', "\\u003c")
}

/// The labels of all targets, in the plans' order: a target has the same colour in all charts.
fn labels<'a>(chapters: &[Chapter<'a>]) -> Vec<&'a str> {
    let parts = chapters.iter().filter_map(|chapter| chapter.part.as_ref());
    let records = parts.flat_map(|part| part.sides.iter().flat_map(|side| side.records));
    let targets = records.flat_map(|record| &record.header.plan.targets);
    targets.map(|target| target.label.as_str()).unique().collect()
}

/// Removes characters that change the direction of writing, as a record may come from anywhere.
/// Other control characters do nothing in a page.
fn harmless(text: &str) -> String {
    text.replace(|c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'), "")
}
