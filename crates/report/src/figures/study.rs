//! Compares what was published with what was measured.

use std::collections::BTreeMap;

use model::{
    Case, Plan,
    record::Record,
    study::{Claim, Figure, Step},
};
use stats::Estimate;

use crate::{TargetBreakEven, break_evens, figures, stores, words};

/// A figure, published or measured or both.
#[derive(Clone, Debug)]
pub struct StudyFigure {
    /// Where it was measured: values of a sweep, operation, cache state.
    pub place: String,
    pub target: String,
    pub figure: Figure,
    /// From the least to the greatest that was published.
    pub published: Option<(f64, f64)>,
    pub here: Option<Here>,
    /// The index of the claim that published it.
    claim: Option<usize>,
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

/// How a figure compares with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The interval and what was published have a figure in common.
    Agrees,
    /// The whole interval is below.
    Lower,
    /// The whole interval is above.
    Higher,
}

/// Published sizes are rounded by up to this share.
const EXACT: f64 = 0.005;

impl StudyFigure {
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

    fn published(claim: (usize, &Claim), place: String, here: Option<Here>) -> Self {
        let (index, claim) = claim;
        Self {
            place,
            target: claim.target.clone(),
            figure: claim.figure,
            published: Some(claim.range()),
            here,
            claim: Some(index),
        }
    }
}

/// Every ratio of times that a step measured, and every published figure, in the order of what was
/// measured; last what was published and not measured, except for the runs that a smaller sweep
/// leaves out.
pub fn study_figures(step: &Step, records: &[Record]) -> Vec<StudyFigure> {
    let of_record = |record| times(step, record).into_iter().chain(spaces(step, record));
    let mut all: Vec<_> = records.iter().flat_map(of_record).collect();
    all.extend(evens(step, records));
    let swept = records.iter().any(|record| record.header.point.is_some());
    let lacking = step.claims.iter().enumerate().filter(|(index, claim)| {
        let measured = all.iter().any(|row| row.claim == Some(*index));
        !measured && (claim.at.is_empty() || !swept)
    });
    let lacking: Vec<_> =
        lacking.map(|claim| StudyFigure::published(claim, place_of_claim(claim.1), None)).collect();
    all.extend(lacking);
    all
}

fn times(step: &Step, record: &Record) -> Vec<StudyFigure> {
    let plan = &record.header.plan;
    let mut all = Vec::new();
    for row in figures(record) {
        let Some(target) = plan.targets.get(row.target) else { continue };
        let place = place(&words::pairs(varied(record), " ", ", "), plan, row.case);
        for figure in [Figure::TimeRatio, Figure::Microseconds] {
            let is_about = |(_, claim): &(usize, &Claim)| {
                let same = claim.figure == figure && claim.target == target.label;
                same && is_of(claim, plan, row.case) && is_at(claim, varied(record))
            };
            let claim = step.claims.iter().enumerate().find(is_about);
            let is_ratio = figure == Figure::TimeRatio && row.target != plan.baseline;
            if claim.is_none() && !is_ratio {
                continue;
            }
            all.push(StudyFigure {
                place: place.clone(),
                target: target.label.clone(),
                figure,
                published: claim.map(|(_, claim)| claim.range()),
                here: if is_ratio { row.ratio } else { row.us_per_op }.map(Here::Estimate),
                claim: claim.map(|(index, _)| index),
            });
        }
    }
    all
}

fn spaces(step: &Step, record: &Record) -> Vec<StudyFigure> {
    let plan = &record.header.plan;
    let stores = stores(record);
    let mb = |target: usize| stores.get(target)?.on_disk_mb;
    let row = |claim: (usize, &Claim)| {
        let target = plan.targets.iter().position(|target| target.label == claim.1.target)?;
        let here = mb(target).zip(mb(plan.baseline)).map(|(own, other)| own / other);
        let place = words::pairs(varied(record), " ", ", ");
        Some(StudyFigure::published(claim, place, here.map(Here::Exact)))
    };
    let claims = step.claims.iter().enumerate();
    let claims = claims.filter(|(_, claim)| claim.figure == Figure::SpaceRatio);
    claims.filter(|(_, claim)| is_at(claim, varied(record))).filter_map(row).collect()
}

fn evens(step: &Step, records: &[Record]) -> Vec<StudyFigure> {
    let Some(plan) = records.first().map(|first| &first.header.plan) else { return vec![] };
    let found = break_evens(records);
    let of_claim = |claim: (usize, &Claim)| {
        let is_about = |even: &&TargetBreakEven| {
            let same = even.target == claim.1.target;
            same && is_of(claim.1, plan, even.case) && is_at(claim.1, &even.others)
        };
        let row = |even: &TargetBreakEven| {
            let place = place(&words::pairs(&even.others, " ", ", "), plan, even.case);
            StudyFigure::published(claim, place, Some(Here::Even(even.clone())))
        };
        found.iter().filter(is_about).map(row).collect::<Vec<_>>()
    };
    let claims = step.claims.iter().enumerate();
    claims.filter(|(_, claim)| claim.figure == Figure::BreakEven).flat_map(of_claim).collect()
}

/// Whether a claim is about this case.
fn is_of(claim: &Claim, plan: &Plan, case: Case) -> bool {
    let operation = plan.workloads.get(case.workload).and_then(|one| one.work.operation());
    claim.operation.is_none_or(|wanted| Some(wanted) == operation)
        && claim.cache.is_none_or(|wanted| wanted == case.cache)
}

/// Whether it is about the run of a sweep with these values.
fn is_at(claim: &Claim, varied: &BTreeMap<String, String>) -> bool {
    claim.at.iter().all(|(name, value)| varied.get(name) == Some(value))
}

fn varied(record: &Record) -> &BTreeMap<String, String> {
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    record.header.point.as_ref().map_or(&NONE, |point| &point.varied)
}

/// `size 10k, read, warm`.
fn place(varied: &str, plan: &Plan, case: Case) -> String {
    let work = plan.workloads.get(case.workload).map(|one| one.work.to_string());
    words_of([Some(varied.to_owned()), work, Some(case.cache.to_string())])
}

/// Where a figure would have been measured that was not.
fn place_of_claim(claim: &Claim) -> String {
    let operation = claim.operation.map(|operation| operation.to_string());
    let cache = claim.cache.map(|cache| cache.to_string());
    words_of([Some(words::pairs(&claim.at, " ", ", ")), operation, cache])
}

fn words_of(words: [Option<String>; 3]) -> String {
    words.into_iter().flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}
