//! The loop between the two clock reads. Nothing here allocates, formats, logs or locks.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use model::{Batch, How, Mode, Operation, Put, Result, Session};
use serde::{Deserialize, Serialize};

use crate::{
    Stop,
    dataset::{Cursor, Dataset, Entry},
    payload::Pool,
};

/// What a worker does in one pass.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) pool: &'a Pool,
    pub(crate) operation: Operation,
    pub(crate) batch: Batch,
    /// Operations of this worker.
    pub(crate) count: u64,
    /// Names the pass, so that its payloads are its own.
    pub(crate) salt: u64,
    pub(crate) stop: &'a Stop,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Bytes read or written.
    pub(crate) bytes: u64,
    /// Keys that were not there.
    pub(crate) missing: u64,
    /// Values of another length than the dataset's.
    pub(crate) wrong: u64,
    /// The first key that was missing or wrong.
    pub(crate) first: Option<Entry>,
}

impl Tally {
    /// Counts one operation: the length it found, or none.
    #[inline]
    fn count(&mut self, entry: &Entry, found: Option<usize>) {
        self.bytes += found.unwrap_or(0) as u64;
        if found == Some(entry.size as usize) {
            return;
        }
        match found {
            Some(_) => self.wrong += 1,
            None => self.missing += 1,
        }
        self.first = self.first.or(Some(*entry));
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.missing = self.missing.saturating_add(other.missing);
        self.wrong = self.wrong.saturating_add(other.wrong);
        self.first = self.first.or(other.first);
    }
}

/// Reads the clock around each operation, or does not.
pub(crate) trait Clock {
    fn time<T>(&mut self, operation: impl FnOnce() -> T) -> T;
}

/// For the throughput pass.
pub(crate) struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn time<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        operation()
    }
}

/// For the latency pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct EachOperation {
    #[serde(with = "crate::histogram")]
    pub(crate) histogram: Histogram<u64>,
    pub(crate) sum: Duration,
}

/// A latency beyond an hour counts as an hour.
pub(crate) const LONGEST_NS: u64 = 3_600_000_000_000;

impl EachOperation {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_max(LONGEST_NS, 3).expect("bounds of a histogram");
        Self { histogram, sum: Duration::ZERO }
    }
}

impl Clock for EachOperation {
    #[inline]
    fn time<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = operation();
        let taken = start.elapsed();
        self.sum += taken;
        self.histogram.saturating_record(u64::try_from(taken.as_nanos()).unwrap_or(LONGEST_NS));
        result
    }
}

/// How often a worker asks whether to stop: every so many operations, a power of two.
const STOP_EVERY: u64 = 64;

/// Runs `task` over the entries that `cursor` walks. The last operation of a batch includes the
/// commit, the first its beginning. An operation that is a batch of its own has neither: with a
/// server each would be another round trip.
pub(crate) fn run(
    task: &Task<'_>,
    mut cursor: Cursor<'_>,
    session: &mut dyn Session,
    buffer: &mut [u8],
    clock: &mut impl Clock,
) -> Result<Tally> {
    let mode = if task.operation.writes() { Mode::Write } else { Mode::Read };
    let batch = match task.batch {
        Batch::All => task.count,
        Batch::Of(operations) => operations,
    };
    let alone = batch == 1;
    let mut tally = Tally::default();
    let mut in_batch = 0;
    for position in 0..task.count {
        if position & (STOP_EVERY - 1) == 0 {
            task.stop.check()?;
        }
        let entry = cursor.advance();
        clock.time(|| {
            if in_batch == 0 && !alone {
                session.begin(mode)?;
            }
            operate(task, session, entry, position, buffer, &mut tally)?;
            in_batch += 1;
            if !alone && (in_batch == batch || position + 1 == task.count) {
                in_batch = 0;
                session.commit()?;
            }
            Ok::<_, model::Error>(())
        })?;
    }
    Ok(tally)
}

const INSERT: Put = Put { how: How::Insert, meta: None };
const UPDATE: Put = Put { how: How::Update, meta: None };

#[inline]
fn operate(
    task: &Task<'_>,
    session: &mut dyn Session,
    entry: &Entry,
    position: u64,
    buffer: &mut [u8],
    tally: &mut Tally,
) -> Result<()> {
    let key = task.dataset.key(entry);
    let found = if task.operation.writes() {
        let payload = task.pool.slice(task.salt, position, entry.size);
        let put = if task.operation == Operation::Insert { &INSERT } else { &UPDATE };
        session.put(key, payload, put)?.then_some(payload.len())
    } else {
        session.get(key, buffer)?
    };
    tally.count(entry, found);
    Ok(())
}
