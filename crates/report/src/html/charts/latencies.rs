//! The distribution of latencies: which share of the operations took how long at most.

use model::Case;

use super::{Axis, Chart, Part, Unit, groups, measured, table_of};
use crate::{Latencies, latencies, tables};

const READ: &str = "A point at 99 %: 99 percent of the operations took at most so long. The rare slow ones are \
                    on the right.";

/// In percent; further ones follow as long as an operation is so small a share.
const COMMON: [f64; 8] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0];

pub(super) fn charts(part: &Part<'_>) -> Vec<Chart> {
    part.plan().cases().map(|case| chart(part, case)).collect()
}

fn chart(part: &Part<'_>, case: Case) -> Chart {
    let along = Axis::log("share of the operations", Unit::Percentile);
    let mut chart = Chart::lines("latency", along, Axis::log("latency", Unit::Nanoseconds));
    let groups = groups(part, &[case], |_, _| String::new());
    for (_, run, row) in measured(&groups) {
        let all = latencies(run.record, case, row.target).into_iter();
        for (percent, ns) in all.filter(|one| one.action.is_none()).flat_map(|one| points(&one)) {
            chart.on_line(run, row.target, percent, Some(ns));
        }
    }
    let title = format!("Latencies: {}", part.first().case(case));
    chart.described(title, READ, table_of(&groups, tables::latency_table))
}

/// Percentages and latencies; the greatest latency is at 100.
fn points(of: &Latencies) -> Vec<(f64, f64)> {
    let count = of.histogram.len() as f64;
    let nines = (1..).flat_map(|nines| [2.0, 1.0].map(|rest| rest * 10_f64.powi(-nines)));
    let rare = nines.take_while(|rest| rest * count >= 100.0).map(|rest| 100.0 - rest);
    let at = |percent: f64| (percent, of.histogram.value_at_percentile(percent) as f64);
    COMMON.into_iter().chain(rare).map(at).chain([(100.0, of.histogram.max() as f64)]).collect()
}
