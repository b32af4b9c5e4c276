//! Warm reads of all stores that one process can have open, in turns: in each round in a fresh worker
//! process, because how a process happens to be laid out in memory changes what reads cost by some
//! percent.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    hint::black_box,
    mem,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use host::Spent;
use model::{
    Batch, BlobWork, Cache, Case, Error, Finding, FindingKind, First, Load, Measured, Mode,
    OpenOptions, Operation, Passes, Residency, Result, Sample, State, Store, Workload,
    units::whole,
};

use super::{Blobs, BlobsRequest, Job, PreparedTarget, copies};
use crate::{
    budget::shares,
    dataset::{Dataset, Part, PoolSpec, Use, derive},
    experiment::{
        Output, Trial,
        values::{latency, missed},
    },
    join,
    store::{ReadyStore, cache_state},
    workers::{
        blobs::{EpochDone, EpochRequest, LaneTurn, StoreRequest},
        message::JobRequest,
        processes::Processes,
        worker_process::Launch,
    },
    workload::{
        PassInput, drawn, index,
        interleaved::{Opener, WarmUp, epoch},
        turns::{LaneDone, Lanes, Turns, take_turns},
    },
};

impl PreparedTarget {
    /// Reports whether a worker process can open the store that is read: not a server's, nor one
    /// that only this process has.
    pub(super) fn can_take_turns(&self) -> bool {
        let can = |ready: &ReadyStore| ready.held.is_none() && !ready.engine.capabilities().remote;
        self.facts.server.is_none() && self.read.as_ref().is_some_and(can)
    }
}

impl Job<'_> {
    /// Reports whether stores take turns in this work, as far as the work and the request decide
    /// it.
    pub(super) fn takes_turns(&self, work: BlobWork) -> bool {
        let BlobsRequest { threads, processes, over_time, .. } = *self.part;
        let here = processes.is_none() && self.part.hosts.is_none();
        let reads = !work.operation.writes() && work.rate.is_none();
        reads && threads == 1 && here && !over_time
    }
}

impl Blobs<'_> {
    /// Returns the seconds of the reads of an epoch, where `share` seconds are left for each of the
    /// least number of rounds.
    pub(super) fn epoch_seconds(&self, share: f64) -> f64 {
        (share * self.least_rounds() / EPOCHS / 2.0).clamp(SHORT_EPOCH, EPOCH)
    }

    /// Reports whether a target takes turns with others in this case.
    pub(super) fn takes_turns(&self, case: Case, target: &PreparedTarget) -> bool {
        let in_slices = self.workloads[case.workload].slice.is_some();
        in_slices && case.cache == Cache::Warm && target.can_take_turns()
    }

    /// Reports whether one process can have the stores of all targets open that take turns.
    pub(super) fn can_open_all(&self) -> bool {
        // Each worker of a program has one store.
        let own = |target: &&PreparedTarget| !target.has_program();
        let turning = self.stores.targets.iter().filter(|target| target.can_take_turns());
        let turning = turning.filter(own);
        let mut locked: Vec<_> = turning
            .map(|target| target.store(Operation::Read))
            .filter(|ready| !ready.engine.capabilities().reopens)
            .map(|ready| &ready.path)
            .collect();
        let count = locked.len();
        locked.sort();
        locked.dedup();
        locked.len() == count
    }
}

/// The seconds of all reads of an epoch together, by the wall clock. What the layout of a process does
/// differs from one to the next, so more epochs show more than longer ones. Reads that wait for a processor
/// are fewer still ([`MOST_SHORTENED`]).
const EPOCH: f64 = 0.15;
/// The shortest epoch in seconds if little time is left.
const SHORT_EPOCH: f64 = 0.1;
const EPOCHS: f64 = 20.0;
/// The largest factor by which epochs are shortened.
const MOST_SHORTENED: f64 = 3.0;
/// A slice of the fastest store and one of the slowest, in seconds, as far as both can be.
const SHORTEST: f64 = 1e-3;
const LONGEST: f64 = 5e-3;

