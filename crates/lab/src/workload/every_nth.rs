//! A clock for short operations: it is read around a few of them, and no long one escapes it.

use std::{sync::OnceLock, time::Duration};

use host::now_ns;
use model::{Action, Result, units::whole};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::clock::{Clock, Latencies};
use crate::dataset::below;

/// A clock that times as many operations as take 1 % of the time at most. Each timed operation
/// represents those before it that were not. If these took far longer than usual, one of them did:
/// it is recorded as an operation of its own, as is a timed one that takes that long. So stalls
/// count once each, however few operations are timed.
///
/// The operations are those of slices, [begun](Clock::begin_slice) and [ended](Clock::end_slice)
/// one after the other; what happens between slices belongs to none.
pub(crate) struct EveryNth {
    latencies: Latencies,
    /// The action of all operations, if it is the same.
    only: Option<Action>,
    costs: TimingCosts,
    /// Which one of a block of operations is timed: at a fixed distance, it might always be the one
    /// that commits a batch.
    random: Xoshiro256PlusPlus,
    /// Time of an ordinary operation.
    usual_ns: f64,
    /// Operations until the next that is timed.
    left: u64,
    /// The operations until the next timed one when the clock was last read.
    left_then: u64,
    /// Operations of this block after the timed one.
    rest: u64,
    /// When the operation that is timed started.
    start_ns: u64,
    /// When the slice began, and when the clock was last read.
    slice_ns: u64,
    last_ns: u64,
    /// Operations that are done and not recorded yet.
    owed: u64,
    /// Whether one that was not timed since the clock was read ended with a commit.
    committed: bool,
    /// The last ordinary operation that was timed, and how long it took.
    last: Option<(Action, u64)>,
}

/// The costs of reading the clock, in nanoseconds.
#[derive(Clone, Copy)]
struct TimingCosts {
    /// The part of a reading that is in the time of an operation between two.
    within: u64,
    /// Time from one operation that is timed to the next.
    apart: f64,
    /// An operation that takes so much longer than usual is recorded by itself.
    far: f64,
}

impl TimingCosts {
    /// Returns the costs of timing if two readings take `clock_ns`, and recording them takes about
    /// as long.
    fn with_clock(clock_ns: u64) -> Self {
        let apart = 200.0 * clock_ns as f64;
        // The operations between two that are timed take as long as that, twice at most.
        Self { within: clock_ns / 2, apart, far: 4.0 * apart }
    }

    fn of_this_machine() -> Self {
        static COSTS: OnceLock<TimingCosts> = OnceLock::new();
        *COSTS.get_or_init(|| Self::with_clock(host::clock_ns()))
    }
}

/// The largest number of operations of a block.
const LONGEST_BLOCK: f64 = 65_536.0;
/// The part that the last operations have in what is usual.
const WEIGHT: f64 = 1.0 / 16.0;

impl EveryNth {
    /// Creates a clock for operations that do nothing but `actions`, the first of which starts at
    /// `start_ns` of [`now_ns`] or later.
    pub(crate) fn new(actions: impl Iterator<Item = Action>, start_ns: u64) -> Self {
        Self::with_costs(actions, start_ns, TimingCosts::of_this_machine())
    }

    fn with_costs(
        actions: impl Iterator<Item = Action>,
        start_ns: u64,
        costs: TimingCosts,
    ) -> Self {
        let actions: Vec<_> = actions.collect();
        Self {
            latencies: Latencies::new(actions.iter().copied(), start_ns),
            only: actions.first().copied().filter(|_| actions.len() == 1),
            costs,
            random: Xoshiro256PlusPlus::seed_from_u64(0),
            usual_ns: 0.0,
            left: 0,
            left_then: 0,
            rest: 0,
            start_ns,
            slice_ns: start_ns,
            last_ns: start_ns,
            owed: 0,
            committed: false,
            last: None,
        }
    }

    /// Counts the operations since the clock was last read, none of which was timed.
    fn pass_by(&mut self, now_ns: u64) {
        let passed = self.left_then - self.left;
        let ns = now_ns.saturating_sub(self.last_ns);
        self.owed += passed;
        self.left_then = self.left;
        let usual = passed.saturating_sub(1) as f64 * self.usual_ns;
        if passed > 0 && self.is_far(ns as f64 - usual) {
            self.owed -= 1;
            self.latencies.record(self.only, ns.saturating_sub(whole(usual)), 1, now_ns);
            if self.committed {
                self.latencies.slices.committed();
            }
        }
        self.last_ns = now_ns;
        self.committed = false;
    }

    fn is_far(&self, ns: f64) -> bool {
        ns > self.usual_ns + self.costs.far
    }

