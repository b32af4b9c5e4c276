//! What an advice decides: the store to take, and what it gains and costs.

use std::time::Duration;

use model::{Case, Plan, units::duration_of};
use stats::Estimate;

use crate::{
    advice::{Advice, Candidate, Outcome},
    costs::{Choice, Costs, Undecided, is_weighed},
    figures::{Figures, figures, stores::stores},
    series::Series,
};

/// The decision of an advice, with what its last record shows.
pub struct Decision<'a> {
    /// The advice.
    pub advice: &'a Advice,
    /// The plan of the last record.
    pub plan: &'a Plan,
    /// The costs in the last record.
    pub costs: Costs<'a>,
    /// The store to take.
    pub choice: Choice,
    /// Index of the present store in the last record; `None` if it could not be measured.
    pub now: Option<usize>,
    /// The targets of the last record, the lowest cost first.
    pub rows: Vec<CandidateFigures>,
}

/// The figures of a target of the last record; `None` means not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateFigures {
    /// Index of the target in the plan.
    pub target: usize,
    /// Microseconds of an operation.
    pub cost: Option<Estimate>,
    /// Its cost divided by that of the present store.
    pub ratio: Option<Estimate>,
    /// Microseconds of a read.
    pub read: Option<f64>,
    /// Microseconds of an update.
    pub update: Option<f64>,
    /// Microseconds of a read from the device.
    pub cold: Option<f64>,
    /// Bytes on the disk for each byte of the values.
    pub space: Option<f64>,
    /// Millions of bytes that the store added to the memory in use.
    pub memory: Option<f64>,
}

/// What one store takes more of than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Excess {
    /// The time of an update, by this factor.
    Update(f64),
    /// The time of a read, by this factor.
    Read(f64),
    /// The time of a read from the device, by this factor.
    ColdRead(f64),
    /// Space, by this factor.
    Space(f64),
    /// Memory, by this many millions of bytes.
    Memory(f64),
}

/// The smallest factor between two figures that is a reason for one of the stores.
const EXCESS: f64 = 1.1;
/// The smallest difference in memory that is a reason, in millions of bytes.
const EXCESS_MEMORY: f64 = 8.0;

impl<'a> Decision<'a> {
    /// Chooses a store; returns `None` if nothing was measured.
    pub fn new(advice: &'a Advice) -> Option<Self> {
        let plan = &advice.finals.header.plan;
        let costs = Costs::new(&advice.finals, advice.reads);
        let is_measured = |target: &usize| costs.cost(*target).is_some();
        let now = plan.targets.iter().position(|target| target.label == advice.now);
        let now = now.filter(is_measured);
        let choice = costs.choice(now, |_| true)?;
        Some(Self { advice, plan, costs, choice, now, rows: rows(advice, costs, now) })
    }

    /// Reports whether one of several candidates was measured, so that none was compared with it.
    pub fn is_alone(&self) -> bool {
        let candidates = &self.advice.candidates;
        let is_measured = |one: &&Candidate| {
            matches!(self.advice.outcome(one), Outcome::Dropped(_) | Outcome::Confirmed(_))
        };
        candidates.len() > 1 && candidates.iter().filter(is_measured).count() == 1
    }

    /// Returns why there is no advice yet, and the time that one needs; `None` if there is one.
    pub fn undecided(&self) -> Option<(Undecided, Duration)> {
        let Choice { chosen, best, .. } = self.choice;
        let why = if !self.costs.is_judged() {
            let rounds = self.costs.fewest_rounds();
            Undecided::TooFewRounds { rounds, fastest: (rounds > 1).then_some(best) }
        } else if Some(chosen) == self.now && !self.costs.is_best(chosen, |_| true) {
            let ratio = self.costs.ratio(best, chosen)?;
            Undecided::NoDifference { fastest: best, ratio: (best != chosen).then_some(ratio) }
        } else {
            return None;
        };
        let factor = self.costs.rounds_needed(best, self.now.unwrap_or(chosen));
        Some((why, duration_of(self.advice.time.as_secs_f64() * factor)))
    }

