//! Records made by hand, with figures that can be checked in the head.

use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2DeflateSerializer},
};
use std::collections::BTreeMap;

use model::{
    BlobWork, BlobsData, Cache, Cost, Cpu, DatasetSpec, DatasetSummary, Device, Durability,
    Environment, Experiment, Filesystem, Finding, FindingKind, First, Generated, Io, KeyKind,
    Latency, Library, Load, Measured, Memory, Operation, Order, Owner, Passes, Plan, PlannedTarget,
    Residency, Rounds, Sample, Settings, StoreFacts, Work, Workload,
    record::{End, Ended, FORMAT, Header, Line, Record},
};

use storemark_report::{
    Style,
    pages::{self, Detail},
};

/// Operations of a pass, of 10,000 bytes each.
pub(crate) const OPERATIONS: u64 = 1000;

/// A record of a read workload on `labels`, the first of them the baseline, that has only begun.
pub(crate) fn record(labels: &[&str]) -> Record {
    Record::new(Header {
        format: FORMAT,
        started: 1_700_000_000,
        environment: machine(),
        plan: plan(labels),
        spec: None,
        point: None,
    })
}

/// A record that ended with ten rounds: files, a database that takes 0.78 of their time, and a
/// pack that makes no difference.
pub(crate) fn typical() -> Record {
    let mut record = record(&["files", "sqlite api=blob", "pack"]);
    for round in 0..10 {
        // What a round does to all cancels.
        let slow = 4000 + 10 * u64::from(round);
        let wobble = [990, 1010][round as usize % 2];
        record.samples.push(sample(round, 0, slow));
        record.samples.push(sample(round, 1, slow * 780 / 1000));
        record.samples.push(sample(round, 2, slow * wobble / 1000));
    }
    record.stores = vec![
        store(0, Durability::None, &[("layout", "flat")]),
        store(1, Durability::Durable, &[("api", "blob"), ("journal", "delete"), ("sync", "full")]),
        store(2, Durability::None, &[]),
    ];
    record.end = Some(End { reason: Ended::Precise, seconds: 48.2, requests: None });
    record
}

/// The same with doubts of each weight: nine, as one is stored for two rounds.
pub(crate) fn doubtful() -> Record {
    let mut record = typical();
    record.findings = vec![
        Finding::run(FindingKind::LoadUnknown),
        Finding::run(FindingKind::OrderOfInsertion).in_workload(0),
        Finding::run(FindingKind::DebugBuild),
        Finding::target(FindingKind::LeftToBackground { share: 0.12 }, "pack").in_round(3),
        Finding::target(FindingKind::LeftToBackground { share: 0.12 }, "pack").in_round(4),
        Finding::target(FindingKind::BytesDiffer { key: "7".to_owned() }, "pack"),
        Finding::run(FindingKind::Steal { share: 0.05 }),
        Finding::run(FindingKind::KeysNotCovered { touched: 900, keys: 1000 }),
        Finding::run(FindingKind::KeysNotCovered { touched: 800, keys: 1000 }),
        Finding::run(FindingKind::ToolShare { share: 0.08 }),
    ];
    record
}

/// A terminal of `width` columns without colours and block characters.
pub(crate) fn style(width: u16) -> Style {
    Style { width, color: false, bars: false }
}

/// The page of a record.
pub(crate) fn page(record: &Record, width: u16, detail: Detail) -> String {
    pages::records(std::slice::from_ref(record), detail).terminal(&style(width))
}

/// All of it, in so many columns.
pub(crate) fn whole_page(record: &Record, width: u16) -> String {
    page(record, width, Detail { all: true, ..Detail::default() })
}

/// Whether it is as expected but for rounding.
pub(crate) fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 1e-9
}

