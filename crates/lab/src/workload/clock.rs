//! The clock around operations.
//!
//! With a schedule, operations start when they are due, or as soon after it as they can, and their
//! latencies count from when they were due. So an operation that waits for a slow one before it
//! shows that, as it would if operations came from many users (an open loop).

use std::time::Duration;

use host::{now_ns, wait_until};
use model::{Action, Result, units::whole};
use serde::{Deserialize, Serialize};

use super::{
    latency::{AsText, histogram},
    slices::Slices,
};
use crate::Stop;

/// A clock that is read around each operation, around some or around none.
pub(crate) trait Clock {
    /// Starts a slice: the operations from `now_ns` on belong to it.
    #[inline]
    fn begin_slice(&mut self, _now_ns: u64) {}

    /// Ends a slice. What happens until the next one belongs to no operation.
    #[inline]
    fn end_slice(&mut self, _now_ns: u64) {}

    /// Returns when the next operation is to start.
    #[inline]
    fn start(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends an operation.
    #[inline]
    fn end(&mut self, _: Action) {}

    /// Records that the last operation ended with the commit of several.
    #[inline]
    fn committed(&mut self) {}

    /// Returns the latencies of all operations; `None` if none were timed.
    fn finish(self) -> Option<Latencies>
    where
        Self: Sized,
    {
        None
    }
}

/// The clock of a first pass, which is never read.
pub(crate) struct NoClock;

impl Clock for NoClock {}

/// The latencies of a worker's operations.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Latencies {
    /// By the number of the action; none for those that do not occur. The last one is of operations
    /// of which it is not known what they did.
    pub(crate) histograms: Vec<Option<AsText>>,
    /// The time of all operations together.
    pub(crate) sum: Duration,
    /// The part of it before they started, if they were on schedule.
    pub(crate) late: Duration,
    /// The number of operations that were timed one by one.
    pub(crate) timed: u64,
    pub(crate) slices: Slices,
    /// How late operations started, if they were on schedule.
    pub(crate) lags: Option<AsText>,
}

impl Latencies {
    /// Creates the latencies of operations that do nothing but `actions`, in a pass that starts at
    /// `start_ns` of [`now_ns`].
    pub(super) fn new(actions: impl Iterator<Item = Action>, start_ns: u64) -> Self {
        let mut histograms = vec![None; UNKNOWN];
        actions.for_each(|action| histograms[action as usize] = Some(AsText(histogram())));
        histograms.push(Some(AsText(histogram())));
        Self {
            histograms,
            sum: Duration::ZERO,
            late: Duration::ZERO,
            timed: 0,
            slices: Slices::new(start_ns),
            lags: None,
        }
    }

    #[inline]
    fn count(&mut self, TimedOp { action, ns, late_ns, end_ns }: TimedOp) {
        self.sum += Duration::from_nanos(ns);
        self.late += Duration::from_nanos(late_ns);
        self.timed += 1;
        self.record(Some(action), ns, 1, end_ns);
    }

    /// Counts `count` operations that took `ns` each, the last of which ended at `end_ns`; `action`
    /// is `None` if it is not known.
    #[inline]
    pub(super) fn record(&mut self, action: Option<Action>, ns: u64, count: u64, end_ns: u64) {
        self.slices.note(ns, count, end_ns);
        let place = action.map_or(UNKNOWN, |action| action as usize);
        if let Some(AsText(histogram)) = &mut self.histograms[place] {
            histogram.saturating_record_n(ns, count);
        }
    }
}

/// The index of the histogram of operations whose kind is not known.
const UNKNOWN: usize = Action::ALL.len();

/// A clock that times every operation.
pub(crate) struct EachOperation<'a> {
    latencies: Latencies,
    /// When the operation at hand started, or was due.
    start_ns: u64,
    /// How long after that it started.
    late_ns: u64,
    /// When the last operation ended, or the pass started.
    last_ns: u64,
    schedule: Option<OpSchedule<'a>>,
    /// The operations of the open transaction, which count once it commits.
    open: Vec<TimedOp>,
}

/// An operation that ended.
#[derive(Clone, Copy)]
struct TimedOp {
    action: Action,
    ns: u64,
    late_ns: u64,
    end_ns: u64,
}

