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

use hdrhistogram::Histogram;
use model::{
    Action, Chore, Error, How, Mode, Operation, Put, Result, Session, Store, Worker, Workload,
};
use serde::{Deserialize, Serialize};

use crate::{
    Stop, chores,
    dataset::{Cursor, Dataset},
    histogram::Kept,
    host::{now_ns, wait_until},
    pace::OnSchedule,
    payload::Pool,
    request::Work,
    steps::Steps,
    trial::LATENCY_OPERATIONS,
    worker::{self, EachOperation, NoClock, Tally, Task, Turn, Walk},
};

/// What all passes of a workload over any target have in common in one round.
pub(crate) struct Round<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) work: Work,
    pub(crate) dataset: &'a Dataset,
    pub(crate) pool: &'a Pool,
    /// What `steps` were drawn from.
    pub(crate) seed: u64,
    /// Index of this process among those that work.
    process: u32,
    /// Where keys are drawn: the operations.
    steps: Option<Steps>,
    /// Operations of a latency pass at most.
    pub(crate) timed: u64,
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
    /// How late operations began, of a pass on schedule.
    pub(crate) lags: Option<Histogram<u64>>,
    /// The engine's own counters, summed over the sessions.
    pub(crate) counters: BTreeMap<String, i64>,
    /// Each worker's part, in their order.
    pub(crate) workers: Vec<Worker>,
    /// What the engine told that it did, in the clock that all processes share.
    pub(crate) chores: Vec<Chore>,
}

