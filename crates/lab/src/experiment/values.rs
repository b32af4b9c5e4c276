//! A trial over values: brings the store to its cache state, opens it, and makes its passes in the
//! same sessions. Warm: the first pass after opening, a steady one, both without a clock per
//! operation, and a latency pass with one. Cold, and where stores age by the writes: one pass only,
//! with a clock.

use std::{collections::BTreeMap, time::Duration};

use model::{
    Action, Cache, Error, ErrorKind, First, Latency, Measured, Paced, Passes, Result, Sample,
    Store, Workload, units::show_count,
};

use super::meter::{PassMeter, flush, soon_ns};
use crate::{
    store::{ReadyStore, cache_state, check},
    workers::{
        Watch,
        blobs::{BlobJob, BlobRequest},
        message::JobRequest,
        processes::Processes,
        threads,
    },
    workload::{
        AsText, Done, LATENCY_OPERATIONS, Pass, PassInput, PassOutcome, Tally, done, encode,
        histogram, nanoseconds, over_time, summarise,
    },
};

/// A trial over the store of one target.
pub(crate) struct ValuesTrial<'a> {
    pub(crate) input: &'a PassInput<'a>,
    pub(crate) ready: &'a ReadyStore,
    pub(crate) cache: Cache,
    /// Names the trial, so that its payloads are its own.
    pub(crate) salt: u64,
    /// Operations of a latency pass at most.
    pub(crate) timed: u64,
    /// Whether to look how much of what will be written is there already.
    pub(crate) first_round: bool,
    /// The processes that do the work, and the seed that they draw operations from; absent: this
    /// process does.
    pub(crate) processes: Option<(&'a Processes<'a>, u64)>,
}

/// What a trial gave.
pub(crate) struct Tried {
    pub(crate) sample: Sample,
    /// Share of the first values to be written that were there already; absent: not looked at.
    pub(crate) written_before: Option<f64>,
}

impl ValuesTrial<'_> {
    pub(crate) fn run(&self) -> Result<Tried> {
        let Self { input, ready, .. } = *self;
        let passes = self.passes();
        // Later rounds write other bytes than earlier ones; what was there before the run may not.
        let look = self.first_round && input.work.operation.updates() && ready.retains();
        let share = || ready.with(|store| input.written_before(&mut *store.session()?, &passes[0]));
        let written_before = look.then(share).transpose()?.map(|(share, _)| share);
        let before = cache_state::reach(ready, self.cache)?;
        let (mut sample, opening) = ready.with(|store| self.measure(store, &passes))?;
        sample.open_ns = nanoseconds(opening);
        if input.changes_keys() && ready.retains() {
            ready
                .with(|store| check::same_keys(input.dataset, &mut *store.session()?, input.stop))
                .map_err(|e| e.context("after the trial").with_kind(ErrorKind::Corrupt))?;
        }
        if input.work.operation.writes() {
            flush(&ready.files())?;
            ready.filled.set(false);
        }
        let after = cache_state::seen(ready)?;
        Ok(Tried { sample: Sample { cache: self.cache, before, after, ..sample }, written_before })
    }

    fn passes(&self) -> Vec<Pass> {
        let keys = self.input.dataset.entries().len() as u64;
        passes(&self.input.workload, keys, self.timed, self.cache, self.salt)
    }

    fn measure(&self, store: &dyn Store, passes: &[Pass]) -> Result<Sample> {
        let Self { input, ready, .. } = *self;
        let mut processes = store.processes();
        processes.extend(self.processes.iter().flat_map(|(workers, _)| workers.ids()));
        let (meter, measured, sample) = Default::default();
        let mut watch = Passing { trial: self, store, processes, meter, measured, sample };
        match self.processes {
            None => threads::run(&BlobJob { input, store, passes }, &mut watch)?,
            Some((workers, seed)) => {
                let job = |process| {
                    JobRequest::Blobs(BlobRequest::new(process, input, seed, ready, passes))
                };
                workers.run(job, passes, &mut watch)?;
            }
        }
        Ok(Sample { measured: Measured::Blobs(watch.measured), ..watch.sample })
    }
}

