//! The table of verdicts on a percentile of the latencies.

use checks::{Figures, JudgedFigure, Verdict};
use model::record::Record;

use super::{TARGET, VERDICT, ratio, ratio_column, tone};
use crate::{
    table::{Cell, Column, Table},
    words::{self, label},
};

/// Returns the table of a case; `None` unless a verdict on a percentile was asked for. `rows` are its
/// figures.
pub(crate) fn judged(record: &Record, rows: &[Figures]) -> Option<Table> {
    let plan = &record.header.plan;
    let rows: Vec<_> =
        rows.iter().filter_map(|row| Some((row.case, row.target, row.judged?))).collect();
    let (case, _, JudgedFigure { figure, .. }) = *rows.first()?;
    let percentile = Column::number(figure.as_str(), "µs");
    let table = Table::for_rows(format!("{}: {figure}", plan.case_name(case)), &rows)
        .with(TARGET, |(_, target, _)| label(plan, *target))
        .with(percentile, |(.., judged)| Cell::interval(judged.us.as_ref()));
    if plan.targets.len() == 1 {
        return Some(table.into_table());
    }
    let verdict = |JudgedFigure { verdict, ratio, .. }: &JudgedFigure| {
        let words = if *verdict == Verdict::NotMeasured {
            "not measured".to_owned()
        } else {
            words::verdict(*verdict, ratio.as_ref())
        };
        Cell::from(words).tone(tone(*verdict))
    };
    let column = Column { bars: true, ..ratio_column("ratio", "") };
    let table = table
        .with(column, |(.., judged)| ratio(judged.ratio.as_ref(), judged.verdict))
        .with(VERDICT, |(.., judged)| verdict(judged));
    Some(table.into_table())
}
