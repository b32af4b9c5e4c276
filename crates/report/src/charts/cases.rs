//! Ratios, times and latencies of cases; latencies against load too.

use std::collections::BTreeMap;

use checks::{Figures, Latencies, Percentiles};
use itertools::Itertools;
use model::{Cache, Case, Plan, Workload, units::show_rate};

use super::{
    Axis, CaseGroup, Chart, Interval, Mark, Part, READ_RATIO, Run, Series, Unit, compared_dots,
    groups, how_much, measured, ratio_of, study, table_of,
};
use crate::{tables, words};

/// Returns the chart of ratios to the baseline, or of times if there is only one target.
pub(crate) fn compared(part: &Part<'_>) -> Vec<Chart> {
    let cases: Vec<_> = part.plan().cases().collect();
    match &part.step {
        // They are next to the published ones.
        Some(step) if study::has_ratios(step) => vec![],
        _ => vec![comparison(part, "", &groups(part, &cases, Run::case))],
    }
}

const READ_TIMES: &str =
    "Further left is faster. Whiskers are the interval that decides, small dots the rounds.";

pub(crate) fn comparison(part: &Part<'_>, place: &str, groups: &[CaseGroup<'_>]) -> Chart {
    let id = if part.is_alone() { "time" } else { "ratio" };
    let chart = compared_dots(part, id, "time of an operation");
    let table = table_of(groups, tables::times);
    let chart = if part.is_alone() {
        let title = "How long does an operation take?";
        dots(chart, groups, time).described(title, READ_TIMES, table)
    } else {
        dots(chart, groups, ratio).described(how_much(part), READ_RATIO, table)
    };
    let mut chart = chart.with_place(place);
    chart.sentences = conditions(groups);
    chart
}

