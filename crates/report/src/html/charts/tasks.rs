//! Tasks: the time of each and its ratio, next to the published ones, and the latency of each step.

use model::tasks::Step;

use super::{Axis, Chart, Interval, Part, Run, Unit, joined, published, ratios};
use crate::{TaskFigures, tables, task_figures};

const READ: &str = "From the common start to the last worker's last task, over all tasks. Further left is \
                    faster; whiskers are 95 % intervals. Published figures are of another machine.";
const READ_STEPS: &str = "How long each step of a task takes in its worker.";
const SAME_FILESYSTEM: &str = "the baseline’s store on the same file system";
const MS: f64 = 1e6;

type Measured<'a> = [(Run<'a>, Vec<TaskFigures>)];

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let all: Vec<_> = part.runs().map(|run| (run, task_figures(run.record))).collect();
    vec![time(&all), ratio(part.baseline(), &all), steps(&all)]
}

fn rows<'a>(all: &'a Measured<'a>) -> impl Iterator<Item = (Run<'a>, &'a str, &'a TaskFigures)> {
    all.iter().flat_map(|(run, rows)| {
        rows.iter().map(move |row| (*run, run.label(row.figures.target), row))
    })
}

fn time(all: &Measured<'_>) -> Chart {
    let mut chart = Chart::dots("queue", Axis::log("time of a task", Unit::Nanoseconds));
    for (run, label, row) in rows(all) {
        let time = row.figures.us_per_op.map(|us| Interval::from(us).times(1e3));
        chart.in_group(&run.on("a task"), label, time);
        chart.in_group(&published("a task"), label, row.published_ms.map(|ms| ms * MS));
    }
    let times = joined(all, |record, rows| tables::tasks(record, rows));
    let costs = joined(all, |record, rows| tables::task_costs(record, rows));
    chart.described("Time of a task, all workers together", READ, times.into_iter().chain(costs))
}

fn ratio(baseline: &str, all: &Measured<'_>) -> Chart {
    let axis = Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio);
    let mut chart = Chart::dots("queue-ratio", axis).around_one();
    for (run, label, row) in rows(all) {
        chart.in_group(&run.on("baseline"), label, row.figures.ratio);
        chart.in_group(&published("baseline"), label, row.published_ratio);
        let Some((ratio, of_published)) = row.over_same_filesystem else { continue };
        chart.in_group(&run.on(SAME_FILESYSTEM), label, Some(ratio));
        chart.in_group(&published(SAME_FILESYSTEM), label, of_published);
    }
    let ratios = joined(all, |record, rows| tables::tasks(record, rows));
    let sites = joined(all, |record, rows| tables::task_sites(record, rows));
    let title = format!("Time of a task ÷ that of {baseline}");
    chart.described(title, ratios::READ, ratios.into_iter().chain(sites))
}

fn steps(all: &Measured<'_>) -> Chart {
    let mut chart = Chart::dots("queue-steps", Axis::log("latency", Unit::Nanoseconds));
    for (run, label, row) in rows(all) {
        for (step, latency) in &row.steps {
            for (name, us) in [("p50", latency.p50), ("p99", latency.p99)] {
                let group = run.on(format!("{}, {name}", word(*step)));
                chart.in_group(&group, label, Some(us * 1e3));
            }
        }
    }
    let table = joined(all, |record, rows| tables::task_steps(record, rows));
    chart.described("Latency of each step", READ_STEPS, table)
}

fn word(step: Step) -> &'static str {
    match step {
        Step::Create => "create",
        Step::Status => "status",
        Step::Rewrite => "rewrite",
        Step::Delete => "delete",
    }
}
