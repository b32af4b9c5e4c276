//! Charts of published figures next to measured ones: steps of a study, rows and tasks.

use model::study::Figure;
use stats::Crossing;

use super::{
    Axis, Cell, Chart, Column, Group, Interval, Part, Run, Series, Table, Unit, how_much,
    ratio_axis, ratio_of, runs, table_of, transposed,
};
use crate::{
    Here, RowCell, RowFigures, RowGroup, StudyFigure, StudyStep, TaskFigures, row_groups,
    study_figures, tables, task_figures, words,
};

impl Chart {
    /// Adds what `target` measured here, and what was published about it in a group of its own.
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

/// Reports whether published ratios are shown next to all measured ones.
pub(super) fn has_ratios(step: &StudyStep<'_>) -> bool {
    let figures = study_figures(step.step, &step.records);
    figures.iter().any(|row| row.figure == Figure::TimeRatio && row.published.is_some())
}

/// Returns the charts of a step of a study.
pub(super) fn study(part: &Part<'_>) -> Vec<Chart> {
    let Some(step) = part.step else { return vec![] };
    let all_ratios = has_ratios(step) && !part.is_sweep();
    let mut rows = study_figures(step.step, &step.records);
    // Other charts of the run have what nobody published.
    rows.retain(|row| row.published.is_some() || all_ratios && row.figure == Figure::TimeRatio);
    let of = |kind| rows.iter().filter(|row| row.figure == kind).cloned().collect::<Vec<_>>();
    KINDS.iter().map(|kind| of_kind(&of(*kind), *kind)).collect()
}

const KINDS: [Figure; 9] = [
    Figure::TimeRatio,
    Figure::ProcessorRatio,
    Figure::Microseconds,
    Figure::MbPerSecond,
    Figure::ResidentBefore,
    Figure::ResidentAfter,
    Figure::Bytes,
    Figure::SpaceRatio,
    Figure::BreakEven,
];

fn of_kind(rows: &[StudyFigure], kind: Figure) -> Chart {
    let (title, axis, factor) = axis_of(kind);
    let mut chart = Chart::dots("study", axis);
    if matches!(kind, Figure::TimeRatio | Figure::ProcessorRatio | Figure::SpaceRatio) {
        chart = chart.around_one();
    }
    for row in rows {
        for value in row.here.iter().flat_map(here) {
            let note = row.against().map(|against| tables::against_published(against).to_owned());
            chart.in_group(row.shown_place(), &row.target, Some(value.times(factor).noted(note)));
        }
        let range = row.published.map(|range| of_range(range).times(factor));
        chart.in_group(&of_published(row.shown_place()), &row.target, range);
    }
    let title = format!("Do the published {title} hold here?");
    chart.described(title, READ_STUDY, [tables::study(rows)])
}

/// Returns what the title of a kind's charts is about, their axis, and the factor from its unit to
/// that of the axis.
fn axis_of(kind: Figure) -> (&'static str, Axis, f64) {
    let ratio = |label| Axis::log(label, Unit::Ratio);
    let percent = |label| Axis::linear(label, Unit::Count);
    match kind {
        Figure::TimeRatio => ("ratios of times", ratio("time ÷ the baseline’s"), 1.0),
        Figure::ProcessorRatio => {
            ("ratios of processor times", ratio("processor time ÷ the baseline’s"), 1.0)
        }
        Figure::Microseconds => {
            ("times", Axis::log("time of an operation", Unit::Nanoseconds), 1e3)
        }
        Figure::MbPerSecond => ("rates", Axis::log("bytes a second", Unit::BytesPerSecond), 1e6),
        Figure::ResidentBefore => ("pages in memory before", percent("% of the pages"), 1.0),
        Figure::ResidentAfter => ("pages in memory afterwards", percent("% of the pages"), 1.0),
        Figure::Bytes => ("lengths of files", Axis::log("length", Unit::Bytes), 1.0),
        Figure::SpaceRatio => ("ratios of space", ratio("on disk ÷ the baseline’s"), 1.0),
        Figure::BreakEven => ("break-even sizes", Axis::log("size of blobs", Unit::Bytes), 1.0),
    }
}

/// Converts a published figure, which may have no upper end, or a range.
fn of_range((low, high): (f64, f64)) -> Interval {
    if low.total_cmp(&high).is_eq() || high.is_infinite() {
        return low.into();
    }
    Interval { low: Some(low), high: Some(high), ..Interval::default() }
}

/// Converts a figure of this machine; a break-even may have several crossings, or none.
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

const READ_ROWS: &str = "Left of the line a store is faster. Whiskers are the 95 % interval, small dots the rounds. \
                         Published figures, if there are any, are in groups of their own: they are of another \
                         machine and have no interval.";
const READ_STYLE: &str = "Both sides pass rows to the store in the same way: the rest of the difference is \
                          the store's.";
const OPERATIONS: [&str; 3] = ["insert", "sum", "update"];
const SECONDS: f64 = 1e9;

/// The runs with the figures of the same processes.
type RowGroups<'a> = [Group<'a, &'a RowGroup>];

/// Returns the charts of ratios of the operations on rows, or of times if there is one target.
pub(super) fn rows(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| row_groups(run.record));
    let of = |groups: &RowGroups<'_>| {
        let by = words::processes(&groups[0].figures.workload);
        [operations(part, groups).with_place(&by), style(groups).with_place(by)]
    };
    transposed(&groups).iter().flat_map(|groups| of(groups)).collect()
}

