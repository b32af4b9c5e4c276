//! The page: a head that lets nothing in, the answer, the charts of each chapter, and what stands
//! behind them.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{Markup, PreEscaped, html};
use model::study::Study;
use sha2::{Digest, Sha256};

use super::{
    HTML_HEAD, answer,
    chart::Data,
    charts::{self, Family},
    environment, explanation, findings,
    machine::Part,
    method, plan,
    targets::Targets,
    trials,
};
use crate::StudyStep;

const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/report.js"));
const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.css"));

/// Of the data, which the script checks.
const VERSION: u32 = 1;

/// One plan, or a step of a study.
pub(super) struct Chapter<'a> {
    /// Absent: it could not be run.
    pub(super) part: Option<Part<'a>>,
    pub(super) step: Option<&'a StudyStep<'a>>,
}

pub(super) fn page(title: &str, study: Option<&Study>, chapters: &[Chapter<'_>]) -> String {
    let targets = Targets::of(chapters.iter().filter_map(|chapter| chapter.part.as_ref()));
    let families: Vec<Vec<Family>> = (1..)
        .zip(chapters)
        .map(|(number, chapter)| {
            let prefix = if chapters.len() > 1 { format!("{number}-") } else { String::new() };
            let part = chapter.part.as_ref();
            part.map_or_else(Vec::new, |part| charts::families(part, &targets, &prefix))
        })
        .collect();
    let (script, style) = (as_read(SCRIPT), as_read(STYLE));
    let head = head(title, &script, &style);
    let body = harmless(&body(title, study, chapters, &families).into_string());
    let data = data(&targets, &families);
    format!(
        "{HTML_HEAD}\n{}\n<body>\n{body}\n<script type=\"application/json\" \
         id=\"storemark-data\">{data}</script>\n<script>{script}</script>\n</body></html>\n",
        head.into_string()
    )
}

/// Only this script runs and only this style counts, and nothing is loaded.
fn head(title: &str, script: &str, style: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(script),
        hash(style)
    );
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            // Spares a browser asking for one.
            link rel="icon" href="data:,";
            title { (harmless(title)) " – storemark" }
            style { (PreEscaped(style)) }
        }
    }
}

/// With the ends of lines that a browser makes of all others before it sums a text up (HTML, 13.2.3.5).
fn as_read(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// As a policy names a text that may run.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

fn body(
    title: &str,
    study: Option<&Study>,
    chapters: &[Chapter<'_>],
    families: &[Vec<Family>],
) -> Markup {
    html! {
        a.skip href="#main" { "Skip to the charts" }
        header {
            h1 { (title) }
            @if let Some(study) = study { (about(study)) }
            @if let [Chapter { part: Some(part), .. }] = chapters {
                (answer::markup(part)) (environment::named(part)) (findings::weighty(part))
            }
        }
        main id="main" {
            @for (chapter, families) in chapters.iter().zip(families) {
                @if chapters.len() > 1 || study.is_some() {
                    (in_study(chapter, families, chapters.len() > 1))
                } @else {
                    (figures(families, false))
                }
            }
        }
        footer {
            @for part in chapters.iter().filter_map(|chapter| chapter.part.as_ref()) {
                (explanation::markup(part)) (findings::all(part))
            }
            (method::markup())
            @for part in chapters.iter().filter_map(|chapter| chapter.part.as_ref()) {
                (environment::markup(part)) (plan::markup(part)) (trials::markup(part))
            }
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

fn in_study(chapter: &Chapter<'_>, families: &[Family], answered: bool) -> Markup {
    html! {
        section.step {
            @if let Some(step) = chapter.step {
                h2 { (step.step.title) }
                @if !step.gaps.is_empty() {
                    ul.gaps { @for gap in &step.gaps { li { (gap) } } }
                }
            }
            @if let (Some(part), true) = (&chapter.part, answered) {
                (answer::markup(part)) (findings::weighty(part))
            }
            (figures(families, true))
        }
    }
}

/// Under headings of the second rank, or of the third where the chapter has one.
fn figures(families: &[Family], below: bool) -> Markup {
    html! {
        @for family in families {
            section {
                @if below { h3 { (family.title) } } @else { h2 { (family.title) } }
                @for figure in &family.figures { (figure.markup()) }
            }
        }
    }
}

/// As JSON that cannot end the element it stands in.
fn data(targets: &Targets<'_>, families: &[Vec<Family>]) -> String {
    let figures = families.iter().flatten().flat_map(|family| &family.figures);
    let charts = figures.map(|figure| &figure.chart).collect();
    let data = Data { version: VERSION, targets: targets.as_data(), charts };
    let json = serde_json::to_string(&data).expect("numbers and texts are JSON");
    harmless(&json).replace('<', "\\u003c")
}

/// Without what could turn the direction of writing: a record may come from anywhere. Other
/// control characters do nothing in a page.
fn harmless(text: &str) -> String {
    text.replace(|c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'), "")
}
