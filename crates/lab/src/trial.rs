//! One trial: brings the store to its cache state, opens it, and makes its passes in the same
//! sessions. Warm: the first pass after opening, a steady one, both without a clock per
//! operation, and a latency pass with one. Cold, and where stores age by the writes: one pass only,
//! with a clock.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use model::{
    Action, Cache, Device, Error, ErrorKind, First, Latency, Measured, Paced, Passes, Result,
    Sample, Store, Worker, Workload, units::show_count,
};

use crate::{
    check,
    crew::Crew,
    histogram::{self, Kept},
    host,
    over_time::over_time,
    pass::{Leg, Passed, Round, Watch, Worked},
    ready::Ready,
    state,
    worker::{self, EachOperation, Tally},
};

/// Operations of a latency pass: enough for a 99th percentile from a few rounds.
pub(crate) const LATENCY_OPERATIONS: u64 = 2_500;

/// How long before the start of a pass its workers are told: long enough for all to wake.
pub(crate) const AHEAD_NS: u64 = 1_000_000;

/// Where a trial stands in its run.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) round: u32,
    pub(crate) position: u32,
    pub(crate) target: usize,
    pub(crate) workload: usize,
    pub(crate) cache: Cache,
    /// Names the trial, so that its payloads are its own.
    pub(crate) salt: u64,
}

/// What a trial gave.
pub(crate) struct Tried {
    pub(crate) sample: Sample,
    /// Share of the first values to be written that were there already; absent: not looked at.
    pub(crate) written_before: Option<f64>,
}

/// Runs one trial over `ready`, in this process or by those of `crew`.
pub(crate) fn run(
    place: Place,
    round: &Round<'_>,
    ready: &Ready,
    crew: Option<&Crew<'_>>,
) -> Result<Tried> {
    let legs = legs(round.workload, round.dataset.entries().len() as u64, round.timed, place);
    // Later rounds write other bytes than earlier ones; what stood there before the run may not.
    let first_update = place.round == 0 && round.work.operation.updates();
    let written_before = (first_update && ready.retains())
        .then(|| ready.with(|store| round.written_before(&mut *store.session()?, &legs[0])))
        .transpose()?
        .map(|(share, _)| share);
    let before = state::reach(ready, place.cache)?;
    let blank = Sample { before, ..blank(place) };
    let (mut sample, opening) = ready.with(|store| {
        let mut processes = store.processes();
        processes.extend(crew.map(Crew::ids).unwrap_or_default());
        let (meter, device) = (None, None);
        let passes = Passes::default();
        let mut trial =
            Trial { round, ready, store, processes, meter, device, passes, sample: blank };
        match crew {
            None => round.passes(store, &legs, &mut trial)?,
            Some(crew) => crew.passes(round, ready, &legs, &mut trial)?,
        }
        Ok(Sample { measured: Measured::Blobs(trial.passes), ..trial.sample })
    })?;
    sample.open_ns = nanoseconds(opening);
    if round.changes_keys() && ready.retains() {
        ready
            .with(|store| check::same_keys(round.dataset, &mut *store.session()?, round.stop))
            .map_err(|e| e.context("after the trial").with_kind(ErrorKind::Corrupt))?;
    }
    if round.work.operation.writes() {
        flush(ready)?;
        ready.filled.set(false);
    }
    sample.after = state::seen(ready)?;
    Ok(Tried { sample, written_before })
}

/// The passes. A store is cold only once, and ages by each write: there the first pass is the only
/// one, and it carries the clock. A latency pass has `timed` operations at most.
fn legs(workload: &Workload, keys: u64, timed: u64, place: Place) -> Vec<Leg> {
    let leg = |index: u64, count, clocked| {
        // The top bits are free for it: they are as random as the others.
        Leg { count, salt: place.salt ^ (index << 60), clocked }
    };
    let once = workload.count.min(keys);
    if place.cache.is_cold() || (workload.work.age().is_some() && workload.work.writes()) {
        return vec![leg(0, once, true)];
    }
    if workload.work.rate().is_some() {
        // What is on schedule is clocked anyway.
        return vec![leg(0, once, false), leg(1, workload.count, true)];
    }
    let timed = workload.count.min(timed);
    // Long enough to tell: updates take long, and have nothing to cover.
    let first = if workload.work.writes() { once.min(LATENCY_OPERATIONS) } else { once };
    vec![leg(0, first, false), leg(1, workload.count, false), leg(2, timed, true)]
}

fn blank(place: Place) -> Sample {
    Sample {
        round: place.round,
        position: place.position,
        target: place.target,
        workload: place.workload,
        cache: place.cache,
        ..Sample::default()
    }
}

