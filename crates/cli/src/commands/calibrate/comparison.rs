//! One comparison whose truth is known.

use model::{
    Error, Result,
    record::{Ended, Record},
};
use report::Judgement;
use stats::Estimate;

/// What a store is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Itself.
    Same,
    /// Itself, slowed down.
    Slowed,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Slowed => "slowed",
        }
    }
}

/// What `run` would have shown.
pub(super) struct Comparison {
    pub(super) kind: Kind,
    pub(super) seed: u64,
    pub(super) ratio: Estimate,
    pub(super) judgement: Judgement,
    pub(super) ended: Ended,
    pub(super) rounds: Vec<Pair>,
}

/// One round.
pub(super) struct Pair {
    /// Time of the second target over that of the first.
    pub(super) ratio: f64,
    /// Which of the two ran first.
    pub(super) first: usize,
}

impl Comparison {
    /// Judges a run of two targets as `run` does.
    pub(super) fn of(kind: Kind, record: &Record, ended: Ended) -> Result<Self> {
        let plan = &record.header.plan;
        let figures = report::figures(record);
        let row = figures.iter().find(|row| row.target != plan.baseline);
        let (ratio, judgement) = row
            .and_then(|row| Some((row.ratio?, row.judgement)))
            .ok_or_else(|| Error::failed("a comparison gave no ratio"))?;
        Ok(Self { kind, seed: plan.seed, ratio, judgement, ended, rounds: rounds(record) })
    }
}

fn rounds(record: &Record) -> Vec<Pair> {
    let Some(case) = record.header.plan.cases().next() else { return Vec::new() };
    let samples = |target| record.samples_of(case, target);
    samples(0)
        .zip(samples(1))
        .map(|(one, other)| Pair {
            ratio: other.wall_ns as f64 / one.wall_ns as f64,
            first: usize::from(other.position < one.position),
        })
        .collect()
}
