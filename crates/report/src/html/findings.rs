//! Doubts: on top those that weaken the answer, below all of them.

use maud::{Markup, html};
use model::Severity;

use super::machine::{Part, Side};
use crate::{Remark, terminal::doubts::sentence};

/// Those that stand on top.
const FEW: usize = 6;

/// Those above a note.
pub(super) fn weighty(part: &Part<'_>) -> Markup {
    let all = told(part, |remark| remark.kind.severity() > Severity::Note);
    html! {
        @if all.is_empty() {
            p.findings-none { "No finding weakens this." }
        } @else {
            p { (count(all.len())) }
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

fn count(n: usize) -> String {
    if n == 1 { "1 finding weakens this:".to_owned() } else { format!("{n} findings weaken this:") }
}

/// All of them, notes too.
pub(super) fn all(part: &Part<'_>) -> Markup {
    let all = told(part, |_| true);
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Findings" }
                details { summary { "All " (all.len()) " findings" } (list(&all)) }
            }
        }
    }
}

fn told(part: &Part<'_>, wanted: impl Fn(&Remark) -> bool) -> Vec<(Severity, String)> {
    let of = |side: &Side<'_>| {
        let plan = &side.records()[0].header.plan;
        let told = side.remarks.iter().filter(|remark| wanted(remark)).map(|remark| {
            let said = sentence(plan, remark);
            let said = if part.sides.len() > 1 { format!("{}: {said}", side.name) } else { said };
            (remark.kind.severity(), said)
        });
        told.collect::<Vec<_>>()
    };
    part.sides.iter().flat_map(of).collect()
}

fn list(findings: &[(Severity, String)]) -> Markup {
    html! {
        ul.findings {
            @for (severity, said) in findings {
                li class=(class(*severity)) { strong { (word(*severity)) ": " } (said) }
            }
        }
    }
}

fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Wrong => "wrong",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Wrong => "Wrong",
        Severity::Warning => "FindingKind",
        Severity::Note => "Note",
    }
}
