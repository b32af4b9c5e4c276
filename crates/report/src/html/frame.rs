//! The frame of every page: a head that allows nothing from elsewhere, the script and its data.

use std::{io::Read, sync::LazyLock};

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use maud::{Markup, PreEscaped, html};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::HTML_HEAD;
use crate::charts::Chart;

/// The script that draws the charts; empty if npm was missing when storemark was built.
pub(super) static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/report.js.gz"));
    let mut script = String::new();
    let read = GzDecoder::new(&packed[..]).read_to_string(&mut script);
    read.expect("the build packed it");
    script
});
const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.css"));

/// The reason why a page has no charts, and how to get them.
pub(super) const NO_CHARTS: &str = "without charts, because this storemark was built without npm: \
    install Node.js 18 or newer with npm (Debian: apt-get install npm), build storemark again, and \
    write the page again (that of a record: storemark report RECORD --html FILE)";

/// The version of the data, which the script checks.
const VERSION: u32 = 3;

pub(super) struct Drawing<'a> {
    pub(super) charts: Vec<&'a Chart>,
    /// The labels of all series in an order of their own, so that one has the same colour in all charts.
    pub(super) targets: Vec<&'a str>,
    /// Those of them that are references, which are no stores to choose.
    pub(super) limits: Vec<&'a str>,
}

/// Writes a page whose charts `script` draws; without charts if `script` is empty.
pub(super) fn page(title: &str, body: Markup, drawing: &Drawing<'_>, script: &str) -> String {
    let head = head(title, script).into_string();
    let body = harmless(&body.into_string());
    let drawing = if script.is_empty() { String::new() } else { drawing.markup(script) };
    format!("{HTML_HEAD}\n{head}\n<body>\n{body}\n{drawing}</body></html>\n")
}

/// Shows why the page has no charts, if it has none.
pub(super) fn undrawn(drawn: bool) -> Markup {
    html! { @if !drawn { p.undrawn { "This page is " (NO_CHARTS) "." } } }
}

impl Drawing<'_> {
    /// Returns the script that draws the charts, and their data as JSON that cannot end the element it is
    /// in.
    fn markup(&self, script: &str) -> String {
        let Self { charts, targets, limits } = self;
        let data =
            json!({ "version": VERSION, "targets": targets, "limits": limits, "charts": charts });
        let data = harmless(&data.to_string()).replace('<', "\\u003c");
        format!(
            "<script type=\"application/json\" id=\"storemark-data\">{data}</script>\n\
             <script>{script}</script>\n"
        )
    }
}

/// Returns the head of the page, with a policy under which only this script runs, only this style
/// applies, and nothing is loaded.
fn head(title: &str, script: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(script),
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

/// Returns the hash by which a policy allows a text.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// Removes characters that change the direction of writing, because a record may come from
/// anywhere. Other control characters have no effect in a page.
fn harmless(text: &str) -> String {
    text.replace(|c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'), "")
}
