//! Findings: at the top those that weaken the answer, below the charts all of them.

use maud::{Markup, html};
use model::Severity;

use super::part::{Part, Side};
use crate::{MergedFinding, words};

/// Those that are shown at once.
const FEW: usize = 6;

/// Those above a note.
pub(super) fn weighty(part: &Part<'_>) -> Markup {
    let all = findings(part, |finding| finding.kind.severity() > Severity::Note);
    html! {
        @if all.is_empty() {
            p { "No finding weakens this." }
        } @else {
            @let verb = if all.len() == 1 { "weakens" } else { "weaken" };
            p { (words::counted(all.len() as u64, "finding")) " " (verb) " this:" }
            (list(&all[..all.len().min(FEW)]))
            @if all.len() > FEW {
                details {
                    summary { "The other " (all.len() - FEW) }
                    (list(&all[FEW..]))
                }
            }
        }
    }
}

/// All of them, notes too.
pub(super) fn all(part: &Part<'_>) -> Markup {
    let all = findings(part, |_| true);
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Findings" }
                details { summary { "All " (all.len()) " findings" } (list(&all)) }
            }
        }
    }
}

fn findings(part: &Part<'_>, wanted: fn(&MergedFinding) -> bool) -> Vec<(Severity, String)> {
    let of = |side: &Side<'_>| {
        let merged = side.findings.iter().filter(|finding| wanted(finding));
        let machine = if part.sides.len() > 1 { format!("{}: ", side.name) } else { String::new() };
        let words =
            |finding: &MergedFinding| format!("{machine}{}", words::finding(part.plan(), finding));
        merged.map(|finding| (finding.kind.severity(), words(finding))).collect::<Vec<_>>()
    };
    part.sides.iter().flat_map(of).collect()
}

fn list(findings: &[(Severity, String)]) -> Markup {
    html! {
        ul {
            @for (severity, sentence) in findings {
                li { strong { (word(*severity)) ": " } (sentence) }
            }
        }
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Wrong => "Wrong",
        Severity::Warning => "Warning",
        Severity::Note => "Note",
    }
}
