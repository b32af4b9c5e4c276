//! The reasons for work to stop, which loops check often: the user's wish, which a signal handler
//! sets, or the end of the time that the work may take.

use std::{
    sync::{
        atomic::{AtomicU8, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use model::{Error, Result};

/// A flag with the reason why work is to stop. A wish is never taken back; a limit ends with the
/// work that it holds for.
#[derive(Debug)]
pub struct Stop {
    /// `GO`, `WISHED`, `SPENT`, or the depth of the outermost limit that is over.
    state: AtomicU8,
    /// The number of limits in force, one within the other.
    limits: AtomicU8,
}

const WISHED: u8 = 0;
const SPENT: u8 = 1;
const GO: u8 = u8::MAX;

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Creates a flag that lets work continue.
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(GO), limits: AtomicU8::new(0) }
    }

    /// Records that the user wishes to stop.
    pub fn set(&self) {
        self.state.store(WISHED, Ordering::Relaxed);
    }

    /// Records that the requests that the work may send are spent.
    pub fn spend(&self) {
        self.state.fetch_min(SPENT, Ordering::Relaxed);
    }

    /// Returns whether the user wishes to stop.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.state.load(Ordering::Relaxed) == WISHED
    }

    /// Checks that work may continue. It is a single load, so that a loop can check before each
    /// operation.
    ///
    /// # Errors
    ///
    /// Fails with the reason to stop, if there is one.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.state.load(Ordering::Relaxed) == GO { Ok(()) } else { Err(self.stop_error()) }
    }

    #[cold]
    fn stop_error(&self) -> Error {
        match self.state.load(Ordering::Relaxed) {
            WISHED => Error::interrupted(),
            SPENT => Error::overspent(),
            _ => Error::overdue(),
        }
    }

    /// Runs `work`, in which [`Self::check`] fails once `time` has passed, if it is limited. A
    /// limit within another one is set by the work of that, on the same thread.
    pub fn within<T>(&self, time: Option<Duration>, work: impl FnOnce() -> T) -> T {
        let Some(time) = time else { return work() };
        let depth = self.limits.fetch_add(1, Ordering::Relaxed) + SPENT + 1;
        let result = thread::scope(|scope| {
            let (working, ended) = channel::<()>();
            scope.spawn(move || {
                if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                    self.state.fetch_min(depth, Ordering::Relaxed);
                }
            });
            // Dropped when the work ends, also by a panic.
            let _working = working;
            work()
        });
        self.limits.fetch_sub(1, Ordering::Relaxed);
        // Unless a limit around this one is over too, or the user wishes to stop.
        let (order, other) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.state.compare_exchange(depth, GO, order, other);
        result
    }
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    const LONG: Option<Duration> = Some(Duration::from_secs(3600));
    const NONE: Option<Duration> = Some(Duration::ZERO);

    /// Works until it is to stop.
    fn work(stop: &Stop) -> ErrorKind {
        loop {
            if let Err(error) = stop.check() {
                return error.kind();
            }
            thread::yield_now();
        }
    }

    #[test]
    fn work_stops_when_its_time_is_over_and_other_work_goes_on() {
        let stop = Stop::new();
        let why = stop.within(LONG, || {
            let why = stop.within(NONE, || work(&stop));
            stop.check().unwrap();
            why
        });
        assert_eq!(why, ErrorKind::Overdue);
        stop.check().unwrap();
    }

    #[test]
    fn what_is_over_around_a_limit_is_over_after_it() {
        let stop = Stop::new();
        stop.within(NONE, || {
            assert_eq!(stop.within(LONG, || work(&stop)), ErrorKind::Overdue);
            assert_eq!(stop.within(NONE, || work(&stop)), ErrorKind::Overdue);
            assert_eq!(stop.check().unwrap_err().kind(), ErrorKind::Overdue);
        });
        stop.check().unwrap();
    }

    #[test]
    fn a_wish_outlasts_limits() {
        let stop = Stop::new();
        stop.within(NONE, || {
            work(&stop);
            stop.set();
            assert_eq!(work(&stop), ErrorKind::Interrupted);
        });
        assert!(stop.is_set());
        stop.within(LONG, || assert_eq!(work(&stop), ErrorKind::Interrupted));
    }

    #[test]
    fn what_is_spent_outlasts_limits_and_a_wish_comes_first() {
        let stop = Stop::new();
        stop.within(NONE, || {
            work(&stop);
            stop.spend();
            assert_eq!(work(&stop), ErrorKind::Overspent);
        });
        stop.within(LONG, || assert_eq!(work(&stop), ErrorKind::Overspent));
        stop.set();
        stop.spend();
        assert_eq!(work(&stop), ErrorKind::Interrupted);
    }

    #[test]
    fn a_panic_ends_its_limit() {
        let stop = Stop::new();
        let work = std::panic::AssertUnwindSafe(|| stop.within(LONG, || panic!("on purpose")));
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