/// Returns the operations of an epoch on `keys`, which takes so many seconds, and those of a slice.
/// `costs` are seconds of an operation of each store, which takes `stretched` times as long by the wall
/// clock. Whole passes over all keys where they are short, so that each epoch reads the same; or else as
/// many keys as fit.
pub(super) fn lengths(keys: u64, costs: &[f64], stretched: f64, epoch: f64) -> (u64, Option<u64>) {
    let all: f64 = costs.iter().sum();
    let fastest = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let slowest = costs.iter().copied().fold(0.0, f64::max);
    let reads = epoch / stretched.clamp(1.0, MOST_SHORTENED) / all;
    let passes = (reads / keys as f64).round();
    let slice = whole((SHORTEST * LONGEST / (fastest * slowest)).sqrt().max(1.0));
    let count = match whole(passes) {
        0 => whole(reads).max(FEWEST),
        passes => keys.saturating_mul(passes),
    };
    (count, Some(slice))
}

/// The part of the keys of a round that a first pass touches before the one that counts.
pub(super) const FIRST_PART: u64 = 8;
/// The smallest number of reads of a first pass over other keys: after them a process is no longer
/// new to its stores.
const FIRST_READS: u64 = 2000;

/// The smallest number of operations of an epoch, and of slices.
const FEWEST: u64 = 100;
const FEWEST_SLICES: u64 = 4;

/// A store's own cache of this size is filled by the first pass of an epoch.
const SMALL_CACHE: u64 = 16 << 20;

/// The part of a slice that is done before it and does not count: it brings the store back into the
/// processor's caches.
const LEAD: u64 = 16;
/// The lengths of slices, shorter and longer in turn, so that it shows if their length matters.
const SLICES: [f64; 3] = [1.0, 0.5, 2.0];

/// The time that epochs have taken so far, and what is known of the pages of the stores.
#[derive(Default)]
pub(super) struct PageLooks {
    epochs: Duration,
    /// By target.
    stores: BTreeMap<usize, StoreLooks>,
    /// Something else may have moved pages out of memory.
    pub(super) pages_lost: bool,
}

/// What is known of the pages of a store.
#[derive(Clone, Copy, Default)]
struct StoreLooks {
    /// The time that examining its pages has taken so far.
    looked: Duration,
    /// The last epoch was not warm.
    waited: bool,
    /// An earlier epoch was not warm: what moved pages out will do it again.
    loses: bool,
}

impl PageLooks {
    /// Returns whether the pages of the store of `target`, one of so many, are examined before an epoch.
    fn is_due(&self, target: usize, of: usize) -> bool {
        let own = self.stores.get(&target).copied().unwrap_or_default();
        let part = if self.pages_lost || own.waited { shares::REREADING } else { shares::LOOKING };
        own.looked <= self.epochs.mul_f64(part / of as f64)
    }
}

