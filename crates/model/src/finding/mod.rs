//! Doubts about a result: each a value of its own kind, with a sentence that says what to do.

mod doubt;
mod sentence;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Cache;

pub use doubt::FindingKind;

/// A doubt, and what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What is doubted.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// Label of the target it is about; absent: the whole run.
    pub target: Option<String>,
    /// Index into the plan's workloads; absent: all.
    pub workload: Option<usize>,
    /// Cache state it showed in; absent: all. A doubt's own fields stand beside it, and some are
    /// called `cache`.
    #[serde(default, rename = "cache_state")]
    pub cache: Option<Cache>,
    /// Round it showed in; absent: not bound to one.
    pub round: Option<u32>,
}

impl Finding {
    /// A doubt about the whole run.
    pub fn run(doubt: FindingKind) -> Self {
        Self { kind: doubt, target: None, workload: None, cache: None, round: None }
    }

    /// A doubt about a target.
    pub fn target(doubt: FindingKind, label: &str) -> Self {
        Self { target: Some(label.to_owned()), ..Self::run(doubt) }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; the figures stand.
    Note,
    /// The figures may mislead.
    Warning,
    /// The figures are not what they seem.
    Wrong,
}
