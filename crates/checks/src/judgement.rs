//! Judges a ratio.

use model::{Case, Durability, record::Record};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, Verdict, verdict};

/// With fewer rounds the spread itself is a guess: Student's t for three degrees of freedom and
/// less is over 3, and an interval may be narrow because two or three rounds happened to agree.
pub const FEWEST_ROUNDS: u32 = 5;

/// What a ratio says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Verdict")]
pub enum Judgement {
    /// It is what others are compared with.
    Baseline,
    /// The whole interval lies below 1.
    Faster,
    /// The whole interval lies above 1.
    Slower,
    /// The interval contains 1.
    NoDifference,
    /// It writes under another durability class: not the same work.
    DurabilityDiffers,
    /// The rounds are too few to judge by.
    TooFewRounds,
    /// No trial began in the cache state it was to begin in.
    StateNotReached,
    /// One of both was not measured.
    NotMeasured,
}

impl Judgement {
    pub fn of(record: &Record, case: Case, target: usize, ratio: Option<&Estimate>) -> Self {
        let measured = record.samples_of(case, target).any(|sample| record.in_state(sample));
        if target == record.header.plan.baseline && measured {
            return Self::Baseline;
        }
        let Some(ratio) = ratio else { return Self::without_ratio(record, case, target) };
        if writes(record, case.workload) && durability_differs(record, target) {
            return Self::DurabilityDiffers;
        }
        Self::of_ratio(ratio)
    }

    /// What the time of a target over that in another run says; it is the baseline there.
    pub fn of_change(old: Place<'_>, new: Place<'_>, ratio: Option<&Estimate>) -> Self {
        let Some(ratio) = ratio else {
            let [old, new] = [old, new].map(|p| Self::without_ratio(p.record, p.case, p.target));
            return if old == Self::StateNotReached { old } else { new };
        };
        let classes = [old, new].map(|place| durability(place.record, place.target));
        let differ = classes[0].zip(classes[1]).is_some_and(|(old, new)| old != new);
        if writes(new.record, new.case.workload) && differ {
            return Self::DurabilityDiffers;
        }
        Self::of_ratio(ratio)
    }

    fn of_ratio(ratio: &Estimate) -> Self {
        if ratio.n < FEWEST_ROUNDS as usize {
            return Self::TooFewRounds;
        }
        match verdict(ratio) {
            Verdict::Faster => Self::Faster,
            Verdict::Slower => Self::Slower,
            Verdict::NoDifference => Self::NoDifference,
        }
    }

    fn without_ratio(record: &Record, case: Case, target: usize) -> Self {
        let mut samples = record.samples_of(case, target).peekable();
        let measured = samples.peek().is_some();
        if measured && samples.all(|sample| !record.in_state(sample)) {
            Self::StateNotReached
        } else {
            Self::NotMeasured
        }
    }
}

/// A target in a case of a record.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub record: &'a Record,
    pub case: Case,
    pub target: usize,
}

impl Place<'_> {
    /// Whether it has any trial: where stores age, not every state is one of every workload.
    pub fn is_tried(&self) -> bool {
        self.record.samples_of(self.case, self.target).next().is_some()
    }
}

fn writes(record: &Record, workload: usize) -> bool {
    record.header.plan.workloads.get(workload).is_some_and(|w| w.work.writes())
}

fn durability_differs(record: &Record, target: usize) -> bool {
    let baseline = durability(record, record.header.plan.baseline);
    durability(record, target).zip(baseline).is_some_and(|(class, other)| class != other)
}

fn durability(record: &Record, target: usize) -> Option<Durability> {
    record.stores.iter().rfind(|store| store.target == target).map(|store| store.durability)
}
