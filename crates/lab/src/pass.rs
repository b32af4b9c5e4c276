//! One pass: all workers start together, each with a session of its own.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use model::{Order, Result, Session, Store, Workload};

use crate::{
    Stop,
    dataset::{Cursor, Dataset, Entry, Picks},
    payload::Pool,
    worker::{self, Clock, Tally, Task},
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

    /// Runs `count` operations of the workload over `store`.
    pub(crate) fn pass<C: Clock + Send>(
        &self,
        store: &dyn Store,
        count: u64,
        salt: u64,
        clock: impl Fn() -> C + Sync,
    ) -> Result<Passed<C>> {
        let barrier = Barrier::new(self.workload.threads as usize);
        let work = |share: Share<'_>| self.work(store, share, salt, clock(), &barrier);
        let results: Vec<Result<Worked<C>>> = thread::scope(|scope| {
            let workers: Vec<_> =
                self.shares(count).map(|share| scope.spawn(move || work(share))).collect();
            let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
            joined.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        Passed::gather(results)
    }

    fn work<C: Clock>(
        &self,
        store: &dyn Store,
        share: Share<'_>,
        salt: u64,
        mut clock: C,
        barrier: &Barrier,
    ) -> Result<Worked<C>> {
        let mut buffer = self.buffer();
        let session = store.session();
        // Also those whose session failed come here, or the others would wait for ever.
        barrier.wait();
        let mut session = session?;
        let task = self.task(share.count, salt);
        let start = Instant::now();
        let tally = worker::run(&task, share.cursor(), &mut *session, &mut buffer, &mut clock)?;
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
