//! Estimates and verdicts as JSON, for programs: `docs/report.schema.json` and
//! `docs/compare.schema.json` describe it.

mod comparison;
mod report;

use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

pub use self::{comparison::ComparisonData, report::ReportData};

/// Version of both forms. Raised when a reader of the old one would go wrong.
const FORM: u32 = 1;

/// A figure with its 95 % interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Interval {
    /// The figure.
    point: f64,
    /// Lower end; null: of a single round nothing is known.
    low: Option<f64>,
    /// Upper end; null: of a single round nothing is known.
    high: Option<f64>,
    /// Rounds it rests on.
    rounds: usize,
}

impl Interval {
    fn of(estimate: &Estimate) -> Self {
        let end = |value: f64| Some(value).filter(|end| estimate.n > 1 && end.is_finite());
        let (low, high) = (end(estimate.low), end(estimate.high));
        Self { point: estimate.point, low, high, rounds: estimate.n }
    }

    fn maybe(estimate: Option<&Estimate>) -> Option<Self> {
        estimate.filter(|estimate| estimate.point.is_finite()).map(Self::of)
    }
}
