//! Merges the findings of a record: those that it holds, and those that only the whole of it shows.

use std::{cmp::Reverse, collections::BTreeSet, mem::discriminant};

use model::{Cache, Finding, FindingKind, Suggestion, record::Record};

use crate::{figures::Figures, record::computed};

/// A finding with everything in which it was seen. An empty set means the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedFinding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// Labels of the targets.
    pub targets: BTreeSet<String>,
    /// Indices into the plan's workloads.
    pub workloads: BTreeSet<usize>,
    /// The cache states.
    pub caches: BTreeSet<Cache>,
    /// Rounds, counted from 0.
    pub rounds: BTreeSet<u32>,
}

/// Returns all findings about a run, or about the runs of a sweep together, the worst first;
/// `figures` are those of each run.
pub fn all_findings(runs: &[Record], figures: &[Vec<Figures>]) -> Vec<MergedFinding> {
    let stored = runs.iter().flat_map(|run| run.findings.clone());
    let runs = runs.iter().zip(figures);
    merged(stored.chain(runs.flat_map(|(run, own)| computed(run, own, run.end.is_some()))))
}

/// Returns what to do about findings, the worst first.
pub fn suggestions(kinds: impl IntoIterator<Item = FindingKind>) -> Vec<Suggestion> {
    let findings = merged(kinds.into_iter().map(Finding::run));
    findings.into_iter().map(|finding| finding.kind.into()).collect()
}

/// Merges the findings of each kind, the worst first.
fn merged(findings: impl Iterator<Item = Finding>) -> Vec<MergedFinding> {
    let mut all: Vec<MergedFinding> = Vec::new();
    for finding in findings {
        match all.iter_mut().find(|merged| same(&merged.kind, &finding.kind)) {
            Some(merged) => merged.add(finding),
            None => all.push(MergedFinding::new(finding)),
        }
    }
    if all.iter().any(|merged| matches!(merged.kind, FindingKind::OtherLoad { .. })) {
        // Both report the same trouble: longer trials by the load, shorter ones by who waited.
        all.retain(|merged| !is_waiting_for_others(&merged.kind));
    }
    // The reasons for rows without a figure come first among their like.
    let explains_row = |kind: &FindingKind| kind.why_not_measured().is_some();
    all.sort_by_key(|merged| (Reverse(merged.kind.severity()), !explains_row(&merged.kind)));
    all
}

fn is_waiting_for_others(kind: &FindingKind) -> bool {
    matches!(kind, FindingKind::Pressure { resource, .. } if resource != "memory")
}

/// Reports whether two findings are merged: equal ones, and those that differ only in their extent.
fn same(one: &FindingKind, other: &FindingKind) -> bool {
    let of_the_same = one.extent().zip(other.extent()).is_some_and(|(one, other)| one.0 == other.0);
    one == other || (discriminant(one) == discriminant(other) && of_the_same)
}

impl MergedFinding {
    fn new(finding: Finding) -> Self {
        Self {
            kind: finding.kind,
            targets: finding.target.into_iter().collect(),
            workloads: finding.workload.into_iter().collect(),
            caches: finding.cache.into_iter().collect(),
            rounds: finding.round.into_iter().collect(),
        }
    }

    fn add(&mut self, finding: Finding) {
        if finding.kind.extent() > self.kind.extent() {
            self.kind = finding.kind;
        }
        widen(&mut self.targets, finding.target);
        widen(&mut self.workloads, finding.workload);
        widen(&mut self.caches, finding.cache);
        widen(&mut self.rounds, finding.round);
    }
}

/// Adds a place to those in which a finding was seen. `None` means everywhere, and stays so.
fn widen<T: Ord>(places: &mut BTreeSet<T>, place: Option<T>) {
    match place {
        None => places.clear(),
        Some(place) if !places.is_empty() => places.extend([place]),
        Some(_) => {}
    }
}
