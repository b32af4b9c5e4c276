//! One pass: all workers start together, each with a session of its own.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Barrier, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use model::{Error, Order, Result, Session, Store, Workload};

use crate::{
    Stop,
    dataset::{Cursor, Dataset, Entry, Picks},
    payload::Pool,
    worker::{self, Clock, EachOperation, NoClock, Tally, Task},
};

/// What all passes of a workload over any target have in common in one round.
pub(crate) struct Round<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) dataset: &'a Dataset,
    pub(crate) pool: &'a Pool,
    /// One per worker when keys are drawn with replacement.
    picks: Vec<Picks>,
    pub(crate) stop: &'a Stop,
}

/// What a pass gave.
pub(crate) struct Passed<C> {
    /// From the first worker's first operation to the last one's last.
    pub(crate) wall: Duration,
    pub(crate) tally: Tally,
    pub(crate) clocks: Vec<C>,
    /// The engine's own counters, summed over the sessions.
    pub(crate) counters: BTreeMap<String, i64>,
}

/// One worker's part of the entries and of the operations.
#[derive(Clone, Copy)]
struct Share<'a> {
    entries: &'a [Entry],
    picks: Option<&'a Picks>,
    count: u64,
}

impl Share<'_> {
    fn cursor(&self) -> Cursor<'_> {
        Cursor::new(self.entries, self.picks)
    }
}

impl<'a> Round<'a> {
    /// Draws what has to be drawn before any clock starts.
    pub(crate) fn new(
        workload: &'a Workload,
        dataset: &'a Dataset,
        pool: &'a Pool,
        seed: u64,
        stop: &'a Stop,
    ) -> Result<Self> {
        let mut round = Self { workload, dataset, pool, picks: Vec::new(), stop };
        if workload.order == Order::Random {
            let drawn = round
                .shares(workload.count)
                .enumerate()
                .map(|(worker, share)| {
                    Picks::draw(share.count, share.entries.len(), seed ^ (worker as u64) << 48)
                })
                .collect::<Result<_>>()?;
            round.picks = drawn;
        }
        Ok(round)
    }

