//! A trial over values: brings the store to its cache state, opens it, and makes its passes in the
//! same sessions. Warm: the first pass after opening, and a steady one in which some operations are
//! timed one by one. Cold, as found, and where stores age by the writes: one pass only, in which all are.

use std::{collections::BTreeMap, time::Duration};

use model::{
    Action, Cache, Cost, Error, ErrorKind, HostClock, HostPart, Latency, Load, Paced, Passes,
    Result, Sample, Store, Workload,
    units::{show_count, whole},
};

use super::meter::{Others, Own, PassMeter, flush, soon_ns};
use crate::{
    dataset::check_type,
    store::{ReadyStore, cache_state, check},
    workers::{
        Workers,
        blobs::{self, BlobRequest, StoreRequest},
        message::JobRequest,
        processes::Processes,
        program::store::ProgramStore,
    },
    workload::{
        FIRST_REQUESTS, FIRST_WRITES, Latencies, Pass, PassInput, PassOutcome, Tally, Timing,
        WorkerReport, common_time, latency, nanoseconds, over_time, worker_report,
    },
};

/// A trial over the store of one target.
pub(crate) struct ValuesTrial<'a> {
    pub(crate) input: &'a PassInput<'a>,
    pub(crate) ready: &'a ReadyStore,
    pub(crate) trial: TrialInput,
    /// The processes that do the work; `None` if this process does it.
    pub(crate) processes: Option<&'a Processes<'a>>,
}

/// The input that differs from trial to trial of a workload.
#[derive(Clone, Copy)]
pub(crate) struct TrialInput {
    pub(crate) cache: Cache,
    /// Whether the store is brought to that state, and its pages are examined before and after.
    pub(crate) examines: bool,
    /// Names the trial, so that its payloads are its own.
    pub(crate) salt: u64,
    /// The seed from which processes draw operations.
    pub(crate) seed: u64,
    /// Whether to look how much of what will be written is there already.
    pub(crate) first_round: bool,
    /// Whether values are read after they were written, to be compared.
    pub(crate) read_back: bool,
}

