//! The loop between the two clock reads. Nothing here allocates, formats, logs or locks, but for a
//! sentence about the first operation that fails.

use std::time::Duration;

use hdrhistogram::Histogram;
use model::{Action, Batch, How, Key, Mode, Put, Result, Session, Visit};
use serde::{Deserialize, Serialize};

use crate::{
    Stop,
    dataset::{Cursor, Dataset},
    histogram::Kept,
    host::now_ns,
    payload::Pool,
    slices::Slices,
};

/// What a worker does in one pass.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) batch: Batch,
    /// Whether some of its operations write.
    pub(crate) writes: bool,
    /// Operations of this worker.
    pub(crate) count: u64,
    /// Names the pass, so that its payloads are its own.
    pub(crate) salt: u64,
    pub(crate) stop: &'a Stop,
}

/// One operation, all of it decided.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// What is done.
    pub action: Action,
    /// With which key.
    pub key: Key<'a>,
    /// Length of the value.
    pub size: u32,
    /// Items of a scan at most.
    pub items: u8,
    /// Those that are surely there.
    pub least: u8,
}

/// One and the same operation on the keys that a cursor walks.
pub(crate) struct Walk<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) cursor: Cursor<'a>,
    pub(crate) action: Action,
}

impl<'a> Iterator for Walk<'a> {
    type Item = Turn<'a>;

    #[inline]
    fn next(&mut self) -> Option<Turn<'a>> {
        let entry = self.cursor.advance();
        let key = self.dataset.key(entry);
        Some(Turn { action: self.action, key, size: entry.size, items: 0, least: 0 })
    }
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Bytes read or written.
    pub bytes: u64,
    /// Keys that were not there.
    pub missing: u64,
    /// Values of another length than the dataset's.
    pub wrong: u64,
    /// Keys to be inserted that were there.
    pub present: u64,
    /// Scans that did not show all they should.
    pub short: u64,
    /// The first key with which something was amiss.
    pub first: Option<String>,
}

impl Tally {
    #[cold]
    fn note(&mut self, key: Key<'_>) {
        if self.first.is_none() {
            self.first = Some(key.to_string());
        }
    }

    /// Counts a value: the length it has, or none.
    #[inline]
    fn value(&mut self, key: Key<'_>, size: u32, found: Option<usize>) {
        self.bytes += found.unwrap_or(0) as u64;
        if found == Some(size as usize) {
            return;
        }
        match found {
            Some(_) => self.wrong += 1,
            None => self.missing += 1,
        }
        self.note(key);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.missing = self.missing.saturating_add(other.missing);
        self.wrong = self.wrong.saturating_add(other.wrong);
        self.present = self.present.saturating_add(other.present);
        self.short = self.short.saturating_add(other.short);
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }
}

/// Reads the clock around each operation, or does not.
pub(crate) trait Clock {
    /// Returns when the next operation is to begin.
    #[inline]
    fn wait(&mut self) -> Result<()> {
        Ok(())
    }

    fn time<T>(&mut self, action: Action, operation: impl FnOnce() -> T) -> T;

    /// The operation that was timed last ended with the commit of several.
    #[inline]
    fn committed(&mut self) {}
}

/// For the throughput pass.
pub(crate) struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn time<T>(&mut self, _: Action, operation: impl FnOnce() -> T) -> T {
        operation()
    }
}

/// For the latency pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct EachOperation {
    /// By the number of the action; none for those that do not come.
    pub(crate) histograms: Vec<Option<Kept>>,
    pub(crate) sum: Duration,
    pub(crate) slices: Slices,
}

/// A latency beyond an hour counts as an hour.
pub(crate) use checks::LONGEST_NS;

/// An empty one, with the bounds that all have here.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST_NS, 3).expect("bounds of a histogram")
}

impl EachOperation {
    /// For operations that do no other than `actions`, in a pass that starts at `start_ns` of
    /// [`now_ns`].
    pub(crate) fn new(actions: impl Iterator<Item = Action>, start_ns: u64) -> Self {
        let mut histograms = vec![None; Action::ALL.len()];
        actions.for_each(|action| histograms[action as usize] = Some(Kept(histogram())));
        Self { histograms, sum: Duration::ZERO, slices: Slices::new(start_ns) }
    }
}

impl EachOperation {
    /// An operation took `ns` until `end_ns` of [`now_ns`].
    #[inline]
    pub(crate) fn record(&mut self, action: Action, ns: u64, end_ns: u64) {
        self.sum += Duration::from_nanos(ns);
        self.slices.note(ns, end_ns);
        if let Some(Kept(histogram)) = &mut self.histograms[action as usize] {
            histogram.saturating_record(ns);
        }
    }
}

