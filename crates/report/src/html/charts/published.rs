//! What was published next to what was measured here: steps of a study, rows and tasks.

use model::study::Figure;
use stats::Crossing;

use super::{
    Axis, Cell, Chart, Column, Group, Interval, Part, Run, Table, Unit, cases::READ_RATIO,
    ratio_axis, runs, table_of, transposed,
};
use crate::{
    Here, RowCell, RowFigures, RowGroup, StudyFigure, TaskFigures, row_groups, study_figures,
    tables, task_figures, words,
};

impl Chart {
    /// Adds what `target` measured here, and what was published of it in a group of its own.
    fn next_to_published(
        &mut self,
        run: Run<'_>,
        group: &str,
        target: &str,
        [here, published]: [Option<Interval>; 2],
    ) {
        self.in_group(&run.on(group), target, here);
        self.in_group(&of_published(group), target, published);
    }
}

fn of_published(group: &str) -> String {
    format!("{group} (published)")
}

const READ_STUDY: &str = "Published figures are in groups of their own, with a mark at the least and at the greatest \
                          if there were several; whiskers of the figures measured here are 95 % intervals.";

/// A step of a study.
pub(super) fn study(part: &Part<'_>) -> Vec<Chart> {
    let Some(step) = part.step else { return vec![] };
    let mut rows = study_figures(step.step, &step.records);
    // A ratio that nobody published is in the charts of the run.
    rows.retain(|row| row.published.is_some());
    let kinds = [Figure::TimeRatio, Figure::Microseconds, Figure::SpaceRatio, Figure::BreakEven];
    let of = |kind| rows.iter().filter(|row| row.figure == kind).cloned().collect::<Vec<_>>();
    kinds.iter().map(|kind| of_kind(&of(*kind), *kind)).collect()
}

fn of_kind(rows: &[StudyFigure], kind: Figure) -> Chart {
    let (title, axis, unit, factor) = match kind {
        Figure::TimeRatio => ("Time ÷ the baseline’s", "time ÷ the baseline’s", Unit::Ratio, 1.0),
        Figure::Microseconds => ("Time of an operation", "time", Unit::Nanoseconds, 1e3),
        Figure::SpaceRatio => {
            ("Space ÷ the baseline’s", "on disk ÷ the baseline’s", Unit::Ratio, 1.0)
        }
        Figure::BreakEven => ("Break-even size", "size of blobs", Unit::Bytes, 1.0),
    };
    let mut chart = Chart::dots("study", Axis::log(axis, unit));
    if matches!(kind, Figure::TimeRatio | Figure::SpaceRatio) {
        chart = chart.around_one();
    }
    for row in rows {
        let Some(range) = row.published else { continue };
        for value in row.here.iter().flat_map(here) {
            let note = row.against().map(|against| tables::against_published(against).to_owned());
            chart.in_group(&row.place, &row.target, Some(value.times(factor).noted(note)));
        }
        let group = of_published(&row.place);
        chart.in_group(&group, &row.target, Some(of_range(range).times(factor)));
    }
    chart.described(format!("{title}, published and here"), READ_STUDY, [tables::study(rows)])
}

/// A published figure, which may have no upper end, or a range.
fn of_range((low, high): (f64, f64)) -> Interval {
    if low.total_cmp(&high).is_eq() || high.is_infinite() {
        return low.into();
    }
    Interval { low: Some(low), high: Some(high), ..Interval::default() }
}

/// A break-even may have several crossings, or none.
fn here(here: &Here) -> Vec<Interval> {
    match here {
        Here::Estimate(estimate) => vec![Interval::from(*estimate)],
        Here::Exact(value) => vec![Interval::from(*value)],
        Here::Even(even) => {
            let of = |c: &Crossing| Interval { low: c.low, high: c.high, ..c.size.into() };
            even.found.crossings.iter().map(of).collect()
        }
    }
}

const READ_ROWS: &str = "Further left is faster; whiskers are 95 % intervals. Published figures, if there are any, \
                         are in groups of their own: they are of another machine and have no interval.";
const READ_STYLE: &str = "Both sides pass rows to the store in the same way: the rest of the difference is \
                          the store's.";
const OPERATIONS: [&str; 3] = ["insert", "sum", "update"];
const SECONDS: f64 = 1e9;

/// Runs with the figures of the same processes.
type Rows<'a> = [Group<'a, &'a RowGroup>];