    /// Splits `count` operations and all entries evenly. Workers never share a key, so that the
    /// last writer of each is known.
    fn shares(&self, count: u64) -> impl Iterator<Item = Share<'_>> {
        let threads = self.workload.threads as usize;
        let entries = self.dataset.entries();
        let count_of = cuts(count, threads);
        let keys_of = cuts(entries.len() as u64, threads);
        (0..threads).map(move |worker| {
            let (start, end) = (keys_of(worker), keys_of(worker + 1));
            Share {
                entries: &entries[index(start)..index(end)],
                picks: self.picks.get(worker),
                count: count_of(worker + 1) - count_of(worker),
            }
        })
    }

    /// Runs two passes over `store` in the same sessions: one without a clock per operation,
    /// then, after `between`, one of `timed` operations with it. `ready` runs once all sessions
    /// are open, before the first operation.
    pub(crate) fn passes<R, B>(
        &self,
        store: &dyn Store,
        salt: u64,
        timed: u64,
        ready: impl FnOnce() -> R,
        between: impl FnOnce(Passed<NoClock>, R) -> Result<B>,
    ) -> Result<(B, Passed<EachOperation>)> {
        let workers = self.workload.threads as usize;
        let gate = Gate { barrier: Barrier::new(workers + 1), go_on: AtomicBool::new(false) };
        let first = Mutex::new(Vec::with_capacity(workers));
        thread::scope(|scope| {
            let shares = self.shares(self.workload.count).zip(self.shares(timed));
            let threads: Vec<_> = shares
                .map(|shares| {
                    let (gate, first) = (&gate, &first);
                    scope.spawn(move || self.work(store, shares, salt, gate, first))
                })
                .collect();
            gate.barrier.wait();
            let ready = ready();
            gate.barrier.wait();
            gate.barrier.wait();
            let worked = std::mem::take(&mut *first.lock().unwrap_or_else(PoisonError::into_inner));
            let between = Passed::gather(worked).and_then(|passed| between(passed, ready));
            gate.go_on.store(between.is_ok(), Ordering::Relaxed);
            gate.barrier.wait();
            let second = threads.into_iter().map(join).collect::<Vec<_>>();
            let between = between?;
            Ok((between, Passed::gather(second)?))
        })
    }

    /// One worker's part. It comes to every barrier whatever happens, or the others would wait
    /// for ever.
    fn work(
        &self,
        store: &dyn Store,
        (share, timed): (Share<'_>, Share<'_>),
        salt: u64,
        gate: &Gate,
        first: &Mutex<Vec<Result<Worked<NoClock>>>>,
    ) -> Result<Worked<EachOperation>> {
        let mut buffer = self.buffer();
        let mut session = store.session();
        gate.barrier.wait();
        gate.barrier.wait();
        let worked = match &mut session {
            Ok(session) => self.pass(share, &mut **session, salt, &mut buffer, NoClock),
            // Told by this worker's own result below.
            Err(_) => Err(Error::failed("a session could not be opened")),
        };
        first.lock().unwrap_or_else(PoisonError::into_inner).push(worked);
        gate.barrier.wait();
        gate.barrier.wait();
        let mut session = session?;
        if !gate.go_on.load(Ordering::Relaxed) {
            return Err(Error::failed("the pass before failed"));
        }
        self.pass(timed, &mut *session, latency_salt(salt), &mut buffer, EachOperation::new())
    }

    fn pass<C: Clock>(
        &self,
        share: Share<'_>,
        session: &mut dyn Session,
        salt: u64,
        buffer: &mut [u8],
        mut clock: C,
    ) -> Result<Worked<C>> {
        let task = self.task(share.count, salt);
        let start = Instant::now();
        let tally = worker::run(&task, share.cursor(), session, buffer, &mut clock)?;
        let end = Instant::now();
        Ok(Worked { start, end, tally, clock, counters: session.statistics() })
    }

    fn task(&self, count: u64, salt: u64) -> Task<'_> {
        Task {
            dataset: self.dataset,
            pool: self.pool,
            operation: self.workload.operation,
            batch: self.workload.batch,
            count,
            salt,
            stop: self.stop,
        }
    }

    /// Room for the largest value, its pages touched so that no pass pays for that.
    fn buffer(&self) -> Vec<u8> {
        let largest = self.dataset.entries().iter().map(|entry| entry.size).max().unwrap_or(0);
        let mut buffer = vec![0; largest as usize];
        buffer.fill(0xa5);
        buffer
    }

    /// Reads back the last writes of each worker in the pass that `count` and `salt` name, and
    /// counts those that are not there as they were written.
    pub(crate) fn read_back(
        &self,
        session: &mut dyn Session,
        count: u64,
        salt: u64,
    ) -> Result<Option<Entry>> {
        let mut buffer = self.buffer();
        for share in self.shares(count) {
            if let Some(entry) = self.read_back_share(session, share, salt, &mut buffer)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn read_back_share(
        &self,
        session: &mut dyn Session,
        share: Share<'_>,
        salt: u64,
        buffer: &mut [u8],
    ) -> Result<Option<Entry>> {
        let first = share.count.saturating_sub(READ_BACK);
        let mut cursor = share.cursor().starting_at(first);
        // A later position wins over an earlier one with the same key.
        let written: HashMap<_, _> = (first..share.count)
            .map(|position| {
                let entry = cursor.advance();
                (self.dataset.key(entry), (position, *entry))
            })
            .collect();
        for (key, (position, entry)) in written {
            let expected = self.pool.slice(salt, position, entry.size);
            let found = session.get(key, buffer)?;
            if found.and_then(|length| buffer.get(..length)) != Some(expected) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}

/// Where the parts begin when `whole` is cut into `parts` that differ by one at most.
fn cuts(whole: u64, parts: usize) -> impl Fn(usize) -> u64 {
    let (each, more) = (whole / parts as u64, whole % parts as u64);
    move |part| each * part as u64 + more.min(part as u64)
}

fn index(entry: u64) -> usize {
    usize::try_from(entry).expect("entries stand in memory")
}

/// Writes of each worker that are read back after an update pass.
const READ_BACK: u64 = 1000;

/// Names the latency pass of a trial, so that its payloads are its own.
pub(crate) fn latency_salt(salt: u64) -> u64 {
    !salt
}

/// Holds all workers and the one who measures together.
struct Gate {
    barrier: Barrier,
    /// Whether the latency pass shall run.
    go_on: AtomicBool,
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

struct Worked<C> {
    start: Instant,
    end: Instant,
    tally: Tally,
    clock: C,
    counters: Vec<(&'static str, i64)>,
}

impl<C> Passed<C> {
    fn gather(results: Vec<Result<Worked<C>>>) -> Result<Self> {
        let workers = results.into_iter().collect::<Result<Vec<_>>>()?;
        let start = workers.iter().map(|worker| worker.start).min();
        let end = workers.iter().map(|worker| worker.end).max();
        let wall = end.zip(start).map_or(Duration::ZERO, |(end, start)| end - start);
        let mut tally = Tally::default();
        let mut counters = BTreeMap::new();
        for worker in &workers {
            tally.add(&worker.tally);
            for (name, value) in &worker.counters {
                *counters.entry((*name).to_owned()).or_default() += value;
            }
        }
        let clocks = workers.into_iter().map(|worker| worker.clock).collect();
        Ok(Self { wall, tally, clocks, counters })
    }
}