impl<'a> EachOperation<'a> {
    /// Creates a clock for operations that do nothing but `actions`, in a pass that starts at
    /// `start_ns` of [`now_ns`].
    pub(crate) fn new(
        actions: impl Iterator<Item = Action>,
        start_ns: u64,
        schedule: Option<OpSchedule<'a>>,
    ) -> Self {
        let lags = schedule.as_ref().map(|_| AsText(histogram()));
        let latencies = Latencies { lags, ..Latencies::new(actions, start_ns) };
        let (late_ns, last_ns) = (0, start_ns);
        Self { latencies, start_ns, late_ns, last_ns, schedule, open: Vec::new() }
    }
}

impl EachOperation<'_> {
    /// Returns when the last operation ended, or the pass started.
    pub(super) fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// Returns whether no operation starts before `end_ns` any longer.
    pub(super) fn is_over(&self, end_ns: u64) -> bool {
        let due_ns = self.schedule.as_ref().map_or(0, OpSchedule::next_ns);
        self.last_ns.max(due_ns) >= end_ns
    }

    #[inline]
    fn stop(&mut self, action: Action) -> TimedOp {
        self.last_ns = now_ns();
        let (end_ns, late_ns) = (self.last_ns, self.late_ns);
        TimedOp { action, ns: end_ns.saturating_sub(self.start_ns), late_ns, end_ns }
    }

    /// Ends an operation of a transaction that is still open.
    #[inline]
    pub(super) fn end_open(&mut self, action: Action) {
        let ended = self.stop(action);
        self.open.push(ended);
    }

    /// Counts the operations of the transaction that was open.
    #[inline]
    pub(super) fn keep(&mut self) {
        for ended in self.open.drain(..) {
            self.latencies.count(ended);
        }
    }

    /// Ends what the store refused, and returns how long it took, together with the operations of the
    /// open transaction, which do not count.
    pub(super) fn refuse(&mut self) -> u64 {
        let since_ns = self.start_ns.max(self.last_ns);
        self.last_ns = now_ns();
        let undone_ns: u64 = self.open.drain(..).map(|ended| ended.ns).sum();
        undone_ns + self.last_ns.saturating_sub(since_ns)
    }
}

impl Clock for EachOperation<'_> {
    #[inline]
    fn start(&mut self) -> Result<()> {
        if let Some(schedule) = &mut self.schedule {
            schedule.wait()?;
        }
        let now_ns = now_ns();
        self.start_ns = self.schedule.as_ref().map_or(now_ns, |schedule| schedule.due_ns);
        if let Some(AsText(lags)) = &mut self.latencies.lags {
            self.late_ns = now_ns.saturating_sub(self.start_ns);
            lags.saturating_record(self.late_ns);
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, action: Action) {
        let ended = self.stop(action);
        self.keep();
        self.latencies.count(ended);
    }

    #[inline]
    fn committed(&mut self) {
        self.latencies.slices.committed();
    }

    fn finish(mut self) -> Option<Latencies> {
        self.latencies.slices.close();
        Some(self.latencies)
    }
}

/// The length of the parts into which waits are cut, so that a wish to stop is seen within one.
const PART_NS: u64 = 50_000_000;

/// The schedule of one worker's operations.
pub(crate) struct OpSchedule<'a> {
    /// When the first is: before it is waited for, how long after that.
    first_ns: u64,
    interval_ns: f64,
    started: u64,
    /// When the current operation was due.
    due_ns: u64,
    stop: &'a Stop,
}

impl<'a> OpSchedule<'a> {
    /// Creates the schedule of worker number `worker` of `workers`, who share `rate` operations a
    /// second and take turns.
    pub(crate) fn new(rate: f64, (worker, workers): (usize, u32), stop: &'a Stop) -> Self {
        let apart_ns = 1e9 / rate;
        let first_ns = whole(apart_ns * worker as f64);
        let interval_ns = apart_ns * f64::from(workers);
        Self { first_ns, interval_ns, started: 0, due_ns: 0, stop }
    }

