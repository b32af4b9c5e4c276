//! The passes of a trial: all workers start each of them together, each in a session of its own.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::{
        Barrier, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use model::{Order, Result, Session, Store, Worker, Workload};
use serde::{Deserialize, Serialize};

use crate::{
    Stop,
    dataset::{Cursor, Dataset, Entry, Picks},
    host::{now_ns, wait_until},
    payload::Pool,
    worker::{self, EachOperation, NoClock, Tally, Task},
};

/// What all passes of a workload over any target have in common in one round.
pub(crate) struct Round<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) dataset: &'a Dataset,
    pub(crate) pool: &'a Pool,
    /// What `picks` were drawn from.
    pub(crate) seed: u64,
    /// Index of this process among those that work.
    process: u32,
    /// One per worker when keys are drawn with replacement.
    picks: Vec<Picks>,
    pub(crate) stop: &'a Stop,
}

/// One of the passes of a trial, all in the same sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leg {
    /// Operations, from the first key of the round's order on.
    pub(crate) count: u64,
    /// Names the pass, so that its payloads are its own.
    pub(crate) salt: u64,
    /// Whether the clock is read around each operation.
    pub(crate) clocked: bool,
}

/// What a pass gave.
pub(crate) struct Passed {
    /// From the first worker's first operation to the last one's last.
    pub(crate) wall: Duration,
    pub(crate) tally: Tally,
    /// One a worker, of a pass that is clocked.
    pub(crate) clocks: Vec<EachOperation>,
    /// The engine's own counters, summed over the sessions.
    pub(crate) counters: BTreeMap<String, i64>,
    /// Each worker's part, in their order.
    pub(crate) workers: Vec<Worker>,
}

/// Who looks on while the workers wait, before and after each pass.
pub(crate) trait Watch {
    /// All sessions are open and nothing runs. Returns when the workers begin, in the clock of
    /// [`now_ns`]. An error ends the trial.
    fn starts(&mut self) -> Result<u64>;
    /// The pass is over and nothing runs. An error ends the trial.
    fn ended(&mut self, leg: &Leg, worked: Vec<Worked>) -> Result<()>;
}

/// One worker's part of the entries and of the operations.
#[derive(Clone, Copy)]
struct Share<'a> {
    entries: &'a [Entry],
    picks: Option<&'a Picks>,
    count: u64,
}

impl Share<'_> {
    /// Walks its operations, less the first `skipped`.
    fn cursor(&self, skipped: u64) -> Cursor<'_> {
        Cursor::new(self.entries, self.picks).starting_at(skipped)
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
        let picks = Vec::new();
        let mut round = Self { workload, dataset, pool, seed, process: 0, picks, stop };
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

    /// The same round, for the workers of another process.
    pub(crate) fn of_process(self, process: u32) -> Self {
        Self { process, ..self }
    }

    /// Splits `count` operations and all entries evenly. Workers never share a key, so that the
    /// last writer of each is known.
    fn shares(&self, count: u64) -> impl Iterator<Item = Share<'_>> {
        let workers = self.workload.workers() as usize;
        let entries = self.dataset.entries();
        let (count_of, keys_of) = (cuts(count, workers), cuts(entries.len() as u64, workers));
        (0..workers).map(move |worker| Share {
            entries: &entries[index(keys_of(worker).start)..index(keys_of(worker).end)],
            picks: self.picks.get(worker),
            count: length(&count_of(worker)),
        })
    }

    /// Runs `legs` one after the other over `store`, every worker of this process in one session
    /// of its own.
    pub(crate) fn passes(
        &self,
        store: &dyn Store,
        legs: &[Leg],
        watch: &mut dyn Watch,
    ) -> Result<()> {
        let threads = self.workload.threads as usize;
        let first = self.process as usize * threads;
        let gate = Gate::new(threads);
        thread::scope(|scope| {
            for worker in first..first + threads {
                let gate = &gate;
                scope.spawn(move || self.work(store, worker, legs, gate));
            }
            gate.barrier.wait();
            let outcome = legs.iter().try_for_each(|leg| {
                gate.run(watch.starts()?);
                watch.ended(leg, gate.take()?)
            });
            gate.close();
            outcome
        })
    }

    /// One worker's part. It comes to every barrier whatever happens, or the others would wait
    /// for ever.
    fn work(&self, store: &dyn Store, worker: usize, legs: &[Leg], gate: &Gate) {
        let mut buffer = self.buffer();
        let mut session = Some(store.session());
        gate.barrier.wait();
        let mut legs = legs.iter();
        while let Some(start_ns) = gate.enter() {
            let done = legs.next().zip(session.take()).map(|(leg, opened)| {
                let mut opened = opened?;
                wait_until(start_ns);
                let done = self.pass(leg, worker, &mut *opened, &mut buffer)?;
                // One that failed is closed at once: others may wait for a lock that it holds.
                session = Some(Ok(opened));
                Ok(done)
            });
            gate.put(done);
            gate.barrier.wait();
        }
    }

    fn pass(
        &self,
        leg: &Leg,
        worker: usize,
        session: &mut dyn Session,
        buffer: &mut [u8],
    ) -> Result<Worked> {
        let share = self.shares(leg.count).nth(worker).expect("a share for each worker");
        let task = self.task(share.count, leg.salt);
        let cursor = share.cursor(0);
        let mut clock = leg.clocked.then(EachOperation::new);
        let start_ns = now_ns();
        let tally = match &mut clock {
            None => worker::run(&task, cursor, session, buffer, &mut NoClock),
            Some(clock) => worker::run(&task, cursor, session, buffer, clock),
        }?;
        let end_ns = now_ns();
        let counters = session.statistics().into_iter().map(|(n, v)| (n.to_owned(), v)).collect();
        Ok(Worked {
            process: self.process,
            operations: share.count,
            start_ns,
            end_ns,
            tally,
            clock,
            counters,
        })
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

    /// Reads back the last writes of each worker in `leg`, and returns one that is not there as
    /// it was written.
    pub(crate) fn read_back(&self, session: &mut dyn Session, leg: &Leg) -> Result<Option<Entry>> {
        let mut buffer = self.buffer();
        for share in self.shares(leg.count) {
            let first = share.count.saturating_sub(READ_BACK);
            let mut cursor = share.cursor(first);
            // A later position wins over an earlier one with the same key.
            let written: HashMap<_, _> = (first..share.count)
                .map(|position| {
                    let entry = cursor.advance();
                    (self.dataset.key(entry), (position, *entry))
                })
                .collect();
            for (position, entry) in written.into_values() {
                if !self.holds(session, leg, position, &entry, &mut buffer)? {
                    return Ok(Some(entry));
                }
            }
        }
        Ok(None)
    }

    /// Share of the first values that `leg` will write which are there already.
    pub(crate) fn written_before(&self, session: &mut dyn Session, leg: &Leg) -> Result<f64> {
        let mut buffer = self.buffer();
        let (mut same, mut looked) = (0_u64, 0_u64);
        for share in self.shares(leg.count) {
            let mut cursor = share.cursor(0);
            for position in 0..share.count.min(LOOKED_AT) {
                let entry = cursor.advance();
                same += u64::from(self.holds(session, leg, position, entry, &mut buffer)?);
                looked += 1;
            }
        }
        Ok(same as f64 / looked.max(1) as f64)
    }

    /// Whether `entry` has the value that `leg` writes at `position`.
    fn holds(
        &self,
        session: &mut dyn Session,
        leg: &Leg,
        position: u64,
        entry: &Entry,
        buffer: &mut [u8],
    ) -> Result<bool> {
        let expected = self.pool.slice(leg.salt, position, entry.size);
        let found = session.get(self.dataset.key(entry), buffer)?;
        Ok(found.and_then(|length| buffer.get(..length)) == Some(expected))
    }
}