/// The cells of the `nth` line that starts with `start`, spaces run together.
pub(crate) fn cells(page: &str, start: &str, nth: usize) -> String {
    let line = page.lines().filter(|line| line.starts_with(start)).nth(nth).unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of a file that holds `record`.
pub(crate) fn lines(record: &Record) -> Vec<Line> {
    let mut lines = vec![Line::Header(Box::new(record.header.clone()))];
    lines.extend(record.stores.iter().cloned().map(Line::Store));
    lines.extend(record.samples.iter().cloned().map(Box::new).map(Line::Sample));
    lines.extend(record.findings.iter().cloned().map(Line::Finding));
    lines.extend(record.end.clone().map(Line::End));
    lines
}

/// The file.
pub(crate) fn file(record: &Record) -> String {
    lines(record).iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

/// A trial of the first workload that took `ns` for each operation, each latency alike.
pub(crate) fn sample(round: u32, target: usize, ns: u64) -> Sample {
    Sample {
        round,
        target,
        operations: OPERATIONS,
        bytes: OPERATIONS * 10_000,
        open_ns: 250_000,
        wall_ns: OPERATIONS * ns,
        cost: Cost { user_ns: OPERATIONS * 500, system_ns: OPERATIONS * 1500, ..Cost::default() },
        load: Load { other_cpus: Some(0.0), steal: Some(0.0), ..Load::default() },
        measured: Measured::Blobs(Passes {
            first: Some(First { operations: OPERATIONS, ns: OPERATIONS * ns * 2 }),
            latency: latency(ns, OPERATIONS),
            ..Passes::default()
        }),
        ..Sample::default()
    }
}

/// Has a sample tell what it asked of the system: each figure another multiple of `n`, bytes ten
/// thousand times as many.
pub(crate) fn asked(sample: &mut Sample, n: u64) {
    // A warm pass fetches nothing from a device.
    sample.cache = Cache::DataCold;
    sample.before = Some(Residency { pages: 100, ..Residency::default() });
    let times = |factor: u64| n.saturating_mul(factor);
    sample.cost = Cost {
        minor_faults: Some(n),
        major_faults: Some(times(2)),
        voluntary_switches: Some(times(3)),
        involuntary_switches: Some(times(4)),
        flushes: Some(times(11)),
        ..sample.cost
    };
    sample.io = Some(Io {
        read_calls: Some(times(5)),
        write_calls: Some(times(6)),
        read_bytes: Some(times(70_000)),
        written_bytes: Some(times(80_000)),
        device_read_bytes: Some(times(90_000)),
        device_written_bytes: Some(times(120_000)),
    });
    sample.device = Some(Device { read_bytes: 0, written_bytes: times(100_000) });
}

pub(crate) fn latency(ns: u64, operations: u64) -> Latency {
    Latency {
        operations,
        timed: operations,
        wall_ns: operations * (ns + 100),
        sum_ns: operations * ns,
        p50_ns: ns,
        p99_ns: ns,
        p999_ns: ns,
        max_ns: ns,
        histogram: histogram(ns, operations),
        actions: BTreeMap::new(),
    }
}

/// A histogram of `count` times the same.
pub(crate) fn histogram(ns: u64, count: u64) -> String {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    histogram.record_n(ns, count).unwrap();
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    BASE64_STANDARD.encode(bytes)
}

/// A store of 1.02 bytes a byte, 1.10 on disk.
pub(crate) fn store(
    target: usize,
    durability: Durability,
    in_effect: &[(&str, &str)],
) -> StoreFacts {
    StoreFacts {
        target,
        in_effect: settings(in_effect),
        durability,
        apparent_bytes: 10_200_000,
        allocated_bytes: 11_000_000,
        mount: None,
        memory_bytes: Some(0),
        server: None,
        fill_ns: Some(1_500_000_000),
        check_ns: 40_000_000,
        table: None,
    }
}

/// Another workload on the same targets.
pub(crate) fn workload(operation: Operation) -> Workload {
    let work = Work::Blobs(BlobWork { operation, order: Order::Permutation, rate: None });
    Workload::alone(work, OPERATIONS)
}

/// Blobs of 10,000 bytes, more or less.
pub(crate) fn generated() -> Generated {
    Generated { seed: 42, count: OPERATIONS, size: 10_000, random_percent: 100, variance: 2_000 }
}

/// The same in figures.
pub(crate) fn summary() -> DatasetSummary {
    DatasetSummary {
        keys: KeyKind::Integers,
        count: OPERATIONS,
        bytes: OPERATIONS * 10_000,
        smallest: 8_000,
        largest: 12_000,
        half_in: Some(500),
        deflated: None,
    }
}

/// Where the blobs come from.
pub(crate) fn dataset(record: &mut Record) -> &mut DatasetSpec {
    match &mut record.header.plan.experiment {
        Experiment::Blobs(BlobsData { dataset, .. }) => dataset,
        other => panic!("no blobs: {other:?}"),
    }
}

/// Keys in each target.
pub(crate) fn available(record: &mut Record) -> &mut u64 {
    match &mut record.header.plan.experiment {
        Experiment::Blobs(BlobsData { available, .. }) => available,
        other => panic!("no blobs: {other:?}"),
    }
}

/// Blobs of another size.
pub(crate) fn set_size(record: &mut Record, size: u64) {
    *dataset(record) = DatasetSpec::Generated(Generated { size, variance: 0, ..generated() });
}

/// The passes over values of a trial.
pub(crate) fn passes(sample: &mut Sample) -> &mut Passes {
    sample.passes_mut().unwrap()
}

fn plan(labels: &[&str]) -> Plan {
    Plan {
        seed: 42,
        experiment: Experiment::Blobs(BlobsData {
            dataset: DatasetSpec::Generated(generated()),
            summary: summary(),
            available: OPERATIONS,
            sampled_from: None,
            drawn: None,
        }),
        targets: labels.iter().map(|label| target(label)).collect(),
        baseline: 0,
        workloads: vec![workload(Operation::Read)],
        caches: vec![Cache::Warm],
        durability: None,
        memory: None,
        hosts: vec![],
        rounds: Rounds::within(60.0),
        study: None,
    }
}

fn target(label: &str) -> PlannedTarget {
    let engine = label.split(' ').next().unwrap_or_default();
    let (title, extension) = match engine {
        "files" => ("plain files", None),
        "sqlite" => ("SQLite", Some("db")),
        other => (other, None),
    };
    PlannedTarget {
        label: label.to_owned(),
        engine: engine.to_owned(),
        title: title.to_owned(),
        extension: extension.map(str::to_owned),
        location: String::new(),
        settings: settings(&[]),
        owner: Owner::Scratch,
        on: None,
        of_class: Vec::new(),
        reference: false,
        lost_if_killed: false,
        one_process: false,
    }
}

pub(crate) fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

fn machine() -> Environment {
    Environment {
        machine: Some("attic".to_owned()),
        storemark: "0.1.0".to_owned(),
        os: "linux".to_owned(),
        kernel: Some("6.18.5".to_owned()),
        cpu: Cpu {
            model: Some("AMD EPYC 9B14".to_owned()),
            count: 2,
            last_level_cache_bytes: Some(33_554_432),
            governor: None,
        },
        memory: Memory { total_bytes: Some(8_200_000_000), ..Memory::default() },
        virtualised: Some("kvm".to_owned()),
        filesystems: vec![Filesystem {
            mount: "/".to_owned(),
            kind: "ext4".to_owned(),
            options: "rw,relatime".to_owned(),
            device: "/dev/vda".to_owned(),
            rotational: Some(false),
            ..Filesystem::default()
        }],
        libraries: vec![Library {
            options: vec!["THREADSAFE=1".to_owned()],
            ..Library::new("sqlite", "3.51.1")
        }],
        clock_ns: 70,
        loop_ns: 12.5,
        ..Environment::default()
    }
}

/// A record of eight targets under three workloads in two cache states, with latencies as spread as
/// measured ones are.
pub(crate) fn long(rounds: u32) -> Record {
    let labels = ["files", "sqlite", "sqlite api=blob", "lmdb", "redb", "fjall", "pack", "memory"];
    let mut record = record(&labels);
    let plan = &mut record.header.plan;
    plan.workloads = [Operation::Read, Operation::Update, Operation::Insert].map(workload).into();
    plan.caches = vec![Cache::Warm, Cache::DataCold];
    record.stores = (0..labels.len()).map(|target| store(target, Durability::None, &[])).collect();
    let mut spreads = BTreeMap::new();
    for round in 0..rounds {
        for case in record.header.plan.cases().collect::<Vec<_>>() {
            for target in 0..labels.len() {
                let ns = 3000 + 700 * target as u64 + 31 * u64::from(round % 10);
                let mut made = sample(round, target, ns);
                asked(&mut made, OPERATIONS);
                if case.cache == Cache::Warm {
                    made.io = made.io.map(|io| Io { device_read_bytes: Some(0), ..io });
                    made.before = made.before.map(|all| Residency { resident: all.pages, ..all });
                }
                (made.workload, made.cache, made.after) = (case.workload, case.cache, made.before);
                *made.latency_mut().unwrap() =
                    spreads.entry(ns).or_insert_with(|| spread(ns)).clone();
                record.samples.push(made);
            }
        }
    }
    record.end = Some(End { reason: Ended::Rounds, seconds: 86_400.0, requests: None });
    record
}

/// Latencies around `ns`, a few of them ten times as long.
fn spread(ns: u64) -> Latency {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for n in 0..OPERATIONS {
        let near = ns * (700 + n * 7919 % 600) / 1000;
        histogram.record(if n % 100 == 0 { near * 10 } else { near }).unwrap();
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    let sum_ns =
        histogram.iter_recorded().map(|at| at.value_iterated_to() * at.count_at_value()).sum();
    Latency {
        wall_ns: sum_ns,
        sum_ns,
        p50_ns: histogram.value_at_quantile(0.5),
        p99_ns: histogram.value_at_quantile(0.99),
        p999_ns: histogram.value_at_quantile(0.999),
        max_ns: histogram.max(),
        histogram: BASE64_STANDARD.encode(bytes),
        ..latency(ns, OPERATIONS)
    }
}
