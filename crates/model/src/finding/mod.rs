//! Findings: what may be wrong with a figure. Each is a value of its own kind, with a sentence that
//! says what to do.

mod declare;
mod kind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Cache;

pub use kind::{FindingKind, RatioInterval};

/// A finding: what may be wrong with a figure, and which figure it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The kind of the finding, with its fields.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// The label of the target that it is about; `None` if it is about the whole run.
    pub target: Option<String>,
    /// The index into the plan's workloads; `None` if it is about all.
    pub workload: Option<usize>,
    /// The cache state that it was seen in; `None` if it is about all. Some kinds have a field
    /// called `cache` of their own.
    #[serde(default, rename = "cache_state")]
    pub cache: Option<Cache>,
    /// The round that it was seen in; `None` if it is not bound to one.
    pub round: Option<u32>,
}

impl Finding {
    /// Creates a finding about the whole run.
    pub fn run(kind: FindingKind) -> Self {
        Self { kind, target: None, workload: None, cache: None, round: None }
    }

    /// Creates a finding about the target with this label.
    pub fn target(kind: FindingKind, label: &str) -> Self {
        Self { target: Some(label.to_owned()), ..Self::run(kind) }
    }

    /// Restricts the finding to one workload.
    #[must_use]
    pub fn in_workload(mut self, workload: usize) -> Self {
        self.workload = Some(workload);
        self
    }

    /// Restricts the finding to one cache state.
    #[must_use]
    pub fn in_cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Adds the round that the finding was seen in.
    #[must_use]
    pub fn in_round(mut self, round: u32) -> Self {
        self.round = Some(round);
        self
    }
}

impl FindingKind {
    /// Returns why a target was not measured, or no further; `None` if the finding is about something else.
    pub fn why_not_measured(&self) -> Option<&str> {
        match self {
            Self::NotUsable { why } | Self::TrialFailed { why } => Some(why),
            _ => None,
        }
    }
}

/// The weight of a finding, lightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The figures are right, and there is something to know about them.
    Note,
    /// The figures may mislead.
    Warning,
    /// The figures are not what they seem.
    Wrong,
}

/// A finding with its sentence, for people and for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The weight of the finding.
    pub severity: Severity,
    /// The sentence: what may be wrong, then what to do.
    pub text: String,
    /// The kind of the finding, with its fields.
    #[serde(flatten)]
    pub kind: FindingKind,
}

impl From<FindingKind> for Suggestion {
    fn from(kind: FindingKind) -> Self {
        Self { severity: kind.severity(), text: kind.to_string(), kind }
    }
}
