//! How far the rounds are, and how much longer they take.

use std::time::{Duration, Instant};

use model::Rounds;

use crate::Progress;

/// The rounds of a run as they pass.
pub(super) struct Eta<'a> {
    rounds: Rounds,
    /// Since when the time of the run counts.
    began: Instant,
    /// When the first round started.
    first: Instant,
    progress: &'a dyn Progress,
    round: u32,
}

impl<'a> Eta<'a> {
    pub(super) fn new(rounds: Rounds, began: Instant, progress: &'a dyn Progress) -> Self {
        Self { rounds, began, first: Instant::now(), progress, round: 0 }
    }

    /// Round `number`, from 0, starts.
    pub(super) fn round(&mut self, number: u32) {
        self.round = number;
    }

    /// Trial `number` of `all` in this round starts: `what` of it.
    pub(super) fn trial(&self, number: u32, all: usize, what: &str) {
        let passed = f64::from(self.round) + f64::from(number) / all as f64;
        let left = left(&self.rounds, passed, self.first.elapsed(), self.began.elapsed());
        self.progress.rounds(&format!("round {}{what}", self.round + 1), left);
    }
}

/// How much longer rounds go on at most when `passed` of them took the time `measuring`, and all
/// so far `spent`. Absent before a whole round has shown what one takes: trials differ.
fn left(rounds: &Rounds, passed: f64, measuring: Duration, spent: Duration) -> Option<Duration> {
    if passed < 1.0 {
        return None;
    }
    let further = |until: u32| (f64::from(until) - passed) * measuring.as_secs_f64() / passed;
    let seconds = match rounds.max {
        Some(max) => further(max),
        None => further(rounds.min).max(rounds.seconds - spent.as_secs_f64()),
    };
    Some(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rounds(min: u32, max: Option<u32>, seconds: f64) -> Rounds {
        Rounds { min, max, precision: 0.03, seconds }
    }

    fn seconds(rounds: Rounds, passed: f64, measuring: u32, spent: u32) -> Option<u64> {
        let left = left(&rounds, passed, SECOND * measuring, SECOND * spent);
        left.map(|left| left.as_secs())
    }

    #[test]
    fn nothing_is_estimated_before_a_whole_round() {
        assert_eq!(seconds(rounds(5, None, 45.0), 0.9, 9, 10), None);
        assert_eq!(seconds(rounds(5, Some(7), 45.0), 0.0, 0, 10), None);
    }

    #[test]
    fn a_number_of_rounds_takes_what_those_before_took() {
        assert_eq!(seconds(rounds(5, Some(10), 45.0), 2.5, 25, 100), Some(75));
        assert_eq!(seconds(rounds(5, Some(1), 45.0), 1.0, 25, 100), Some(0));
    }

    #[test]
    fn time_is_spent_to_its_end_or_to_the_least_number_of_rounds() {
        assert_eq!(seconds(rounds(5, None, 45.0), 20.0, 20, 30), Some(15));
        assert_eq!(seconds(rounds(5, None, 45.0), 1.0, 30, 40), Some(120));
        assert_eq!(seconds(rounds(5, None, 45.0), 6.0, 60, 70), Some(0));
    }
}
