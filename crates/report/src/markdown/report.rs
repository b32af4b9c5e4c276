//! The runs of a record.

use model::{Plan, record::Record};

use super::{Table, list, shown, weighed};
use crate::{
    Figures, StoreFigures, figures,
    plans::workload_words,
    remarks, stores,
    terminal::{
        figure_or_none, interval_or_none, remark_sentence, run_ended, verdict_words,
        what_and_where, workload_name,
    },
};

/// All of `records`, a heading for each run.
pub fn report_markdown(records: &[Record]) -> String {
    records.iter().map(run).collect::<Vec<_>>().join("\n")
}

fn run(record: &Record) -> String {
    let plan = &record.header.plan;
    let [what, place] = what_and_where(record);
    let varied = record.header.point().into_iter().flat_map(|point| &point.varied);
    let varied = varied.map(|(name, value)| format!("{name}={value}"));
    let figures = figures(record);
    let title = varied.chain([what]).collect::<Vec<_>>().join(", ");
    let mut text = format!("### {}\n\n{}\n", shown(&title), shown(&place));
    for rows in figures.chunk_by(|one, next| one.case == next.case) {
        text += &case(plan, rows);
    }
    text += &spaces(plan, &stores(record));
    let doubts = remarks(record, &figures);
    let doubts: Vec<_> = doubts
        .iter()
        .map(|remark| weighed(remark.kind.severity(), &remark_sentence(plan, remark)))
        .collect();
    text += &list("Findings", &doubts);
    text + &format!("\n{}\n", shown(&run_ended(record)))
}

fn label(plan: &Plan, target: usize) -> String {
    plan.targets.get(target).map(|target| target.label.clone()).unwrap_or_default()
}

fn case(plan: &Plan, rows: &[Figures]) -> String {
    let case = rows[0].case;
    let workload = plan.workloads.get(case.workload).map(workload_words).unwrap_or_default();
    let title = format!("{}, {}", workload_name(plan, case.workload), case.cache);
    let heads = ["target", "time, µs/op", "p50, µs", "p99, µs", "time ÷ baseline's", "verdict"];
    let mut table = Table::new(&heads);
    for row in rows {
        table.row(&[
            label(plan, row.target),
            interval_or_none(row.us_per_op.as_ref()),
            figure_or_none(row.latency.map(|latency| latency.p50_us)),
            figure_or_none(row.latency.map(|latency| latency.p99_us)),
            interval_or_none(row.ratio.as_ref()),
            verdict_words(row),
        ]);
    }
    format!("\n**{}**: {}\n\n{}", shown(&title), shown(&workload), table.0)
}

/// Only of what was measured; stores without files take nothing.
fn spaces(plan: &Plan, rows: &[StoreFigures]) -> String {
    let heads = ["store", "length, MB", "on disk, MB", "to fill, s", "to open, ms", "durability"];
    let mut table = Table::new(&heads);
    for row in rows {
        table.row(&[
            label(plan, row.target),
            figure_or_none(row.apparent.map(|space| space.mb)),
            figure_or_none(row.allocated.map(|space| space.mb)),
            figure_or_none(row.fill_s),
            figure_or_none(row.open_ms),
            row.durability.map(|class| class.to_string()).unwrap_or_default(),
        ]);
    }
    format!("\n{}", table.0)
}
