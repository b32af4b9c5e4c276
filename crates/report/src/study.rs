//! Holds what was published against what was measured.

use model::{
    Operation,
    record::Record,
    study::{Claim, Figure, Step},
};
use stats::Estimate;

use crate::{Figures, TargetBreakEven, break_evens, figures, stores};

/// A figure, published or measured or both.
#[derive(Clone, Debug)]
pub struct Held {
    /// Where it was measured: values of a sweep, operation, cache state.
    pub place: String,
    /// The label of its target.
    pub target: String,
    /// What it is.
    pub figure: Figure,
    /// From the least to the greatest that was published.
    pub published: Option<(f64, f64)>,
    /// What came out here; without an interval where it was not measured by rounds.
    pub here: Option<Here>,
}

/// A figure of this machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Here {
    /// With its interval.
    Estimate(Estimate),
    /// Counted, not estimated.
    Exact(f64),
    /// Where the baseline overtakes, or that it does not.
    Even(TargetBreakEven),
}

/// How it lies to what was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The interval and what was published have a figure in common.
    Agrees,
    /// All of the interval lies below.
    Lower,
    /// All of it lies above.
    Higher,
}

impl Held {
    /// Absent: one of both is.
    pub fn against(&self) -> Option<Against> {
        let ((least, greatest), here) = self.published.zip(self.here.as_ref())?;
        let (low, high) = match here {
            Here::Estimate(Estimate { low, high, .. }) => (*low, *high),
            Here::Exact(value) => (value * (1.0 - EXACT), value * (1.0 + EXACT)),
            Here::Even(even) => match even.found.crossings.as_slice() {
                [one] => (one.low.unwrap_or(0.0), one.high.unwrap_or(f64::INFINITY)),
                _ => return None,
            },
        };
        Some(match () {
            () if high < least => Against::Lower,
            () if low > greatest => Against::Higher,
            () => Against::Agrees,
        })
    }
}

/// Published sizes are rounded to so much.
const EXACT: f64 = 0.005;

/// Every ratio of times that a step measured, and every published figure, in the order of what was
/// measured; last what was published and not measured, but for the runs that a smaller sweep leaves
/// out.
pub fn held(step: &Step, records: &[Record]) -> Vec<Held> {
    let mut met = vec![false; step.claims.len()];
    let mut all: Vec<Held> =
        records.iter().flat_map(|record| of_record(step, record, &mut met)).collect();
    all.extend(evens(step, records, &mut met));
    let swept = records.iter().any(|record| record.header.point().is_some());
    let unmet = step.claims.iter().zip(met).filter(|(_, met)| !met);
    let unmet = unmet.filter(|(claim, _)| claim.at.is_empty() || !swept);
    all.extend(unmet.map(|(claim, _)| Held {
        place: asked_for(claim),
        target: claim.target.clone(),
        figure: claim.figure,
        published: Some(claim.range()),
        here: None,
    }));
    all
}

fn of_record(step: &Step, record: &Record, met: &mut [bool]) -> Vec<Held> {
    let plan = &record.header.plan;
    let mut all = Vec::new();
    for row in figures(record) {
        let Some(target) = plan.targets.get(row.target) else { continue };
        for figure in [Figure::TimeRatio, Figure::Microseconds] {
            let claims = step.claims.iter().zip(met.iter_mut());
            let mut fitting = claims.filter(|(claim, _)| {
                claim.figure == figure && claim.target == target.label && fits(claim, record, &row)
            });
            let claim = fitting.next().map(|(claim, met)| {
                *met = true;
                claim
            });
            let ratio = figure == Figure::TimeRatio && row.target != plan.baseline;
            if claim.is_some() || ratio {
                let estimate = if ratio { row.ratio } else { row.us_per_op };
                all.push(Held {
                    place: place(record, &row),
                    target: target.label.clone(),
                    figure,
                    published: claim.map(Claim::range),
                    here: estimate.map(Here::Estimate),
                });
            }
        }
    }
    all.extend(spaces(step, record, met));
    all
}

