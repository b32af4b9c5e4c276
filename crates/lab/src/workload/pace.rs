//! A clock with a schedule: operations start when they are due, or as soon after it as they can, and
//! their latencies count from when they were due. So an operation that waits for a slow one before
//! it shows that, as it would if operations came from many users (an open loop).

use hdrhistogram::Histogram;
use model::{Action, Result};

use host::{now_ns, wait_until};

use super::latency::{self, Clock, EachOperation};
use crate::Stop;

/// Waits are cut into parts, so that a wish to stop is seen within one.
const PART_NS: u64 = 50_000_000;

/// The schedule of one worker.
pub(crate) struct OnSchedule<'a> {
    pub(crate) each: EachOperation,
    /// How late operations started.
    pub(crate) lags: Histogram<u64>,
    /// When the first is due.
    first_ns: u64,
    interval_ns: f64,
    started: u64,
    /// When the current operation was due.
    due_ns: u64,
    stop: &'a Stop,
}

impl<'a> OnSchedule<'a> {
    /// For worker number `worker` of so many, who share `rate` operations a second and take turns.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float is cast to the nearest integer"
    )]
    pub(crate) fn new(
        each: EachOperation,
        rate: f64,
        worker: usize,
        workers: u32,
        stop: &'a Stop,
    ) -> Self {
        // Room is made before the schedule starts.
        let lags = latency::histogram();
        let apart_ns = 1e9 / rate;
        let first_ns = now_ns() + (apart_ns * worker as f64) as u64;
        let interval_ns = apart_ns * f64::from(workers);
        Self { each, lags, first_ns, interval_ns, started: 0, due_ns: 0, stop }
    }
}

impl Clock for OnSchedule<'_> {
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float is cast to the nearest integer"
    )]
    fn wait(&mut self) -> Result<()> {
        self.due_ns = self.first_ns + (self.started as f64 * self.interval_ns) as u64;
        self.started += 1;
        let mut now = now_ns();
        while now + PART_NS < self.due_ns {
            self.stop.check()?;
            wait_until(now + PART_NS);
            now = now_ns();
        }
        wait_until(self.due_ns);
        self.lags.saturating_record(now_ns().saturating_sub(self.due_ns));
        Ok(())
    }

    #[inline]
    fn time<T>(&mut self, action: Action, operation: impl FnOnce() -> T) -> T {
        let result = operation();
        let end_ns = now_ns();
        self.each.record(action, end_ns.saturating_sub(self.due_ns), end_ns);
        result
    }

    #[inline]
    fn committed(&mut self) {
        self.each.committed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_start_in_turn_and_never_early() {
        let stop = Stop::new();
        let clock = |worker| {
            let each = EachOperation::new([Action::Read].into_iter(), now_ns());
            OnSchedule::new(each, 10_000.0, worker, 2, &stop)
        };
        let start = now_ns();
        let mut clock = clock(1);
        for turn in 0..20 {
            clock.wait().unwrap();
            assert!(now_ns() >= start + 100_000 + turn * 200_000);
            clock.time(Action::Read, || ());
        }
        assert_eq!(clock.lags.len(), 20);
        assert!(clock.each.sum.as_nanos() > 0);
    }

    #[test]
    fn a_latency_holds_the_wait_for_those_before_it() {
        let stop = Stop::new();
        let each = EachOperation::new([Action::Update].into_iter(), now_ns());
        let mut clock = OnSchedule::new(each, 1000.0, 0, 1, &stop);
        for operation in 0..10 {
            clock.wait().unwrap();
            clock.time(Action::Update, || {
                if operation == 0 {
                    wait_until(now_ns() + 8_000_000);
                }
            });
        }
        // 8 ms, and what is left of them when each of the following was due.
        assert!(clock.each.sum.as_millis() >= 8 + 7 + 6 + 5 + 4 + 3 + 2);
        stop.set();
        let mut late = OnSchedule::new(
            EachOperation::new([Action::Read].into_iter(), now_ns()),
            0.001,
            1,
            2,
            &stop,
        );
        assert!(late.wait().is_err(), "a wait of many minutes ends when it is asked to");
    }
}