fn operations(part: &Part<'_>, groups: &RowGroups<'_>) -> Chart {
    let alone = part.is_alone();
    let mut chart = if alone {
        Chart::dots("rows", Axis::log("time", Unit::Nanoseconds))
    } else {
        Chart::dots("rows", ratio_axis(part)).around_one()
    };
    for (run, label, row) in each_row(groups) {
        for (name, cell) in OPERATIONS.iter().zip(&row.cells) {
            let of = if alone { seconds(cell) } else { ratios(run, row.target, cell) };
            chart.next_to_published(run, name, label, of);
        }
    }
    let seconds = table_of(groups, tables::row_seconds);
    if alone {
        return chart.described("How long does each operation take?", READ_ROWS, seconds);
    }
    let ratios = table_of(groups, tables::row_ratios);
    chart.described(how_much(part), READ_ROWS, ratios.into_iter().chain(seconds))
}

fn seconds(cell: &RowCell) -> [Option<Interval>; 2] {
    let here = cell.seconds.map(|seconds| Interval::from(seconds).times(SECONDS));
    [here, cell.published_seconds.map(|seconds| (seconds * SECONDS).into())]
}

fn ratios(run: Run<'_>, target: usize, cell: &RowCell) -> [Option<Interval>; 2] {
    let series = Series::new(run.record, cell.case, target);
    let rounds = series.ratios_to(series.baseline()).values;
    let here = cell.ratio.map(|ratio| Interval::from(ratio).of_rounds(rounds));
    [here, cell.published_ratio.map(Interval::from)]
}

fn each_row<'a>(
    groups: &'a RowGroups<'a>,
) -> impl Iterator<Item = (Run<'a>, &'a str, &'a RowFigures)> {
    groups.iter().flat_map(|Group { run, figures, .. }| {
        figures.targets.iter().map(|row| (*run, run.label(row.target), row))
    })
}

fn style(groups: &RowGroups<'_>) -> Chart {
    const HEAD: &str = "time of inserting ÷";
    let mut chart = Chart::dots("rows-style", Axis::log(HEAD, Unit::Ratio)).around_one();
    let mut compared = Vec::new();
    for (run, label, row) in each_row(groups).filter(|(.., row)| row.over_same_style.is_some()) {
        chart.in_group(&run.on("insert"), label, row.over_same_style);
        compared.push((run.on(label), row.over_same_style));
    }
    // The baseline's own style is in the chart of ratios.
    if compared.len() < 2 {
        chart.series.clear();
    }
    let table = Table::for_rows("", &compared)
        .with(Column::text("target"), |(label, _)| label.clone())
        .with(Column::number(HEAD, ""), |(_, ratio)| Cell::interval(ratio.as_ref()));
    let title = "What is left of the difference in the same style?";
    chart.described(title, READ_STYLE, [table.into_table()])
}

const READ_TASKS: &str = "From the common start to the last worker's last task, over all tasks. Left of the line a \
                          store is faster; whiskers are the 95 % interval, small dots the rounds. Published \
                          figures are of another machine.";
const READ_STEPS: &str = "Median and 99th percentile of each step in its worker.";
const SAME_FILESYSTEM: &str = "the baseline’s store on the same file system";
const MS: f64 = 1e6;

/// Returns the charts of the ratio of a task's time, or of the time if there is one target, and of
/// the latency of each step.
pub(super) fn tasks(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| task_figures(run.record));
    let alone = part.is_alone();
    let mut chart = if alone {
        Chart::dots("queue", Axis::log("time of a task", Unit::Nanoseconds))
    } else {
        Chart::dots("queue", ratio_axis(part)).around_one()
    };
    let mut steps = Chart::dots("queue-steps", Axis::log("latency", Unit::Nanoseconds));
    for Group { run, figures, .. } in &groups {
        for row in figures {
            let add = if alone { add_time } else { add_ratios };
            add(&mut chart, *run, row);
            add_steps(&mut steps, *run, row);
        }
    }
    let title = if alone { "How long does a task take?".to_owned() } else { how_much(part) };
    let [of_tasks, sites, costs] = [
        table_of(&groups, tables::tasks),
        table_of(&groups, tables::task_sites),
        table_of(&groups, tables::task_costs),
    ];
    let tables = of_tasks.into_iter().chain(sites).chain(costs);
    let table = table_of(&groups, tables::task_steps);
    vec![
        chart.described(title, READ_TASKS, tables),
        steps.described("How long does each step of a task take?", READ_STEPS, table),
    ]
}

fn add_time(chart: &mut Chart, run: Run<'_>, row: &TaskFigures) {
    let time = row.figures.us_per_op.map(|us| Interval::from(us).times(1e3));
    let published = row.published_ms.map(|ms| (ms * MS).into());
    chart.next_to_published(run, "a task", run.label(row.figures.target), [time, published]);
}

fn add_ratios(chart: &mut Chart, run: Run<'_>, row: &TaskFigures) {
    let label = run.label(row.figures.target);
    let ratio = [ratio_of(run, &row.figures), row.published_ratio.map(Interval::from)];
    chart.next_to_published(run, "a task", label, ratio);
    if let Some((ratio, published)) = row.over_same_filesystem {
        let ratio = [Some(ratio.into()), published.map(Interval::from)];
        chart.next_to_published(run, SAME_FILESYSTEM, label, ratio);
    }
}

fn add_steps(chart: &mut Chart, run: Run<'_>, row: &TaskFigures) {
    let label = run.label(row.figures.target);
    for (step, latency) in &row.steps {
        for (name, us) in [("p50", latency.p50), ("p99", latency.p99)] {
            chart.in_group(&run.on(format!("{step}, {name}")), label, Some(us * 1e3));
        }
    }
}
