//! Findings about writes.

use model::{Batch, Cache, Durability, FindingKind, Operation, StoreFacts, record::Record};

use super::{kinds, sound, workload};
use crate::of_stores;

/// Findings about updates on a changed record.
fn updating(change: impl FnOnce(&mut Record)) -> Vec<FindingKind> {
    let mut record = sound(&[Cache::Warm]);
    record.header.plan.workloads = vec![workload(Operation::Update)];
    change(&mut record);
    kinds(of_stores(&record))
}

fn set(facts: &mut StoreFacts, pairs: &[(&str, &str)]) {
    for (name, value) in pairs {
        facts.in_effect.set(name, value);
    }
}

#[test]
fn one_commit_for_all_is_a_finding() {
    let batch = |batch, class| {
        updating(|r| {
            r.header.plan.workloads[0].batch = batch;
            r.stores.iter_mut().for_each(|facts| facts.durability = class);
        })
    };
    let shared = |class| [FindingKind::OneCommit { operations: 10_000, class }];
    for class in Durability::ALL {
        assert_eq!(batch(Batch::All, class), shared(class));
        assert_eq!(batch(Batch::Of(10_000), class), shared(class));
        assert_eq!(batch(Batch::Of(9_999), class), []);
    }
}

#[test]
fn different_durability_matters_if_something_can_be_lost() {
    let class = Durability::Consistent;
    let different = FindingKind::DurabilityDiffers { class, baseline: Durability::None };
    assert_eq!(updating(|r| r.stores[1].durability = class), [different]);
    let reads = updating(|r| {
        r.header.plan.workloads = vec![workload(Operation::Read)];
        r.stores[1].durability = class;
    });
    assert_eq!(reads, [FindingKind::OnlyWarm]);
}

#[test]
fn a_log_that_is_never_checkpointed_is_a_finding() {
    let log = |journal, checkpoint| {
        updating(|r| set(&mut r.stores[1], &[("journal", journal), ("checkpoint", checkpoint)]))
    };
    assert_eq!(log("wal", "none"), [FindingKind::NoCheckpoint]);
    assert_eq!(log("wal", "auto"), []);
    assert_eq!(log("delete", "none"), []);
}

#[test]
fn files_that_are_written_out_on_closing_are_a_finding() {
    let written = |write, sync, options: &str| {
        updating(|r| {
            r.header.environment.filesystems[0].options = options.to_owned();
            set(&mut r.stores[0], &[("write", write), ("sync", sync)]);
        })
    };
    let flushed = [FindingKind::FlushedOnClose { kind: "ext4".to_owned() }];
    assert_eq!(written("inplace", "none", "rw"), flushed);
    assert_eq!(written("rename", "none", "rw"), flushed);
    assert_eq!(written("overwrite", "none", "rw"), []);
    assert_eq!(written("inplace", "file", "rw"), []);
    assert_eq!(written("inplace", "none", "rw,noauto_da_alloc"), []);
}
