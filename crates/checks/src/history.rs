//! How the time of a target changed over many records.

use model::{Case, record::Record};
use stats::{Changes, Estimate};

use crate::{series::Series, verdict::Verdict};

/// The share of tables of a history in which a change may be false.
const ALPHA: f64 = 0.05;

/// A target in a case of a record, and the target whose time divides its own.
#[derive(Clone, Copy)]
pub struct HistoryPlace<'a> {
    /// The record.
    pub record: &'a Record,
    /// The case.
    pub case: Case,
    /// Index of the target in the plan.
    pub target: usize,
    /// Index of the control; `None` if the time itself is the figure.
    pub control: Option<usize>,
}

impl HistoryPlace<'_> {
    /// Returns the figure of the record: the time in microseconds per operation, or divided by that of the
    /// control in the same rounds. `None` if there are too few rounds for a verdict, or they were not in
    /// their cache state.
    pub fn figure(self) -> Option<Estimate> {
        let series = Series::new(self.record, self.case, self.target);
        let other = self.control.map_or(series, |control| series.with_target(control));
        let rounds = series.rounds_with(other);
        let values =
            if self.control.is_some() { series.ratios_to(other) } else { series.unit_times() };
        let is_judged = Verdict::without_change(series, series, [rounds, rounds]).is_none();
        values.mean().filter(|_| is_judged)
    }
}

/// Returns what each series of figures shows. They share the level of a table.
pub fn history_changes(all: &[Vec<f64>]) -> Vec<Option<Changes>> {
    let judged = all.iter().filter(|one| one.len() >= stats::FEWEST_FIGURES).count();
    let level = ALPHA / judged.max(1) as f64;
    all.iter().map(|one| stats::changes(one, level)).collect()
}