    /// Returns the candidate that a target of the last record is.
    pub fn candidate(&self, target: usize) -> Option<&'a Candidate> {
        let label = &self.plan.targets.get(target)?.label;
        self.advice.candidates.iter().find(|candidate| candidate.label == *label)
    }

    /// Returns why the present store has no figure; `None` if there was no time for it.
    pub fn failure(&self) -> Option<String> {
        let Advice { candidates, left_out, now, .. } = self.advice;
        let own = candidates.iter().find(|candidate| candidate.label == *now);
        if let Some(Outcome::Failed(why)) = own.map(|own| self.advice.outcome(own)) {
            return Some(why);
        }
        left_out.iter().find(|store| store.name == *now).map(|store| store.why.clone())
    }

    /// Lists what `one` takes more of than `other`; `None` if either has no figures.
    pub fn excess(&self, one: usize, other: usize) -> Option<Vec<Excess>> {
        let row = |target: usize| self.rows.iter().find(|row| row.target == target);
        let (one, other) = (row(one)?, row(other)?);
        let factor = |figure: fn(&CandidateFigures) -> Option<f64>| {
            let by = figure(one)? / figure(other)?;
            (by > EXCESS).then_some(by)
        };
        let memory = one.memory.zip(other.memory).map(|(one, other)| one - other);
        let all = [
            factor(|row| row.update).map(Excess::Update),
            factor(|row| row.read).map(Excess::Read),
            factor(|row| row.cold).map(Excess::ColdRead),
            factor(|row| row.space).map(Excess::Space),
            memory.filter(|megabytes| *megabytes > EXCESS_MEMORY).map(Excess::Memory),
        ];
        Some(all.into_iter().flatten().collect())
    }

    /// Reports whether the cost of a target may as well be that of the best.
    pub fn is_level(&self, target: usize) -> bool {
        let ranking = self.costs.ranking();
        ranking.iter().any(|ranked| ranked.target == target && ranked.is_level())
    }
}

/// Returns the figures of the targets of the last record, the lowest cost first.
fn rows(advice: &Advice, costs: Costs<'_>, now: Option<usize>) -> Vec<CandidateFigures> {
    let finals = &advice.finals;
    let plan = &finals.header.plan;
    let (figures, stores) = (figures(finals), stores(finals));
    let time = |target: usize, writes: bool| {
        let is_asked = |row: &&Figures| {
            let work = plan.workloads[row.case.workload].work;
            row.target == target && work.writes() == writes && is_weighed(plan, work)
        };
        figures.iter().filter(is_asked).find_map(|row| Some(row.us_per_op?.point))
    };
    let row = |target: usize| CandidateFigures {
        target,
        cost: costs.cost(target),
        ratio: now.and_then(|now| costs.ratio(target, now)),
        read: time(target, false),
        update: time(target, true),
        cold: cold_read(advice, &plan.targets[target].label),
        space: stores[target].on_disk_per_byte,
        memory: added_memory(advice, target),
    };
    let cost = |row: &CandidateFigures| row.cost.map_or(f64::INFINITY, |cost| cost.point);
    let mut rows: Vec<_> = (0..plan.targets.len()).map(row).collect();
    rows.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    rows
}

/// Returns the microseconds of a read from the device; `None` if it was not measured.
fn cold_read(advice: &Advice, label: &str) -> Option<f64> {
    let record = advice.cold.as_ref()?;
    let plan = &record.header.plan;
    let target = plan.targets.iter().position(|target| target.label == label)?;
    let case = Case { workload: 0, cache: *plan.caches.first()? };
    Some(Series::new(record, case, target).unit_times().mean()?.point)
}

/// Returns the most that opening and reading a store added to the memory in use, in millions of
/// bytes; `None` unless the stores took turns in one process.
fn added_memory(advice: &Advice, target: usize) -> Option<f64> {
    let samples = advice.finals.samples.iter().filter(|sample| sample.target == target);
    let in_turns =
        samples.filter(|sample| sample.passes().is_some_and(|passes| passes.slice.is_some()));
    Some(in_turns.filter_map(|sample| sample.memory_bytes).max()? as f64 / 1e6)
}
