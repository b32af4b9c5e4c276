//! Gathers the doubts about a record: those it holds and those that only the whole of it shows.

use std::collections::BTreeSet;

use model::{Cache, Finding, FindingKind, Suggestion, record::Record};
use stats::Estimate;

use crate::{
    arithmetic,
    figures::{Figures, figures},
    judgement::FEWEST_ROUNDS,
    steadiness,
};

/// A doubt with all it was seen in. Empty: the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// What is doubted.
    pub kind: FindingKind,
    /// Labels of targets.
    pub targets: BTreeSet<String>,
    /// Indices into the plan's workloads.
    pub workloads: BTreeSet<usize>,
    /// Cache states.
    pub caches: BTreeSet<Cache>,
    /// Rounds, counted from 0.
    pub rounds: BTreeSet<u32>,
}

/// All doubts about a record, the worst first; `figures` are the record's own.
pub fn remarks(record: &Record, figures: &[Figures]) -> Vec<Remark> {
    let computed = computed(record, figures, record.end.is_some());
    gathered(record.findings.iter().cloned().chain(computed))
}

/// All doubts about the runs of a sweep together.
pub fn remarks_of_all(runs: &[Record], figures: &[Vec<Figures>]) -> Vec<Remark> {
    let computed =
        runs.iter().zip(figures).flat_map(|(run, own)| computed(run, own, run.end.is_some()));
    gathered(runs.iter().flat_map(|run| run.findings.iter().cloned()).chain(computed))
}

/// What to do about doubts, the weightiest first.
pub fn advice(doubts: impl IntoIterator<Item = FindingKind>) -> Vec<Suggestion> {
    let remarks = gathered(doubts.into_iter().map(Finding::run));
    remarks.into_iter().map(|remark| remark.kind.into()).collect()
}

/// Findings of a kind in one remark each, the worst first.
fn gathered(findings: impl Iterator<Item = Finding>) -> Vec<Remark> {
    let mut all: Vec<Remark> = Vec::new();
    for finding in findings {
        match all.iter_mut().find(|remark| same(&remark.kind, &finding.kind)) {
            Some(remark) => remark.add(finding),
            None => all.push(Remark::new(finding)),
        }
    }
    if all.iter().any(|remark| matches!(remark.kind, FindingKind::OtherLoad { .. })) {
        // Told of longer trials by the load, of shorter ones by who waited: it is one trouble.
        all.retain(|remark| !is_waiting_for_others(&remark.kind));
    }
    all.sort_by_key(|remark| std::cmp::Reverse(remark.kind.severity()));
    all
}

fn is_waiting_for_others(doubt: &FindingKind) -> bool {
    matches!(doubt, FindingKind::Pressure { resource, .. } if resource != "memory")
}

/// The doubts that only the whole of a record shows, once its run is over: what stands in the
/// record beside those of single trials.
pub fn derived(record: &Record) -> Vec<Finding> {
    computed(record, &figures(record), true)
}

fn computed(record: &Record, figures: &[Figures], ended: bool) -> Vec<Finding> {
    let intervals = figures.iter().flat_map(|row| about_row(record, row, ended));
    let contradictions = arithmetic::contradictions(record).into_iter();
    contradictions.chain(intervals).chain(steadiness::doubts(record)).collect()
}

/// Whether two doubts make one line: equal ones, and those of a kind that differ in their extent
/// only, of which the largest stands.
fn same(one: &FindingKind, other: &FindingKind) -> bool {
    let of_a_kind = std::mem::discriminant(one) == std::mem::discriminant(other);
    let of_the_same = extent(one).zip(extent(other)).is_some_and(|(one, other)| one.0 == other.0);
    one == other || (of_a_kind && of_the_same)
}

impl Remark {
    fn new(finding: Finding) -> Self {
        Self {
            kind: finding.kind,
            targets: finding.target.into_iter().collect(),
            workloads: finding.workload.into_iter().collect(),
            caches: finding.cache.into_iter().collect(),
            rounds: finding.round.into_iter().collect(),
        }
    }

