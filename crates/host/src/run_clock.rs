//! A thread's clock that can exclude the time for which it waited for a processor.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use model::Io;
use serde::{Deserialize, Serialize};

use crate::{clock::now_ns, os::ThreadFile};

/// The longest time of a reading, so that its cost to the block before or after is known; a reading
/// that took longer is repeated.
const READING_NS: u64 = 20_000;
/// The attempts after which the last one counts: on a machine that is that busy, 20 µs are little.
const ATTEMPTS: u32 = 100;

/// A clock of the thread that created it (Linux: the second field of `/proc/thread-self/schedstat`,
/// see Documentation/scheduler/sched-stats.rst). Elsewhere it is a plain clock.
#[derive(Debug)]
pub struct RunClock {
    schedstat: ThreadFile,
    /// The calls and bytes of its own readings so far.
    readings: Cell<(u64, u64)>,
}

/// The calls and bytes of the readings of all clocks of this process. On a busy machine there are more.
static READINGS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Returns what the readings of all clocks of this process asked of the system so far.
pub(crate) fn all_readings() -> Io {
    let [calls, bytes] = READINGS.each_ref().map(|count| count.load(Relaxed));
    reads(calls, bytes)
}

/// Returns the input of so many calls that read.
pub(crate) fn reads(calls: u64, bytes: u64) -> Io {
    Io { read_calls: Some(calls), read_bytes: Some(bytes), ..Io::default() }
}

/// An instant between two blocks of work.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// The end of the block before it and the start of the block after it, in nanoseconds of
    /// [`now_ns`].
    ns: (u64, u64),
    /// The time for which the thread had been runnable and no processor was free; `None` if it is
    /// not known.
    waited_ns: Option<u64>,
}

/// The time that passed between two instants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// The whole time.
    pub wall_ns: u64,
    /// The part for which the thread waited for a processor; `None` if it is not known.
    pub waited_ns: Option<u64>,
}

impl RunClock {
    /// Creates a clock for the calling thread.
    pub fn of_this_thread() -> Self {
        Self { schedstat: ThreadFile::open("schedstat"), readings: Cell::default() }
    }

    /// Reads the clock.
    pub fn now(&self) -> Instant {
        let mut attempts = 1;
        loop {
            let start = now_ns();
            let waited_ns = self.waited_ns();
            let end = now_ns();
            if end - start <= READING_NS || attempts == ATTEMPTS {
                return Instant { ns: (start, end), waited_ns };
            }
            attempts += 1;
        }
    }

    /// Returns what its readings asked of the system so far.
    pub(crate) fn readings(&self) -> Io {
        let (calls, bytes) = self.readings.get();
        reads(calls, bytes)
    }

    fn waited_ns(&self) -> Option<u64> {
        // Three numbers of 64 bits at most.
        let mut buffer = [0; 64];
        let text = self.schedstat.read(&mut buffer)?;
        for (count, more) in READINGS.iter().zip([1, text.len() as u64]) {
            count.fetch_add(more, Relaxed);
        }
        let (calls, bytes) = self.readings.get();
        self.readings.set((calls + 1, bytes + text.len() as u64));
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

impl Instant {
    /// Returns the time at which the block after it starts, in nanoseconds of [`now_ns`].
    pub fn start_ns(self) -> u64 {
        self.ns.1
    }

    /// Returns the time that passed since `start`.
    pub fn since(self, start: Self) -> Passed {
        let waited = |(end, start): (u64, u64)| end.saturating_sub(start);
        Passed {
            wall_ns: self.ns.0.saturating_sub(start.ns.1),
            waited_ns: self.waited_ns.zip(start.waited_ns).map(waited),
        }
    }
}

impl Passed {
    /// Returns the sum of both times.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let waited = self.waited_ns.zip(other.waited_ns);
        Self {
            wall_ns: self.wall_ns + other.wall_ns,
            waited_ns: waited.map(|(one, other)| one + other),
        }
    }

    /// Returns the time without waiting for a processor, as far as that is known.
    pub fn ran_ns(self) -> u64 {
        self.wall_ns.saturating_sub(self.waited_ns.unwrap_or(0))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        thread::{self, available_parallelism, sleep},
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn a_sleep_is_no_wait_for_a_processor() {
        let clock = RunClock::of_this_thread();
        let start = clock.now();
        sleep(Duration::from_millis(50));
        let passed = clock.now().since(start);
        assert!(passed.waited_ns.is_some() && passed.ran_ns() >= 49_000_000, "{passed:?}");
    }

    #[test]
    fn threads_that_share_a_processor_wait_for_it() {
        let threads = 2 * available_parallelism().map_or(1, usize::from);
        let longest = Instant::now() + Duration::from_secs(60);
        let waits = || {
            let clock = RunClock::of_this_thread();
            let start = clock.now();
            let waited = || clock.now().since(start).waited_ns.is_some_and(|ns| ns > 1_000_000);
            while !waited() && Instant::now() < longest {}
            waited()
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|_| scope.spawn(waits)).collect();
            // The last ones may have a processor each.
            assert!(all.into_iter().any(|one| one.join().unwrap()));
        });
    }
}