/// The passes. A store is cold only once, and ages by each write: there the first pass is the only
/// one, and it carries the clock. A latency pass has `timed` operations at most.
fn passes(workload: &Workload, keys: u64, timed: u64, cache: Cache, salt: u64) -> Vec<Pass> {
    let pass = |index: u64, count, clocked| {
        // The top bits are free for it: they are as random as the others.
        Pass { count, salt: salt ^ (index << 60), clocked }
    };
    let once = workload.count.min(keys);
    let writes = workload.work.writes();
    if cache.is_cold() || (workload.work.age().is_some() && writes) {
        return vec![pass(0, once, true)];
    }
    if workload.work.rate().is_some() {
        // What is on schedule is clocked anyway.
        return vec![pass(0, once, false), pass(1, workload.count, true)];
    }
    let timed = workload.count.min(timed);
    // Updates take long, and have no cache to fill: a part of them is enough.
    let first = if writes { once.min(LATENCY_OPERATIONS) } else { once };
    vec![pass(0, first, false), pass(1, workload.count, false), pass(2, timed, true)]
}

/// A trial as its passes go by.
struct Passing<'a> {
    trial: &'a ValuesTrial<'a>,
    store: &'a dyn Store,
    /// Others that work for the store.
    processes: Vec<u32>,
    meter: Option<PassMeter>,
    measured: Passes,
    sample: Sample,
}

impl Watch<Pass, PassOutcome> for Passing<'_> {
    fn starts(&mut self, _: &Pass) -> Result<u64> {
        let ValuesTrial { ready, input, .. } = self.trial;
        // The device under a remote store cannot be seen.
        let path = (!ready.engine.capabilities().remote).then_some(&*ready.path);
        self.meter = Some(PassMeter::start(self.processes.clone(), path));
        // A single worker need not wait for the others.
        Ok(if input.workload.workers() > 1 { soon_ns() } else { 0 })
    }

    fn ended(&mut self, pass: &Pass, done: Vec<Done<PassOutcome>>) -> Result<()> {
        let ValuesTrial { ready, input, .. } = self.trial;
        let meter = self.meter.take().expect("every pass starts before it ends");
        let (wall, writes) = (done::wall(&done), input.work.operation.writes());
        let settle = || self.store.settle();
        let measured = meter.stop(wall, writes, settle, || flush(&ready.files()))?;
        let tally = tally(&done);
        self.check(&tally, pass.count)?;
        self.read_back(pass)?;
        self.restore(pass)?;
        let (workers, counters) = (done::workers(&done), done::counters(&done));
        let outcomes: Vec<_> = done.into_iter().map(|worker| worker.outcome).collect();
        if pass.clocked {
            self.measured.latency = latency(&outcomes, wall, pass.count)?;
            self.measured.over_time = timeline(&outcomes);
        }
        self.measured.paced = paced(input.work.rate, &outcomes, wall, pass.count)?;
        if !pass.clocked || self.sample.operations == 0 || self.measured.paced.is_some() {
            let Sample { operations, wall_ns, .. } = self.sample;
            self.measured.first = (operations > 0).then_some(First { operations, wall_ns });
            let (operations, bytes) = (pass.count, tally.bytes);
            self.sample = Sample { operations, bytes, workers, counters, ..measured };
        }
        Ok(())
    }
}

impl Passing<'_> {
    /// Whether writes can be read back.
    fn keeps_writes(&self) -> bool {
        self.trial.input.work.operation.writes() && self.trial.ready.retains()
    }

    /// Reads the last writes of an update pass back.
    fn read_back(&self, pass: &Pass) -> Result<()> {
        if !self.keeps_writes() {
            return Ok(());
        }
        let lost = self.trial.input.read_back(&mut *self.store.session()?, pass)?;
        lost.map_or(Ok(()), |key| Err(check::not_as_written(&key)))
    }

    /// Brings the store back to its keys, off the clock.
    fn restore(&self, pass: &Pass) -> Result<()> {
        if !self.trial.input.changes_keys() || !self.trial.ready.retains() {
            return Ok(());
        }
        self.trial.input.restore(&mut *self.store.session()?, pass)?;
        flush(&self.trial.ready.files())
    }

    /// A miss is not a fast read: it ends the run.
    fn check(&self, tally: &Tally, count: u64) -> Result<()> {
        let first = tally.first.as_ref().filter(|_| self.trial.ready.retains());
        let Some(key) = first else { return Ok(()) };
        let wrong = [
            (tally.missing, "are missing"),
            (tally.wrong, "have another length than before"),
            (tally.present, "were there before they were inserted"),
            (tally.short, "start a scan that does not show what is there"),
        ];
        let (bad, what) = wrong.into_iter().find(|(count, _)| *count > 0).unwrap_or_default();
        let (bad, count) = (show_count(bad), show_count(count));
        let message = format!("{bad} of {count} keys asked for {what}, first {key}");
        Err(Error::new(ErrorKind::Missing, message))
    }
}