impl ValuesTrial<'_> {
    /// Measures the case. Also returns the share of the first values to be written that existed
    /// already; `None` if that was not examined.
    pub(crate) fn run(&self) -> Result<(Sample, Option<f64>)> {
        let Self { input, ready, .. } = *self;
        let TrialInput { cache, examines, salt, first_round, .. } = self.trial;
        let keys = input.dataset.round_entries().len() as u64;
        let sends_requests = ready.sends_requests();
        let passes = passes(&input.workload, keys, cache, sends_requests, salt);
        // Later rounds write other bytes than earlier ones; what was there before the run may not.
        let look = first_round && input.work.operation.updates() && ready.retains();
        let share = || ready.with(|store| input.written_before(&mut *store.session()?, &passes[0]));
        let written_before = look.then(share).transpose()?.map(|(share, _)| share);
        let before = if examines { cache_state::reach(ready, cache, input.stop)? } else { None };
        let as_found = ready.as_found.get();
        let (mut sample, opening) = ready.with(|store| self.open(store, &passes))?;
        sample.open_ns = nanoseconds(opening);
        if input.changes_keys() && ready.retains() {
            ready
                .with(|store| {
                    check::same_keys(input.dataset, &mut *store.session()?, check_type, input.stop)
                })
                .map_err(|e| e.context("after the trial").with_kind(ErrorKind::Corrupt))?;
        }
        if input.work.operation.writes() {
            flush(&ready.files())?;
            ready.filled.set(false);
        }
        // Of a store larger than memory the next trial counts again, which takes a second.
        let examines = examines && cache != Cache::AsFound;
        let after = if examines { cache_state::seen(ready, input.stop)? } else { None };
        Ok((Sample { cache, as_found, before, after, ..sample }, written_before))
    }

    fn open(&self, store: &dyn Store, passes: &[Pass]) -> Result<Sample> {
        let Self { input, ready, .. } = *self;
        let measure = |workers: &mut Workers<'_, _, _>| self.measure(store, passes, workers);
        if let Some(store) = program_store(store) {
            return store.with_passes(input, self.trial.seed, measure);
        }
        match self.processes {
            None => blobs::with(input, store, measure),
            Some(processes) => {
                let (store, workload) = (StoreRequest::new(ready), input.workload);
                let seed = self.trial.seed;
                let job = |process| BlobRequest { process, store: store.clone(), workload, seed };
                processes.with(|process| JobRequest::Blobs(job(process)), measure)
            }
        }
    }

    /// Runs the passes in open sessions. The sample is about the last one.
    fn measure(
        &self,
        store: &dyn Store,
        passes: &[Pass],
        workers: &mut Workers<'_, Pass, WorkerReport<PassOutcome>>,
    ) -> Result<Sample> {
        let mut last = None::<Sample>;
        for pass in passes {
            let (sample, measured) = self.pass(store, pass, workers)?;
            let first = last.as_ref().map(Sample::as_first);
            let measured = Passes { first, ..measured }.into();
            last = Some(Sample { measured, ..sample });
        }
        Ok(last.expect("a trial has at least one pass"))
    }

    fn pass(
        &self,
        store: &dyn Store,
        pass: &Pass,
        workers: &mut Workers<'_, Pass, WorkerReport<PassOutcome>>,
    ) -> Result<(Sample, Passes)> {
        let Self { input, ready, .. } = *self;
        let servers = store.processes();
        let remote = ready.engine.capabilities().remote;
        let server = remote || !servers.is_empty();
        let hosts = self.processes.map(Processes::hosts).unwrap_or_default();
        let (here, own) = match (program_store(store), self.processes) {
            (Some(program), _) => (vec![program.id()], Own::Asks),
            (None, Some(workers)) if hosts.is_empty() => (workers.ids(), Own::Settles),
            (None, _) => (Vec::new(), Own::Works),
        };
        // The device under a remote store cannot be seen.
        let path = (!remote).then_some(&*ready.path);
        let others = Others { servers: &servers, workers: &here, own };
        let meter = PassMeter::start(others, path, server);
        // A single worker need not wait for the others.
        let start_ns = if input.workload.workers() > 1 { soon_ns() } else { 0 };
        let done = workers(*pass, start_ns)?;
        let writes = input.work.operation.writes();
        let mut sample = meter.stop(&done, writes, || store.flush_writes(), || ready.files())?;
        if ready.engine.capabilities().own_calls {
            sample.cost.flushes = None;
        }
        let sample = if hosts.is_empty() { sample } else { of_hosts(sample, hosts, &done)? };
        let wall = Duration::from_nanos(worker_report::passed(&done).wall_ns);
        let outcomes: Vec<_> = done.into_iter().map(|worker| worker.outcome).collect();
        let mut tally = Tally::default();
        for outcome in &outcomes {
            tally.add(&outcome.tally);
        }
        self.check(store, pass, &tally)?;
        let slices: Vec<_> = latencies(&outcomes).map(|own| &own.slices).collect();
        let lags = latency::sum(latencies(&outcomes).filter_map(|own| own.lags.as_ref()));
        let measured = Passes {
            latency: latency(latencies(&outcomes), wall)?,
            over_time: over_time(&slices, outcomes.iter().flat_map(|of| &of.background)),
            paced: paced_by(input.work.rate, lags, wall)?,
            ..Passes::default()
        };
        let all: u64 = sample.workers.iter().map(|worker| worker.operations).sum();
        let bytes = if sample.common_ns.is_some_and(|ns| ns > 0) && all > 0 {
            part_of(tally.bytes, sample.operations as f64 / all as f64)
        } else {
            tally.bytes
        };
        Ok((Sample { bytes, ..sample }, measured))
    }

    /// Checks off the clock what `pass` did, and brings the store back to its keys. A miss is not a
    /// fast read: it ends the run.
    fn check(&self, store: &dyn Store, pass: &Pass, tally: &Tally) -> Result<()> {
        let Self { input, ready, .. } = *self;
        if !ready.retains() {
            return Ok(());
        }
        if let Some(key) = &tally.first {
            return Err(missed(tally, pass.count, key));
        }
        if !input.work.operation.writes() {
            return Ok(());
        }
        let session = &mut *store.session()?;
        let wrong = if self.trial.read_back { input.read_back(session, pass)? } else { None };
        if let Some(key) = wrong {
            return Err(check::not_as_written(&key));
        }
        if input.changes_keys() {
            input.restore(session, pass)?;
            flush(&ready.files())?;
        }
        Ok(())
    }
}

/// Returns the store if a worker of a program has it open.
fn program_store(store: &dyn Store) -> Option<&ProgramStore> {
    store.in_worker()?.downcast_ref()
}

