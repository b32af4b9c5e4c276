//! What comparisons of a kind came to, all told.

use model::record::Ended;
use report::Judgement;
use stats::{Estimate, geometric_mean, proportion};

use super::comparison::{Comparison, Kind};

/// The comparisons of one kind.
pub(super) struct Tally<'a> {
    pub(super) kind: Kind,
    comparisons: Vec<&'a Comparison>,
}

impl<'a> Tally<'a> {
    pub(super) fn of(done: &'a [Comparison], kind: Kind) -> Self {
        Self { kind, comparisons: done.iter().filter(|one| one.kind == kind).collect() }
    }

    pub(super) fn len(&self) -> u64 {
        self.comparisons.len() as u64
    }

    pub(super) fn judged(&self, judgement: Judgement) -> u64 {
        self.count(|one| one.judgement == judgement)
    }

    /// False alarms, or differences that were found: those called faster are not.
    pub(super) fn found(&self) -> u64 {
        let slower = self.judged(Judgement::Slower);
        match self.kind {
            Kind::Same => slower + self.judged(Judgement::Faster),
            Kind::Slowed => slower,
        }
    }

    /// The 95 % interval of their share.
    pub(super) fn found_interval(&self) -> (f64, f64) {
        proportion(self.found(), self.len())
    }

    /// The mean of all ratios.
    pub(super) fn ratio(&self) -> Option<Estimate> {
        geometric_mean(&self.comparisons.iter().map(|one| one.ratio.point).collect::<Vec<_>>())
    }

    /// Intervals that contain the truth: 1, or as near as it is known, the mean of all ratios.
    pub(super) fn covering(&self) -> u64 {
        let truth = match self.kind {
            Kind::Same => Some(1.0),
            Kind::Slowed => self.ratio().map(|mean| mean.point),
        };
        let Some(truth) = truth else { return 0 };
        self.count(|one| one.ratio.low <= truth && truth <= one.ratio.high)
    }

    pub(super) fn ended(&self, how: &Ended) -> u64 {
        self.count(|one| one.ended == *how)
    }

    pub(super) fn half_width(&self) -> f64 {
        self.mean(|one| one.ratio.half_width())
    }

    pub(super) fn rounds(&self) -> f64 {
        self.mean(|one| one.rounds.len() as f64)
    }

    fn count(&self, holds: impl Fn(&Comparison) -> bool) -> u64 {
        self.comparisons.iter().filter(|one| holds(one)).count() as u64
    }

    fn mean(&self, figure: impl Fn(&Comparison) -> f64) -> f64 {
        self.comparisons.iter().map(|one| figure(one)).sum::<f64>() / self.len() as f64
    }
}
