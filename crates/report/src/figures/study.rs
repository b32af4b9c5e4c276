//! Compares what was published with what was measured.

use std::collections::BTreeMap;

use model::{
    Case, Plan, Work,
    record::Record,
    rows,
    study::{Claim, Figure, Step},
};
use stats::Estimate;

use super::{
    rows::{RowCell, row_groups},
    tasks::{TaskFigures, task_figures},
};
use crate::{Figures, TargetBreakEven, break_evens, figures, stores, words};

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
    /// The interval is about what was published.
    Agrees,
    /// The whole interval is below.
    Lower,
    /// The whole interval is above.
    Higher,
    /// The interval contains what was published, and much else.
    TooWide,
}

/// Published sizes are rounded by up to this share.
const EXACT: f64 = 0.005;

/// An interval confirms what was published if it is within it, widened by this factor on both sides:
/// another machine is never exactly the same, and an interval that reaches further tells nothing.
const ABOUT: f64 = 1.25;

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
            () if low * ABOUT >= least && high <= greatest * ABOUT => Against::Agrees,
            () => Against::TooWide,
        })
    }

    fn published((index, claim): (usize, &Claim), place: String, here: Option<Here>) -> Self {
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
    let unmeasured = |claim| StudyFigure::published(claim, place_of_claim(claim.1), None);
    let lacking: Vec<_> = lacking.map(unmeasured).collect();
    all.extend(lacking);
    all
}

/// Every published figure of a step with the one measured here.
pub fn study_claims(step: &Step, records: &[Record]) -> Vec<StudyFigure> {
    let published = |row: &StudyFigure| row.published.is_some();
    match step.command.as_str() {
        "rows" => records.iter().flat_map(row_claims).collect(),
        "queue" => records.iter().flat_map(task_claims).collect(),
        _ => study_figures(step, records).into_iter().filter(published).collect(),
    }
}

fn row_claims(record: &Record) -> Vec<StudyFigure> {
    let groups = row_groups(record);
    let cells = groups.iter().flat_map(|group| {
        let by = words::processes(&group.workload);
        group.targets.iter().flat_map(move |row| {
            let cells = rows::Operation::ALL.into_iter().zip(&row.cells);
            let by = by.clone();
            let name = |operation: rows::Operation| match operation {
                // What it is called in the published table.
                rows::Operation::Add => "update",
                other => other.as_str(),
            };
            cells.map(move |(operation, cell)| {
                (row.target, format!("{}, {by}", name(operation)), cell)
            })
        })
    });
    let claim = |(target, place, cell): (usize, String, &RowCell)| {
        ratio_claim(record, target, place, cell.published_ratio?, cell.ratio)
    };
    cells.filter_map(claim).collect()
}

fn task_claims(record: &Record) -> Vec<StudyFigure> {
    let rows = task_figures(record);
    let claim = |row: &TaskFigures| {
        let (target, published) = (row.figures.target, row.published_ratio?);
        ratio_claim(record, target, "a task".to_owned(), published, row.figures.ratio)
    };
    rows.iter().filter_map(claim).collect()
}

/// A published ratio of times.
fn ratio_claim(
    record: &Record,
    target: usize,
    place: String,
    published: f64,
    here: Option<Estimate>,
) -> Option<StudyFigure> {
    let target = record.header.plan.targets.get(target)?.label.clone();
    let (published, here) = (Some((published, published)), here.map(Here::Estimate));
    Some(StudyFigure { place, target, figure: Figure::TimeRatio, published, here, claim: None })
}

/// The claims about a kind of figure, with their indices.
fn claims(step: &Step, figure: Figure) -> impl Iterator<Item = (usize, &Claim)> {
    step.claims.iter().enumerate().filter(move |(_, claim)| claim.figure == figure)
}