impl Blobs<'_> {
    /// Reads all targets of `trial` in turns.
    pub(super) fn epoch(&mut self, trial: &Trial, output: &mut Output<'_>) -> Result<()> {
        let mut looks = mem::take(&mut self.page_looks);
        let done = self.epoch_with(trial, output, &mut looks);
        self.page_looks = looks;
        done
    }

    fn epoch_with(
        &self,
        trial: &Trial,
        output: &mut Output<'_>,
        looks: &mut PageLooks,
    ) -> Result<()> {
        let index = trial.workloads.start;
        let workload = self.workloads[index];
        let turns = self.turns(&workload, output.round);
        let stores: Vec<_> = trial
            .targets
            .iter()
            .map(|target| self.stores.targets[*target].in_round(output.round))
            .collect();
        let copies =
            trial.targets.iter().any(|target| !self.stores.targets[*target].copies.is_empty());
        let copy = copies.then(|| copies::turn(output.round));
        let parts = workload.parts;
        let part = parts.map(|parts| Part::in_round(output.round, parts).number);
        let before = self.bring_into_memory(trial, &stores, output, looks)?;
        let start = Instant::now();
        let warm = before.iter().zip(&stores);
        let warm = warm.map(|(before, ready)| is_in_memory(ready.as_found.get(), *before));
        let warm_up =
            |(target, in_memory): (&usize, bool)| self.warm_up(*target, &workload, in_memory);
        let warm_ups: Vec<_> = trial.targets.iter().zip(warm).map(warm_up).collect();
        let (done, load) = self.in_turns((&stores, &warm_ups), workload, turns, output.round)?;
        let fetched = |spent: &Spent| spent.io.is_some_and(|io| io.device_read_bytes > Some(0));
        let fetched = |done: &LaneDone| fetched(&done.first) || fetched(&done.spent);
        let fetched = done.iter().flatten().any(fetched);
        looks.epochs += start.elapsed();
        looks.pages_lost = false;
        for (((target, ready), before), done) in
            trial.targets.iter().zip(&stores).zip(before).zip(done)
        {
            output.target = *target;
            let is_seen = fetched && before.is_some();
            let seen = || if is_seen { cache_state::seen(ready, self.job.stop) } else { Ok(None) };
            let sampled =
                done.and_then(|done| sample(done, turns, (copy, part), (before, seen()?), &load));
            match sampled {
                Ok(mut sample) => {
                    let as_found = ready.as_found.get();
                    let (_, half) = self.stores.keys_in(output.round);
                    sample.passes_mut().into_iter().for_each(|passes| passes.half = half);
                    let is_warm = sample.state(workload.work) == State::Reached;
                    let own = looks.stores.entry(*target).or_default();
                    own.waited = !is_warm;
                    own.loses |= !is_warm;
                    output.sample(Sample { workload: index, as_found, ..sample }, None)?;
                }
                Err(error) => output.failed.push((*target, error)),
            }
        }
        Ok(())
    }

    /// Brings the stores of `trial` into memory, as far as there is time to examine them, and what of them
    /// is read in this round if they lose pages. Returns what was then seen in memory of each; `None` if it was
    /// not examined.
    fn bring_into_memory(
        &self,
        trial: &Trial,
        stores: &[&ReadyStore],
        output: &mut Output<'_>,
        looks: &mut PageLooks,
    ) -> Result<Vec<Option<Residency>>> {
        let (mut before, mut is_read) = (Vec::new(), false);
        for (target, ready) in trial.targets.iter().zip(stores) {
            let start = Instant::now();
            let is_due = looks.is_due(*target, stores.len()) || !ready.filled.get();
            let reach = || cache_state::reach(ready, Cache::Warm, self.job.stop);
            before.push(if is_due { reach()? } else { None });
            let own = looks.stores.entry(*target).or_default();
            own.looked += start.elapsed();
            let is_examined = is_due && ready.examined.borrow().is_none();
            if !own.loses || is_examined || ready.as_found.get() {
                continue;
            }
            let start = Instant::now();
            self.read_round(ready, output.round)?;
            is_read = true;
            let kind = FindingKind::ReadAgain { seconds: start.elapsed().as_secs_f64() };
            let label = &self.stores.targets[*target].planned.label;
            let finding = Finding::target(kind, label).in_workload(trial.workloads.start);
            output.recorder.note([finding.in_round(output.round)])?;
        }
        if is_read {
            fill_processor_cache();
        }
        Ok(before)
    }

    /// Reads the values of a round, so that they are in memory.
    fn read_round(&self, ready: &ReadyStore, round: u32) -> Result<()> {
        let (dataset, _) = self.stores.keys_in(round);
        let mut buffer = Vec::new();
        let read = ready.with(|store| {
            let session = &mut *store.session()?;
            session.begin(Mode::Read)?;
            for entry in dataset.round_entries() {
                self.job.stop.check()?;
                buffer.resize(entry.size as usize, 0);
                // What became of it is for the epoch to find.
                session.get(dataset.key(entry), &mut buffer)?;
            }
            session.commit()
        });
        read.map(drop)
    }

    /// Returns the reads of a round.
    pub(super) fn turns(&self, workload: &Workload, round: u32) -> Turns {
        let (dataset, _) = self.stores.keys_in(round);
        let keys = dataset.round_entries().len() as u64;
        let slice = workload.slice.unwrap_or(workload.count) as f64;
        let slice = whole(slice * SLICES[round as usize % SLICES.len()]);
        let batch = if let Batch::Of(operations) = workload.batch { operations.max(1) } else { 1 };
        // Of whole batches.
        let whole = |slice: u64| {
            (slice.max(1).next_multiple_of(batch), (slice / LEAD).next_multiple_of(batch))
        };
        let seed = derive(self.job.request.seed, Use::Turns, round.into());
        if workload.parts.is_none() {
            let (slice, lead) = whole(slice);
            let (first, pass, count) = (keys.min(workload.count), keys, workload.count);
            return Turns { first, pass, count, slice, lead: lead.min(first), seed };
        }
        // No key counts twice: it would be in the processor's cache. The first pass has others.
        let (slice, lead) = whole(slice.min(keys / FEWEST_SLICES));
        let others = dataset.entries().len() as u64 - keys;
        let first = (keys / FIRST_PART).max(FIRST_READS).min(others);
        let count = if keys < batch { keys } else { keys - keys % batch };
        Turns { first, pass: count, count, slice, lead: lead.min(first), seed }
    }

    /// Returns what a store needs before an epoch reads a part of the keys. If it reads all of
    /// them, its first pass does that, and a small cache is filled by the first pass over a part.
    fn warm_up(&self, target: usize, workload: &Workload, in_memory: bool) -> WarmUp {
        if workload.parts.is_none() {
            return WarmUp::default();
        }
        let own = self.stores.targets[target].facts.memory_bytes.unwrap_or(0);
        let cache = if own <= SMALL_CACHE { 0 } else { own.min(self.stores.all.bytes) };
        WarmUp { cache, in_memory }
    }

    /// Reads `stores` in turns; returns the result of each, and what else went on in the machine.
    pub(super) fn in_turns(
        &self,
        (stores, warm_ups): (&[&ReadyStore], &[WarmUp]),
        workload: Workload,
        turns: Turns,
        round: u32,
    ) -> Result<(Vec<Result<LaneDone>>, Load)> {
        let seed = derive(self.job.request.seed, Use::Picks, round.into());
        if stores.iter().any(|ready| ready.engine.program().is_some()) {
            return self.by_programs((stores, warm_ups), workload, turns, (seed, round));
        }
        if self.job.request.worker.is_empty() {
            return self.on_a_thread((stores, warm_ups), workload, turns, (seed, round));
        }
        let dataset = self.round_keys(turns, round);
        let worker = self.fresh_worker(&dataset)?;
        let ids = worker.ids();
        let stores = stores.iter().map(|ready| StoreRequest::new(ready)).collect();
        let warm_ups = warm_ups.to_vec();
        let request = EpochRequest { stores, warm_ups, workload, seed, turns: None };
        worker.with(
            |_| JobRequest::Epoch(request.clone()),
            |workers| {
                let meter = host::Meter::start(&ids, &[]);
                let done: Vec<EpochDone> = workers(turns, 0)?;
                let failed = Error::failed;
                let done = done.into_iter().map(|done| done.map_err(failed)).collect();
                Ok((done, meter.stop().load))
            },
        )
    }

    /// Reads `stores` in turns, each in a fresh worker of its own program. The turn is handed over by
    /// messages, whose time does not count.
    fn by_programs(
        &self,
        (stores, warm_ups): (&[&ReadyStore], &[WarmUp]),
        workload: Workload,
        turns: Turns,
        (seed, round): (u64, u32),
    ) -> Result<(Vec<Result<LaneDone>>, Load)> {
        let dataset = self.round_keys(turns, round);
        let launches: Vec<_> = stores.iter().map(|ready| self.launch_of(ready)).collect();
        let pool = PoolSpec { largest: 0, ..self.pool.spec() };
        let workers = Processes::start(&launches, Some((&dataset, pool)), self.job.stop)?;
        let meter = host::Meter::start(&workers.ids(), &[]);
        let job = |process| {
            let (store, warm_up) = (stores[process as usize], &warm_ups[process as usize]);
            let (stores, warm_ups) = (vec![StoreRequest::new(store)], vec![warm_up.clone()]);
            JobRequest::Lane(EpochRequest { stores, warm_ups, workload, seed, turns: Some(turns) })
        };
        let done = workers.with_each(job, |ask| {
            let ask = &mut |process, turn| self.job.answered(|| ask(process, turn));
            take_turns(turns, stores.len(), &mut WorkerLanes(ask))
        })?;
        Ok((done, meter.stop().load))
    }

    /// Returns how a worker is started that opens the store.
    fn launch_of(&self, ready: &ReadyStore) -> Launch {
        match ready.engine.program() {
            Some(program) => Launch::of_program(program),
            None => Launch::here(&self.job.request.worker, 1).remove(0),
        }
    }

    /// Returns the keys of an epoch in their order, those of the first pass before the others.
    fn round_keys(&self, turns: Turns, round: u32) -> Cow<'_, Dataset> {
        let (dataset, _) = self.stores.keys_in(round);
        dataset.of_round(index(turns.first))
    }

    /// Starts a worker process with the keys of a round.
    fn fresh_worker(&self, dataset: &Dataset) -> Result<Processes<'_>> {
        let launch = Launch::here(&self.job.request.worker, 1);
        // Reads need no values to write.
        let pool = PoolSpec { largest: 0, ..self.pool.spec() };
        Processes::start(&launch, Some((dataset, pool)), self.job.stop)
    }

    /// Reads `stores` in turns without a worker process.
    fn on_a_thread(
        &self,
        (stores, warm_ups): (&[&ReadyStore], &[WarmUp]),
        workload: Workload,
        turns: Turns,
        (seed, round): (u64, u32),
    ) -> Result<(Vec<Result<LaneDone>>, Load)> {
        let dataset = &*self.round_keys(turns, round);
        let ops = drawn(&workload, dataset, seed)?;
        let input = PassInput::new(workload, dataset, &self.pool, ops, self.job.stop)?;
        let meter = host::Meter::start(&[], &[]);
        let own = stores.iter().map(|of| (of.engine, &*of.path, &of.options));
        let opener = OwnStores(own.collect());
        let done =
            thread::scope(|scope| join(scope.spawn(|| epoch(&input, turns, warm_ups, &opener))));
        Ok((done, meter.stop().load))
    }
}

