//! A comparison of two records.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FORM, Interval};
use crate::{Change, ComparedCase, ComparedFinding, Comparison, Unlike, Verdict};

/// What `storemark compare --json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparisonData {
    /// Version of this form.
    form: u32,
    /// Every target in every case that both records have.
    rows: Vec<Row>,
    /// Targets, cases and runs that only the old record has.
    only_old: Vec<String>,
    /// Those that only the new one has.
    only_new: Vec<String>,
    /// What differs between the machines, in the order old, new.
    environments: Vec<Unlike>,
    /// What differs between the plans.
    plans: Vec<Unlike>,
    /// Findings, the worst first.
    findings: Vec<ComparedFinding>,
}

/// A target in a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Row {
    /// Of a sweep, what varies with its value here; else empty.
    point: String,
    /// The workload's name.
    name: String,
    /// What it does.
    workload: String,
    /// The cache state.
    cache: String,
    /// The target's label.
    target: String,
    /// Microseconds per operation in the old record.
    old_us_per_op: Option<Interval>,
    /// In the new one.
    new_us_per_op: Option<Interval>,
    /// Time per operation, new over old.
    time_ratio: Option<Interval>,
    /// 99th percentile of latencies, new over old.
    p99_ratio: Option<Interval>,
    /// What `time_ratio` says: faster is better.
    verdict: Verdict,
}

impl ComparisonData {
    /// All of `comparison`.
    pub fn of(comparison: &Comparison) -> Self {
        let [only_old, only_new] = comparison.only.clone();
        Self {
            form: FORM,
            rows: comparison.changes().map(|(case, change)| row(case, change)).collect(),
            only_old,
            only_new,
            environments: comparison.environments.clone(),
            plans: comparison.plans.clone(),
            findings: comparison.findings.clone(),
        }
    }
}

fn row(case: &ComparedCase, change: &Change) -> Row {
    Row {
        point: case.point.clone(),
        name: case.name.clone(),
        workload: case.workload.clone(),
        cache: case.cache.to_string(),
        target: change.target.clone(),
        old_us_per_op: Interval::maybe(change.old_us.as_ref()),
        new_us_per_op: Interval::maybe(change.new_us.as_ref()),
        time_ratio: Interval::maybe(change.time.as_ref()),
        p99_ratio: Interval::maybe(change.p99.as_ref()),
        verdict: change.verdict,
    }
}