fn fits(claim: &Claim, record: &Record, row: &Figures) -> bool {
    let workload = record.header.plan.workloads.get(row.case.workload);
    let operation = workload.and_then(|workload| workload.work.operation());
    claim.operation.is_none_or(|wanted| Some(wanted) == operation)
        && claim.cache.is_none_or(|wanted| wanted == row.case.cache)
        && at(claim, record)
}

/// Whether the run is that of the sweep which the claim is about.
fn at(claim: &Claim, record: &Record) -> bool {
    let varied = record.header.point().map(|point| &point.varied);
    claim.at.iter().all(|(name, value)| varied.and_then(|all| all.get(name)) == Some(value))
}

fn spaces(step: &Step, record: &Record, met: &mut [bool]) -> Vec<Held> {
    let plan = &record.header.plan;
    let stores = stores(record);
    let mb = |target: usize| stores.get(target)?.allocated.map(|space| space.mb);
    let mut all = Vec::new();
    for (claim, met) in step.claims.iter().zip(met) {
        let target = plan.targets.iter().position(|target| target.label == claim.target);
        let Some(target) = target.filter(|_| claim.figure == Figure::SpaceRatio) else { continue };
        if at(claim, record) {
            *met = true;
            let here = mb(target).zip(mb(plan.baseline)).map(|(own, other)| own / other);
            all.push(Held {
                place: varied(record),
                target: claim.target.clone(),
                figure: claim.figure,
                published: Some(claim.range()),
                here: here.map(Here::Exact),
            });
        }
    }
    all
}

fn evens(step: &Step, records: &[Record], met: &mut [bool]) -> Vec<Held> {
    let mut all = Vec::new();
    let found = break_evens(records);
    let claims = step.claims.iter().zip(met);
    for (claim, met) in claims.filter(|(claim, _)| claim.figure == Figure::BreakEven) {
        let about = |even: &&TargetBreakEven| {
            even.target == claim.target
                && claim.cache.is_none_or(|wanted| wanted == even.case.cache)
                && claim.operation.is_none_or(|wanted| Some(wanted) == operation(records, even))
                && claim.at.iter().all(|(name, value)| even.beside.get(name) == Some(value))
        };
        for even in found.iter().filter(about) {
            *met = true;
            all.push(Held {
                place: place_of_even(records, even),
                target: claim.target.clone(),
                figure: claim.figure,
                published: Some(claim.range()),
                here: Some(Here::Even(even.clone())),
            });
        }
    }
    all
}

fn operation(records: &[Record], even: &TargetBreakEven) -> Option<Operation> {
    let workloads = &records.first()?.header.plan.workloads;
    workloads.get(even.case.workload).and_then(|workload| workload.work.operation())
}

/// `threads 2, read, warm`.
fn place_of_even(records: &[Record], even: &TargetBreakEven) -> String {
    let beside = Some(words(even.beside.iter())).filter(|beside| !beside.is_empty());
    let operation = operation(records, even).map(|operation| operation.to_string());
    let words = beside.into_iter().chain(operation).chain([even.case.cache.to_string()]);
    words.collect::<Vec<_>>().join(", ")
}

/// `size 10k, read, warm`.
fn place(record: &Record, row: &Figures) -> String {
    let workload = record.header.plan.workloads.get(row.case.workload);
    let operation = workload.map(|workload| workload.work.to_string());
    let varied = Some(varied(record)).filter(|varied| !varied.is_empty());
    let words = varied.into_iter().chain(operation).chain([row.case.cache.to_string()]);
    words.collect::<Vec<_>>().join(", ")
}

fn varied(record: &Record) -> String {
    record.header.point().map_or_else(String::new, |point| words(point.varied.iter()))
}

/// Where a figure would have been measured that was not.
fn asked_for(claim: &Claim) -> String {
    let operation = claim.operation.map(|operation| operation.to_string());
    let cache = claim.cache.map(|cache| cache.to_string());
    let at = Some(words(claim.at.iter())).filter(|at| !at.is_empty());
    at.into_iter().chain(operation).chain(cache).collect::<Vec<_>>().join(", ")
}

fn words<'a>(pairs: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    pairs.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}