    fn add(&mut self, finding: Finding) {
        if extent(&finding.kind) > extent(&self.kind) {
            self.kind = finding.kind;
        }
        widen(&mut self.targets, finding.target);
        widen(&mut self.workloads, finding.workload);
        widen(&mut self.caches, finding.cache);
        widen(&mut self.rounds, finding.round);
    }
}

/// Adds a place to those a doubt was seen in. None at all stands for everywhere, and stays so.
fn widen<T: Ord>(places: &mut BTreeSet<T>, place: Option<T>) {
    match place {
        None => places.clear(),
        Some(place) if !places.is_empty() => places.extend([place]),
        Some(_) => {}
    }
}

/// What a doubt is the extent of, where its kind alone does not say it, and how large it is: the
/// larger, the worse.
fn extent(doubt: &FindingKind) -> Option<(&str, f64)> {
    let plain = |extent| Some(("", extent));
    match doubt {
        FindingKind::TooNoisy { half_width, .. } => plain(*half_width),
        FindingKind::LeftToBackground { share }
        | FindingKind::ToolShare { share }
        | FindingKind::Steal { share } => plain(*share),
        FindingKind::OtherLoad { cpus } => plain(*cpus),
        FindingKind::Pressure { resource, share } => Some((resource, *share)),
        FindingKind::Swapped { bytes } => plain(*bytes as f64),
        FindingKind::Throttled { times } => plain(*times as f64),
        FindingKind::StateLost { resident } => plain(-resident),
        FindingKind::StateFetched { fetched } => plain(*fetched),
        FindingKind::StateNotFetched { cache, fetched } => Some((cache.as_str(), -fetched)),
        FindingKind::StateNotReached { cache: Cache::Warm, resident, .. } => {
            Some(("warm", -resident))
        }
        FindingKind::StateNotReached { cache, resident, .. } => Some((cache.as_str(), *resident)),
        FindingKind::Drift { change } if *change < 0.0 => Some(("faster", -change)),
        FindingKind::Drift { change } => Some(("slower", *change)),
        FindingKind::TwoModes { ratio } => plain(*ratio),
        FindingKind::Stalled { share, cause } => {
            Some((cause.as_deref().unwrap_or_default(), *share))
        }
        FindingKind::ClockCoarse { p50_ns, clock_ns } => plain(*clock_ns as f64 / *p50_ns as f64),
        _ => None,
    }
}

/// Doubts about an interval: over too few rounds, or still too wide when the run ended.
fn about_row(record: &Record, row: &Figures, ended: bool) -> Vec<Finding> {
    let plan = &record.header.plan;
    let Some((target, interval)) = plan.targets.get(row.target).zip(compared(record, row)) else {
        return vec![];
    };
    let wide = ended.then(|| too_wide(interval, plan.rounds.precision)).flatten();
    [too_few(interval), wide]
        .into_iter()
        .flatten()
        .map(|doubt| {
            let finding = Finding::target(doubt, &target.label);
            finding.in_workload(row.case.workload).in_cache(row.case.cache)
        })
        .collect()
}

/// What the run was to make precise: the ratio, or with one target its time.
fn compared<'a>(record: &Record, row: &'a Figures) -> Option<&'a Estimate> {
    if record.header.plan.targets.len() == 1 { row.us_per_op.as_ref() } else { row.ratio.as_ref() }
}

fn too_few(interval: &Estimate) -> Option<FindingKind> {
    let rounds = u32::try_from(interval.n).unwrap_or(u32::MAX);
    (rounds < FEWEST_ROUNDS).then_some(FindingKind::TooFewRounds { rounds, min: FEWEST_ROUNDS })
}

/// One round has no width at all; that it is only one is said elsewhere.
fn too_wide(interval: &Estimate, precision: f64) -> Option<FindingKind> {
    let half_width = interval.half_width();
    (half_width.is_finite() && half_width > precision)
        .then_some(FindingKind::TooNoisy { half_width, precision })
}
