//! Compares what was published with what was measured.

use std::collections::BTreeMap;

use model::{Case, Plan, Workload, record::Record};
use spec::study::{Claim, Figure, StudyCommand};
use stats::Estimate;

use super::{
    Figures,
    explained::cached,
    figures,
    sweep::{TargetBreakEven, break_evens},
};
use crate::series::{Series, facts};

/// A figure that was published, measured, or both.
#[derive(Clone, Debug)]
pub struct StudyFigure {
    /// The place of the measurement: values of a sweep, operation, cache state.
    pub place: String,
    /// Label of the target.
    pub target: String,
    /// The kind of figure.
    pub figure: Figure,
    /// The lowest and the highest published value.
    pub published: Option<(f64, f64)>,
    /// The bounds that the digits of the published value allow; `None` if it is as good as exact.
    rounded: Option<(f64, f64)>,
    /// The value of this machine; `None` if the target, or the divisor of its ratio, was not
    /// measured.
    pub here: Option<Here>,
    /// The index of the claim that published it.
    claim: Option<usize>,
}

/// A figure of this machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Here {
    /// An estimate with its interval.
    Estimate(Estimate),
    /// A counted value.
    Exact(f64),
    /// The size at which the baseline overtakes, or that it does not.
    Even(TargetBreakEven),
}

/// The result of comparing a figure with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The interval is close to the published value.
    Agrees,
    /// The whole interval is below the published value, and too far away to agree.
    Lower,
    /// The whole interval is above the published value, and too far away to agree.
    Higher,
    /// The interval contains the published value, but is too wide to confirm it.
    TooWide,
}

/// The share by which published counts are rounded.
const EXACT: f64 = 0.005;

/// The factor by which an interval may reach past the published range on both sides and still
/// agree: another machine is never exactly the same, and a wider interval shows nothing.
const ABOUT: f64 = 1.25;

impl StudyFigure {
    /// Compares the figure with the published one; `None` if either is absent, or the baseline
    /// overtakes more than once.
    pub fn against(&self) -> Option<Against> {
        let (published, here) = self.published.zip(self.here.as_ref())?;
        let (least, greatest) = self.rounded.unwrap_or(published);
        let (low, high, about) = match here {
            Here::Estimate(Estimate { low, high, .. }) => (*low, *high, ABOUT),
            Here::Exact(value) => (*value, *value, 1.0 + EXACT),
            Here::Even(even) => {
                let (low, high) = overtaken(even)?;
                (low, high, ABOUT)
            }
        };
        Some(match () {
            () if low * about >= least && high <= greatest * about => Against::Agrees,
            () if high < least => Against::Lower,
            () if low > greatest => Against::Higher,
            () => Against::TooWide,
        })
    }

    /// Creates the figure of a claim; `here` is `None` if it was not measured.
    pub(super) fn of_claim(
        (index, claim): (usize, &Claim),
        place: String,
        here: Option<Here>,
    ) -> Self {
        Self {
            place,
            target: claim.target.clone(),
            figure: claim.figure,
            published: Some(claim.range()),
            rounded: claim.rounded,
            here,
            claim: Some(index),
        }
    }
}

/// Returns the range of sizes at which the baseline may overtake; `None` if it does more than once.
fn overtaken(even: &TargetBreakEven) -> Option<(f64, f64)> {
    let [least, most] = even.sizes.map(|size| size as f64);
    match even.found.crossings.as_slice() {
        [one] => Some((one.low.unwrap_or(0.0), one.high.unwrap_or(f64::INFINITY))),
        [] if !even.found.refuted => Some((0.0, f64::INFINITY)),
        [] if even.found.begins_below => Some((most, f64::INFINITY)),
        [] => Some((0.0, least)),
        _ => None,
    }
}

/// Returns every ratio of times that a step measured and every published figure, in the order of
/// what was measured. Published figures without a measurement come last, without the runs that a
/// smaller sweep leaves out.
pub fn study_figures(step: &StudyCommand, records: &[Record]) -> Vec<StudyFigure> {
    let of_record = |record| trials(step, record).into_iter().chain(spaces(step, record));
    let mut all: Vec<_> = records.iter().flat_map(of_record).collect();
    all.extend(evens(step, records));
    let swept = records.iter().any(|record| record.header.point.is_some());
    let lacking = step.claims.iter().enumerate().filter(|(index, claim)| {
        let measured = all.iter().any(|row| row.claim == Some(*index));
        !measured && (claim.at.is_empty() || !swept)
    });
    let unmeasured = |claim| StudyFigure::of_claim(claim, claimed_place_name(claim.1), None);
    let lacking: Vec<_> = lacking.map(unmeasured).collect();
    all.extend(lacking);
    all
}

