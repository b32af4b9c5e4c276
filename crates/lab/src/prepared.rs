//! All that the rounds need: the dataset, and the targets that are ready to be measured.

use std::cmp::Ordering;

use model::{
    DatasetSpec, Error, ErrorKind, Finding, FindingKind, Operation, PlannedTarget, Result,
    StoreFacts,
};

use crate::{dataset::Dataset, ready::Ready};

/// All that the rounds need.
pub(crate) struct Prepared {
    pub(crate) spec: DatasetSpec,
    pub(crate) dataset: Dataset,
    /// Keys before `--max-id`.
    pub(crate) available: u64,
    pub(crate) targets: Vec<PreparedTarget>,
    /// Index into `targets` of the one that the others are compared with: the first, where the one
    /// that was asked for is left out.
    pub(crate) baseline: usize,
    pub(crate) findings: Vec<Finding>,
    /// Labels of the targets that are left out.
    pub(crate) failed: Vec<String>,
}

/// A target with the stores its workloads work on.
pub(crate) struct PreparedTarget {
    pub(crate) planned: PlannedTarget,
    pub(crate) facts: StoreFacts,
    pub(crate) read: Option<Ready>,
    pub(crate) update: Option<Ready>,
}

impl Prepared {
    /// Without targets yet.
    pub(crate) fn new(spec: DatasetSpec, dataset: Dataset, available: u64) -> Self {
        let (targets, findings, failed) = Default::default();
        Self { spec, dataset, available, targets, baseline: 0, findings, failed }
    }

    /// Leaves out a target that failed, unless it is the only one or the error is of another kind.
    pub(crate) fn leave_out(&mut self, target: usize, error: Error) -> Result<()> {
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
    pub(crate) fn note_failed(&mut self, label: &str, error: &Error) {
        self.findings
            .push(Finding::target(FindingKind::NotUsable { why: error.to_string() }, label));
        self.failed.push(label.to_owned());
    }
}

impl PreparedTarget {
    /// The store that `operation` works on. Updates have their own, so that reads are measured
    /// on a store as it was filled.
    pub(crate) fn store(&self, operation: Operation) -> &Ready {
        let own = if operation.writes() { &self.update } else { &self.read };
        own.as_ref().expect("a store is made for every operation of the plan")
    }

    /// Whether its stores are on disk.
    pub(crate) fn has_files(&self) -> bool {
        self.stores().any(|ready| ready.held.is_none())
    }

    /// All its stores.
    pub(crate) fn stores(&self) -> impl Iterator<Item = &Ready> {
        self.read.iter().chain(&self.update)
    }
}