    /// Records an operation that was timed, and chooses the next one.
    #[inline(never)]
    fn record(&mut self, action: Action, end_ns: u64) {
        let (before_ns, passed) = (self.last_ns, self.left_then - self.left);
        self.pass_by(self.start_ns);
        let ns = end_ns.saturating_sub(self.start_ns).saturating_sub(self.costs.within);
        self.learn(end_ns.saturating_sub(before_ns) as f64 / (passed + 1) as f64);
        self.latencies.timed += 1;
        if self.is_far(ns as f64) {
            self.latencies.record(Some(action), ns, 1, end_ns);
        } else {
            self.latencies.record(Some(action), ns, self.owed + 1, end_ns);
            (self.owed, self.last) = (0, Some((action, ns)));
        }
        self.last_ns = end_ns;
        // One of few lengths: if each long operation shortened the block after it, those of a pattern
        // would count for less.
        let block = whole((self.costs.apart / self.usual_ns).clamp(1.0, LONGEST_BLOCK).ceil());
        let block = block.next_power_of_two();
        let next = below(&mut self.random, block);
        self.left = self.rest + next;
        self.left_then = self.left;
        self.rest = block - 1 - next;
    }

    /// Updates the usual time with the last operations, which took `ns` each. One that took far
    /// longer counts as if it were at the limit.
    fn learn(&mut self, ns: f64) {
        if self.usual_ns == 0.0 {
            self.usual_ns = ns;
        }
        let limit = self.usual_ns + self.costs.far;
        self.usual_ns += (ns.min(limit) - self.usual_ns) * WEIGHT;
    }
}

impl Clock for EveryNth {
    #[inline]
    fn begin_slice(&mut self, now_ns: u64) {
        (self.slice_ns, self.last_ns) = (now_ns, now_ns);
    }

    fn end_slice(&mut self, now_ns: u64) {
        self.pass_by(now_ns);
        self.latencies.sum += Duration::from_nanos(now_ns.saturating_sub(self.slice_ns));
    }

