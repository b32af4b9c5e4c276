//! Each target's time over the baseline's, with its interval.

use model::Case;

use super::{Axis, Chart, Group, Interval, Part, Run, Unit, groups, measured, table_of};
use crate::{tables, words};

pub(super) const READ: &str = "Left of 1 a target is faster than the baseline; whiskers are 95 % intervals, and \
                               one that contains 1 shows no difference.";

/// A group for each workload in each cache state.
pub(super) fn of_cases(part: &Part<'_>) -> Vec<Chart> {
    let cases: Vec<_> = part.plan().cases().collect();
    let groups = groups(part, &cases, Run::case);
    vec![chart(part, "", &groups)]
}

/// For each case a chart with a group for each run of a sweep.
pub(super) fn of_runs(part: &Part<'_>) -> Vec<Chart> {
    let of = |case: Case| {
        let title = format!(": {}", part.first().case(case));
        let groups = groups(part, &[case], |run, _| run.varied());
        chart(part, &title, &groups)
    };
    part.plan().cases().map(of).collect()
}

fn chart(part: &Part<'_>, place: &str, groups: &[Group<'_>]) -> Chart {
    let baseline = part.baseline();
    let axis = Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio);
    let mut chart = Chart::dots("ratio", axis).around_one();
    for (group, run, row) in measured(groups) {
        let verdict = words::verdict(row.verdict, row.ratio.as_ref());
        let ratio = row.ratio.map(|ratio| Interval::from(ratio).noted(verdict));
        chart.in_group(group, run.label(row.target), ratio);
    }
    chart.described(
        format!("Time ÷ that of {baseline}{place}"),
        READ,
        table_of(groups, tables::times),
    )
}
