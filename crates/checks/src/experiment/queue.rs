//! Computes the figures of tasks, next to the published ones.

use std::collections::BTreeMap;

use model::{PlannedTarget, QueueData, Sample, record::Record, tasks::TaskStep};
use spec::study;
use stats::Estimate;

use crate::{
    figures::{
        Figures, Percentiles, counterpart, figures, per, percentiles, sum,
        workers::{Waits, waits},
    },
    series::{Series, facts},
    studies,
};

/// The figures of one target.
#[derive(Clone, Debug)]
pub struct TaskFigures {
    /// Times are those of a task with all workers together; percentiles are those of a task in one
    /// worker.
    pub figures: Figures,
    /// Latencies of each kind of step.
    pub steps: BTreeMap<TaskStep, Percentiles>,
    /// How often workers waited for each other, per task.
    pub waits: Option<Waits>,
    /// Share of the time in which only the remaining writes were flushed.
    pub settled: f64,
    /// Bytes written to the device for each task; `None` if not known.
    pub written_per_task: Option<f64>,
    /// The largest size of its files on disk when the last task was deleted, in bytes.
    pub disk_bytes: u64,
    /// Published milliseconds of a task, on this kind of file system.
    pub published_ms: Option<f64>,
    /// The published ratio to the baseline.
    pub published_ratio: Option<f64>,
    /// Time divided by that of the baseline's engine and settings on this target's file system,
    /// paired by round, and the published ratio; `None` if nothing else is on that file system.
    pub over_same_filesystem: Option<(Estimate, Option<f64>)>,
}

/// Returns a row for each target that was measured, in the plan's order.
pub fn task_figures(record: &Record) -> Vec<TaskFigures> {
    let all = figures(record).into_iter().filter(|row| row.rounds > 0);
    all.map(|figures| row(record, figures)).collect()
}

fn row(record: &Record, figures: Figures) -> TaskFigures {
    let plan = &record.header.plan;
    let Figures { case, target, .. } = figures;
    let series = Series::new(record, case, target);
    let samples: Vec<_> = series.samples().collect();
    let published = published_for(record, target);
    let published_over = |other: usize| ratio(&published, &published_for(record, other));
    let store = |target: &PlannedTarget| (target.engine.clone(), target.settings.clone());
    let counterpart = counterpart(plan, target, store, |target| target.on.clone());
    TaskFigures {
        steps: steps(&samples),
        waits: waits(record, &figures),
        settled: sum(&samples, |s| s.settle_ns) / sum(&samples, |s| s.wall_ns),
        written_per_task: per(&samples, |s| s.operations, |s| Some(s.device?.written_bytes)),
        disk_bytes: samples.iter().filter_map(|s| Some(s.files()?.allocated)).max().unwrap_or(0),
        published_ms: published.first().map(|row| ms_per_task(row)),
        published_ratio: published_over(plan.baseline).filter(|_| target != plan.baseline),
        over_same_filesystem: counterpart.and_then(|other| {
            Some((series.ratio_to(series.with_target(other))?, published_over(other)))
        }),
        figures,
    }
}

fn steps(samples: &[&Sample]) -> BTreeMap<TaskStep, Percentiles> {
    let of = |step: TaskStep| {
        let latencies = samples.iter().filter_map(|s| s.steps()?.get(&step));
        Some((step, percentiles(latencies)?))
    };
    TaskStep::ALL.into_iter().filter_map(of).collect()
}

/// Returns the figures that were published for a target on its kind of file system; empty unless
/// they are of as many workers and rewrites. They are per task, so the number of tasks does not
/// matter.
fn published_for(record: &Record, target: usize) -> Vec<&'static study::TaskFigures> {
    let plan = &record.header.plan;
    let published = studies::tasks();
    let workers = plan.workloads.first().map(|workload| workload.threads);
    let Some(&QueueData { rewrites, output, .. }) = plan.experiment.queue() else {
        return vec![];
    };
    let facts = facts(record, target);
    let Some((target, facts)) = plan.targets.get(target).zip(facts) else { return vec![] };
    let work = published.work;
    if (workers, rewrites, output) != (Some(work.workers), work.rewrites, work.output) {
        return vec![];
    }
    let is_same = |row: &&study::TaskFigures| {
        row.what == "tasks"
            && row.on == kind(record, target)
            && study::is_same_target(&row.target, &target.engine, &facts.in_effect)
    };
    published.figures.iter().filter(is_same).collect()
}

/// Returns the milliseconds that all workers together took for a task: the mean of the runs.
fn ms_per_task(row: &study::TaskFigures) -> f64 {
    let work = studies::tasks().work;
    row.seconds() / (f64::from(work.workers) * work.tasks as f64) * 1e3
}

/// Returns the kind of file system of a target: the first word of its name.
fn kind<'a>(record: &'a Record, target: &'a PlannedTarget) -> &'a str {
    let only = record.header.environment.filesystems.first();
    let name = target.on.as_deref().or(only.map(|only| only.kind.as_str()));
    name.and_then(|name| name.split(' ').next()).unwrap_or_default()
}

/// Returns the ratio in the first table that has both.
fn ratio(own: &[&study::TaskFigures], base: &[&study::TaskFigures]) -> Option<f64> {
    let of_same_table = own.iter().flat_map(|own| base.iter().map(move |base| (own, base)));
    let mut same = of_same_table.filter(|(own, base)| own.table == base.table);
    same.next().map(|(own, base)| own.seconds() / base.seconds())
}