/// Who looks on while the workers wait, before and after each pass.
pub(crate) trait Watch {
    /// All sessions are open and nothing runs. Returns when the workers begin, in the clock of
    /// [`now_ns`]. An error ends the trial.
    fn starts(&mut self) -> Result<u64>;
    /// The pass is over and nothing runs. An error ends the trial.
    fn ended(&mut self, leg: &Leg, worked: Vec<Worked>) -> Result<()>;
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
        let (timed, work) = (LATENCY_OPERATIONS, Work::of(workload.work)?);
        let mut round =
            Self { workload, work, dataset, pool, seed, process: 0, steps: None, timed, stop };
        if work.order.is_drawn() {
            let counts: Vec<_> = round.counts(workload.count).collect();
            round.steps = Some(Steps::draw(work, dataset, &counts, seed)?);
        }
        Ok(round)
    }

    /// The same round, for the workers of another process.
    pub(crate) fn of_process(self, process: u32) -> Self {
        Self { process, ..self }
    }

    /// The same round, with the clock read around every operation of a pass.
    pub(crate) fn timed_in_full(self) -> Self {
        Self { timed: u64::MAX, ..self }
    }

    /// Splits `count` operations evenly among all workers.
    fn counts(&self, count: u64) -> impl Iterator<Item = u64> + use<> {
        let workers = self.workload.workers() as usize;
        let of = cuts(count, workers);
        (0..workers).map(move |worker| length(&of(worker)))
    }

    /// The operations of a worker where all do the same, one key after the other. Workers never
    /// share a key, so that the last writer of each is known.
    fn walk(&self, worker: usize) -> Walk<'_> {
        let entries = self.dataset.entries();
        let keys = cuts(entries.len() as u64, self.workload.workers() as usize)(worker);
        let cursor = Cursor::new(&entries[index(keys.start)..index(keys.end)]);
        Walk { dataset: self.dataset, cursor, action: self.work.operation.action() }
    }

    /// The first `count` operations of a worker.
    pub(crate) fn turns(
        &self,
        worker: usize,
        count: u64,
    ) -> Box<dyn Iterator<Item = Turn<'_>> + '_> {
        match &self.steps {
            None => Box::new(self.walk(worker).take(index(count))),
            Some(steps) => Box::new(steps.turns(self.dataset, worker, count)),
        }
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
                let mut run = || watch.starts().map(|start_ns| gate.run(start_ns));
                let (run, chores) =
                    if leg.clocked { chores::beside(store, run) } else { (run(), Vec::new()) };
                run?;
                let mut worked = gate.take()?;
                // The store is that of all workers; the first tells of it.
                if let Some(first) = worked.first_mut() {
                    first.chores.extend(chores);
                }
                watch.ended(leg, worked)
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
                let done = self.pass(leg, worker, start_ns, &mut *opened, &mut buffer)?;
                // One that failed is closed at once: others may wait for a lock that it holds.
                session = Some(Ok(opened));
                Ok(done)
            });
            gate.put(done);
            gate.barrier.wait();
        }
    }

    /// A worker's part of one pass.
    pub(crate) fn pass(
        &self,
        leg: &Leg,
        worker: usize,
        common_start_ns: u64,
        session: &mut dyn Session,
        buffer: &mut [u8],
    ) -> Result<Worked> {
        let count = self.counts(leg.count).nth(worker).expect("a count for each worker");
        let task = self.task(count, leg.salt);
        // One worker alone begins when it is ready.
        let common = if common_start_ns == 0 { now_ns() } else { common_start_ns };
        let mut clock = self.clock(leg, worker, common);
        let start_ns = now_ns();
        let tally = match &self.steps {
            None => timed(&task, self.walk(worker), session, buffer, &mut clock),
            Some(steps) => {
                let turns = steps.turns(self.dataset, worker, count);
                timed(&task, turns, session, buffer, &mut clock)
            }
        }?;
        let end_ns = now_ns();
        let (clock, lags) = clock.told();
        let chores = session.background_work().iter().map(chores::on_shared_clock).collect();
        let counters = session.statistics().into_iter().map(|(n, v)| (n.to_owned(), v)).collect();
        Ok(Worked {
            process: self.process,
            operations: count,
            start_ns,
            end_ns,
            tally,
            clock,
            lags,
            counters,
            chores,
        })
    }

    fn clock(&self, leg: &Leg, worker: usize, start_ns: u64) -> Timing<'_> {
        let Work { operation, rate, .. } = self.work;
        let each = || EachOperation::new(operation.actions(), start_ns);
        match rate {
            _ if !leg.clocked => Timing::Not,
            None => Timing::Each(each()),
            Some(rate) => {
                let workers = self.workload.workers();
                Timing::Paced(OnSchedule::new(each(), rate, worker, workers, self.stop))
            }
        }
    }

    fn task(&self, count: u64, salt: u64) -> Task<'_> {
        let (operation, batch) = (self.work.operation, self.workload.batch);
        Task { pool: self.pool, batch, writes: operation.writes(), count, salt, stop: self.stop }
    }

    /// Room for the largest value, its pages touched so that no pass pays for that.
    fn buffer(&self) -> Vec<u8> {
        let largest = self.dataset.entries().iter().map(|entry| entry.size).max().unwrap_or(0);
        let mut buffer = vec![0; largest as usize];
        buffer.fill(0xa5);
        buffer
    }

    /// Reads back the last writes of each worker in `leg`, and returns the key of one that is not
    /// there as it was written, or is there though it was removed.
    pub(crate) fn read_back(&self, session: &mut dyn Session, leg: &Leg) -> Result<Option<String>> {
        let mut buffer = self.buffer();
        for (worker, count) in self.counts(leg.count).enumerate() {
            let first = count.saturating_sub(READ_BACK);
            let last = (0..).zip(self.turns(worker, count)).skip(index(first));
            // A later position wins over an earlier one with the same key.
            let written: HashMap<_, _> = last
                .filter(|(_, turn)| turn.action.writes())
                .map(|(position, turn)| (turn.key, (position, turn)))
                .collect();
            for (position, turn) in written.into_values() {
                if !self.holds(session, leg, position, &turn, &mut buffer)? {
                    return Ok(Some(turn.key.to_string()));
                }
            }
        }
        Ok(None)
    }

    /// Share of the first values that `leg` will write which are there already.
    pub(crate) fn written_before(&self, session: &mut dyn Session, leg: &Leg) -> Result<f64> {
        let mut buffer = self.buffer();
        let (mut same, mut looked) = (0_u64, 0_u64);
        for (worker, count) in self.counts(leg.count).enumerate() {
            let turns = (0..).zip(self.turns(worker, count.min(LOOKED_AT)));
            // Nothing written to an empty value is nothing that could be skipped.
            let tells = |turn: &Turn<'_>| turn.action != Action::Delete && turn.size > 0;
            for (position, turn) in turns.filter(|(_, turn)| tells(turn)) {
                same += u64::from(self.holds(session, leg, position, &turn, &mut buffer)?);
                looked += 1;
            }
        }
        Ok(same as f64 / looked.max(1) as f64)
    }

    /// Whether the key of `turn` is as that leaves it at `position` of `leg`.
    fn holds(
        &self,
        session: &mut dyn Session,
        leg: &Leg,
        position: u64,
        turn: &Turn<'_>,
        buffer: &mut [u8],
    ) -> Result<bool> {
        let found = session.get(turn.key, buffer)?;
        if turn.action == Action::Delete {
            return Ok(found.is_none());
        }
        let expected = self.pool.slice(leg.salt, position, turn.size);
        Ok(found.and_then(|length| buffer.get(..length)) == Some(expected))
    }

    /// Whether its operations change which keys there are.
    pub(crate) fn changes_keys(&self) -> bool {
        matches!(self.work.operation, Operation::Mix(mix) if mix.changes_keys())
    }

    /// After `leg`: removes what it inserted and puts back what it deleted, as long as it was.
    pub(crate) fn restore(&self, session: &mut dyn Session, leg: &Leg) -> Result<()> {
        let Some(steps) = &self.steps else { return Ok(()) };
        let changed = steps.changed(self.dataset, self.counts(leg.count));
        for (part, changed) in (0..).zip(changed.chunks(RESTORED)) {
            self.stop.check()?;
            session.begin(Mode::Write)?;
            for (position, one) in (part * RESTORED as u64..).zip(changed) {
                let done = if one.added {
                    session.delete(one.key)?
                } else {
                    let value = self.pool.slice(!leg.salt, position, one.size);
                    session.put(one.key, value, &Put { how: How::Insert, meta: None })?
                };
                if !done {
                    let there = if one.added { "is not there" } else { "is still there" };
                    return Err(Error::corrupt(format!("key {} {there}", one.key)));
                }
            }
            session.commit()?;
        }
        Ok(())
    }
}