/// Returns the operations, commits and durability of each case, unless there are more than [`FEW`].
fn conditions(groups: &[CaseGroup<'_>]) -> Vec<String> {
    let of = |(_, run, row): (&str, Run<'_>, &Figures)| words::case_title(run.record, row.case);
    let all: Vec<_> = measured(groups).map(of).unique().collect();
    if all.len() > FEW { Vec::new() } else { all }
}

const FEW: usize = 4;

fn time(run: Run<'_>, row: &Figures) -> Option<Interval> {
    let rounds = Series::new(run.record, row.case, row.target).unit_times().values;
    Some(Interval::from(row.us_per_op?).of_rounds(rounds).times(1e3))
}

fn ratio(run: Run<'_>, row: &Figures) -> Option<Interval> {
    Some(
        ratio_of(run, (row.case, row.target), row.ratio)?
            .noted(words::verdict(row.verdict, row.ratio.as_ref())),
    )
}

fn dots(
    mut chart: Chart,
    groups: &[CaseGroup<'_>],
    value: fn(Run<'_>, &Figures) -> Option<Interval>,
) -> Chart {
    for (group, run, row) in measured(groups) {
        chart.in_group(group, run.label(row.target), value(run, row));
    }
    chart
}

const READ_LATENCIES: &str = "At p99: 99 percent of the operations took at most so long. The rare slow ones are on the \
                              right.";

/// The percentages that are always shown; rarer ones follow as long as there are enough operations.
const COMMON: [f64; 8] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0];

/// Returns a chart for each case of the latency that each share of the operations stays below.
pub(crate) fn latencies(part: &Part<'_>) -> Vec<Chart> {
    let chart = |case: Case| {
        let along = Axis::log("share of the operations", Unit::Percentile);
        let mut chart = Chart::lines("latency", along, Axis::log("latency", Unit::Nanoseconds));
        let groups = groups(part, &[case], |_, _| String::new());
        for (_, run, row) in measured(&groups) {
            let all = checks::latencies(run.record, case, row.target).into_iter();
            for (percent, ns) in all.filter(|one| one.action.is_none()).flat_map(|one| points(&one))
            {
                chart.on_line(run, row.target, percent, Some(ns));
            }
        }
        let title = "How long do the rare slow operations take?";
        let table = table_of(&groups, tables::latency_table);
        chart.described(title, READ_LATENCIES, table).with_place(part.first().case(case))
    };
    // Cases at several rates are in the charts against load.
    let against_load: Vec<_> = at_rates(part.plan()).concat();
    let cases = part.plan().cases().filter(|case| !against_load.contains(case));
    cases.map(chart).collect()
}

/// Returns percentages and latencies; the largest latency is at 100.
fn points(of: &Latencies) -> Vec<(f64, f64)> {
    let count = of.histogram.len() as f64;
    let nines = (1..).flat_map(|nines| [2.0, 1.0].map(|rest| rest * 10_f64.powi(-nines)));
    let rare = nines.take_while(|rest| rest * count >= 100.0).map(|rest| 100.0 - rest);
    let at = |percent: f64| (percent, of.histogram.value_at_percentile(percent) as f64);
    COMMON.into_iter().chain(rare).map(at).chain([(100.0, of.histogram.max() as f64)]).collect()
}

const READ_LOAD: &str = "Operations start on schedule, and latency counts from each one's scheduled start. A line \
                         bends up where its store cannot keep up; from there on it is saturated.";

type ShownPercentile = (&'static str, fn(&Percentiles) -> f64);
const SHOWN: [ShownPercentile; 2] = [("p50", |p| p.p50), ("p99", |p| p.p99)];

/// Returns the charts of latencies on a schedule, over the rate asked for.
pub(crate) fn loads(part: &Part<'_>) -> Vec<Chart> {
    at_rates(part.plan()).iter().map(|cases| load(part, cases)).collect()
}

/// Returns cases of the same work at several rates.
fn at_rates(plan: &Plan) -> Vec<Vec<Case>> {
    let mut all: Vec<Vec<Case>> = Vec::new();
    for case in plan.cases().filter(|case| plan.workloads[case.workload].work.rate().is_some()) {
        let work = at_any_rate(plan, case);
        match all.iter_mut().find(|cases| at_any_rate(plan, cases[0]) == work) {
            Some(cases) => cases.push(case),
            None => all.push(vec![case]),
        }
    }
    all.retain(|cases| cases.len() > 1);
    all
}

/// Returns the cache state and the workload of a case, without the rate.
fn at_any_rate(plan: &Plan, case: Case) -> (Cache, Workload) {
    let workload = plan.workloads[case.workload];
    (case.cache, Workload { count: 0, work: workload.work.at_any_rate(), ..workload })
}

fn load(part: &Part<'_>, cases: &[Case]) -> Chart {
    let plan = part.plan();
    let along = Axis::log("operations asked for", Unit::PerSecond);
    let mut chart = Chart::lines("load", along, Axis::log("latency", Unit::Nanoseconds));
    let mut saturated: BTreeMap<String, Mark> = BTreeMap::new();
    let groups = groups(part, cases, Run::case_and_values);
    for (_, run, row) in measured(&groups) {
        let Some(asked) = plan.workloads[row.case.workload].work.rate() else { continue };
        let target = run.label(row.target);
        let series = run.on(format!("{target} {}", run.varied()).trim_end());
        for (name, of) in &SHOWN {
            let latency = row.latency.map(|latency| of(&latency) * 1e3);
            chart.point(Some(target), &format!("{series}, {name}"), asked, latency);
        }
        let Some(kept) = row.paced.filter(|kept| kept.saturated) else { continue };
        // From the lowest such rate on it stays saturated.
        if saturated.get(&series).is_none_or(|known| asked < known.at) {
            let reached = show_rate(kept.reached);
            let label = format!("{series} is saturated: it reaches {reached} a second");
            let mark = Mark { target: target.to_owned(), label, at: asked, low: None, high: None };
            saturated.insert(series, mark);
        }
    }
    chart.marks = saturated.into_values().collect();
    let times = table_of(&groups, tables::times);
    let latencies = table_of(&groups, tables::latency_table);
    let place = format!("{}, {}", plan.workloads[cases[0].workload].work, cases[0].cache);
    let tables = times.into_iter().chain(latencies);
    chart.described("At which load do latencies rise?", READ_LOAD, tables).with_place(place)
}
