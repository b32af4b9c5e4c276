//! Charts of the ratios of tasks next to the published ones, and of the latency of each step.

use checks::{Figures, TaskFigures, task_figures};

use super::tables;
use crate::charts::{
    Axis, Chart, Group, Interval, Part, Run, Unit, compared_dots, how_much, ratio_of, runs,
    table_of,
};

const READ_TASKS: &str = "From the common start to the last worker's last task, over all tasks. Left of the line a \
                          store is faster; whiskers are the 95 % interval, small dots the rounds. Published \
                          figures are of another machine.";
const READ_STEPS: &str = "Median and 99th percentile of each step in its worker.";
const SAME_FILESYSTEM: &str = "the baseline’s store on the same file system";
const MS: f64 = 1e6;

/// Returns the charts of the ratio of a task's time, or of the time if there is one target, and of
/// the latency of each step.
pub(crate) fn tasks(part: &Part<'_>) -> Vec<Chart> {
    let groups = runs(part, |run| task_figures(run.record));
    let alone = part.is_alone();
    let mut chart = compared_dots(part, "queue", "time of a task");
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
    let Figures { case, target, ratio, .. } = row.figures;
    let ratio = [ratio_of(run, (case, target), ratio), row.published_ratio.map(Interval::from)];
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
