//! The findings about a part's figures, each once, the worst first.

use checks::MergedFinding;
use maud::{Markup, html};
use model::Severity;

use crate::{
    charts::{Part, Side},
    sentences, words,
};

/// The largest number of findings that are shown at once.
const FEW: usize = 3;

/// The names of the machines with a finding, if there are others, and the finding.
type Found = (String, (Severity, String));

pub(super) fn findings_section(part: &Part<'_>, below: bool) -> Markup {
    let all = found(part);
    let weighty = all.iter().filter(|(_, (severity, _))| *severity > Severity::Note).count();
    let (shown, others) = all.split_at(weighty.min(FEW));
    let (more, notes) = (weighty - shown.len(), all.len() - weighty);
    html! {
        @if !all.is_empty() {
            section.findings {
                @if below { h3 { "What weakens this?" } } @else { h2 { "What weakens this?" } }
                @if shown.is_empty() { p { "No finding does." } } @else { (list(shown)) }
                @if !others.is_empty() {
                    details {
                        summary { (sentences::hidden_findings(more, notes)) }
                        (list(others))
                    }
                }
            }
        }
    }
}

/// Returns the findings of all machines, the worst first.
fn found(part: &Part<'_>) -> Vec<Found> {
    let of = |side: &Side<'_>| {
        let words = |one: &MergedFinding| (one.kind.severity(), words::finding(part.plan(), one));
        side.findings.iter().map(words).collect()
    };
    let mut all = part.each_once(part.sides.iter().map(of));
    all.sort_by_key(|(_, (severity, _))| std::cmp::Reverse(*severity));
    all
}

fn list(findings: &[Found]) -> Markup {
    html! {
        ul {
            @for (on, (severity, sentence)) in findings {
                li { strong { (word(*severity)) ": " } (on) (sentence) }
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
