//! Queues: the time of a task and its ratio, published ones beside, and the latency of each step.

use model::tasks::Step;

use crate::{
    Percentiles, QueueFigures,
    html::{
        chart::{Axis, Interval, Unit},
        figure::Figure,
        groups::Groups,
        machine::{Job, Part, Run},
        table::{Column, Table},
        targets::Targets,
    },
    queue_figures,
    terminal::{
        number::{NONE, figure, figure_or_none, with_interval},
        times,
    },
};

use super::ratios;

const READ: &str = "From the common start to the last worker's last task, over all tasks. Further left is \
                    faster; whiskers are 95 % intervals. Published figures are of another machine.";
const READ_STEPS: &str = "How long each step of a task takes in its worker.";
const MS: f64 = 1e6;

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    if part.job() != Job::Queue {
        return vec![];
    }
    let all: Vec<(Run<'_>, Vec<QueueFigures>)> =
        part.runs().map(|run| (run, queue_figures(run.record))).collect();
    let rows = || all.iter().flat_map(|(run, rows)| rows.iter().map(|row| (*run, row)));
    let rows: Vec<_> = rows().collect();
    vec![time(part, targets, &rows), ratio(part, targets, &rows), steps(part, targets, &rows)]
}

type Rows<'a> = [(Run<'a>, &'a QueueFigures)];

fn time(part: &Part<'_>, targets: &Targets<'_>, rows: &Rows<'_>) -> Figure {
    let title = "Time of a task, all workers together".to_owned();
    let mut groups = Groups::new(Axis::log("time of a task", Unit::Nanoseconds));
    let mut table = Table::new(title.clone(), columns());
    for (run, row) in rows {
        let label = run.label(row.figures.target);
        table.row(cells(&part.on(label, run.side), row));
        let Some(target) = targets.place(label) else { continue };
        if let Some(us) = &row.figures.us_per_op {
            groups.point(&part.on("a task", run.side), target, Interval::from(us).times(1e3), None);
        }
        if let Some(ms) = row.published_ms {
            let value = Interval::exact(ms).times(MS);
            groups.point(&super::published("a task"), target, value, None);
        }
    }
    groups.figure("queue", title, READ, table)
}

fn ratio(part: &Part<'_>, targets: &Targets<'_>, rows: &Rows<'_>) -> Figure {
    let baseline = part.runs().next().map_or("", Run::baseline);
    let title = format!("Time of a task ÷ that of {baseline}");
    let axis = Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio);
    let mut groups = Groups::around_one(axis);
    let mut table = Table::new(title.clone(), ratio_columns());
    for (run, row) in rows {
        let label = run.label(row.figures.target);
        table.row(ratio_cells(&part.on(label, run.side), row));
        let Some(target) = targets.place(label) else { continue };
        let here = |name: &str| part.on(name, run.side);
        let mut point = |name: String, value: Interval| groups.point(&name, target, value, None);
        if let Some(ratio) = &row.figures.ratio {
            point(here("baseline"), Interval::from(ratio));
        }
        if let Some(published) = row.published_ratio {
            point(super::published("baseline"), Interval::exact(published));
        }
        if let Some((ratio, published)) = &row.over_same_site {
            point(here(SAME_SITE), Interval::from(ratio));
            if let Some(published) = published {
                point(super::published(SAME_SITE), Interval::exact(*published));
            }
        }
    }
    groups.figure("queue-ratio", title, ratios::READ, table)
}

const SAME_SITE: &str = "its like on the same file system";

fn steps(part: &Part<'_>, targets: &Targets<'_>, rows: &Rows<'_>) -> Figure {
    let title = "Latency of each step".to_owned();
    let mut groups = Groups::new(Axis::log("latency", Unit::Nanoseconds));
    let mut table = Table::new(title.clone(), step_columns());
    for (run, row) in rows {
        let label = run.label(row.figures.target);
        let name = part.on(label, run.side);
        for (step, p) in &row.steps {
            table.row(step_cells(&name, *step, p));
            let Some(target) = targets.place(label) else { continue };
            for (which, us) in [("p50", p.p50_us), ("p99", p.p99_us)] {
                let group = part.on(format!("{}, {which}", name_of(*step)), run.side);
                groups.point(&group, target, Interval::exact(us * 1e3), None);
            }
        }
    }
    groups.figure("queue-steps", title, READ_STEPS, table)
}

fn name_of(step: Step) -> &'static str {
    match step {
        Step::Create => "create",
        Step::Status => "status",
        Step::Rewrite => "rewrite",
        Step::Delete => "delete",
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::number("time", "ms/task"),
        Column::number("published", "ms/task"),
        Column::number("tasks", "/s"),
        Column::number("first", "ms"),
        Column::number("CPU", "ms"),
        Column::number("lock waits", "per task"),
        Column::number("busy retries", "per task"),
        Column::number("written", "kB/task"),
        Column::number("owed", "% of time"),
        Column::number("on disk", "kB in all"),
    ]
}

fn cells(name: &str, row: &QueueFigures) -> Vec<String> {
    let time = row.figures.us_per_op.as_ref();
    let cpu = row.figures.cpu.map(|cpu| (cpu.user_us_per_op + cpu.system_us_per_op) / 1e3);
    vec![
        name.to_owned(),
        time.map_or_else(|| NONE.to_owned(), |us| with_interval(&in_ms(us))),
        figure_or_none(row.published_ms),
        time.map_or_else(|| NONE.to_owned(), |us| figure(1e6 / us.point)),
        figure_or_none(row.figures.first_us_per_op.map(|us| us.point / 1e3)),
        figure_or_none(cpu),
        figure_or_none(row.waits.map(|waits| waits.locks)),
        figure_or_none(row.waits.map(|waits| waits.retries)),
        figure_or_none(row.written_per_task.map(|bytes| bytes / 1e3)),
        figure(row.owed * 100.0),
        figure(row.disk_bytes as f64 / 1e3),
    ]
}

fn in_ms(us: &stats::Estimate) -> stats::Estimate {
    stats::Estimate { point: us.point / 1e3, low: us.low / 1e3, high: us.high / 1e3, ..*us }
}

fn ratio_columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::number("time ÷ baseline’s", ""),
        Column::number("published", ""),
        Column::text("verdict"),
        Column::number("time ÷ that of its like on the same file system", ""),
        Column::number("published", ""),
    ]
}

fn ratio_cells(name: &str, row: &QueueFigures) -> Vec<String> {
    let (site, published) = row
        .over_same_site
        .as_ref()
        .map_or((None, None), |(ratio, published)| (Some(ratio), *published));
    vec![
        name.to_owned(),
        times::ratio(&row.figures),
        figure_or_none(row.published_ratio),
        times::judged(&row.figures),
        site.map_or_else(|| NONE.to_owned(), with_interval),
        figure_or_none(published),
    ]
}

fn step_columns() -> Vec<Column> {
    let mut columns = vec![Column::text("target"), Column::text("step")];
    columns.extend(["p50", "p90", "p99", "p99.9", "max"].map(|name| Column::number(name, "µs")));
    columns
}

fn step_cells(name: &str, step: Step, p: &Percentiles) -> Vec<String> {
    let mut cells = vec![name.to_owned(), name_of(step).to_owned()];
    cells.extend([p.p50_us, p.p90_us, p.p99_us, p.p999_us, p.max_us].map(figure));
    cells
}
