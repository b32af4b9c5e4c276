//! Findings: what makes a figure doubtful, each a value of its own kind with a sentence that says
//! what to do.

mod declare;
mod kind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Cache;

pub use kind::{FindingKind, RatioInterval};

/// What makes a figure doubtful, and which figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What was found.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// Label of the target it is about; absent: the whole run.
    pub target: Option<String>,
    /// Index into the plan's workloads; absent: all.
    pub workload: Option<usize>,
    /// Cache state it was seen in; absent: all. Some kinds have a field called `cache` of their own.
    #[serde(default, rename = "cache_state")]
    pub cache: Option<Cache>,
    /// Round it was seen in; absent: not bound to one.
    pub round: Option<u32>,
}

impl Finding {
    /// A finding about the whole run.
    pub fn run(kind: FindingKind) -> Self {
        Self { kind, target: None, workload: None, cache: None, round: None }
    }

    /// A finding about a target.
    pub fn target(kind: FindingKind, label: &str) -> Self {
        Self { target: Some(label.to_owned()), ..Self::run(kind) }
    }

    /// The same finding, about one workload only.
    #[must_use]
    pub fn in_workload(mut self, workload: usize) -> Self {
        self.workload = Some(workload);
        self
    }

    /// The same finding, about one cache state only.
    #[must_use]
    pub fn in_cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// The same finding, seen in one round.
    #[must_use]
    pub fn in_round(mut self, round: u32) -> Self {
        self.round = Some(round);
        self
    }
}

/// How much a finding weighs, lightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; the figures are right.
    Note,
    /// The figures may mislead.
    Warning,
    /// The figures are not what they seem.
    Wrong,
}

/// What to do about a finding, for people and for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// How much the finding weighs.
    pub severity: Severity,
    /// What is doubtful, then what to do.
    pub text: String,
    /// The same as a value.
    #[serde(flatten)]
    pub kind: FindingKind,
}

impl From<FindingKind> for Suggestion {
    fn from(kind: FindingKind) -> Self {
        Self { severity: kind.severity(), text: kind.to_string(), kind }
    }
}