/// The parts, when `whole` is cut into as many that differ by one at most.
fn cuts(whole: u64, parts: usize) -> impl Fn(usize) -> Range<u64> {
    let (each, more) = (whole / parts as u64, whole % parts as u64);
    let start = move |part| each * part as u64 + more.min(part as u64);
    move |part| start(part)..start(part + 1)
}

fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

fn index(entry: u64) -> usize {
    usize::try_from(entry).expect("entries stand in memory")
}

/// Writes of each worker that are read back after an update pass.
const READ_BACK: u64 = 1000;

/// Values of each worker that are looked at before the first update of a run.
const LOOKED_AT: u64 = 64;

/// Holds all workers and the one who looks on together.
pub(crate) struct Gate<W = Worked> {
    pub(crate) barrier: Barrier,
    /// Whether there is no further pass.
    closed: AtomicBool,
    /// When the next pass begins.
    start_ns: AtomicU64,
    /// What each worker did in the last pass.
    worked: Mutex<Vec<Result<W>>>,
}

impl<W> Gate<W> {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            barrier: Barrier::new(workers + 1),
            closed: AtomicBool::new(false),
            start_ns: AtomicU64::new(0),
            worked: Mutex::new(Vec::with_capacity(workers)),
        }
    }

    /// For a worker: waits for the next pass and returns when it begins; `None`: there is none.
    pub(crate) fn enter(&self) -> Option<u64> {
        self.barrier.wait();
        (!self.closed.load(Ordering::Relaxed)).then(|| self.start_ns.load(Ordering::Relaxed))
    }

    /// Lets the workers make a pass.
    pub(crate) fn run(&self, start_ns: u64) {
        self.start_ns.store(start_ns, Ordering::Relaxed);
        self.barrier.wait();
        self.barrier.wait();
    }

    /// Sends the workers home.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.barrier.wait();
    }

    /// What a worker did; one that has failed before does nothing more.
    pub(crate) fn put(&self, worked: Option<Result<W>>) {
        self.worked.lock().unwrap_or_else(PoisonError::into_inner).extend(worked);
    }

    pub(crate) fn take(&self) -> Result<Vec<W>> {
        let worked =
            std::mem::take(&mut *self.worked.lock().unwrap_or_else(PoisonError::into_inner));
        worked.into_iter().collect()
    }
}

/// What a worker did in a pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct Worked {
    process: u32,
    operations: u64,
    /// In the clock that all processes share.
    start_ns: u64,
    end_ns: u64,
    tally: Tally,
    clock: Option<EachOperation>,
    counters: Vec<(String, i64)>,
}

impl Passed {
    /// Of workers that share their operations out as [`Round::shares`] does.
    pub(crate) fn gather(worked: Vec<Worked>) -> Self {
        let start = worked.iter().map(|worker| worker.start_ns).min().unwrap_or(0);
        let end = worked.iter().map(|worker| worker.end_ns).max().unwrap_or(0);
        let wall = Duration::from_nanos(end.saturating_sub(start));
        let mut tally = Tally::default();
        let mut counters = BTreeMap::new();
        let mut workers = Vec::with_capacity(worked.len());
        for worker in &worked {
            tally.add(&worker.tally);
            for (name, value) in &worker.counters {
                let sum: &mut i64 = counters.entry(name.clone()).or_default();
                *sum = sum.saturating_add(*value);
            }
            workers.push(Worker {
                process: worker.process,
                operations: worker.operations,
                wall_ns: worker.end_ns.saturating_sub(start),
            });
        }
        let clocks = worked.into_iter().filter_map(|worker| worker.clock).collect();
        Self { wall, tally, clocks, counters, workers }
    }
}