/// The most bytes that the processor's cache is filled with.
const MOST_FILLED: u64 = 256 << 20;

/// Fills the processor's cache with bytes of no store: values that were just read would be in it.
fn fill_processor_cache() {
    let bytes = host::last_level_cache_bytes().unwrap_or(0).saturating_mul(2).min(MOST_FILLED);
    black_box(vec![1_u8; usize::try_from(bytes).unwrap_or(0)]);
}

/// Stores that workers read, one each; asks a worker for its turn.
struct WorkerLanes<'a>(&'a mut dyn FnMut(u32, LaneTurn) -> Result<Vec<Option<LaneDone>>>);

impl WorkerLanes<'_> {
    fn ask(&mut self, store: usize, turn: LaneTurn) -> Result<Option<LaneDone>> {
        let process = u32::try_from(store).unwrap_or(u32::MAX);
        Ok((self.0)(process, turn)?.pop().flatten())
    }
}

impl Lanes for WorkerLanes<'_> {
    fn open(&mut self, store: usize) -> Result<()> {
        self.ask(store, LaneTurn::Open).map(drop)
    }

    fn slice(&mut self, store: usize, slice: usize) -> Result<()> {
        self.ask(store, LaneTurn::Slice(slice as u64)).map(drop)
    }

    fn finish(&mut self, store: usize) -> Result<LaneDone> {
        let done = self.ask(store, LaneTurn::Finish)?;
        done.ok_or_else(|| Error::failed("a worker does not say what came of its reads"))
    }
}

