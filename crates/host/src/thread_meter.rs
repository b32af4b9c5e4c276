//! The cost of many short pieces of work of the calling thread.

use std::cell::Cell;

use model::{Cost, Io};
use serde::{Deserialize, Serialize};

use crate::{
    os::{ThreadFile, spent_by_thread},
    processes::parse_io,
    run_clock::{Passed, RunClock, reads},
    usage::{combine_costs, combine_io},
};

/// A meter for pieces of work of the thread that created it. A reading takes some microseconds,
/// which are not in a piece's time and calls; its processor time has two readings of the clock in
/// it.
#[derive(Debug)]
pub struct ThreadMeter {
    clock: RunClock,
    io: ThreadFile,
    /// The input and output that the meter's own readings of `io` add to the counters of the thread.
    own: Cell<Io>,
}

/// The cost of pieces of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The time.
    pub passed: Passed,
    /// The processor time, faults and context switches.
    pub cost: Cost,
    /// The input and output; `None` if the system does not report it.
    pub io: Option<Io>,
}

impl ThreadMeter {
    /// Creates a meter for the calling thread.
    pub fn of_this_thread() -> Self {
        Self { clock: RunClock::of_this_thread(), io: ThreadFile::open("io"), own: Cell::default() }
    }

    /// Runs a piece of work, and adds its cost to `sum`.
    pub fn measure<T>(&self, sum: &mut Spent, work: impl FnOnce() -> T) -> T {
        let (io, cost) = (self.io(), spent_by_thread());
        let start = self.clock.now();
        let done = work();
        let passed = self.clock.now().since(start);
        let piece = Spent {
            passed,
            cost: combine_costs(spent_by_thread(), cost, u64::saturating_sub),
            io: io.zip(self.io()).map(|(then, now)| combine_io(now, then, u64::saturating_sub)),
        };
        sum.add(&piece);
        done
    }

    /// Returns the counters of the thread, without what its readings added.
    fn io(&self) -> Option<Io> {
        // More than seven counters of 64 bits can fill.
        let mut buffer = [0; 512];
        let text = self.io.read(&mut buffer)?;
        let all = parse_io(text)?;
        let clock = self.clock.readings();
        let own = combine_io(self.own.get(), clock, u64::saturating_add);
        let reading = reads(1, text.len() as u64);
        self.own.set(combine_io(self.own.get(), reading, u64::saturating_add));
        Some(combine_io(all, own, u64::saturating_sub))
    }
}

impl Spent {
    /// Adds the cost of another piece of work.
    pub fn add(&mut self, piece: &Self) {
        let first = *self == Self::default();
        let sum = combine_costs(self.cost, piece.cost, u64::saturating_add);
        let io = self.io.zip(piece.io);
        let io = io.map(|(sum, piece)| combine_io(sum, piece, u64::saturating_add));
        *self = if first {
            *piece
        } else {
            Self { passed: self.passed.plus(piece.passed), cost: sum, io }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        hint::black_box,
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn pieces_add_up_and_readings_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("value");
        fs::write(&path, [7; 1000]).unwrap();
        let (meter, mut spent) = (ThreadMeter::of_this_thread(), Spent::default());
        for _ in 0..10 {
            meter.measure(&mut spent, || black_box(fs::read(&path).unwrap()));
        }
        let io = spent.io.expect("Linux counts");
        assert_eq!(io.read_bytes, Some(10_000), "{io:?}");
        assert!(io.read_calls.is_some_and(|calls| (10..=40).contains(&calls)), "{io:?}");
        assert!(spent.passed.wall_ns > 0 && spent.passed.waited_ns.is_some());
    }

    /// The system notes what a thread spends at its ticks, which such pieces are mostly between.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_that_sleeps_between_short_pieces_spends_what_they_take() {
        let (meter, mut spent) = (ThreadMeter::of_this_thread(), Spent::default());
        let moment = Duration::from_micros(500);
        for _ in 0..100 {
            thread::sleep(moment);
            meter.measure(&mut spent, || {
                let start = Instant::now();
                while start.elapsed() < moment {}
            });
        }
        let ran_ns = spent.passed.wall_ns - spent.passed.waited_ns.expect("Linux counts");
        let cost_ns = spent.cost.user_ns + spent.cost.system_ns;
        assert!(cost_ns * 2 >= ran_ns, "{cost_ns} of {ran_ns} ns");
    }

    #[test]
    fn a_second_piece_adds_to_the_first() {
        let piece = |ns| Spent {
            passed: Passed { wall_ns: ns, waited_ns: Some(ns / 2) },
            cost: Cost { user_ns: ns, minor_faults: Some(1), ..Cost::default() },
            io: Some(Io { read_calls: Some(2), write_calls: None, ..Io::default() }),
        };
        let mut sum = Spent::default();
        sum.add(&piece(10));
        sum.add(&piece(20));
        assert_eq!(sum.passed, Passed { wall_ns: 30, waited_ns: Some(15) });
        assert_eq!((sum.cost.user_ns, sum.cost.minor_faults), (30, Some(2)));
        assert_eq!(sum.io.map(|io| (io.read_calls, io.write_calls)), Some((Some(4), None)));
    }
}
