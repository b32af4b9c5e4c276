//! The loop between the two clock reads. Nothing here allocates, formats, logs or locks, but for a
//! sentence about the first operation that fails.

use model::{Action, Batch, How, Key, Mode, Put, Result, Scan, Session, Visit};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use crate::{
    Stop,
    dataset::{Cursor, Dataset, Pool},
};

/// The part of a pass that one worker does.
#[derive(Clone, Copy)]
pub(crate) struct WorkerPass<'a> {
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

/// An operation with everything decided.
#[derive(Clone, Copy)]
pub struct Op<'a> {
    /// The action.
    pub action: Action,
    /// The key.
    pub key: Key<'a>,
    /// Length of the value.
    pub size: u32,
    /// Items of a scan at most.
    pub items: u8,
    /// Items of a scan that always exist.
    pub least: u8,
}

/// A walk: the same operation on each key of a cursor.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) cursor: Cursor<'a>,
    pub(crate) action: Action,
}

impl<'a> Iterator for Walk<'a> {
    type Item = Op<'a>;

    #[inline]
    fn next(&mut self) -> Option<Op<'a>> {
        let entry = self.cursor.advance();
        let key = self.dataset.key(entry);
        Some(Op { action: self.action, key, size: entry.size, items: 0, least: 0 })
    }
}

/// The result of operations.
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
    /// The first key with which something was wrong.
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
        self.length(key, size, found.map(|found| found as u64));
    }

    /// Counts a value whose bytes were not asked for.
    #[inline]
    fn length(&mut self, key: Key<'_>, size: u32, found: Option<u64>) {
        if found == Some(size.into()) {
            return;
        }
        match found {
            Some(_) => self.wrong += 1,
            None => self.missing += 1,
        }
        self.note(key);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let add = |sum: &mut u64, part| *sum = sum.saturating_add(part);
        add(&mut self.bytes, other.bytes);
        add(&mut self.missing, other.missing);
        add(&mut self.wrong, other.wrong);
        add(&mut self.present, other.present);
        add(&mut self.short, other.short);
        self.first = self.first.take().or_else(|| other.first.clone());
    }
}

/// Carries out `ops`, which are no fewer than the task's. The last operation of a batch includes
/// the commit, the first its start. An operation that is a batch of its own has neither, unless it
/// reads and writes: with a server each would be another round trip.
pub(crate) fn run<'a>(
    pass: &WorkerPass<'_>,
    mut ops: impl Iterator<Item = Op<'a>>,
    session: &mut dyn Session,
    buffer: &mut [u8],
    clock: &mut impl Clock,
) -> Result<Tally> {
    let batch = match pass.batch {
        // One operation alone is a batch, too: a slice may have no more.
        Batch::All => u64::MAX,
        Batch::Of(operations) => operations,
    };
    let mut tally = Tally::default();
    let mut in_batch = 0;
    for position in 0..pass.count {
        pass.stop.check()?;
        // Before the operation is known: its key would not stay in registers past this (see
        // `operate`).
        clock.start()?;
        let op = ops.next().expect("as many ops as the task has");
        let alone = batch == 1 && op.action != Action::Modify;
        if !alone && in_batch == 0 {
            // One alone is known; of several, the next may be one that writes.
            let writes = batch == 1 || pass.writes;
            session.begin(if writes { Mode::Write } else { Mode::Read })?;
        }
        operate(pass, session, op, position, buffer, &mut tally)?;
        if !alone {
            in_batch += 1;
            if in_batch == batch || position + 1 == pass.count {
                in_batch = 0;
                session.commit()?;
            }
        }
        clock.end(op.action);
        if batch > 1 && in_batch == 0 {
            clock.committed();
        }
    }
    Ok(tally)
}

const INSERT: Put = Put::new(How::Insert);
const UPDATE: Put = Put::new(How::Update);

/// Carries out one operation. It is inlined, so that the key stays in registers until an engine
/// takes it: copied whole from where its parts were just written, it waits for the end of the last
/// value's copy.
#[inline(always)]
#[expect(clippy::inline_always, reason = "up to half of a read from a map of small values")]
pub(super) fn operate(
    pass: &WorkerPass<'_>,
    session: &mut dyn Session,
    op: Op<'_>,
    position: u64,
    buffer: &mut [u8],
    tally: &mut Tally,
) -> Result<()> {
    let payload = || pass.pool.slice(pass.salt, position, op.size);
    match op.action {
        Action::Read => {
            let found = session.get(op.key, buffer)?;
            tally.value(op.key, op.size, found);
        }
        Action::Update => {
            let written = session.put(op.key, payload(), &UPDATE)?;
            tally.value(op.key, op.size, written.then_some(op.size as usize));
        }
        Action::Modify => {
            let found = session.get(op.key, buffer)?;
            tally.value(op.key, op.size, found);
            let written = session.put(op.key, payload(), &UPDATE)?;
            tally.value(op.key, op.size, written.then_some(op.size as usize));
        }
        Action::Insert => {
            if session.put(op.key, payload(), &INSERT)? {
                tally.bytes += u64::from(op.size);
            } else {
                tally.present += 1;
                tally.note(op.key);
            }
        }
        Action::Delete => {
            if !session.delete(op.key)? {
                tally.missing += 1;
                tally.note(op.key);
            }
        }
        Action::Scan => scan(session, op, buffer, tally)?,
        Action::Stat => {
            let found = session.length(op.key)?;
            tally.length(op.key, op.size, found);
        }
    }
    Ok(())
}

/// Delivers the values into the buffer as reads do, one over the other. Not inlined: what it lends
/// to its visitor would be in memory for all operations.
#[inline(never)]
fn scan(session: &mut dyn Session, op: Op<'_>, buffer: &mut [u8], tally: &mut Tally) -> Result<()> {
    let (mut seen, mut own) = (0, false);
    let mut visit = |item: model::Item<'_>| -> Visit {
        own |= seen == 0 && item.key == op.key;
        seen += 1;
        tally.bytes += item.value.len() as u64;
        model::copy_value(item.value, buffer);
        Ok(std::ops::ControlFlow::Continue(()))
    };
    let range = Scan { from: Some(op.key), limit: op.items.into(), ..Scan::ALL };
    session.scan(range, &mut visit)?;
    if !own || seen < op.least || seen > op.items {
        tally.short += 1;
        tally.note(op.key);
    }
    Ok(())
}