/// A trial as its passes go by.
struct Trial<'a> {
    round: &'a Round<'a>,
    ready: &'a Ready,
    store: &'a dyn Store,
    /// Others that work for the store.
    processes: Vec<u32>,
    meter: Option<host::Meter>,
    device: Option<Device>,
    passes: Passes,
    sample: Sample,
}

impl Watch for Trial<'_> {
    fn starts(&mut self) -> Result<u64> {
        self.device = self.disk();
        self.meter = Some(host::Meter::start(&self.processes));
        // One alone need not wait for the others.
        let several = self.round.workload.workers() > 1;
        Ok(if several { host::now_ns() + AHEAD_NS } else { 0 })
    }

    /// Pays what is owed on the clock, then notes and checks.
    fn ended(&mut self, leg: &Leg, worked: Vec<Worked>) -> Result<()> {
        let owed = self.settle()?;
        let measured = self.meter.take().map(host::Meter::stop).unwrap_or_default();
        let mut passed = Passed::gather(worked);
        self.check(&passed.tally, leg.count)?;
        let memory_bytes = host::occupied_bytes(&self.processes);
        let background = self.flush()?;
        let device = self.moved();
        self.read_back(leg)?;
        self.restore(leg)?;
        if leg.clocked {
            self.passes.latency = summarise(&passed, leg.count)?;
            self.passes.over_time = over_time(&passed.clocks, &passed.chores);
        }
        self.passes.paced = paced(self.round.work.rate, &passed, leg.count)?;
        if !leg.clocked || self.sample.operations == 0 || self.passes.paced.is_some() {
            self.passes.first = self.first();
            self.sample = Sample {
                operations: leg.count,
                bytes: passed.tally.bytes,
                wall_ns: nanoseconds(passed.wall + owed),
                settle_ns: nanoseconds(owed),
                background_ns: nanoseconds(background),
                cost: measured.cost,
                io: measured.io,
                device,
                load: measured.load,
                memory_bytes,
                workers: several(std::mem::take(&mut passed.workers)),
                counters: passed.counters,
                ..std::mem::take(&mut self.sample)
            };
        }
        Ok(())
    }
}

impl Trial<'_> {
    fn writes(&self) -> bool {
        self.round.work.operation.writes()
    }

    /// Pays what the durability class still owes, on the clock.
    fn settle(&self) -> Result<Duration> {
        if !self.writes() {
            return Ok(Duration::ZERO);
        }
        let start = Instant::now();
        self.store.settle()?;
        Ok(start.elapsed())
    }

    /// The pass that was noted, once another is to be noted in its place.
    fn first(&self) -> Option<First> {
        let Sample { operations, wall_ns, .. } = self.sample;
        (operations > 0).then_some(First { operations, wall_ns })
    }

    /// After an update pass: flushes what was left to the background, so that the next pass does
    /// not pay for it.
    fn flush(&self) -> Result<Duration> {
        if !self.writes() {
            return Ok(Duration::ZERO);
        }
        let start = Instant::now();
        flush(self.ready)?;
        Ok(start.elapsed())
    }

    /// Reads the last writes of an update pass back.
    fn read_back(&self, leg: &Leg) -> Result<()> {
        if !self.writes() || !self.ready.retains() {
            return Ok(());
        }
        let lost = self.round.read_back(&mut *self.store.session()?, leg)?;
        lost.map_or(Ok(()), |key| {
            Err(Error::corrupt(format!("key {key} does not hold what was written to it")))
        })
    }

    /// Brings the store back to its keys, off the clock.
    fn restore(&self, leg: &Leg) -> Result<()> {
        if !self.round.changes_keys() || !self.ready.retains() {
            return Ok(());
        }
        self.round.restore(&mut *self.store.session()?, leg)?;
        flush(self.ready)
    }

    /// A miss is not a fast read: it ends the run.
    fn check(&self, tally: &Tally, count: u64) -> Result<()> {
        let first = tally.first.as_ref().filter(|_| self.ready.retains());
        let Some(key) = first else { return Ok(()) };
        let amiss = [
            (tally.missing, "are missing"),
            (tally.wrong, "have another length than before"),
            (tally.present, "were there before they were inserted"),
            (tally.short, "begin a scan that does not show what is there"),
        ];
        let (bad, what) = amiss.into_iter().find(|(count, _)| *count > 0).unwrap_or_default();
        Err(Error::new(
            ErrorKind::Missing,
            format!(
                "{} of {} keys asked for {what}, first {key}",
                show_count(bad),
                show_count(count)
            ),
        ))
    }

    /// What the device did since the pass began.
    fn moved(&self) -> Option<Device> {
        let (then, now) = self.device.zip(self.disk())?;
        Some(now.since(then))
    }

    /// The device under the store, if it is on one that can be seen.
    fn disk(&self) -> Option<Device> {
        let remote = self.ready.engine.capabilities().remote;
        if remote { None } else { host::device(&self.ready.path) }
    }
}

