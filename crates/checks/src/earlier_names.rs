//! Names that report used before; each is one call of what took its place.

use model::{Case, Finding, FindingKind, Sample, Suggestion, record::Record};
use stats::Estimate;

use crate::{Figures, MergedFinding, Series};

pub use crate::{
    MergedFinding as Remark, Series as Place, Verdict as Judgement,
    contradictions as contradictions_of,
};

pub fn remarks(record: &Record, figures: &[Figures]) -> Vec<MergedFinding> {
    crate::findings([(record, figures)])
}

pub fn remarks_of_all(runs: &[Record], figures: &[Vec<Figures>]) -> Vec<MergedFinding> {
    crate::findings(runs.iter().zip(figures.iter().map(Vec::as_slice)))
}

pub fn advice(kinds: impl IntoIterator<Item = FindingKind>) -> Vec<Suggestion> {
    crate::suggestions(kinds)
}

pub fn derived(record: &Record) -> Vec<Finding> {
    crate::of_record(record)
}

pub fn usable_samples(record: &Record, case: Case, target: usize) -> Vec<&Sample> {
    Series::new(record, case, target).samples().collect()
}

pub fn times(record: &Record, case: Case, target: usize) -> Vec<f64> {
    Series::new(record, case, target).times().into_values().collect()
}

pub fn p99s(record: &Record, case: Case, target: usize) -> Vec<f64> {
    Series::new(record, case, target).p99s()
}

pub fn ratios(record: &Record, case: Case, target: usize) -> Vec<f64> {
    let series = Series::new(record, case, target);
    series.ratios_to(series.baseline())
}

pub fn ratio_between(record: &Record, case: Case, target: usize, other: usize) -> Option<Estimate> {
    let series = Series::new(record, case, target);
    series.ratio_to(series.of(other))
}

pub fn ratio_between_cases(
    record: &Record,
    target: usize,
    case: Case,
    other: Case,
) -> Option<Estimate> {
    Series::new(record, case, target).ratio_to(Series::new(record, other, target))
}
