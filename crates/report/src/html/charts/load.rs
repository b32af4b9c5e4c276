//! Latency against load: what operations on a schedule took, over the rate asked for.

use std::collections::BTreeMap;

use model::{Case, Plan, Work, Workload, units::show_rate};

use super::{Axis, Chart, Figures, Mark, Part, Run, Unit, groups, measured, table_of};
use crate::{Percentiles, tables};

const READ: &str = "Operations start on schedule, and latency counts from each one's scheduled start. A line \
                    bends up where its target cannot keep up; from there on it is saturated.";

type Shown = (&'static str, fn(&Percentiles) -> f64);
const SHOWN: [Shown; 2] = [("Median latency", |p| p.p50), ("99th percentile", |p| p.p99)];

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    loads(part.plan())
        .iter()
        .flat_map(|cases| SHOWN.iter().map(|shown| chart(part, cases, shown)))
        .collect()
}

/// Cases of the same work at several rates.
fn loads(plan: &Plan) -> Vec<Vec<Case>> {
    let mut loads: Vec<Vec<Case>> = Vec::new();
    for case in plan.cases().filter(|case| plan.workloads[case.workload].work.rate().is_some()) {
        let same = |other: &Case| {
            other.cache == case.cache && at_any_rate(plan, *other) == at_any_rate(plan, case)
        };
        match loads.iter_mut().find(|cases| same(&cases[0])) {
            Some(cases) => cases.push(case),
            None => loads.push(vec![case]),
        }
    }
    loads.retain(|cases| cases.len() > 1);
    loads
}

/// A workload without its rate.
fn at_any_rate(plan: &Plan, case: Case) -> Workload {
    let mut workload = plan.workloads[case.workload];
    workload.count = 0;
    if let Work::Blobs { rate, .. } = &mut workload.work {
        *rate = None;
    }
    workload
}

fn chart(part: &Part<'_>, cases: &[Case], (name, of): &Shown) -> Chart {
    let plan = part.plan();
    let along = Axis::log("operations asked for", Unit::PerSecond);
    let mut chart = Chart::lines("load", along, Axis::log(*name, Unit::Nanoseconds));
    let mut saturated: BTreeMap<String, Mark> = BTreeMap::new();
    let groups = groups(part, cases, Run::place);
    for (_, run, row) in measured(&groups) {
        let Some(asked) = plan.workloads[row.case.workload].work.rate() else { continue };
        let (target, name) = (run.label(row.target), series(run, row));
        let latency = row.latency.map(|latency| of(&latency) * 1e3);
        chart.point(Some(target), &name, asked, latency);
        let Some(mark) = mark(target, &name, asked, row) else { continue };
        // From the lowest such rate on it stays saturated.
        if saturated.get(&name).is_none_or(|known| mark.at < known.at) {
            saturated.insert(name, mark);
        }
    }
    chart.marks = saturated.into_values().collect();
    let [times, latencies] =
        [tables::times, tables::latency_table].map(|table| table_of(&groups, table));
    let work = plan.workloads[cases[0].workload].work;
    let title = format!("{name} against load: {work}, {}", cases[0].cache);
    chart.described(title, READ, times.into_iter().chain(latencies))
}

/// A target, with what else varies.
fn series(run: Run<'_>, row: &Figures) -> String {
    let words = [run.label(row.target).to_owned(), run.varied()];
    run.on(words.join(" ").trim_end())
}

fn mark(target: &str, name: &str, asked: f64, row: &Figures) -> Option<Mark> {
    let kept = row.paced.filter(|kept| kept.saturated)?;
    Some(Mark {
        target: target.to_owned(),
        label: format!("{name} is saturated: it reaches {} a second", show_rate(kept.reached)),
        at: asked,
        low: None,
        high: None,
    })
}