fn times(step: &Step, record: &Record) -> Vec<StudyFigure> {
    let plan = &record.header.plan;
    let varied = words::values(record);
    let of = |row: &Figures, figure: Figure| {
        let target = &plan.targets.get(row.target)?.label;
        let mut claims = claims(step, figure).filter(|(_, claim)| claim.target == *target);
        let claim = claims.find(|(_, claim)| is_of(claim, plan, row.case) && is_at(claim, varied));
        let is_ratio = figure == Figure::TimeRatio && row.target != plan.baseline;
        (claim.is_some() || is_ratio).then(|| StudyFigure {
            place: place(varied, plan, row.case),
            target: target.clone(),
            figure,
            published: claim.map(|(_, claim)| claim.range()),
            here: if is_ratio { row.ratio } else { row.us_per_op }.map(Here::Estimate),
            claim: claim.map(|(index, _)| index),
        })
    };
    let kinds = [Figure::TimeRatio, Figure::Microseconds];
    figures(record).iter().flat_map(|row| kinds.map(|kind| of(row, kind))).flatten().collect()
}

fn spaces(step: &Step, record: &Record) -> Vec<StudyFigure> {
    let plan = &record.header.plan;
    let (stores, varied) = (stores(record), words::values(record));
    let mb = |target: usize| stores.get(target)?.on_disk_mb;
    let row = |claim: (usize, &Claim)| {
        let target = plan.targets.iter().position(|target| target.label == claim.1.target)?;
        let here = mb(target).zip(mb(plan.baseline)).map(|(own, other)| own / other);
        let place = words::pairs(varied, " ", ", ");
        Some(StudyFigure::published(claim, place, here.map(Here::Exact)))
    };
    let claims = claims(step, Figure::SpaceRatio);
    claims.filter(|(_, claim)| is_at(claim, varied)).filter_map(row).collect()
}

fn evens(step: &Step, records: &[Record]) -> Vec<StudyFigure> {
    let Some(plan) = records.first().map(|first| &first.header.plan) else { return vec![] };
    let found = break_evens(records);
    let claims = claims(step, Figure::BreakEven);
    let pairs = claims.flat_map(|claim| found.iter().map(move |even| (claim, even)));
    let same = pairs.filter(|((_, claim), even)| {
        let of = even.target == claim.target && is_of(claim, plan, even.case);
        of && is_at(claim, &even.others)
    });
    let row = |(claim, even): (_, &TargetBreakEven)| {
        let place = place(&even.others, plan, even.case);
        StudyFigure::published(claim, place, Some(Here::Even(even.clone())))
    };
    same.map(row).collect()
}

/// Whether a claim is about this case.
fn is_of(claim: &Claim, plan: &Plan, case: Case) -> bool {
    let work = plan.workloads.get(case.workload).map(|one| one.work);
    let operation = work.and_then(Work::operation);
    claim.operation.is_none_or(|wanted| Some(wanted) == operation)
        && claim.backup.is_none_or(|wanted| work == Some(Work::Backup(wanted)))
        && claim.cache.is_none_or(|wanted| wanted == case.cache)
}

/// Whether it is about the run of a sweep with these values.
fn is_at(claim: &Claim, varied: &BTreeMap<String, String>) -> bool {
    claim.at.iter().all(|(name, value)| varied.get(name) == Some(value))
}

/// `size 10k, read, warm`.
fn place(varied: &BTreeMap<String, String>, plan: &Plan, case: Case) -> String {
    let work = plan.workloads.get(case.workload).map(|one| one.work.to_string());
    let varied = words::pairs(varied, " ", ", ");
    words::joined([Some(varied), work, Some(case.cache.to_string())], ", ").unwrap_or_default()
}

/// Where a figure would have been measured that was not.
fn place_of_claim(claim: &Claim) -> String {
    let operation = claim.operation.map(|operation| operation.to_string());
    let step = claim.backup.map(|step| step.to_string());
    let cache = claim.cache.map(|cache| cache.to_string());
    let at = words::pairs(&claim.at, " ", ", ");
    words::joined([Some(at), operation, step, cache], ", ").unwrap_or_default()
}