/// Returns a published ratio of times, with its bounds, and the one measured here; `None` if the plan has no such
/// target.
pub fn ratio_claim(
    record: &Record,
    target: usize,
    place: String,
    (published, rounded): (f64, Option<(f64, f64)>),
    here: Option<Estimate>,
) -> Option<StudyFigure> {
    let target = record.header.plan.targets.get(target)?.label.clone();
    let (published, here) = (Some((published, published)), here.map(Here::Estimate));
    let figure = Figure::TimeRatio;
    Some(StudyFigure { place, target, figure, published, rounded, here, claim: None })
}

/// Returns the claims about a kind of figure, with their indices.
fn claims(step: &StudyCommand, figure: Figure) -> impl Iterator<Item = (usize, &Claim)> {
    step.claims.iter().enumerate().filter(move |(_, claim)| claim.figure == figure)
}

/// Returns the figures of each target in each case: every ratio to the baseline, and every claimed
/// figure.
fn trials(step: &StudyCommand, record: &Record) -> Vec<StudyFigure> {
    let rows = figures(record);
    let of = |row: &Figures| ratio(step, record, row).into_iter().chain(claimed(step, record, row));
    rows.iter().flat_map(of).collect()
}

/// Returns the ratio of times to the baseline, unless a claim is about it.
fn ratio(step: &StudyCommand, record: &Record, row: &Figures) -> Option<StudyFigure> {
    let plan = &record.header.plan;
    let is_claimed = claims(step, Figure::TimeRatio)
        .any(|(_, claim)| claim.over.is_none() && is_about(claim, record, row));
    let target = plan.targets.get(row.target).filter(|_| row.target != plan.baseline)?;
    (!is_claimed).then(|| StudyFigure {
        place: place_name(record.header.varied(), plan, row.case),
        target: target.label.clone(),
        figure: Figure::TimeRatio,
        published: None,
        rounded: None,
        here: row.ratio.map(Here::Estimate),
        claim: None,
    })
}

/// Returns the figures that are claimed of a target in a case.
fn claimed(step: &StudyCommand, record: &Record, row: &Figures) -> Vec<StudyFigure> {
    let about = |(_, claim): &(usize, &Claim)| is_about(claim, record, row);
    let figure = |claim: (usize, &Claim)| {
        let place = place_name(record.header.varied(), &record.header.plan, row.case);
        let over = claim.1.over.iter().flat_map(|over| [&over.target, &over.work]).flatten();
        let place = over.fold(place, |place, part| format!("{place}, ÷ {part}"));
        StudyFigure::of_claim(claim, place, here(step, claim.1, record, row))
    };
    let of_trials = |(_, claim): &(usize, &Claim)| {
        !matches!(claim.figure, Figure::Bytes | Figure::SpaceRatio | Figure::BreakEven)
    };
    let all = step.claims.iter().enumerate();
    all.filter(of_trials).filter(about).map(figure).collect()
}

/// Reports whether a claim is about this target in this case of this run.
fn is_about(claim: &Claim, record: &Record, row: &Figures) -> bool {
    let plan = &record.header.plan;
    plan.targets.get(row.target).is_some_and(|target| target.label == claim.target)
        && is_of(claim, plan, row.case)
        && is_at(claim, record.header.varied())
}

fn here(step: &StudyCommand, claim: &Claim, record: &Record, row: &Figures) -> Option<Here> {
    let series = Series::new(record, row.case, row.target);
    let resident = |when| cached(&series.samples().collect::<Vec<_>>(), when).map(Here::Exact);
    match claim.figure {
        Figure::TimeRatio => {
            let over = over(step, claim, series)?;
            let is_baseline = over.case == row.case && over.target == record.header.plan.baseline;
            let ratio = if is_baseline { row.ratio } else { series.ratio_to(over) };
            ratio.map(Here::Estimate)
        }
        Figure::ProcessorRatio => {
            series.processor_ratio_to(over(step, claim, series)?).map(Here::Estimate)
        }
        Figure::Microseconds => row.us_per_op.map(Here::Estimate),
        Figure::MbPerSecond => row.mb_per_s.map(Here::Estimate),
        Figure::ResidentBefore => resident(|sample| sample.before),
        Figure::ResidentAfter => resident(|sample| sample.after),
        Figure::Bytes
        | Figure::SpaceRatio
        | Figure::BreakEven
        | Figure::LostCommits
        | Figure::BrokenStates
        | Figure::DamagedStates => None,
    }
}

/// Returns the series that a claimed ratio divides by; `None` if it was not measured, or is the
/// target itself.
fn over<'a>(step: &StudyCommand, claim: &Claim, series: Series<'a>) -> Option<Series<'a>> {
    let plan = &series.record.header.plan;
    let own = plan.workloads.get(series.case.workload)?;
    let over = claim.over.clone().unwrap_or_default();
    let workload = match over.work {
        None => series.case.workload,
        Some(work) => plan
            .workloads
            .iter()
            .position(|other| work_name(plan, other) == work && other.processes == own.processes)?,
    };
    let target = match over.target {
        Some(label) => position(plan, &label)?,
        // Other work is compared with the target's own.
        None if workload != series.case.workload => series.target,
        None => reference(step, plan)?,
    };
    let over = Series { case: Case { workload, ..series.case }, target, ..series };
    (over.target != series.target || over.case != series.case).then_some(over)
}