/// Completes the sample of a pass of workers on other hosts: only the time in which all of them
/// worked counts. What they spend is not seen from here.
fn of_hosts(
    sample: Sample,
    hosts: Vec<(String, HostClock)>,
    done: &[WorkerReport<PassOutcome>],
) -> Result<Sample> {
    let common = common_time(done);
    let part = |(process, (host, clock)): (u32, (String, HostClock))| {
        let own = done.iter().filter(|worker| worker.process == process);
        let own = own.filter_map(|worker| worker.outcome.latencies.as_ref());
        let parts = own.flat_map(|latencies| latencies.histograms.iter().flatten());
        let histogram = latency::sum(parts).map(|all| latency::encode(&all)).transpose()?;
        Ok(HostPart { host, clock, histogram: histogram.unwrap_or_default() })
    };
    let hosts = (0..).zip(hosts).map(part).collect::<Result<Vec<_>>>()?;
    let (wall_ns, operations) = if common.ns > 0 {
        (common.ns + sample.settle_ns, part_of(1, common.operations))
    } else {
        (sample.wall_ns, sample.operations)
    };
    Ok(Sample {
        wall_ns,
        operations,
        hosts,
        common_ns: Some(common.ns),
        waited_ns: None,
        cost: Cost::default(),
        io: None,
        device: None,
        load: Load::default(),
        memory_bytes: None,
        ..sample
    })
}

pub(super) fn part_of(all: u64, share: f64) -> u64 {
    whole((all as f64 * share).round())
}

pub(super) fn missed(tally: &Tally, count: u64, key: &str) -> Error {
    let wrong = [
        (tally.missing, "are missing"),
        (tally.wrong, "have another length than before"),
        (tally.present, "were there before they were inserted"),
        (tally.short, "start a scan that does not show what is there"),
    ];
    let (bad, what) = wrong.into_iter().find(|(count, _)| *count > 0).unwrap_or_default();
    let (bad, count) = (show_count(bad), show_count(count));
    let message = format!("{bad} of {count} keys asked for {what}, first {key}");
    Error::new(ErrorKind::Missing, message)
}

/// Returns the passes. A store is cold, or as it was found, only once, and ages by each write: in these cases
/// the first pass is the only one, and every operation is timed, as it is on a schedule.
fn passes(
    workload: &Workload,
    keys: u64,
    cache: Cache,
    sends_requests: bool,
    salt: u64,
) -> Vec<Pass> {
    let pass = |index: u64, count, timing| {
        // The top bits are free for it: they are as random as the others.
        Pass { skip: 0, count, salt: salt ^ (index << 60), timing }
    };
    let once = workload.count.min(keys);
    let writes = workload.work.writes();
    if cache.is_lost_by_reading() || (workload.work.age().is_some() && writes) {
        return vec![pass(0, once, Timing::Each)];
    }
    let first = first_operations(workload, keys, sends_requests);
    let timing = if workload.work.rate().is_some() { Timing::Each } else { Timing::Some };
    let in_parts = workload.parts.is_some();
    // The values of the first pass would be in the processor's cache; the part is as large as both.
    let first = if in_parts { first.min(keys.saturating_sub(workload.count)) } else { first };
    let steady = pass(1, workload.count, timing);
    let skip = if in_parts { first } else { 0 };
    vec![pass(0, first, Timing::None), Pass { skip, ..steady }]
}

/// Returns the operations of the first of two passes over `keys` keys, on a store that may send
/// requests to a service.
pub(super) fn first_operations(workload: &Workload, keys: u64, sends_requests: bool) -> u64 {
    let most = match (sends_requests, workload.work.writes()) {
        // Each worker connects.
        (true, _) => FIRST_REQUESTS.max(workload.workers().into()),
        (false, true) => FIRST_WRITES,
        (false, false) => u64::MAX,
    };
    workload.count.min(keys).min(most)
}

fn latencies(outcomes: &[PassOutcome]) -> impl Iterator<Item = &Latencies> + Clone {
    outcomes.iter().filter_map(|outcome| outcome.latencies.as_ref())
}

