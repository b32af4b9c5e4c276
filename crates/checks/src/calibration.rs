//! Comparisons whose truth is known: a store with itself, and with itself slowed down.

use model::{DatasetSummary, Environment, Settings, record::Ended};
use serde::Serialize;
use stats::{Estimate, geometric_mean, proportion};

use crate::verdict::Verdict;

/// Version of the form of [`CalibrationLine`]. Raised when a reader of the old one would go wrong.
pub const CALIBRATION_FORMAT: u32 = 2;

/// More false alarms than this are too many.
const FALSE_ALARMS: f64 = 0.05;
/// Fewer detections than this are too few.
const DETECTIONS: f64 = 0.90;

/// A line of the file of a calibration: first what is compared, then the comparisons.
#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "line")]
pub enum CalibrationLine<'a> {
    Calibration(&'a Calibration),
    Comparison(&'a KnownComparison),
}

/// What is compared, where and how.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    pub format: u32,
    /// Seconds since 1970.
    pub started: u64,
    pub seed: u64,
    pub target: String,
    pub settings: Settings,
    pub data: Option<DatasetSummary>,
    /// Comparisons of the store with itself.
    pub same: Part,
    /// Comparisons of the store with itself slowed down.
    pub slowed: Part,
    pub min_rounds: u32,
    pub precision: f64,
    /// Share of an operation's time that slowing down adds.
    pub slow_down: f64,
    /// Time of an operation by itself.
    pub operation_ns: f64,
    /// The wait that was asked for.
    pub wait_ns: f64,
    /// The wait as measured over an engine that does nothing.
    pub measured_wait_ns: f64,
    pub environment: Environment,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Part {
    pub count: u32,
    pub seconds: f64,
}

/// What a store is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// Itself.
    Same,
    /// Itself, slowed down.
    Slowed,
}

/// A comparison, with what `run` would have shown.
#[derive(Clone, Debug, Serialize)]
pub struct KnownComparison {
    pub kind: Known,
    pub seed: u64,
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    pub rounds: usize,
    pub verdict: Verdict,
    pub ended: Ended,
    /// By round, time of the second target over that of the first.
    pub ratios: Vec<f64>,
    /// By round, which of the two ran first, 0 or 1.
    pub first: Vec<usize>,
}

impl Calibration {
    pub fn part(&self, kind: Known) -> Part {
        match kind {
            Known::Same => self.same,
            Known::Slowed => self.slowed,
        }
    }

    /// Whether the wait is what was asked for, as near as can be expected.
    pub fn is_exact(&self) -> bool {
        (self.measured_wait_ns - self.wait_ns).abs() <= (self.wait_ns / 10.0).max(10.0)
    }
}

/// The figures of the comparisons of a kind.
pub struct Tally<'a> {
    pub kind: Known,
    comparisons: Vec<&'a KnownComparison>,
}

impl<'a> Tally<'a> {
    pub fn of(done: &'a [KnownComparison], kind: Known) -> Self {
        Self { kind, comparisons: done.iter().filter(|one| one.kind == kind).collect() }
    }

    pub fn count(&self) -> u64 {
        self.comparisons.len() as u64
    }

    pub fn with_verdict(&self, verdict: Verdict) -> u64 {
        self.count_if(|one| one.verdict == verdict)
    }

    /// False alarms, or differences that were found: those called faster are not.
    pub fn found(&self) -> u64 {
        let slower = self.with_verdict(Verdict::Slower);
        match self.kind {
            Known::Same => slower + self.with_verdict(Verdict::Faster),
            Known::Slowed => slower,
        }
    }

    pub fn found_interval(&self) -> (f64, f64) {
        proportion(self.found(), self.count())
    }

    pub fn ratio(&self) -> Option<Estimate> {
        geometric_mean(&self.comparisons.iter().map(|one| one.ratio).collect::<Vec<_>>())
    }

    /// Intervals that contain the truth: 1, or the mean of all ratios, which is as near to it as
    /// can be known.
    pub fn covering(&self) -> u64 {
        let truth = match self.kind {
            Known::Same => 1.0,
            Known::Slowed => self.ratio().map_or(f64::NAN, |mean| mean.point),
        };
        self.count_if(|one| one.low <= truth && truth <= one.high)
    }

    /// Comparisons that ended before their time because their verdict was settled.
    pub fn precise(&self) -> u64 {
        self.count_if(|one| one.ended == Ended::Precise)
    }

    pub fn half_width(&self) -> f64 {
        self.mean(|one| {
            let KnownComparison { ratio: point, low, high, rounds: n, .. } = *one;
            Estimate { point, low, high, n }.half_width()
        })
    }

    pub fn rounds(&self) -> f64 {
        self.mean(|one| one.rounds as f64)
    }

    fn count_if(&self, holds: impl Fn(&KnownComparison) -> bool) -> u64 {
        self.comparisons.iter().filter(|one| holds(one)).count() as u64
    }

    fn mean(&self, figure: impl Fn(&KnownComparison) -> f64) -> f64 {
        self.comparisons.iter().map(|one| figure(one)).sum::<f64>() / self.count() as f64
    }
}

/// What of the rates is wrong and cannot be explained by chance: the whole interval is beyond the
/// limit.
pub fn wrong_rates(done: &[KnownComparison]) -> Vec<&'static str> {
    let alarms = Tally::of(done, Known::Same).found_interval().0 > FALSE_ALARMS;
    let misses = Tally::of(done, Known::Slowed).found_interval().1 < DETECTIONS;
    let alarms = alarms.then_some("false alarms are above 5 %");
    alarms.into_iter().chain(misses.then_some("detections are below 90 %")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparisons(kind: Known, counts: &[(usize, Verdict)]) -> Vec<KnownComparison> {
        let one = |verdict| KnownComparison {
            kind,
            seed: 1,
            ratio: 1.05,
            low: 1.0,
            high: 1.1,
            rounds: 5,
            verdict,
            ended: Ended::Time,
            ratios: Vec::new(),
            first: Vec::new(),
        };
        counts.iter().flat_map(|(n, verdict)| (0..*n).map(move |_| one(*verdict))).collect()
    }

    fn passes(kind: Known, counts: &[(usize, Verdict)]) -> bool {
        wrong_rates(&comparisons(kind, counts)).is_empty()
    }

    #[test]
    fn only_what_chance_cannot_explain_is_wrong() {
        use Verdict::{Faster, Inconclusive, Slower};
        // 11 of 100: 5.6 to 18.8 %; 10 of 100: 4.9 to 17.6 %.
        assert!(!passes(Known::Same, &[(89, Inconclusive), (6, Slower), (5, Faster)]));
        assert!(passes(Known::Same, &[(90, Inconclusive), (5, Slower), (5, Faster)]));
        // 15 of 20: up to 91.3 %; 14 of 20: up to 88.1 %. Faster is no detection.
        assert!(passes(Known::Slowed, &[(15, Slower), (5, Inconclusive)]));
        assert!(!passes(Known::Slowed, &[(14, Slower), (5, Inconclusive), (1, Faster)]));
        assert!(passes(Known::Same, &[]));
    }

    #[test]
    fn the_truth_of_slowed_comparisons_is_their_mean() {
        let done = comparisons(Known::Slowed, &[(3, Verdict::Slower)]);
        let tally = Tally::of(&done, Known::Slowed);
        assert_eq!((tally.covering(), tally.count()), (3, 3));
        assert!((tally.ratio().unwrap().point - 1.05).abs() < 1e-12);
    }
}
