//! Charts of the parts of an operation's time.

use checks::{Figures, explained};
use model::Case;

use super::{Axis, Chart, Interval, Kind, Part, Run, Unit, groups, measured, table_of};
use crate::tables;

const TITLE: &str = "Where does the time of an operation go?";
const READ: &str = "Processor time in user mode and in the kernel, and time off the processor: waiting for a \
                    device, for a lock or for another process. What differs here coincides with a difference; \
                    it need not be its cause.";
const PARTS: &[&str] = &["user mode", "kernel", "off the processor"];

const TITLE_OF_TIMES: &str = "How long does an operation take?";
const READ_TIMES: &str = "Further left is faster. The times of several workers overlap, so that their parts do \
                          not add up.";

/// Returns a chart for each case, because their times may differ a lot. Cases on a schedule have
/// none: they mostly wait for it.
pub(crate) fn charts(part: &Part<'_>) -> Vec<Chart> {
    let plan = part.plan();
    let paced = |case: &Case| plan.workloads[case.workload].work.rate().is_some();
    plan.cases().filter(|case| !paced(case)).map(|case| chart(part, case)).collect()
}

fn chart(part: &Part<'_>, case: Case) -> Chart {
    let time = Axis::linear("time of an operation", Unit::Nanoseconds);
    let mut chart = Chart::new("parts", Kind::Bars, Axis::default(), time);
    let groups = groups(part, &[case], |_, _| String::new());
    for (group, run, row) in measured(&groups) {
        let Some(time) = row.us_per_op else { continue };
        let parts = parts(run, row).map(|parts| parts.map(|us| us * 1e3));
        if parts.is_some() {
            chart.parts = PARTS;
        }
        let bar = Interval::from(time.point * 1e3).of_parts(parts.map_or_else(Vec::new, Vec::from));
        chart.in_group(group, run.label(row.target), Some(bar));
    }
    if chart.parts.is_empty() && part.is_alone() {
        // The first chart has the times.
        chart.series.clear();
    }
    let (title, read) =
        if chart.parts.is_empty() { (TITLE_OF_TIMES, READ_TIMES) } else { (TITLE, READ) };
    let tables = table_of(&groups, tables::explained_time).into_iter();
    let tables = tables.chain(table_of(&groups, tables::explained_moves));
    chart.described(title, read, tables).with_place(part.first().case(case))
}

/// Returns the microseconds of each part; `None` if one is not known, as with several workers.
fn parts(run: Run<'_>, row: &Figures) -> Option<[f64; 3]> {
    let of = explained(run.record, std::slice::from_ref(row)).pop()?;
    Some([of.user?, of.kernel?, of.off_cpu?])
}