/// Returns how a pass of `wall` kept its schedule, if operations started with these lags; `None` if it
/// had none.
pub(super) fn paced_by(
    rate: Option<f64>,
    lags: Option<hdrhistogram::Histogram<u64>>,
    wall: Duration,
) -> Result<Option<Paced>> {
    let Some((asked, lags)) = rate.zip(lags) else { return Ok(None) };
    Ok(Some(Paced {
        asked,
        reached: lags.len() as f64 / wall.as_secs_f64(),
        lag_p50_ns: lags.value_at_quantile(0.5),
        lag_p99_ns: lags.value_at_quantile(0.99),
        lag: latency::encode(&lags)?,
    }))
}

/// Summarises the latencies of workers in a pass that took `wall`.
pub(super) fn latency<'a>(
    workers: impl Iterator<Item = &'a Latencies> + Clone,
    wall: Duration,
) -> Result<Latency> {
    let mut all = latency::histogram();
    let mut actions = BTreeMap::new();
    // The last histogram is of operations of unknown kind.
    for (place, action) in Action::ALL.map(Some).into_iter().chain([None]).enumerate() {
        let own = workers.clone().filter_map(|own| own.histograms.get(place));
        if let Some(own) = latency::sum(own.flatten()) {
            all += &own;
            let text = latency::encode(&own)?;
            action.map(|action| actions.insert(action, text));
        }
    }
    if actions.len() == 1 {
        // It is the whole.
        actions.clear();
    }
    let sum = workers.clone().map(|own| own.sum).sum();
    let timed = workers.map(|own| own.timed).sum();
    Ok(Latency { timed, actions, ..latency::summarise(&all, sum, wall)? })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{BlobWork, Operation, Order};

    use super::*;

    fn counts(cache: Cache, count: u64, keys: u64) -> Vec<(u64, Timing)> {
        counts_of(Operation::Read, None, cache, count, keys)
    }

    fn counts_of(
        operation: Operation,
        rate: Option<f64>,
        cache: Cache,
        count: u64,
        keys: u64,
    ) -> Vec<(u64, Timing)> {
        let work = BlobWork { operation, order: Order::Permutation, rate };
        let workload = Workload::alone(work, count);
        let passes = passes(&workload, keys, cache, false, 7);
        let salts: BTreeSet<_> = passes.iter().map(|pass| pass.salt).collect();
        assert_eq!(salts.len(), passes.len());
        passes.iter().map(|pass| (pass.count, pass.timing)).collect()
    }

    #[test]
    fn a_warm_trial_goes_over_the_keys_once_before_it_is_steady() {
        let passes = counts(Cache::Warm, 20_000, 5_000);
        assert_eq!(passes, [(5_000, Timing::None), (20_000, Timing::Some)]);
        let passes = counts_of(Operation::Update, None, Cache::Warm, 5_000, 5_000);
        assert_eq!(passes, [(500, Timing::None), (5_000, Timing::Some)]);
        let passes = counts_of(Operation::Read, Some(10.0), Cache::Warm, 100, 5_000);
        assert_eq!(passes, [(100, Timing::None), (100, Timing::Each)]);
    }

    #[test]
    fn a_first_pass_of_requests_connects_and_no_more() {
        for (operation, threads, first) in
            [(Operation::Read, 1, 10), (Operation::Update, 4, 10), (Operation::Read, 64, 64)]
        {
            let work = BlobWork { operation, order: Order::Permutation, rate: None };
            let workload = Workload { threads, ..Workload::alone(work, 500) };
            let passes = passes(&workload, 500, Cache::Warm, true, 7);
            let counts: Vec<_> = passes.iter().map(|pass| pass.count).collect();
            assert_eq!(counts, [first, 500], "{operation:?} by {threads}");
        }
    }

    #[test]
    fn a_part_of_the_keys_is_touched_once() {
        let work = BlobWork { operation: Operation::Read, order: Order::Permutation, rate: None };
        let workload = Workload { parts: Some(9), ..Workload::alone(work, 700) };
        let passes = passes(&workload, 800, Cache::Warm, false, 7);
        let ranges: Vec<_> = passes.iter().map(|pass| (pass.skip, pass.count)).collect();
        assert_eq!(ranges, [(0, 100), (100, 700)]);
    }

    #[test]
    fn a_cold_trial_touches_no_key_twice() {
        for cache in [Cache::DataCold, Cache::Cold] {
            assert_eq!(counts(cache, 20_000, 5_000), [(5_000, Timing::Each)]);
            assert_eq!(counts(cache, 100, 5_000), [(100, Timing::Each)]);
        }
    }
}
