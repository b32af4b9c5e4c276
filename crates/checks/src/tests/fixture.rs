//! A small valid record, which tests change and judge.

use model::{
    Batch, BlobWork, BlobsData, Cache, Cpu, DatasetSpec, DatasetSummary, Durability, Environment,
    Experiment, Filesystem, Io, KeyKind, Latency, Measured, Operation, Order, Owner, Passes, Plan,
    PlannedTarget, Rounds, Sample, Settings, StoreFacts, Work, Workload,
    record::{FORMAT, Header, Record},
};

/// Bytes of each value.
pub(super) const VALUE: u64 = 10_000;

/// Warm reads of `count` values from a store of each label, the first of them the baseline: no
/// sample, and nothing that makes a figure doubtful.
pub(super) fn record(labels: &[&str], count: u64) -> Record {
    let mut record = Record::new(Header {
        format: FORMAT,
        started: 1_700_000_000,
        environment: environment(),
        plan: plan(labels, count),
        spec: None,
        point: None,
    });
    record.stores = (0..labels.len()).map(|target| store(target, count)).collect();
    record
}

fn environment() -> Environment {
    Environment {
        cpu: Cpu { count: 2, ..Cpu::default() },
        filesystems: vec![filesystem("ext4", "/dev/vda", "/")],
        clock_ns: 70,
        os: "linux".to_owned(),
        ..Environment::default()
    }
}

pub(super) fn filesystem(kind: &str, device: &str, mount: &str) -> Filesystem {
    let [kind, device, mount] = [kind, device, mount].map(str::to_owned);
    Filesystem { kind, device, mount, ..Filesystem::default() }
}

fn plan(labels: &[&str], count: u64) -> Plan {
    let summary = DatasetSummary {
        keys: KeyKind::Integers,
        count,
        bytes: count * VALUE,
        smallest: VALUE,
        largest: VALUE,
        half_in: Some(count / 2),
        deflated: None,
    };
    Plan {
        seed: 42,
        experiment: Experiment::Blobs(BlobsData {
            dataset: DatasetSpec::Targets,
            summary,
            available: count,
            sampled_from: None,
            drawn: None,
        }),
        targets: labels.iter().map(|label| target(label)).collect(),
        baseline: 0,
        workloads: vec![workload(Operation::Read, count)],
        caches: vec![Cache::Warm],
        durability: None,
        memory: None,
        hosts: vec![],
        rounds: Rounds::within(60.0),
        study: None,
    }
}

/// A scratch store of the engine that is the first word of `label`.
pub(super) fn target(label: &str) -> PlannedTarget {
    PlannedTarget {
        label: label.to_owned(),
        engine: label.split(' ').next().unwrap_or_default().to_owned(),
        title: label.split(' ').next().unwrap_or_default().to_owned(),
        extension: None,
        location: String::new(),
        settings: Settings::default(),
        owner: Owner::Scratch,
        on: None,
        of_class: Vec::new(),
        reference: false,
        lost_if_killed: false,
        one_process: false,
    }
}

/// One thread that touches each of `count` values once.
pub(super) fn workload(operation: Operation, count: u64) -> Workload {
    let work = Work::Blobs(BlobWork { operation, order: Order::Permutation, rate: None });
    Workload { batch: Batch::Of(100), ..Workload::alone(work, count) }
}

/// A library's store of `count` values that takes no more than they do.
pub(super) fn store(target: usize, count: u64) -> StoreFacts {
    StoreFacts {
        target,
        in_effect: Settings::default(),
        durability: Durability::None,
        apparent_bytes: count * VALUE,
        allocated_bytes: count * VALUE,
        mount: Some("/".to_owned()),
        memory_bytes: Some(0),
        server: None,
        fill_ns: None,
        check_ns: 0,
        table: None,
    }
}

/// A trial of the first workload whose `count` operations took `ns` each.
pub(super) fn sample(round: u32, target: usize, count: u64, ns: u64) -> Sample {
    let latency = Latency {
        operations: count,
        timed: count,
        wall_ns: count * ns,
        sum_ns: count * ns,
        p50_ns: ns,
        p99_ns: ns,
        p999_ns: ns,
        max_ns: ns,
        ..Latency::default()
    };
    Sample {
        round,
        target,
        operations: count,
        bytes: count * VALUE,
        wall_ns: count * ns,
        io: Some(Io::default()),
        measured: Measured::Blobs(Passes { latency, ..Passes::default() }),
        ..Sample::default()
    }
}