/// The times of the operations on rows and the ratios.
pub(super) fn rows(part: &Part<'_>) -> Vec<Chart> {
    let of = |groups: &Rows<'_>| {
        let by = words::processes(&groups[0].figures.workload);
        let times = Chart::dots("rows", Axis::log("time", Unit::Nanoseconds));
        let times = of_operations(times, groups, |cell| {
            let here = cell.seconds.map(|seconds| Interval::from(seconds).times(SECONDS));
            [here, cell.published_seconds.map(|seconds| (seconds * SECONDS).into())]
        });
        let ratios = Chart::dots("rows-ratio", ratio_axis(part)).around_one();
        let ratios = of_operations(ratios, groups, |cell| {
            [cell.ratio.map(Interval::from), cell.published_ratio.map(Interval::from)]
        });
        let title = format!("Time ÷ that of {}: {by}", part.baseline());
        [
            times.described(
                format!("Time of all rows: {by}"),
                READ_ROWS,
                table_of(groups, tables::row_seconds),
            ),
            ratios.described(title, READ_RATIO, table_of(groups, tables::row_ratios)),
            style(groups, &by),
        ]
    };
    let groups = runs(part, |run| row_groups(run.record));
    transposed(&groups).iter().flat_map(|groups| of(groups)).collect()
}

fn each_row<'a>(groups: &'a Rows<'a>) -> impl Iterator<Item = (Run<'a>, &'a str, &'a RowFigures)> {
    groups.iter().flat_map(|Group { run, figures, .. }| {
        figures.targets.iter().map(|row| (*run, run.label(row.target), row))
    })
}

fn of_operations(
    mut chart: Chart,
    groups: &Rows<'_>,
    values: impl Fn(&RowCell) -> [Option<Interval>; 2],
) -> Chart {
    for (run, label, row) in each_row(groups) {
        for (name, cell) in OPERATIONS.iter().zip(&row.cells) {
            chart.next_to_published(run, name, label, values(cell));
        }
    }
    chart
}

fn style(groups: &Rows<'_>, by: &str) -> Chart {
    const HEAD: &str = "time of inserting ÷";
    let mut chart = Chart::dots("rows-style", Axis::log(HEAD, Unit::Ratio)).around_one();
    let mut compared = Vec::new();
    for (run, label, row) in each_row(groups).filter(|(.., row)| row.over_same_style.is_some()) {
        chart.in_group(&run.on("insert"), label, row.over_same_style);
        compared.push((run.on(label), row.over_same_style));
    }
    let table = Table::of("", &compared)
        .with(Column::text("target"), |(label, _)| label.clone())
        .with(Column::number(HEAD, ""), |(_, ratio)| Cell::interval(ratio.as_ref()));
    let title = format!("Inserting ÷ that of the baseline’s store in the same style: {by}");
    chart.described(title, READ_STYLE, [table.done()])
}

const READ_TASKS: &str = "From the common start to the last worker's last task, over all tasks. Further left is \
                          faster; whiskers are 95 % intervals. Published figures are of another machine.";
const READ_STEPS: &str = "How long each step of a task takes in its worker.";
const SAME_FILESYSTEM: &str = "the baseline’s store on the same file system";
const MS: f64 = 1e6;

/// The time of each task, its ratio, and the latency of each step.
pub(super) fn tasks(part: &Part<'_>) -> Vec<Chart> {
    let mut times = Chart::dots("queue", Axis::log("time of a task", Unit::Nanoseconds));
    let mut ratios = Chart::dots("queue-ratio", ratio_axis(part)).around_one();
    let mut steps = Chart::dots("queue-steps", Axis::log("latency", Unit::Nanoseconds));
    let groups = runs(part, |run| task_figures(run.record));
    for Group { run, figures, .. } in &groups {
        for row in figures {
            add_task(*run, row, [&mut times, &mut ratios, &mut steps]);
        }
    }
    let title = format!("Time of a task ÷ that of {}", part.baseline());
    let [costs, sites] =
        [table_of(&groups, tables::task_costs), table_of(&groups, tables::task_sites)];
    let with = |more: Option<Table>| table_of(&groups, tables::tasks).into_iter().chain(more);
    vec![
        times.described("Time of a task, all workers together", READ_TASKS, with(costs)),
        ratios.described(title, READ_RATIO, with(sites)),
        steps.described("Latency of each step", READ_STEPS, table_of(&groups, tables::task_steps)),
    ]
}

fn add_task(run: Run<'_>, row: &TaskFigures, [times, ratios, steps]: [&mut Chart; 3]) {
    let label = run.label(row.figures.target);
    let time = row.figures.us_per_op.map(|us| Interval::from(us).times(1e3));
    let published = row.published_ms.map(|ms| (ms * MS).into());
    times.next_to_published(run, "a task", label, [time, published]);
    let ratio = [row.figures.ratio.map(Interval::from), row.published_ratio.map(Interval::from)];
    ratios.next_to_published(run, "baseline", label, ratio);
    if let Some((ratio, published)) = row.over_same_filesystem {
        let ratio = [Some(ratio.into()), published.map(Interval::from)];
        ratios.next_to_published(run, SAME_FILESYSTEM, label, ratio);
    }
    for (step, latency) in &row.steps {
        for (name, us) in [("p50", latency.p50), ("p99", latency.p99)] {
            let group = run.on(format!("{step}, {name}"));
            steps.in_group(&group, label, Some(us * 1e3));
        }
    }
}