fn tally(done: &[Done<PassOutcome>]) -> Tally {
    let mut tally = Tally::default();
    for worker in done {
        tally.add(&worker.outcome.tally);
    }
    tally
}

fn timeline(outcomes: &[PassOutcome]) -> Option<model::OverTime> {
    let clocks = outcomes.iter().filter_map(|outcome| outcome.clock.as_ref());
    let background = outcomes.iter().flat_map(|outcome| &outcome.background);
    over_time(clocks, background)
}

/// How a pass kept its schedule; none: it had none.
fn paced(
    rate: Option<f64>,
    outcomes: &[PassOutcome],
    wall: Duration,
    operations: u64,
) -> Result<Option<Paced>> {
    let parts = outcomes.iter().filter_map(|outcome| outcome.lags.clone());
    let lags = parts.reduce(|AsText(sum), AsText(part)| AsText(sum + &part));
    let Some((asked, AsText(lags))) = rate.zip(lags) else { return Ok(None) };
    Ok(Some(Paced {
        asked,
        reached: operations as f64 / wall.as_secs_f64(),
        lag_p50_ns: lags.value_at_quantile(0.5),
        lag_p99_ns: lags.value_at_quantile(0.99),
        lag: encode(&lags)?,
    }))
}

fn latency(outcomes: &[PassOutcome], wall: Duration, operations: u64) -> Result<Latency> {
    let clocks = || outcomes.iter().filter_map(|outcome| outcome.clock.as_ref());
    let mut all = histogram();
    let mut actions = BTreeMap::new();
    for action in Action::ALL {
        let parts = clocks().filter_map(|clock| clock.histograms.get(action as usize)?.clone());
        let Some(AsText(own)) = parts.reduce(|AsText(sum), AsText(part)| AsText(sum + &part))
        else {
            continue;
        };
        all += &own;
        actions.insert(action, encode(&own)?);
    }
    if actions.len() == 1 {
        // It is the whole.
        actions.clear();
    }
    let sum = clocks().map(|clock| clock.sum).sum();
    Ok(Latency { actions, ..summarise(&all, sum, wall, operations)? })
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
        let work = Work::Blobs { operation, order: Order::Permutation, rate: None };
        let workload = Workload { work, count, batch: Batch::All, threads: 1, processes: 1 };
        let passes = passes(&workload, keys, LATENCY_OPERATIONS, cache, 7);
        let salts: BTreeSet<_> = passes.iter().map(|pass| pass.salt).collect();
        assert_eq!(salts.len(), passes.len());
        passes.iter().map(|pass| (pass.count, pass.clocked)).collect()
    }

    #[test]
    fn a_warm_trial_goes_over_the_keys_once_before_it_is_steady() {
        let passes = counts(Cache::Warm, 20_000, 5_000);
        assert_eq!(passes, [(5_000, false), (20_000, false), (2_500, true)]);
        let passes = counts_of(Operation::Update, Cache::Warm, 5_000, 5_000);
        assert_eq!(passes, [(2_500, false), (5_000, false), (2_500, true)]);
        let passes = counts(Cache::Warm, 100, 5_000);
        assert_eq!(passes, [(100, false), (100, false), (100, true)]);
    }

    #[test]
    fn a_cold_trial_touches_no_key_twice() {
        for cache in [Cache::DataCold, Cache::Cold] {
            assert_eq!(counts(cache, 20_000, 5_000), [(5_000, true)]);
            assert_eq!(counts(cache, 100, 5_000), [(100, true)]);
        }
    }
}