/// The stores that this process opens for an epoch.
struct OwnStores<'a>(Vec<(&'static dyn model::Blobs, &'a Path, &'a OpenOptions)>);

impl Opener for OwnStores<'_> {
    fn open(&self, store: usize) -> Result<Box<dyn Store>> {
        let (engine, path, options) = self.0[store];
        engine.open(path, options)
    }
}

/// Returns the sample of a store that took `turns`.
fn sample(
    done: LaneDone,
    turns: Turns,
    (copy, part): (Option<u32>, Option<u64>),
    (before, after): (Option<Residency>, Option<Residency>),
    load: &Load,
) -> Result<Sample> {
    if let Some(key) = &done.tally.first {
        let leads = turns.lead * turns.slices().count() as u64;
        return Err(missed(&done.tally, turns.first + turns.count + leads, key));
    }
    let cache_filled = Some(done.cache_filled).filter(|share| *share < 1.0);
    let LaneDone { open_ns, memory_bytes, first, spent, bytes, counters, latencies, .. } = done;
    let first = Some(First { operations: turns.first, ns: first.passed.ran_ns() });
    let wall = Duration::from_nanos(spent.passed.wall_ns);
    let latency = latency(latencies.iter(), wall)?;
    let slice = Some(turns.slice);
    let passes = Passes { first, latency, slice, copy, part, cache_filled, ..Passes::default() };
    Ok(Sample {
        cache: Cache::Warm,
        before,
        after,
        operations: turns.count,
        bytes,
        open_ns,
        wall_ns: spent.passed.wall_ns,
        waited_ns: spent.passed.waited_ns,
        cost: spent.cost,
        io: spent.io,
        load: *load,
        memory_bytes,
        counters,
        measured: Measured::Blobs(passes),
        ..Sample::default()
    })
}

