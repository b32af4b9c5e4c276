//! Computes the figures of rows, next to the published ones.

use model::{Case, PlannedTarget, Settings, Workload, record::Record, rows::RowOperation};
use spec::study;
use stats::Estimate;

use crate::{
    figures::{Figures, counterpart, figures},
    series::{Series, facts},
    studies,
    verdict::Verdict,
};

/// The figures of processes that worked at the same time.
#[derive(Clone, Debug)]
pub struct RowGroup {
    /// The workload of the group's first operation.
    pub workload: Workload,
    /// A row for each target that was measured.
    pub targets: Vec<RowFigures>,
}

impl RowGroup {
    /// Reports whether any cell has a published figure to compare with; `figure` selects it.
    pub fn has_published(&self, figure: fn(&RowCell) -> Option<f64>) -> bool {
        self.targets.iter().flat_map(|row| &row.cells).any(|cell| figure(cell).is_some())
    }
}

/// The figures of one target.
#[derive(Clone, Debug)]
pub struct RowFigures {
    /// Index of the target in the plan.
    pub target: usize,
    /// The cells of inserting, summing and adding.
    pub cells: [RowCell; 3],
    /// Length of all files after the last operation, in millions of bytes; `None` if it has no
    /// files.
    pub size_mb: Option<f64>,
    /// The published size, in units of 1,048,576 bytes.
    pub published_mib: Option<f64>,
    /// Time of inserting divided by that of the baseline's store in the same style, paired by
    /// round; `None` if that was not measured, and for the baseline's store itself.
    pub over_same_style: Option<Estimate>,
    /// Counters of waiting for others, over all rounds: name, sum.
    pub waits: Vec<(&'static str, i64)>,
}

/// The figures of one operation of one target.
#[derive(Clone, Debug)]
pub struct RowCell {
    /// The workload and the cache state.
    pub case: Case,
    /// Seconds from the common start to the end of the last process.
    pub seconds: Option<Estimate>,
    /// The published seconds; `None` if no figure of as many rows was published.
    pub published_seconds: Option<f64>,
    /// Time divided by the baseline's, paired by round; `None` for the baseline.
    pub ratio: Option<Estimate>,
    /// The verdict on that ratio.
    pub verdict: Verdict,
    /// The published ratio to the baseline's published time, also of another number of rows.
    pub published_ratio: Option<f64>,
    /// The lowest and the highest ratio of times that round to the published ones.
    pub published_bounds: Option<(f64, f64)>,
}

/// Returns every group of the plan, in its order: workloads that do each operation once.
pub fn row_groups(record: &Record) -> Vec<RowGroup> {
    let plan = &record.header.plan;
    let all = figures(record);
    let groups = plan.workloads.chunks_exact(RowOperation::ALL.len()).enumerate();
    let group = |(place, workloads): (usize, &[Workload])| {
        let first = place * workloads.len();
        let of = |target: usize| {
            let of_target = |row: &&Figures| row.target == target;
            let in_group =
                |row: &&Figures| (first..first + workloads.len()).contains(&row.case.workload);
            let rows: Vec<_> = all.iter().filter(of_target).filter(in_group).collect();
            let rows: [&Figures; 3] = rows.try_into().ok()?;
            rows.iter().any(|row| row.rounds > 0).then(|| row(record, &workloads[0], &rows))
        };
        let targets = (0..plan.targets.len()).filter_map(of).collect();
        RowGroup { workload: workloads[0], targets }
    };
    groups.map(group).collect()
}

fn row(record: &Record, workload: &Workload, rows: &[&Figures; 3]) -> RowFigures {
    let plan = &record.header.plan;
    let Figures { target, case, .. } = *rows[0];
    let published = published_for(record, target, workload);
    let base = published_for(record, plan.baseline, workload);
    let as_many = plan.experiment.rows().is_some_and(|data| data.rows == studies::rows().work.rows);
    let cell = |index: usize| {
        let seconds = |row: &study::RowFigures| [row.insert, row.sum, row.update][index];
        let (own, base) = (published.and_then(seconds), base.and_then(seconds));
        let (own, base) = (own.filter(|own| *own > 0.0), base.filter(|base| *base > 0.0));
        let ratio = own.zip(base).map(|(own, base)| own / base);
        let bounds = own.zip(base).map(|(own, base)| {
            ((own - ROUNDED) / (base + ROUNDED), (own + ROUNDED) / (base - ROUNDED))
        });
        let Figures { case, us_per_op, ratio: measured, verdict, .. } = rows[index];
        let operations = plan.workloads[case.workload].count as f64;
        RowCell {
            case: *case,
            seconds: us_per_op.map(|time| time.map(|us| us * operations / 1e6)),
            published_seconds: own.filter(|_| as_many),
            ratio: *measured,
            verdict: *verdict,
            published_ratio: ratio.filter(|_| target != plan.baseline),
            published_bounds: bounds.filter(|_| target != plan.baseline),
        }
    };
    let store = |target: &PlannedTarget| (target.engine.clone(), without_style(&target.settings));
    let style = |target: &PlannedTarget| target.settings.get("style").map(str::to_owned);
    let series = Series::new(record, case, target);
    let other = counterpart(plan, target, store, style);
    RowFigures {
        target,
        cells: [cell(0), cell(1), cell(2)],
        size_mb: size_mb(record, rows[2]),
        over_same_style: other.and_then(|other| series.ratio_to(series.with_target(other))),
        waits: waits(record, rows),
        published_mib: published.filter(|_| as_many).and_then(|row| row.size),
    }
}

/// The published number of rows of a transaction for targets that have one of their own.
const PUBLISHED_BATCHES: [(&str, &str); 2] = [("sqlite", "100000"), ("mariadb", "30000")];

/// The rounding error of published seconds, which have two decimals.
const ROUNDED: f64 = 0.005;

/// The smallest part of the published rows, as a divisor, whose ratios compare: with fewer rows the
/// cost of a commit decides them too.
const LEAST_SHARE: u64 = 10;

/// Returns the figures that were published for a target; `None` if there are none for the same
/// work. Times and sizes hold for as many rows as were published, ratios for fewer too.
fn published_for(
    record: &Record,
    target: usize,
    workload: &Workload,
) -> Option<&'static study::RowFigures> {
    let plan = &record.header.plan;
    let in_effect = &facts(record, target)?.in_effect;
    let planned = plan.targets.get(target)?;
    let engine = &planned.engine;
    let batch = PUBLISHED_BATCHES.iter().find(|(of, _)| of == engine).map(|(_, batch)| *batch);
    planned.settings.get("batch").is_none_or(|own| Some(own) == batch).then_some(())?;
    let all = studies::rows();
    let own = workload.work.own_databases() == Some(true);
    let same_work = plan.experiment.rows()?.rows >= all.work.rows / LEAST_SHARE
        && (own || workload.processes == 1);
    all.figures.iter().filter(|_| same_work).find(|row| {
        row.processes == workload.processes
            && in_effect.get("style") == Some(row.style.as_str())
            && study::is_same_target(&row.target, engine, in_effect)
    })
}

/// Returns the largest size of the files in any round, after the last operation.
fn size_mb(record: &Record, row: &Figures) -> Option<f64> {
    let samples = record.samples_of(row.case, row.target);
    let bytes = samples.filter_map(|sample| Some(sample.files()?.apparent)).max()?;
    Some(bytes as f64 / 1e6)
}

fn waits(record: &Record, rows: &[&Figures; 3]) -> Vec<(&'static str, i64)> {
    let samples = || rows.iter().flat_map(|row| record.samples_of(row.case, row.target));
    [model::LOCK_WAITS, model::BUSY_RETRIES]
        .into_iter()
        .map(|name| (name, samples().filter_map(|s| s.counters.get(name)).sum()))
        .filter(|(_, sum)| *sum > 0)
        .collect()
}

/// Returns the settings that all styles of a store share.
pub fn without_style(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.0.retain(|name, _| name != "style" && name != "batch");
    settings
}
