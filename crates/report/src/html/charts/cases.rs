//! Times, ratios and latencies of cases; latencies against load too.

use std::collections::BTreeMap;

use model::{Cache, Case, Plan, Work, Workload, units::show_rate};

use super::{
    Axis, CaseGroup, Chart, Interval, Mark, Part, Run, Unit, groups, measured, ratio_axis, table_of,
};
use crate::{Figures, Latencies, Percentiles, tables, words};

const READ_TIMES: &str =
    "Further left is faster; whiskers are 95 % intervals. The scale is logarithmic.";

/// With several cache states, cold next to warm.
pub(super) fn times(part: &Part<'_>) -> Vec<Chart> {
    let plan = part.plan();
    let cases: Vec<_> = plan.cases().collect();
    if plan.caches.len() == 1 {
        return vec![time("Time of an operation".to_owned(), &groups(part, &cases, Run::case))];
    }
    let of_workload = |workload| {
        let of = cases.iter().filter(|case| case.workload == workload);
        let cases: Vec<_> = of.copied().collect();
        let title = format!("Cold next to warm: {}", words::workload_name(plan, workload));
        time(title, &groups(part, &cases, |_, case| case.cache.to_string()))
    };
    (0..plan.workloads.len()).map(of_workload).collect()
}

fn time(title: String, groups: &[CaseGroup<'_>]) -> Chart {
    let chart = Chart::dots("time", Axis::log("time of an operation", Unit::Nanoseconds));
    let time = |row: &Figures| Some(Interval::from(row.us_per_op?).times(1e3));
    dots(chart, groups, time).described(title, READ_TIMES, table_of(groups, tables::times))
}

pub(super) const READ_RATIO: &str = "Left of 1 a target is faster than the baseline; whiskers are 95 % intervals, and \
                                     one that contains 1 shows no difference.";

/// A group for each workload in each cache state.
pub(super) fn ratios(part: &Part<'_>) -> Vec<Chart> {
    let cases: Vec<_> = part.plan().cases().collect();
    vec![ratio(part, "", &groups(part, &cases, Run::case))]
}

pub(super) fn ratio(part: &Part<'_>, place: &str, groups: &[CaseGroup<'_>]) -> Chart {
    let chart = Chart::dots("ratio", ratio_axis(part)).around_one();
    let ratio = |row: &Figures| {
        Some(Interval::from(row.ratio?).noted(words::verdict(row.verdict, row.ratio.as_ref())))
    };
    let title = format!("Time ÷ that of {}{place}", part.baseline());
    dots(chart, groups, ratio).described(title, READ_RATIO, table_of(groups, tables::times))
}

fn dots(
    mut chart: Chart,
    groups: &[CaseGroup<'_>],
    value: impl Fn(&Figures) -> Option<Interval>,
) -> Chart {
    for (group, run, row) in measured(groups) {
        chart.in_group(group, run.label(row.target), value(row));
    }
    chart
}

const READ_LATENCIES: &str = "A point at 99 %: 99 percent of the operations took at most so long. The rare slow ones are \
                              on the right.";

/// In percent; further ones follow as long as an operation is so small a share.
const COMMON: [f64; 8] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0];

/// Which share of the operations took how long at most.
pub(super) fn latencies(part: &Part<'_>) -> Vec<Chart> {
    let chart = |case: Case| {
        let along = Axis::log("share of the operations", Unit::Percentile);
        let mut chart = Chart::lines("latency", along, Axis::log("latency", Unit::Nanoseconds));
        let groups = groups(part, &[case], |_, _| String::new());
        for (_, run, row) in measured(&groups) {
            let all = crate::latencies(run.record, case, row.target).into_iter();
            for (percent, ns) in all.filter(|one| one.action.is_none()).flat_map(|one| points(&one))
            {
                chart.on_line(run, row.target, percent, Some(ns));
            }
        }
        let title = format!("Latencies: {}", part.first().case(case));
        chart.described(title, READ_LATENCIES, table_of(&groups, tables::latency_table))
    };
    part.plan().cases().map(chart).collect()
}

/// Percentages and latencies; the greatest latency is at 100.
fn points(of: &Latencies) -> Vec<(f64, f64)> {
    let count = of.histogram.len() as f64;
    let nines = (1..).flat_map(|nines| [2.0, 1.0].map(|rest| rest * 10_f64.powi(-nines)));
    let rare = nines.take_while(|rest| rest * count >= 100.0).map(|rest| 100.0 - rest);
    let at = |percent: f64| (percent, of.histogram.value_at_percentile(percent) as f64);
    COMMON.into_iter().chain(rare).map(at).chain([(100.0, of.histogram.max() as f64)]).collect()
}

const READ_LOAD: &str = "Operations start on schedule, and latency counts from each one's scheduled start. A line \
                         bends up where its target cannot keep up; from there on it is saturated.";

type Shown = (&'static str, fn(&Percentiles) -> f64);
const SHOWN: [Shown; 2] = [("Median latency", |p| p.p50), ("99th percentile", |p| p.p99)];

/// What operations on a schedule took, over the rate asked for: of cases of the same work at several
/// rates.
pub(super) fn loads(part: &Part<'_>) -> Vec<Chart> {
    let plan = part.plan();
    let mut loads: Vec<Vec<Case>> = Vec::new();
    for case in plan.cases().filter(|case| plan.workloads[case.workload].work.rate().is_some()) {
        let work = at_any_rate(plan, case);
        match loads.iter_mut().find(|cases| at_any_rate(plan, cases[0]) == work) {
            Some(cases) => cases.push(case),
            None => loads.push(vec![case]),
        }
    }
    let several = loads.iter().filter(|cases| cases.len() > 1);
    several.flat_map(|cases| SHOWN.iter().map(|shown| load(part, cases, shown))).collect()
}

/// A case with its workload, but for the rate.
fn at_any_rate(plan: &Plan, case: Case) -> (Cache, Workload) {
    let mut workload = Workload { count: 0, ..plan.workloads[case.workload] };
    if let Work::Blobs { rate, .. } = &mut workload.work {
        *rate = None;
    }
    (case.cache, workload)
}

fn load(part: &Part<'_>, cases: &[Case], (name, of): &Shown) -> Chart {
    let plan = part.plan();
    let along = Axis::log("operations asked for", Unit::PerSecond);
    let mut chart = Chart::lines("load", along, Axis::log(*name, Unit::Nanoseconds));
    let mut saturated: BTreeMap<String, Mark> = BTreeMap::new();
    let groups = groups(part, cases, Run::place);
    for (_, run, row) in measured(&groups) {
        let Some(asked) = plan.workloads[row.case.workload].work.rate() else { continue };
        let target = run.label(row.target);
        let series = run.on(format!("{target} {}", run.varied()).trim_end());
        let latency = row.latency.map(|latency| of(&latency) * 1e3);
        chart.point(Some(target), &series, asked, latency);
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
    let work = plan.workloads[cases[0].workload].work;
    let title = format!("{name} against load: {work}, {}", cases[0].cache);
    chart.described(title, READ_LOAD, times.into_iter().chain(latencies))
}