/// Returns the target that the ratios of a step are over, whatever the baseline became without it.
fn reference(step: &StudyCommand, plan: &Plan) -> Option<usize> {
    step.reference().map_or(Some(plan.baseline), |label| position(plan, &label))
}

fn position(plan: &Plan, label: &str) -> Option<usize> {
    plan.targets.iter().position(|target| target.label == label)
}

fn spaces(step: &StudyCommand, record: &Record) -> Vec<StudyFigure> {
    let (plan, varied) = (&record.header.plan, record.header.varied());
    let row = |claim: (usize, &Claim)| {
        let target = position(plan, &claim.1.target)?;
        let over = claim.1.over.as_ref().and_then(|over| over.target.as_ref());
        let other = || over.map_or_else(|| reference(step, plan), |label| position(plan, label));
        let here = if claim.1.figure == Figure::Bytes {
            size(record, target).map(|(length, _)| length)
        } else {
            let other = other().filter(|other| *other != target);
            let sizes = size(record, target).zip(other.and_then(|other| size(record, other)));
            sizes.map(|(own, other)| own.1 / other.1)
        };
        let over = over.map(|label| format!("÷ {label}"));
        let place = options(varied).chain(over).collect::<Vec<_>>().join(", ");
        Some(StudyFigure::of_claim(claim, place, here.map(Here::Exact)))
    };
    let claims = claims(step, Figure::SpaceRatio).chain(claims(step, Figure::Bytes));
    claims.filter(|(_, claim)| is_at(claim, varied)).filter_map(row).collect()
}

/// Returns the bytes of a store's files and what they occupy on disk: as filled, or the largest
/// after any trial.
fn size(record: &Record, target: usize) -> Option<(f64, f64)> {
    let filled = facts(record, target).map(|facts| (facts.apparent_bytes, facts.allocated_bytes));
    let own = record.samples.iter().filter(|sample| sample.target == target);
    let left =
        own.filter_map(|sample| sample.files().map(|files| (files.apparent, files.allocated)));
    let (length, on_disk) = filled.into_iter().chain(left).max()?;
    (length > 0).then_some((length as f64, on_disk as f64))
}

fn evens(step: &StudyCommand, records: &[Record]) -> Vec<StudyFigure> {
    let Some(plan) = records.first().map(|first| &first.header.plan) else { return vec![] };
    if reference(step, plan) != Some(plan.baseline) {
        return vec![];
    }
    let found = break_evens(records);
    let claims = claims(step, Figure::BreakEven);
    let pairs = claims.flat_map(|claim| found.iter().map(move |even| (claim, even)));
    let same = pairs.filter(|((_, claim), even)| {
        let of = even.target == claim.target && is_of(claim, plan, even.case);
        of && is_at(claim, &even.others)
    });
    let row = |(claim, even): (_, &TargetBreakEven)| {
        let place = place_name(&even.others, plan, even.case);
        StudyFigure::of_claim(claim, place, Some(Here::Even(even.clone())))
    };
    same.map(row).collect()
}

/// Returns the name by which a claim names the work of a workload: `read`, `readers together`.
fn work_name(plan: &Plan, workload: &Workload) -> String {
    let role = plan.experiment.roles().zip(workload.work.role());
    role.map_or_else(|| workload.work.to_string(), |(roles, work)| roles.work_name(work))
}

/// Reports whether a claim is about this case.
fn is_of(claim: &Claim, plan: &Plan, case: Case) -> bool {
    plan.workloads.get(case.workload).is_some_and(|workload| {
        let work = work_name(plan, workload);
        claim.work.as_ref().is_none_or(|wanted| *wanted == work)
            && claim.processes.is_none_or(|wanted| wanted == workload.processes)
            && claim.cache.is_none_or(|wanted| wanted == case.cache)
    })
}

/// Reports whether a claim is about the run of a sweep with these values.
fn is_at(claim: &Claim, varied: &BTreeMap<String, String>) -> bool {
    claim.at.iter().all(|(name, value)| varied.get(name) == Some(value))
}

/// Returns the name of the place of a figure: `size 10k, read, warm`.
fn place_name(varied: &BTreeMap<String, String>, plan: &Plan, case: Case) -> String {
    options(varied).chain([plan.case_name(case)]).collect::<Vec<_>>().join(", ")
}

/// Returns the name of the place at which a figure would have been measured.
fn claimed_place_name(claim: &Claim) -> String {
    let cache = claim.cache.map(|cache| cache.to_string());
    options(&claim.at).chain(claim.work.clone()).chain(cache).collect::<Vec<_>>().join(", ")
}

/// Returns options with their values: `size 10k`.
fn options(values: &BTreeMap<String, String>) -> impl Iterator<Item = String> + '_ {
    values.iter().map(|(name, value)| format!("{name} {value}"))
}