/// How a pass is timed.
enum Timing<'a> {
    Not,
    Each(EachOperation),
    Paced(OnSchedule<'a>),
}

impl Timing<'_> {
    /// The latencies, and how late operations began.
    fn told(self) -> (Option<EachOperation>, Option<Kept>) {
        let (mut each, lags) = match self {
            Self::Not => return (None, None),
            Self::Each(each) => (each, None),
            Self::Paced(OnSchedule { each, lags, .. }) => (each, Some(Kept(lags))),
        };
        each.slices.close();
        (Some(each), lags)
    }
}

/// Does the turns of a pass.
fn timed<'a>(
    task: &Task<'_>,
    turns: impl Iterator<Item = Turn<'a>>,
    session: &mut dyn Session,
    buffer: &mut [u8],
    timing: &mut Timing<'_>,
) -> Result<Tally> {
    match timing {
        Timing::Not => worker::run(task, turns, session, buffer, &mut NoClock),
        Timing::Each(clock) => worker::run(task, turns, session, buffer, clock),
        Timing::Paced(clock) => worker::run(task, turns, session, buffer, clock),
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

/// Keys that are put right in one batch after a pass.
const RESTORED: usize = 1000;

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
    lags: Option<Kept>,
    counters: Vec<(String, i64)>,
    /// What the engine told that it did, in the same clock.
    chores: Vec<Chore>,
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
        let lags = worked.iter().filter_map(|worker| Some(&worker.lags.as_ref()?.0));
        let lags = lags.fold(None, |sum: Option<Histogram<u64>>, part| match sum {
            None => Some(part.clone()),
            Some(sum) => Some(sum + part),
        });
        let chores = worked.iter().flat_map(|worker| &worker.chores).cloned().collect();
        let clocks = worked.into_iter().filter_map(|worker| worker.clock).collect();
        Self { wall, tally, clocks, lags, counters, workers, chores }
    }
}
