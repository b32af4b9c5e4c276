//! Computes the figures of a comparison of queues, published ones beside them.

use std::collections::BTreeMap;

use model::{Experiment, PlannedTarget, Sample, record::Record, tasks::Step};
use stats::Estimate;

use crate::{
    Figures, Percentiles, Waits, figures, percentiles,
    published::tasks::{self as published, PublishedQueue},
    ratio_between, together, usable_samples,
};

/// What one target did.
#[derive(Clone, Debug)]
pub struct QueueFigures {
    /// Times are those of a task, all workers together; percentiles those of a task in one of them.
    pub figures: Figures,
    /// Latencies of each kind of step.
    pub steps: BTreeMap<Step, Percentiles>,
    /// How often workers waited for each other, per task.
    pub waits: Option<Waits>,
    /// Share of the time in which only what the durability class owed was done.
    pub owed: f64,
    /// Bytes written to the device for each task; absent: not known.
    pub written_per_task: Option<f64>,
    /// The most that its files took on disk when the last task was deleted.
    pub disk_bytes: u64,
    /// Published milliseconds of a task, on this kind of file system.
    pub published_ms: Option<f64>,
    /// The published ratio to the baseline.
    pub published_ratio: Option<f64>,
    /// Time over that of the baseline's engine and settings on this target's file system, paired by
    /// round, and the published ratio; absent where nothing else stands on it.
    pub over_same_site: Option<(Estimate, Option<f64>)>,
}

/// A row for each target that was measured, in the plan's order.
pub fn queue_figures(record: &Record) -> Vec<QueueFigures> {
    let all = figures(record).into_iter().filter(|row| row.rounds > 0);
    all.map(|figures| row(record, figures)).collect()
}

fn row(record: &Record, figures: Figures) -> QueueFigures {
    let Figures { case, target, .. } = figures;
    let baseline = record.header.plan.baseline;
    let samples = usable_samples(record, case, target);
    let published = published_for(record, target);
    let beside = counterpart(&record.header.plan.targets, baseline, target);
    QueueFigures {
        steps: steps(&samples),
        waits: together(record, &figures).waits,
        owed: sum(&samples, |s| s.settle_ns) / sum(&samples, |s| s.wall_ns),
        written_per_task: written(&samples),
        disk_bytes: samples.iter().filter_map(|s| Some(s.files()?.allocated)).max().unwrap_or(0),
        published_ms: published.first().map(PublishedQueue::ms_per_task),
        published_ratio: ratio(&published, &published_for(record, baseline))
            .filter(|_| target != baseline),
        over_same_site: beside.and_then(|other| {
            let published = ratio(&published, &published_for(record, other));
            Some((ratio_between(record, case, target, other)?, published))
        }),
        figures,
    }
}

fn sum(samples: &[&Sample], part: fn(&Sample) -> u64) -> f64 {
    samples.iter().map(|sample| part(sample) as f64).sum()
}

fn steps(samples: &[&Sample]) -> BTreeMap<Step, Percentiles> {
    let of = |step: Step| {
        let latencies = samples.iter().filter_map(|s| s.steps()?.get(&step));
        Some((step, percentiles(latencies)?))
    };
    Step::ALL.into_iter().filter_map(of).collect()
}

fn written(samples: &[&Sample]) -> Option<f64> {
    let told = samples.iter().filter_map(|s| Some((s.device?.written_bytes, s.operations)));
    let (bytes, tasks) = told.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (tasks > 0).then(|| bytes as f64 / tasks as f64)
}

/// Published figures are of as many workers and rewrites; of others there is nothing to compare
/// with. They are told per task, so that the number of tasks does not matter.
fn published_for(record: &Record, target: usize) -> Vec<PublishedQueue> {
    let plan = &record.header.plan;
    let workers = plan.workloads.first().map(|workload| workload.threads);
    let same = matches!(
        plan.experiment,
        Experiment::Tasks { rewrites: published::REWRITES, output: published::OUTPUT, .. }
    );
    let facts = record.stores.iter().rfind(|facts| facts.target == target);
    let Some((target, facts)) = plan.targets.get(target).zip(facts) else { return Vec::new() };
    if !same || workers != Some(published::WORKERS) {
        return Vec::new();
    }
    published::of(&target.engine, &facts.in_effect, kind(record, target))
}

/// The kind of file system that a target is on; the name that was made for it begins with that.
fn kind<'a>(record: &'a Record, target: &'a PlannedTarget) -> &'a str {
    let only = record.header.environment.filesystems.first();
    let name = target.on.as_deref().or(only.map(|only| only.kind.as_str()));
    name.and_then(|name| name.split(' ').next()).unwrap_or_default()
}

/// Of rows that were measured beside each other.
fn ratio(own: &[PublishedQueue], base: &[PublishedQueue]) -> Option<f64> {
    own.iter().flat_map(|own| base.iter().filter_map(|base| own.over(base))).next()
}

/// The baseline's engine and settings, on the file system of `target`.
fn counterpart(targets: &[PlannedTarget], baseline: usize, target: usize) -> Option<usize> {
    let store = |index: usize| targets.get(index).map(|t| (&t.engine, &t.settings));
    let on = |index: usize| targets.get(index).map(|t| &t.on);
    let own = store(target) == store(baseline);
    let same = |other: &usize| store(*other) == store(baseline) && on(*other) == on(target);
    (0..targets.len()).find(same).filter(|_| !own)
}
