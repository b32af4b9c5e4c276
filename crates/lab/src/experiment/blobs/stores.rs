//! All that the rounds need: the dataset, and the targets that are ready to be measured.

use std::cmp::Ordering;

use model::{
    DatasetSpec, Error, ErrorKind, Finding, FindingKind, Operation, PlannedTarget, Result,
    StoreFacts,
};

use crate::{dataset::Dataset, store::ReadyStore};

/// All that the rounds need.
pub(super) struct Stores {
    pub(super) spec: DatasetSpec,
    pub(super) dataset: Dataset,
    /// Keys before `--max-id`.
    pub(super) available: u64,
    pub(super) targets: Vec<PreparedTarget>,
    /// Index into `targets` of the one that the others are compared with: the first, if the one
    /// that was asked for is left out.
    pub(super) baseline: usize,
    pub(super) findings: Vec<Finding>,
    /// Labels of the targets that are left out.
    pub(super) failed: Vec<String>,
}

/// A target with the stores its workloads work on.
pub(super) struct PreparedTarget {
    pub(super) planned: PlannedTarget,
    pub(super) facts: StoreFacts,
    pub(super) read: Option<ReadyStore>,
    pub(super) update: Option<ReadyStore>,
}

impl Stores {
    /// Without targets yet.
    pub(super) fn new(
        spec: DatasetSpec,
        dataset: Dataset,
        available: u64,
        findings: Vec<Finding>,
    ) -> Self {
        let (targets, failed) = Default::default();
        Self { spec, dataset, available, targets, baseline: 0, findings, failed }
    }

    /// Leaves out a target that failed, unless it is the only one or the error is of another kind.
    pub(super) fn leave_out(&mut self, target: usize, error: Error) -> Result<()> {
        let label = self.targets[target].planned.label.clone();
        if self.targets.len() == 1 || error.kind() != ErrorKind::Failed {
            return Err(error.context(label));
        }
        self.targets.remove(target);
        for (place, target) in self.targets.iter_mut().enumerate() {
            target.facts.target = place;
        }
        self.baseline = match self.baseline.cmp(&target) {
            Ordering::Less => self.baseline,
            Ordering::Equal => 0,
            Ordering::Greater => self.baseline - 1,
        };
        self.findings.retain(|finding| finding.target.as_ref() != Some(&label));
        self.note_failed(&label, &error);
        Ok(())
    }

    /// Notes that a target is left out.
    pub(super) fn note_failed(&mut self, label: &str, error: &Error) {
        self.findings
            .push(Finding::target(FindingKind::NotUsable { why: error.to_string() }, label));
        self.failed.push(label.to_owned());
    }
}

impl PreparedTarget {
    /// The store that `operation` works on. Updates have their own, so that reads are measured
    /// on a store as it was filled.
    pub(super) fn store(&self, operation: Operation) -> &ReadyStore {
        let own = if operation.writes() { &self.update } else { &self.read };
        own.as_ref().expect("a store is made for every operation of the plan")
    }

    /// Whether its stores are on disk.
    pub(super) fn has_files(&self) -> bool {
        self.stores().any(|ready| ready.held.is_none())
    }

    /// All its stores.
    pub(super) fn stores(&self) -> impl Iterator<Item = &ReadyStore> {
        self.read.iter().chain(&self.update)
    }
}
