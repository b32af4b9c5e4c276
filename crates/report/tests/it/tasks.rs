//! The page of queues: measured figures, published ones beside them.

use checks::{Verdict, task_figures};
use model::{
    Device, Durability, Experiment, FileBytes, Latency, Measured, Operation, QueueData,
    QueueMeasured, Sample, Settings, Work, Workload, record::Record, tasks::TaskStep,
};
use storemark_report::{
    Style,
    pages::{self, Detail},
};

use crate::fixture::{self, cells, record, store, style, workload};

const TASKS: u64 = 1000;

/// Files and SQLite on ext4 and on xfs: 2, 1, 4 and 1 ms a task.
pub(crate) fn queue() -> Record {
    let mut record = record(&["files on ext4", "sqlite on ext4", "files on xfs", "sqlite on xfs"]);
    let plan = &mut record.header.plan;
    plan.experiment = Experiment::Queue(QueueData { tasks: TASKS / 100, rewrites: 10, output: 33 });
    plan.workloads = vec![Workload {
        work: Work::Queue,
        threads: 100,
        count: TASKS,
        ..workload(Operation::Update)
    }];
    let files = [("write", "rename"), ("sync", "none")];
    let sqlite = [("journal", "wal"), ("sync", "normal"), ("connection", "pool")];
    for (index, target) in plan.targets.iter_mut().enumerate() {
        target.on = Some(if index < 2 { "ext4" } else { "xfs" }.to_owned());
        let settings: &[_] = if index % 2 == 0 { &files } else { &sqlite };
        let pairs = settings.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        target.settings = Settings(pairs.collect());
        record.stores.push(store(index, Durability::None, settings));
    }
    for round in 0..6 {
        for (target, ms) in [2, 1, 4, 1].into_iter().enumerate() {
            record.samples.push(trial(round, target, ms));
        }
    }
    record
}

fn trial(round: u32, target: usize, ms: u64) -> Sample {
    let wall_ns = ms * (100 + u64::from(round)) * 10_000 * TASKS;
    let steps = (1..).zip(TaskStep::ALL);
    let steps = steps.map(|(index, step)| (step, latency(ms * index * 1_000_000, TASKS)));
    let mut sample = Sample {
        round,
        target,
        operations: TASKS,
        wall_ns,
        settle_ns: wall_ns / 4,
        device: Some(Device { read_bytes: 0, written_bytes: 5_000 * TASKS }),
        measured: Measured::Queue(QueueMeasured {
            first: None,
            latency: latency(ms * 13_000_000, TASKS),
            steps: steps.collect(),
            files: FileBytes { apparent: 0, allocated: 4_096_000 },
        }),
        ..Sample::default()
    };
    sample.counters.insert(model::LOCK_WAITS.to_owned(), 2 * TASKS.cast_signed());
    sample
}

fn latency(ns: u64, operations: u64) -> Latency {
    Latency { wall_ns: ns * operations, ..fixture::latency(ns, operations) }
}

fn page(record: &Record) -> String {
    fixture::whole_page(record, 150)
}

#[test]
fn published_figures_stand_beside_those_of_their_file_system() {
    let page = page(&queue());
    assert!(page.contains("100 workers, 10 tasks each"), "{page}");
    assert!(page.contains("February 12, 2022"), "{page}");
    // 16.8 s and 8.28 s for 10,000 tasks.
    assert_eq!(cells(&page, "files on ext4", 0), "files on ext4 2.05 1.68 488 1 – baseline");
    assert!(cells(&page, "sqlite on ext4", 0).starts_with("sqlite on ext4 1.02 0.828 976 0.50"));
    assert!(cells(&page, "sqlite on ext4", 0).ends_with(" 0.493 2.0× faster"), "{page}");
    // Nothing was published of xfs.
    assert!(cells(&page, "files on xfs", 0).starts_with("files on xfs 4.10 – 244 2.0"), "{page}");
}

#[test]
fn targets_are_compared_within_their_file_system() {
    let rows = task_figures(&queue());
    let over =
        |row: usize| rows[row].over_same_filesystem.as_ref().map(|(ratio, of)| (ratio.point, *of));
    assert_eq!((over(0), over(2)), (None, None));
    let (on_ext4, published) = over(1).unwrap();
    assert!((on_ext4 - 0.5).abs() < 0.001 && (published.unwrap() - 0.493).abs() < 0.001);
    let (on_xfs, published) = over(3).unwrap();
    assert!((on_xfs - 0.25).abs() < 0.001 && published.is_none());
    assert_eq!(rows[3].figures.verdict, Verdict::Faster);
    let page = page(&queue());
    assert!(page.contains("time ÷ that of files on the same file system"), "{page}");
}

#[test]
fn steps_and_costs_are_told() {
    let page = page(&queue());
    let steps = "sqlite on xfs 1.00 1.00 2.00 2.00 3.00 3.00 4.00 4.00 4.00";
    assert_eq!(cells(&page, "sqlite on xfs", 2), steps, "{page}");
    assert_eq!(cells(&page, "sqlite on xfs", 3), "sqlite on xfs – 0.00 2.00 0.00 5.00 25.0 4096");
}

#[test]
fn other_numbers_of_workers_or_rewrites_have_no_published_figure() {
    let published = |change: fn(&mut Record)| {
        let mut record = queue();
        change(&mut record);
        task_figures(&record)[0].published_ms
    };
    assert!(published(|_| {}).is_some());
    assert_eq!(published(|r| r.header.plan.workloads[0].threads = 99), None);
    let output = |r: &mut Record| {
        r.header.plan.experiment =
            Experiment::Queue(QueueData { tasks: 10, rewrites: 10, output: 34 });
    };
    assert_eq!(published(output), None);
    assert_eq!(published(|r| r.stores[0].in_effect.set("sync", "full")), None);
}

#[test]
fn a_record_that_has_only_begun_has_a_page() {
    let mut record = queue();
    record.samples.clear();
    assert!(task_figures(&record).is_empty());
    assert!(page(&record).contains("100 workers"));
    record.header.plan.workloads.clear();
    page(&record);
}

#[test]
fn bars_fit_beside_ratios() {
    for width in [60, 80, 150] {
        let style = Style { bars: true, ..style(width) };
        let page = pages::records(&[queue()], Detail::default()).terminal(&style);
        let too_wide = page.lines().find(|line| line.chars().count() > width.into());
        assert_eq!(too_wide, None, "{page}");
        assert_eq!(page.contains('█'), width == 150, "{page}");
    }
}