    #[inline]
    fn start(&mut self) -> Result<()> {
        if self.left == 0 {
            self.start_ns = now_ns();
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, action: Action) {
        if self.left > 0 {
            self.left -= 1;
        } else {
            self.record(action, now_ns());
        }
    }

    #[inline]
    fn committed(&mut self) {
        if self.left == self.left_then {
            self.latencies.slices.committed();
        } else {
            self.committed = true;
        }
    }

    /// Returns the latencies, whose sum is the time of the slices.
    fn finish(mut self) -> Option<Latencies> {
        if let Some((action, ns)) = self.last.filter(|_| self.owed > 0) {
            self.latencies.record(Some(action), ns, self.owed, self.last_ns);
        }
        self.latencies.slices.close();
        Some(self.latencies)
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;
    use crate::workload::{latency, over_time};

    const READ: [Action; 1] = [Action::Read];
    /// Two readings.
    const CLOCK_NS: u64 = 70;

    /// A clock in a time of its own.
    struct Simulated {
        clock: EveryNth,
        now_ns: u64,
        /// Operations that were timed.
        timed: u64,
    }

    impl Simulated {
        fn new(actions: &[Action]) -> Self {
            let costs = TimingCosts::with_clock(CLOCK_NS);
            let mut clock = EveryNth::with_costs(actions.iter().copied(), 1000, costs);
            clock.begin_slice(1000);
            Self { clock, now_ns: 1000, timed: 0 }
        }

        /// An operation that takes `ns`, as [`Clock::start`] and [`Clock::end`] have it.
        fn operate(&mut self, action: Action, ns: u64) {
            self.clock.start_ns = self.now_ns;
            self.now_ns += ns;
            if self.clock.left > 0 {
                self.clock.left -= 1;
                return;
            }
            self.now_ns += CLOCK_NS / 2;
            self.clock.record(action, self.now_ns);
            self.now_ns += CLOCK_NS + CLOCK_NS / 2;
            self.timed += 1;
        }

        fn finish(mut self) -> Latencies {
            self.clock.end_slice(self.now_ns);
            self.clock.finish().unwrap()
        }
    }

    fn all(latencies: &Latencies) -> Histogram<u64> {
        latency::sum(latencies.histograms.iter().flatten()).unwrap()
    }

    fn near(value: u64, expected: u64) -> bool {
        value.abs_diff(expected) * 100 <= expected * 3
    }

    #[test]
    fn every_operation_counts_once_and_timing_takes_a_hundredth_of_the_time() {
        for (ns, count) in [(5, 3_000_000), (300, 200_001), (4_000, 20_000), (900_000, 500)] {
            let mut run = Simulated::new(&READ);
            (0..count).for_each(|_| run.operate(Action::Read, ns));
            let (work_ns, cost_ns) = (count * ns, run.timed * 2 * CLOCK_NS);
            assert!(cost_ns * 95 <= work_ns + 1_000_000, "{ns}: {cost_ns} of {work_ns}");
            let passed = run.now_ns - 1000;
            let latencies = run.finish();
            let all = all(&latencies);
            assert_eq!(all.len(), count);
            assert!(near(all.value_at_quantile(0.5), ns) && near(all.max(), ns), "{ns}");
            assert_eq!(latencies.sum.as_nanos(), u128::from(passed));
            let over_time = over_time(&[&latencies.slices], [].into_iter()).unwrap_or_default();
            let in_slices = over_time.slices.iter().map(|slice| slice.operations).sum::<u64>();
            assert!(over_time.slices.is_empty() || in_slices == count);
        }
    }

    #[test]
    fn shares_are_those_of_all_operations() {
        let mut run = Simulated::new(&READ);
        let count = 400_000;
        // Of ten operations in a row the last takes long: no distance may meet it more often.
        (0..count).for_each(|n| run.operate(Action::Read, if n % 10 == 9 { 9_000 } else { 600 }));
        let all = all(&run.finish());
        let long = all.count_between(5_000, 20_000);
        assert!(near(long, count / 10), "{long}");
        assert!(near(all.value_at_quantile(0.85), 600) && near(all.value_at_quantile(0.99), 9_000));
    }

    #[test]
    fn each_stall_counts_once() {
        let (stall, apart) = (300_000_000, 40_000);
        let mut run = Simulated::new(&READ);
        for n in 1..=11 * apart {
            run.operate(Action::Read, if n % apart == 0 { stall } else { 1_200 });
        }
        let all = all(&run.finish());
        assert_eq!(all.count_between(100_000, u64::MAX), 11);
        assert_eq!(all.len(), 11 * apart);
        assert!(near(all.max(), stall) && near(all.value_at_quantile(0.999), 1_200));
    }

    #[test]
    fn each_commit_of_a_large_batch_counts_once() {
        let mut run = Simulated::new(&READ);
        (1..=300_000)
            .for_each(|n| run.operate(Action::Read, if n % 1000 == 0 { 200_000 } else { 900 }));
        assert_eq!(all(&run.finish()).count_between(100_000, u64::MAX), 300);
    }

    #[test]
    fn operations_that_become_slow_are_timed_one_by_one() {
        let mut run = Simulated::new(&READ);
        (0..50_000).for_each(|_| run.operate(Action::Read, 1_000));
        (0..50_000).for_each(|_| run.operate(Action::Read, 200_000));
        let all = all(&run.finish());
        assert_eq!(all.len(), 100_000);
        let slow = all.count_between(150_000, 250_000);
        assert!(slow > 49_900, "all but those until it is seen: {slow}");
    }

    #[test]
    fn what_happens_between_slices_is_of_no_operation() {
        let mut run = Simulated::new(&READ);
        for _ in 0..2_000 {
            run.now_ns += 5_000_000;
            run.clock.begin_slice(run.now_ns);
            (0..777).for_each(|_| run.operate(Action::Read, 1_300));
            run.clock.end_slice(run.now_ns);
        }
        run.clock.begin_slice(run.now_ns);
        let all = all(&run.finish());
        assert_eq!(all.len(), 2_000 * 777);
        assert!(near(all.max(), 1_300), "{}", all.max());
    }

    #[test]
    fn a_stall_among_several_kinds_of_operations_counts_for_none_of_them() {
        let mut run = Simulated::new(&[Action::Read, Action::Update]);
        for n in 0..10_000 {
            let action = if n % 2 == 0 { Action::Read } else { Action::Update };
            run.operate(action, if n % 1000 == 7 { 5_000_000 } else { 800 });
        }
        let timed = run.timed;
        let latencies = run.finish();
        assert_eq!(latencies.timed, timed, "what is not known was not timed");
        let of = |place: usize| latencies.histograms[place].as_ref().map_or(0, |of| of.0.len());
        let kinds = of(Action::Read as usize) + of(Action::Update as usize);
        let unknown = of(Action::ALL.len());
        assert!(unknown <= 10 && kinds + unknown == 10_000, "{kinds} and {unknown}");
    }

    #[test]
    fn a_real_clock_counts_too() {
        let mut clock = EveryNth::new(READ.into_iter(), now_ns());
        clock.begin_slice(now_ns());
        for n in 0..=100_000 {
            clock.start().unwrap();
            if n == 100_000 {
                std::thread::sleep(Duration::from_millis(30));
            }
            clock.end(Action::Read);
        }
        clock.end_slice(now_ns());
        let latencies = clock.finish().unwrap();
        let all = all(&latencies);
        assert_eq!(all.len(), 100_001);
        assert!(all.max() >= 29_000_000 && latencies.sum.as_millis() >= 30);
    }
}
