//! Records made by hand: each doubt shows where its bound is passed, and not just below it.

mod after;
mod before;
mod trial;
mod updates;

use model::{
    Batch, Cache, DatasetSpec, DatasetSummary, Durability, Environment, Experiment, Filesystem,
    Finding, FindingKind, Io, KeyKind, Latency, Measured, Operation, Order, Owner, Passes, Plan,
    PlannedTarget, Rounds, Sample, Settings, StoreFacts, Work, Workload,
    record::{Header, Record},
};

const DATA: u64 = 100_000_000;

/// A record of one read workload, in the given states, on two stores with files, that raises no
/// doubt but that all was warm.
pub(crate) fn sound(caches: &[Cache]) -> Record {
    let environment = Environment {
        cpu: model::Cpu { count: 2, ..model::Cpu::default() },
        filesystems: vec![Filesystem { kind: "ext4".to_owned(), ..Filesystem::default() }],
        clock_ns: 70,
        ..Environment::default()
    };
    let header = Header {
        format: model::record::FORMAT,
        started: 0,
        environment,
        plan: plan(caches),
        asked: None,
    };
    let mut record = Record::new(header);
    record.stores = vec![store(0), store(1)];
    record.samples = vec![sample()];
    record
}

fn plan(caches: &[Cache]) -> Plan {
    let summary = DatasetSummary {
        keys: KeyKind::Integers,
        count: 10_000,
        bytes: DATA,
        smallest: 10_000,
        largest: 10_000,
        deflated: Some(1.0),
    };
    Plan {
        seed: 1,
        experiment: Experiment::Blobs {
            dataset: DatasetSpec::Targets,
            summary,
            available: summary.count,
        },
        targets: ["base", "other"].map(target).to_vec(),
        baseline: 0,
        workloads: vec![workload(Operation::Read)],
        caches: caches.to_vec(),
        durability: None,
        memory: None,
        rounds: Rounds { min: 5, max: None, precision: 0.03, seconds: 60.0 },
    }
}

fn target(label: &str) -> PlannedTarget {
    PlannedTarget {
        label: label.to_owned(),
        engine: label.to_owned(),
        location: String::new(),
        settings: Settings::default(),
        owner: Owner::Scratch,
        on: None,
    }
}

fn workload(operation: Operation) -> Workload {
    let batch = Batch::Of(100);
    Workload {
        work: Work::Blobs { operation, order: Order::Permutation, rate: None },
        count: 10_000,
        batch,
        threads: 1,
        processes: 1,
    }
}

fn store(target: usize) -> StoreFacts {
    StoreFacts {
        target,
        in_effect: Settings::default(),
        durability: Durability::None,
        apparent_bytes: DATA,
        allocated_bytes: DATA,
        memory_bytes: Some(0),
        server: None,
        fill_ns: None,
        check_ns: 0,
    }
}

fn sample() -> Sample {
    Sample {
        round: 3,
        target: 1,
        operations: 10_000,
        bytes: DATA,
        wall_ns: 40_000_000,
        io: Some(Io::default()),
        measured: Measured::Blobs(Passes {
            latency: Latency { p50_ns: 4_000, max_ns: 9_000, ..Latency::default() },
            ..Passes::default()
        }),
        ..Sample::default()
    }
}

fn doubts(findings: Vec<Finding>) -> Vec<FindingKind> {
    findings.into_iter().map(|finding| finding.kind).collect()
}
