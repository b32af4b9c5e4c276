//! A store that a worker of another storemark program has open: each call is sent to it. Passes that are
//! measured are made by the worker itself.

use std::{
    any::Any,
    ops::ControlFlow::Continue,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use host::now_ns;
use model::{
    Arrangement, Durability, Error, Item, Key, KeyKind, Mode, OwnedKey, Put, Result, Scan, Session,
    Settings, Store, TableFacts, Visitor,
};

use super::call::{Bytes, PassesJob, SentItem, SentPut, StoreCall, StoreReply};
use crate::{
    Stop,
    workers::{
        Workers,
        blobs::StoreJob,
        message::{JobRequest, WorkerRequest},
        processes::{AHEAD_NS, Processes},
        worker_process::Launch,
    },
    workload::{Pass, PassInput, PassOutcome, WorkerReport},
};

/// The store, as this process sees it.
pub(crate) struct ProgramStore {
    /// The one worker.
    process: Mutex<Processes<'static>>,
    id: u32,
    keys: KeyKind,
    /// Settings of the target that are not sent to the worker.
    own: Settings,
    /// The number of the next session.
    next: AtomicU32,
}

/// Returns what a reply of one kind has.
macro_rules! replied {
    ($reply:expr, $kind:ident) => {
        match $reply? {
            StoreReply::$kind(of) => Ok(of),
            _ => Err(unexpected_reply()),
        }
    };
}

impl ProgramStore {
    /// Starts a worker by `launch`, which opens the store of `job`.
    pub(super) fn open(
        launch: &Launch,
        job: StoreJob,
        own: Settings,
        stop: &'static Stop,
    ) -> Result<Self> {
        let process = Processes::start(std::slice::from_ref(launch), None, stop)?;
        let open = WorkerRequest::<()>::Open(Box::new(JobRequest::Store(job)));
        process.ask_one::<(), ()>(0, &open)?;
        let id = process.ids().first().copied().unwrap_or_default();
        let (process, next) = (Mutex::new(process), AtomicU32::new(0));
        let store = Self { process, id, keys: KeyKind::Integers, own, next };
        let keys = replied!(store.call(StoreCall::Keys), Keys)?;
        Ok(Self { keys, ..store })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Opens sessions for the workers of `input` in the process that has the store open, and lets `work`
    /// have them make passes, as [`blobs::with`](crate::workers::blobs::with) does in this one. `seed` is
    /// that from which the operations of `input` were drawn.
    pub(crate) fn with_passes<T>(
        &self,
        input: &PassInput<'_>,
        seed: u64,
        work: impl FnOnce(&mut Workers<'_, Pass, WorkerReport<PassOutcome>>) -> Result<T>,
    ) -> Result<T> {
        let mut entries = Vec::new();
        input.dataset.send(&mut entries).map_err(|e| Error::io("the dataset", e))?;
        let (workload, metadata) = (input.workload, input.dataset.metadata());
        let pool = input.pool.spec();
        let job = PassesJob { workload, seed, metadata, entries: Bytes(entries), pool };
        self.call(StoreCall::Passes(Box::new(job)))?;
        let result = work(&mut |pass, start_ns| {
            // Several workers start together.
            let start_ns = if start_ns > 0 { start_ns.max(now_ns() + AHEAD_NS) } else { 0 };
            replied!(self.call(StoreCall::Pass { pass, start_ns }), Passed)
        })?;
        self.call(StoreCall::EndPasses)?;
        Ok(result)
    }

    fn call(&self, call: StoreCall) -> Result<StoreReply> {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let request = WorkerRequest::Pass { pass: call, start_ns: 0 };
        let mut reply = process.ask_one(0, &request)?;
        reply.pop().ok_or_else(unexpected_reply)
    }

    /// Makes a call that is replied with items, and shows these to `visit`.
    fn show(&self, call: StoreCall, visit: &mut Visitor<'_>) -> Result<()> {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let request = WorkerRequest::Pass { pass: call, start_ns: 0 };
        let mut reply = process.ask_one(0, &request)?;
        let mut shown = Ok(Continue(()));
        while let Some(StoreReply::Items(items)) = reply.pop() {
            for item in &items {
                // The others come all the same.
                if let Ok(Continue(())) = shown {
                    shown = visit(item.as_item());
                }
            }
            reply = process.reply_of(0)?;
        }
        shown.map(drop)
    }
}

fn unexpected_reply() -> Error {
    Error::failed("a worker sent an unexpected reply")
}

impl SentItem {
    fn as_item(&self) -> Item<'_> {
        let Self { key, value, length, meta, value_type } = self;
        let item = Item::new(key.as_key(), &value.0, *meta).with_length(*length);
        Item { value_type: *value_type, ..item }
    }
}

impl Store for ProgramStore {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.call(StoreCall::Session(number))?;
        let (in_batch, puts, bytes) = Default::default();
        let together = AT_FIRST;
        Ok(Box::new(ProgramSession { store: self, number, in_batch, puts, bytes, together }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        match self.call(StoreCall::InEffect)? {
            StoreReply::InEffect(settings, class) => Ok((settings.overlaid(&self.own), class)),
            _ => Err(unexpected_reply()),
        }
    }

    fn in_worker(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn flush_writes(&self) -> Result<()> {
        self.call(StoreCall::Flush).map(drop)
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        replied!(self.call(StoreCall::Integrity), Complaints)
    }

    fn check_unlocked(&self) -> Result<()> {
        self.call(StoreCall::Unlocked).map(drop)
    }

    fn arrangement(&self) -> Result<Option<Arrangement>> {
        replied!(self.call(StoreCall::Arrangement), Arrangement)
    }

    fn table(&self) -> Result<Option<TableFacts>> {
        replied!(self.call(StoreCall::Table), Table)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.ask_one::<(), ()>(0, &WorkerRequest::Close).map(drop)
    }
}

struct ProgramSession<'s> {
    store: &'s ProgramStore,
    number: u32,
    /// Whether a batch is open.
    in_batch: bool,
    /// Values of the batch that are not sent yet, and their bytes.
    puts: Vec<SentPut>,
    bytes: usize,
    /// The bytes of values after which they are sent.
    together: usize,
}

/// The bytes of values that are sent together at first: few, because it is not known how long they take.
const AT_FIRST: usize = 1 << 10;
/// The most bytes that are sent together.
const TOGETHER: usize = 1 << 18;
/// The bytes that a value counts in addition.
const EACH: usize = 32;
/// The time that values sent together are to take: whoever puts them sees only after it that time is over.
const SOON: Duration = Duration::from_millis(20);

impl ProgramSession<'_> {
    /// Sends the puts that wait, then makes a call.
    fn call_after_puts(&mut self, call: StoreCall) -> Result<StoreReply> {
        self.send_puts()?;
        self.store.call(call)
    }

    fn send_puts(&mut self) -> Result<()> {
        let (session, puts) = (self.number, std::mem::take(&mut self.puts));
        self.bytes = 0;
        if puts.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        self.store.call(StoreCall::PutEach { session, puts })?;
        let is_soon = start.elapsed() < SOON;
        self.together =
            if is_soon { TOGETHER.min(2 * self.together) } else { EACH.max(self.together / 2) };
        Ok(())
    }

    fn flag(&mut self, call: StoreCall) -> Result<bool> {
        replied!(self.call_after_puts(call), Flag)
    }
}

impl Session for ProgramSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let (session, key, room) = (self.number, key.into(), into.len() as u64);
        let value = replied!(self.call_after_puts(StoreCall::Get { session, key, room }), Value)?;
        let Some((length, value)) = value else { return Ok(None) };
        if let Some(front) = into.get_mut(..value.0.len()) {
            front.copy_from_slice(&value.0);
        }
        usize::try_from(length).map(Some).map_err(|_| unexpected_reply())
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        let call = StoreCall::Length { session: self.number, key: key.into() };
        replied!(self.call_after_puts(call), Length)
    }

    /// Returns `true` for a value of a batch, which waits to be sent with others. If [`Put::how`] forbids it,
    /// a later call fails, at the latest the commit.
    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let (session, own) = (self.number, (key.into(), Bytes(value.to_vec()), *put));
        if !self.in_batch {
            return self.flag(StoreCall::Put { session, put: own });
        }
        self.bytes += value.len() + EACH;
        self.puts.push(own);
        if self.bytes >= self.together {
            self.send_puts()?;
        }
        Ok(true)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.flag(StoreCall::Delete { session: self.number, key: key.into() })
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.call_after_puts(StoreCall::Begin { session: self.number, mode })?;
        self.in_batch = true;
        Ok(())
    }

    fn roll_back(&mut self) {
        (self.in_batch, self.bytes) = (false, 0);
        self.puts.clear();
        // A worker that has ended has no batch.
        let _ = self.store.call(StoreCall::RollBack { session: self.number });
    }

    fn commit(&mut self) -> Result<()> {
        self.call_after_puts(StoreCall::Commit { session: self.number })?;
        self.in_batch = false;
        Ok(())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let (session, from) = (self.number, scan.from.map(OwnedKey::from));
        let Scan { limit, values, .. } = scan;
        self.send_puts()?;
        self.store.show(StoreCall::Scan { session, from, limit, values }, visit)
    }

    fn visit_each(&mut self, keys: &[(OwnedKey, u64)], visit: &mut Visitor<'_>) -> Result<()> {
        let (session, keys) = (self.number, keys.to_vec());
        self.send_puts()?;
        self.store.show(StoreCall::Visit { session, keys }, visit)
    }
}

impl Drop for ProgramSession<'_> {
    fn drop(&mut self) {
        // As in `roll_back`.
        let _ = self.store.call(StoreCall::End(self.number));
    }
}
