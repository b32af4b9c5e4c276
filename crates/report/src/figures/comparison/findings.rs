//! Findings about two records that are compared.

use model::{Severity, record::Record};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{all_findings, figures, words};

/// A finding about one or both of the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct ComparedFinding {
    /// How much it weighs.
    #[serde(rename = "weight")]
    pub severity: Severity,
    /// `old`, `new` or `both`.
    #[serde(rename = "record")]
    pub whose: &'static str,
    /// The finding in words.
    #[serde(rename = "text")]
    pub sentence: String,
}

/// All of them, the worst first.
pub(super) fn findings(old: &[Record], new: &[Record]) -> Vec<ComparedFinding> {
    let mut all = of(old, "old");
    for finding in of(new, "new") {
        match all.iter_mut().find(|other| other.sentence == finding.sentence) {
            Some(other) => other.whose = "both",
            None => all.push(finding),
        }
    }
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all
}

fn of(runs: &[Record], whose: &'static str) -> Vec<ComparedFinding> {
    let Some(first) = runs.first() else { return vec![] };
    let figures: Vec<_> = runs.iter().map(figures).collect();
    let finding = |merged: &crate::MergedFinding| ComparedFinding {
        severity: merged.kind.severity(),
        whose,
        sentence: words::finding(&first.header.plan, merged),
    };
    all_findings(runs, &figures).iter().map(finding).collect()
}
