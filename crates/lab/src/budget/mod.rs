//! How long work takes, and how much of the time it has.
//!
//! What work costs is guessed before anything was tried, then tried on a small part of it, and then
//! measured where the work itself goes on:
//!
//! | how long takes | guessed | tried | measured |
//! | --- | --- | --- | --- |
//! | filling stores | [`guessed::preparing`] | [`Line`], by `blobs/fit.rs` | by the first copy, for the others (`blobs/copies.rs`) |
//! | checking values | [`guessed::preparing`] | | ends with its share (`blobs/prepare.rs`) |
//! | reading stores into memory | [`guessed::reading_files`] | | by earlier looks (`blobs/epoch.rs`) |
//! | a round of values | [`guessed::trial`] | [`TrialCost`], by `blobs/calibration.rs` | by the longest so far (`schedule`) |
//! | a round of another experiment | | [`rehearse`], by `schedule` | by the longest so far (`schedule`) |
//! | the whole command | `blobs/forecast.rs` | | [`Budget::left`] |
//! | a candidate of `advise` | [`guessed::CANDIDATE`] | | [`Budget::left`] |
//!
//! The part of the time that each may take is one of [`shares`], all of which give their reason.

pub(crate) mod guessed;
mod rehearsal;
pub(crate) mod shares;
mod trial_cost;

use std::time::{Duration, Instant};

use model::units::duration_of;

pub(crate) use rehearsal::{Expected, rehearse};
pub(crate) use trial_cost::{TrialCost, TrialCosts, fastest_of_size, fastest_operation, stretched};

/// The time that work may take, from the moment at which the budget is created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    began: Instant,
    /// Infinite if nothing but the work itself ends it.
    seconds: f64,
}

impl Budget {
    /// Starts a budget of this `time`; `None` if it has no end.
    pub(crate) fn new(time: Option<Duration>) -> Self {
        let seconds = time.map_or(f64::INFINITY, |time| time.as_secs_f64());
        Self { began: Instant::now(), seconds }
    }

    /// Starts a budget of a part of the time that is left.
    pub(crate) fn part(&self, share: f64) -> Self {
        Self { began: Instant::now(), seconds: self.remaining() * share }
    }

    /// Returns the time that has passed.
    pub(crate) fn spent(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns the seconds that are left, infinite if the time has no end.
    pub(crate) fn remaining(&self) -> f64 {
        (self.seconds - self.spent().as_secs_f64()).max(0.0)
    }

    /// Returns the time that is left; `None` if it has no end.
    pub(crate) fn limit(&self) -> Option<Duration> {
        let left = self.remaining();
        left.is_finite().then(|| duration_of(left))
    }

    /// Reports whether `work` ends in time if it starts now.
    pub(crate) fn fits(&self, work: Duration) -> bool {
        work.as_secs_f64() <= self.remaining()
    }
}

/// The seconds of work that takes some time whatever its amount, and more for each unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Line {
    pub(crate) start: f64,
    pub(crate) each: f64,
}

impl Line {
    /// Returns the line through two amounts with the seconds that they took; larger amounts take no
    /// less.
    pub(crate) fn through([small, large]: [(f64, f64); 2]) -> Self {
        let each = ((large.1 - small.1) / (large.0 - small.0)).max(0.0);
        Self { start: large.1 - each * large.0, each }
    }

    pub(crate) fn seconds(&self, amount: f64) -> f64 {
        self.start + self.each * amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_spent_to_its_end() {
        let minute = Duration::from_secs(60);
        let budget = Budget::new(Some(minute));
        assert!(budget.remaining() <= 60.0 && budget.limit() <= Some(minute));
        assert!(!budget.fits(minute * 2) && budget.fits(Duration::ZERO));
        assert!(budget.part(0.5).remaining() <= 30.0);
        let spent = Budget { seconds: 0.0, ..budget };
        assert_eq!((spent.remaining(), spent.limit()), (0.0, Some(Duration::ZERO)));
        assert!(!spent.fits(minute));
    }

    #[test]
    fn a_number_of_rounds_has_no_end_of_time() {
        let budget = Budget::new(None).part(0.5);
        assert_eq!((budget.remaining(), budget.limit()), (f64::INFINITY, None));
        assert!(budget.fits(Duration::MAX));
    }

    #[test]
    fn some_of_work_takes_as_long_whatever_its_amount() {
        let line = Line::through([(1000.0, 6.0), (3000.0, 8.0)]);
        assert!((line.start - 5.0).abs() < 1e-9 && (line.seconds(2000.0) - 7.0).abs() < 1e-9);
    }
}
