//! Counters that do not waver: what a target asks of the system more than another one, found by
//! repetition.
//!
//! In a round all targets have the same keys. If a target has the same count more than the other in
//! each of several rounds, the difference is the program's. If not, it is not known whose it is.

use std::collections::BTreeMap;

use model::{Case, Counter, Sample, record::Record};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{gate::Gate, gated::gated_cases, series::Series};

/// The difference between two targets, or between a target of two records, by one counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CounterChange {
    /// The counter.
    pub counter: Counter,
    /// The rounds in which both have it.
    pub rounds: usize,
    /// The mean count of an operation of the first, over these rounds; `None` if there are none.
    pub old: Option<f64>,
    /// The same of the second.
    pub new: Option<f64>,
    /// The least that an operation of the second has more in a round; `None` if there are none.
    pub least: Option<f64>,
    /// The most that an operation of the second has more in a round.
    pub most: Option<f64>,
}

/// The fewest rounds that show whether a counter repeats itself.
const FEWEST_REPEATED: usize = 2;

/// The largest difference between quotients that are equal but for their rounding.
const ROUNDING: f64 = 1e-9;

impl CounterChange {
    /// Compares `new` with `old`, round by round.
    pub fn between(counter: Counter, old: Series<'_>, new: Series<'_>) -> Self {
        let (old, new) = (per_operation(counter, old), per_operation(counter, new));
        let pair = |(round, was): (&u32, &f64)| Some((*was, *new.get(round)?));
        let pairs: Vec<_> = old.iter().filter_map(pair).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| {
            let sum: f64 = pairs.iter().map(of).sum();
            (!pairs.is_empty()).then(|| sum / pairs.len() as f64)
        };
        let more = || pairs.iter().map(|(was, is)| is - was);
        Self {
            counter,
            rounds: pairs.len(),
            old: mean(|(was, _)| *was),
            new: mean(|(_, is)| *is),
            least: more().reduce(f64::min),
            most: more().reduce(f64::max),
        }
    }

    /// Returns what an operation has more; `None` if rounds differ in it, or are too few to show that.
    pub fn exact(&self) -> Option<f64> {
        let (least, most) = self.least.zip(self.most)?;
        let repeats = self.rounds >= FEWEST_REPEATED && most - least <= ROUNDING;
        repeats.then_some(if most.abs() <= ROUNDING { 0.0 } else { most })
    }

    /// Judges whether an operation has more than before. Fewer in each round are no more, also if not by the
    /// same count; anything else that is not exact is undecided.
    pub fn gate(&self) -> Gate {
        let is_repeated = self.rounds >= FEWEST_REPEATED;
        match self.exact() {
            Some(more) if more > 0.0 => Gate::Fail,
            None if !is_repeated || self.most.is_none_or(|most| most > ROUNDING) => Gate::Undecided,
            _ => Gate::Pass,
        }
    }
}

/// Returns the counters that an operation of a target has equally often in all of at least two rounds.
pub fn repeated_counters(series: Series<'_>) -> Vec<Counter> {
    let repeats = |counter: &Counter| {
        let counts = per_operation(*counter, series);
        let first = counts.values().next().copied().unwrap_or_default();
        counts.len() >= FEWEST_REPEATED
            && counts.values().all(|count| (count - first).abs() <= ROUNDING)
    };
    Counter::ALL.into_iter().filter(repeats).collect()
}

/// Returns the count of an operation by round, of the rounds that have it.
fn per_operation(counter: Counter, series: Series<'_>) -> BTreeMap<u32, f64> {
    let count = |sample: &Sample| {
        Some((sample.round, counter.count(sample)? as f64 / sample.operations as f64))
    };
    series.samples().filter_map(count).collect()
}

/// A counter of a target of a run against the baseline's.
#[derive(Clone, Copy, Debug)]
pub struct CountedTarget {
    /// The workload and the cache state.
    pub case: Case,
    /// Index into the plan's targets.
    pub target: usize,
    /// Its difference to the baseline.
    pub change: CounterChange,
}

/// Compares each target of a run that a gate judges with the baseline, by each of `counters`.
pub fn counted_targets(record: &Record, counters: &[Counter]) -> Vec<CountedTarget> {
    let plan = &record.header.plan;
    let is_counted = |target: &usize| *target != plan.baseline && !plan.is_reference(*target);
    let of_case = |case: Case| {
        let series = move |target| Series::new(record, case, target);
        let tried = (0..plan.targets.len()).filter(is_counted);
        tried.flat_map(move |target| {
            counters.iter().map(move |counter| {
                let change =
                    CounterChange::between(*counter, series(plan.baseline), series(target));
                CountedTarget { case, target, change }
            })
        })
    };
    gated_cases(record).flat_map(of_case).collect()
}