/// Reports whether a whole store is in memory, of which these pages were seen before an epoch; one that was not
/// examined is. One that was left `as_found` does not fit there, whatever was seen.
fn is_in_memory(as_found: bool, before: Option<Residency>) -> bool {
    !as_found && before.is_none_or(|seen| seen.shows(Cache::Warm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_was_left_as_found_is_not_brought_into_memory() {
        let seen = |resident| Some(Residency { pages: 1000, resident, ..Residency::default() });
        assert!(is_in_memory(false, None) && is_in_memory(false, seen(1000)));
        assert!(!is_in_memory(false, seen(900)), "the kernel moved pages out");
        for before in [None, Some(Residency::default()), seen(1000), seen(10)] {
            assert!(!is_in_memory(true, before), "{before:?}");
        }
    }

    #[test]
    fn epochs_are_of_whole_passes_and_shorter_where_reads_wait() {
        let lengths = |stretched| lengths(1000, &[2e-6, 4e-6], stretched, 0.3);
        assert_eq!(lengths(1.0), (50_000, Some(790)));
        assert_eq!(lengths(2.0), (25_000, Some(790)));
        assert_eq!(lengths(100.0), (17_000, Some(790)), "a third at least");
    }

    #[test]
    fn epochs_on_many_keys_read_as_many_as_fit() {
        let of_million = super::lengths(1_000_000, &[2e-6, 4e-6], 1.0, 0.3);
        assert_eq!(of_million, (50_000, Some(790)));
        assert_eq!(super::lengths(1_000_000, &[0.5, 0.5], 1.0, 0.3).0, FEWEST);
    }
}
