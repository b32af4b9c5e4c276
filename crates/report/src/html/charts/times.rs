//! The time of an operation; with several cache states, cold next to warm.

use super::{Axis, Chart, Group, Interval, Part, Run, Unit, groups, measured, table_of};
use crate::{tables, words};

const READ: &str = "Further left is faster; whiskers are 95 % intervals. The scale is logarithmic.";

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let plan = part.plan();
    let cases: Vec<_> = plan.cases().collect();
    if plan.caches.len() == 1 {
        return vec![chart("Time of an operation".to_owned(), &groups(part, &cases, Run::case))];
    }
    let of_workload = |workload| {
        let cases: Vec<_> =
            cases.iter().filter(|case| case.workload == workload).copied().collect();
        let title = format!("Cold next to warm: {}", words::workload_name(plan, workload));
        chart(title, &groups(part, &cases, |_, case| case.cache.to_string()))
    };
    (0..plan.workloads.len()).map(of_workload).collect()
}

fn chart(title: String, groups: &[Group<'_>]) -> Chart {
    let mut chart = Chart::dots("time", Axis::log("time of an operation", Unit::Nanoseconds));
    for (group, run, row) in measured(groups) {
        let time = row.us_per_op.map(|us| Interval::from(us).times(1e3));
        chart.in_group(group, run.label(row.target), time);
    }
    chart.described(title, READ, table_of(groups, tables::times))
}
