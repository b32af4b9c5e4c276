//! The runs of a record.

use std::collections::BTreeMap;

use model::{
    Environment, Plan, Settings, Severity,
    record::{Ended, Record},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{FORM, Interval};
use crate::{
    Figures, MergedFinding, Percentiles, StoreFigures, Verdict, all_findings, figures, stores,
    words,
};

/// What `storemark report --json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportData {
    /// Version of this form.
    form: u32,
    /// The runs, in their order: one, or those of a sweep.
    runs: Vec<Run>,
}

/// A run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Run {
    /// Of a sweep, the options that vary with their values here.
    point: BTreeMap<String, String>,
    /// Seconds since 1970 when it began.
    started: u64,
    /// Why it ended; null: it was cut off.
    ended: Option<Ended>,
    /// Where it ran.
    environment: Environment,
    /// What was to run.
    plan: Plan,
    /// Every target in every case.
    rows: Vec<Row>,
    /// What each store took.
    stores: Vec<Store>,
    /// Findings, the worst first.
    findings: Vec<Finding>,
}

/// A target in a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Row {
    /// Index of the workload in the plan.
    workload: usize,
    /// Its name.
    name: String,
    /// What it does.
    about: String,
    /// The cache state.
    cache: String,
    /// The target's label.
    target: String,
    /// Rounds that count.
    rounds: usize,
    /// Microseconds per operation.
    us_per_op: Option<Interval>,
    /// The same of the first pass after opening.
    first_us_per_op: Option<Interval>,
    /// Millions of bytes per second.
    mb_per_s: Option<Interval>,
    /// Latencies of all rounds together.
    latency_us: Option<Latency>,
    /// Processor time in user mode, microseconds per operation.
    user_us_per_op: Option<f64>,
    /// Processor time in kernel mode, microseconds per operation.
    system_us_per_op: Option<f64>,
    /// Time over the baseline's, paired by round.
    ratio: Option<Interval>,
    /// Time in this cache state over that in the warm one, paired by round.
    over_warm: Option<Interval>,
    /// What `ratio` says.
    verdict: Verdict,
}

/// Latencies in microseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Latency {
    /// Median.
    p50: f64,
    /// 90th percentile.
    p90: f64,
    /// 99th percentile.
    p99: f64,
    /// 99.9th percentile.
    p999: f64,
    /// 99.99th percentile.
    p9999: f64,
    /// Largest.
    max: f64,
}

/// A store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Store {
    /// The target's label.
    target: String,
    /// Lengths of its files, millions of bytes.
    length_mb: Option<f64>,
    /// What they occupy on disk, millions of bytes.
    on_disk_mb: Option<f64>,
    /// Making it, in seconds.
    fill_s: Option<f64>,
    /// Opening it, in milliseconds: the median.
    open_ms: Option<f64>,
    /// The durability class in effect.
    durability: Option<String>,
    /// All settings as read back.
    in_effect: Settings,
}

/// A finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Finding {
    /// How much it weighs.
    weight: Severity,
    /// What was found, and in what.
    text: String,
}

impl ReportData {
    /// All of `records`.
    pub fn of(records: &[Record]) -> Self {
        Self { form: FORM, runs: records.iter().map(run).collect() }
    }
}

fn run(record: &Record) -> Run {
    let plan = &record.header.plan;
    let figures = [figures(record)];
    let findings = all_findings(std::slice::from_ref(record), &figures);
    Run {
        point: record.header.point().map(|point| point.varied.clone()).unwrap_or_default(),
        started: record.header.started,
        ended: record.end.as_ref().map(|end| end.reason.clone()),
        environment: record.header.environment.clone(),
        plan: plan.clone(),
        rows: figures[0].iter().map(|row| self::row(plan, row)).collect(),
        stores: stores(record).iter().map(|row| store(plan, row)).collect(),
        findings: findings.iter().map(|found| finding(plan, found)).collect(),
    }
}

fn label(plan: &Plan, target: usize) -> String {
    plan.targets.get(target).map(|target| target.label.clone()).unwrap_or_default()
}

fn row(plan: &Plan, row: &Figures) -> Row {
    let workload = plan.workloads.get(row.case.workload);
    Row {
        workload: row.case.workload,
        name: words::workload_name(plan, row.case.workload),
        about: workload.map(words::workload).unwrap_or_default(),
        cache: row.case.cache.to_string(),
        target: label(plan, row.target),
        rounds: row.rounds,
        us_per_op: Interval::maybe(row.us_per_op.as_ref()),
        first_us_per_op: Interval::maybe(row.first_us_per_op.as_ref()),
        mb_per_s: Interval::maybe(row.mb_per_s.as_ref()),
        latency_us: row.latency.as_ref().map(latency),
        user_us_per_op: row.cpu.map(|cpu| cpu.user_us_per_op),
        system_us_per_op: row.cpu.map(|cpu| cpu.system_us_per_op),
        ratio: Interval::maybe(row.ratio.as_ref()),
        over_warm: Interval::maybe(row.over_warm.as_ref()),
        verdict: row.verdict,
    }
}

fn latency(all: &Percentiles) -> Latency {
    Latency {
        p50: all.p50_us,
        p90: all.p90_us,
        p99: all.p99_us,
        p999: all.p999_us,
        p9999: all.p9999_us,
        max: all.max_us,
    }
}

fn store(plan: &Plan, row: &StoreFigures) -> Store {
    Store {
        target: label(plan, row.target),
        length_mb: row.apparent.map(|space| space.mb),
        on_disk_mb: row.allocated.map(|space| space.mb),
        fill_s: row.fill_s,
        open_ms: row.open_ms,
        durability: row.durability.map(|class| class.to_string()),
        in_effect: row.in_effect.clone(),
    }
}

fn finding(plan: &Plan, merged: &MergedFinding) -> Finding {
    Finding { weight: merged.kind.severity(), text: words::finding(plan, merged) }
}