/// What one alone did is told by the sample as a whole.
fn several(workers: Vec<Worker>) -> Vec<Worker> {
    if workers.len() > 1 { workers } else { Vec::new() }
}

fn flush(ready: &Ready) -> Result<()> {
    ready.files().iter().try_for_each(|file| host::sync(file))
}

/// How a pass kept its schedule; none: it had none.
fn paced(rate: Option<f64>, passed: &Passed, operations: u64) -> Result<Option<Paced>> {
    let Some((asked, lags)) = rate.zip(passed.lags.as_ref()) else { return Ok(None) };
    Ok(Some(Paced {
        asked,
        reached: operations as f64 / passed.wall.as_secs_f64(),
        lag_p50_ns: lags.value_at_quantile(0.5),
        lag_p99_ns: lags.value_at_quantile(0.99),
        lag: histogram::encode(lags)?,
    }))
}

fn summarise(passed: &Passed, operations: u64) -> Result<Latency> {
    let mut all = worker::histogram();
    let mut actions = BTreeMap::new();
    for action in Action::ALL {
        let of = |clock: &'_ EachOperation| clock.histograms.get(action as usize).cloned();
        let parts: Vec<Kept> = passed.clocks.iter().filter_map(of).flatten().collect();
        let Some(own) = parts.into_iter().reduce(|Kept(sum), Kept(part)| Kept(sum + &part)) else {
            continue;
        };
        all += &own.0;
        actions.insert(action, histogram::encode(&own.0)?);
    }
    if actions.len() == 1 {
        // It is the whole.
        actions.clear();
    }
    let sum = passed.clocks.iter().map(|clock| clock.sum).sum();
    Ok(Latency { actions, ..latency(&all, sum, passed.wall, operations)? })
}

/// Latencies of all workers of a pass together, which are `sum` in all.
pub(crate) fn latency(
    all: &Histogram<u64>,
    sum: Duration,
    wall: Duration,
    operations: u64,
) -> Result<Latency> {
    Ok(Latency {
        operations,
        wall_ns: nanoseconds(wall),
        sum_ns: nanoseconds(sum),
        p50_ns: all.value_at_quantile(0.5),
        p99_ns: all.value_at_quantile(0.99),
        max_ns: all.max(),
        histogram: histogram::encode(all)?,
        actions: BTreeMap::new(),
    })
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Batch, Operation, Order, Work};

    use super::*;

    fn counts(cache: Cache, count: u64, keys: u64) -> Vec<(u64, bool)> {
        counts_of(Operation::Read, cache, count, keys)
    }

    fn counts_of(operation: Operation, cache: Cache, count: u64, keys: u64) -> Vec<(u64, bool)> {
        let workload = Workload {
            work: Work::Blobs { operation, order: Order::Permutation, rate: None },
            count,
            batch: Batch::All,
            threads: 1,
            processes: 1,
        };
        let place = Place { round: 0, position: 0, target: 0, workload: 0, cache, salt: 7 };
        let legs = legs(&workload, keys, LATENCY_OPERATIONS, place);
        let salts: BTreeSet<_> = legs.iter().map(|leg| leg.salt).collect();
        assert_eq!(salts.len(), legs.len());
        legs.iter().map(|leg| (leg.count, leg.clocked)).collect()
    }

    #[test]
    fn a_warm_trial_goes_over_the_keys_once_before_it_is_steady() {
        let legs = counts(Cache::Warm, 20_000, 5_000);
        assert_eq!(legs, [(5_000, false), (20_000, false), (2_500, true)]);
        let legs = counts_of(Operation::Update, Cache::Warm, 5_000, 5_000);
        assert_eq!(legs, [(2_500, false), (5_000, false), (2_500, true)]);
        let legs = counts(Cache::Warm, 100, 5_000);
        assert_eq!(legs, [(100, false), (100, false), (100, true)]);
    }

    #[test]
    fn a_cold_trial_touches_no_key_twice() {
        for cache in [Cache::DataCold, Cache::Cold] {
            assert_eq!(counts(cache, 20_000, 5_000), [(5_000, true)]);
            assert_eq!(counts(cache, 100, 5_000), [(100, true)]);
        }
    }
}