impl Clock for EachOperation {
    #[inline]
    fn time<T>(&mut self, action: Action, operation: impl FnOnce() -> T) -> T {
        let start_ns = now_ns();
        let result = operation();
        let end_ns = now_ns();
        self.record(action, end_ns.saturating_sub(start_ns), end_ns);
        result
    }

    #[inline]
    fn committed(&mut self) {
        self.slices.committed();
    }
}

/// How often a worker asks whether to stop: every so many operations, a power of two.
const STOP_EVERY: u64 = 64;

/// Does `turns`, which are no fewer than the task's. The last operation of a batch includes the
/// commit, the first its beginning. An operation that is a batch of its own has neither, unless it
/// reads and writes: with a server each would be another round trip.
pub(crate) fn run<'a>(
    task: &Task<'_>,
    mut turns: impl Iterator<Item = Turn<'a>>,
    session: &mut dyn Session,
    buffer: &mut [u8],
    clock: &mut impl Clock,
) -> Result<Tally> {
    let batch = match task.batch {
        Batch::All => task.count,
        Batch::Of(operations) => operations,
    };
    let mut tally = Tally::default();
    let mut in_batch = 0;
    for position in 0..task.count {
        if position & (STOP_EVERY - 1) == 0 {
            task.stop.check()?;
        }
        let turn = turns.next().expect("as many turns as the task has");
        let alone = batch == 1 && turn.action != Action::Modify;
        clock.wait()?;
        clock.time(turn.action, || {
            if !alone && in_batch == 0 {
                // One alone is known; of several, the next may be one that writes.
                let writes = batch == 1 || task.writes;
                session.begin(if writes { Mode::Write } else { Mode::Read })?;
            }
            operate(task, session, turn, position, buffer, &mut tally)?;
            if alone {
                return Ok(());
            }
            in_batch += 1;
            if in_batch == batch || position + 1 == task.count {
                in_batch = 0;
                session.commit()?;
            }
            Ok::<_, model::Error>(())
        })?;
        if batch > 1 && in_batch == 0 {
            clock.committed();
        }
    }
    Ok(tally)
}

const INSERT: Put = Put { how: How::Insert, meta: None };
const UPDATE: Put = Put { how: How::Update, meta: None };

/// Inlined, so that the key stays in registers until an engine takes it: copied whole from where
/// its parts were just written, it waits for the end of the last value's copy.
#[inline(always)]
#[expect(clippy::inline_always, reason = "up to half of a read from a map of small values")]
fn operate(
    task: &Task<'_>,
    session: &mut dyn Session,
    turn: Turn<'_>,
    position: u64,
    buffer: &mut [u8],
    tally: &mut Tally,
) -> Result<()> {
    let payload = || task.pool.slice(task.salt, position, turn.size);
    match turn.action {
        Action::Read => {
            let found = session.get(turn.key, buffer)?;
            tally.value(turn.key, turn.size, found);
        }
        Action::Update => {
            let written = session.put(turn.key, payload(), &UPDATE)?;
            tally.value(turn.key, turn.size, written.then_some(turn.size as usize));
        }
        Action::Modify => {
            let found = session.get(turn.key, buffer)?;
            tally.value(turn.key, turn.size, found);
            let written = session.put(turn.key, payload(), &UPDATE)?;
            tally.value(turn.key, turn.size, written.then_some(turn.size as usize));
        }
        Action::Insert => {
            if session.put(turn.key, payload(), &INSERT)? {
                tally.bytes += u64::from(turn.size);
            } else {
                tally.present += 1;
                tally.note(turn.key);
            }
        }
        Action::Delete => {
            if !session.delete(turn.key)? {
                tally.missing += 1;
                tally.note(turn.key);
            }
        }
        Action::Scan => scan(session, turn, buffer, tally)?,
    }
    Ok(())
}

/// Delivers the values into the buffer as reads do, one over the other. Not inlined: what it lends
/// to its visitor would stand in memory for all operations.
#[inline(never)]
fn scan(
    session: &mut dyn Session,
    turn: Turn<'_>,
    buffer: &mut [u8],
    tally: &mut Tally,
) -> Result<()> {
    let (mut seen, mut own) = (0, false);
    let mut visit = |item: model::Item<'_>| -> Visit {
        own |= seen == 0 && item.key == turn.key;
        seen += 1;
        tally.bytes += item.value.len() as u64;
        if let Some(front) = buffer.get_mut(..item.value.len()) {
            front.copy_from_slice(item.value);
        }
        Ok(std::ops::ControlFlow::Continue(()))
    };
    session.scan_from(Some(turn.key), turn.items.into(), &mut visit)?;
    if !own || seen < turn.least || seen > turn.items {
        tally.short += 1;
        tally.note(turn.key);
    }
    Ok(())
}