    /// Returns when the next operation is due; 0 before the first.
    fn next_ns(&self) -> u64 {
        let next = || self.first_ns + whole(self.started as f64 * self.interval_ns);
        if self.started == 0 { 0 } else { next() }
    }

    #[inline]
    fn wait(&mut self) -> Result<()> {
        if self.started == 0 {
            self.first_ns += now_ns();
        }
        self.due_ns = self.first_ns + whole(self.started as f64 * self.interval_ns);
        self.started += 1;
        let mut now = now_ns();
        while now + PART_NS < self.due_ns {
            self.stop.check()?;
            wait_until(now + PART_NS);
            now = now_ns();
        }
        wait_until(self.due_ns);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a worker among so many.
    fn on_schedule(
        action: Action,
        rate: f64,
        worker: (usize, u32),
        stop: &Stop,
    ) -> EachOperation<'_> {
        let schedule = OpSchedule::new(rate, worker, stop);
        EachOperation::new([action].into_iter(), now_ns(), Some(schedule))
    }

    #[test]
    fn operations_start_in_turn_and_never_early() {
        let stop = Stop::new();
        let start = now_ns();
        let mut clock = on_schedule(Action::Read, 10_000.0, (1, 2), &stop);
        for turn in 0..20 {
            clock.start().unwrap();
            assert!(now_ns() >= start + 100_000 + turn * 200_000);
            clock.end(Action::Read);
        }
        assert_eq!(clock.latencies.lags.unwrap().0.len(), 20);
        assert!(clock.latencies.sum.as_nanos() > 0);
    }

    #[test]
    fn what_is_made_ready_before_the_first_operation_does_not_make_it_late() {
        let stop = Stop::new();
        let mut schedule = OpSchedule::new(1000.0, (0, 1), &stop);
        let ready = now_ns() + 3_000_000;
        wait_until(ready);
        schedule.wait().unwrap();
        assert!(schedule.due_ns >= ready);
    }

    #[test]
    fn operations_of_a_transaction_count_once_it_commits() {
        let actions = [Action::Update, Action::Insert].into_iter();
        let mut clock = EachOperation::new(actions, now_ns(), None);
        let run = |clock: &mut EachOperation<'_>, end: fn(&mut EachOperation<'_>)| {
            clock.start().unwrap();
            wait_until(now_ns() + 1_000_000);
            end(clock);
        };
        run(&mut clock, |clock| clock.end_open(Action::Insert));
        run(&mut clock, |clock| clock.end_open(Action::Update));
        run(&mut clock, |clock| assert!(clock.refuse() >= 3_000_000, "with those before it"));
        assert_eq!((clock.latencies.timed, clock.latencies.sum), (0, Duration::ZERO));
        run(&mut clock, |clock| clock.end_open(Action::Insert));
        run(&mut clock, |clock| clock.end(Action::Update));
        assert_eq!(clock.latencies.timed, 2);
        run(&mut clock, |clock| clock.end_open(Action::Update));
        clock.keep();
        let latencies = clock.finish().unwrap();
        let count = |action| latencies.histograms[action as usize].as_ref().unwrap().0.len();
        assert_eq!((count(Action::Insert), count(Action::Update), latencies.timed), (1, 2, 3));
        assert!(latencies.sum.as_millis() >= 3);
    }

    #[test]
    fn a_latency_holds_the_wait_for_those_before_it() {
        let stop = Stop::new();
        let mut clock = on_schedule(Action::Update, 1000.0, (0, 1), &stop);
        for operation in 0..10 {
            clock.start().unwrap();
            if operation == 0 {
                wait_until(now_ns() + 8_000_000);
            }
            clock.end(Action::Update);
        }
        assert!(clock.latencies.late.as_millis() >= 7 + 6 + 5 + 4 + 3 + 2);
        assert!(clock.latencies.late < clock.latencies.sum);
        // 8 ms, and what is left of them when each of the following was due.
        assert!(clock.latencies.sum.as_millis() >= 8 + 7 + 6 + 5 + 4 + 3 + 2);
        stop.set();
        let mut late = on_schedule(Action::Read, 0.001, (1, 2), &stop);
        assert!(late.start().is_err(), "a wait of many minutes ends when it is asked to");
    }
}
