//! One thread's use of a plugin's store.

use std::{
    ffi::{c_int, c_void},
    marker::PhantomData,
    ops::ControlFlow,
    ptr, slice,
};

use kit::{first::stop_after, refusal};
use model::{
    Access, Error, How, Item, Key, KeyKind, Mode, Put, Result, Scan, Session, Visit, Visitor,
};

use super::{
    handle::Handle,
    header::{BatchHooks, READ, RawSession, WRITE},
    hook::Hook,
};
use crate::ordered;

/// A session, which refuses what the plugin then need not refuse.
pub(super) struct PluginSession<'s> {
    store: Handle,
    raw: RawSession,
    /// What the open batch does, if there is one.
    batch: Option<Mode>,
    /// The store stays open meanwhile.
    open: PhantomData<&'s ()>,
}

impl PluginSession<'_> {
    /// Opens a session on a store that is open as long as the session.
    pub(super) fn new(store: Handle) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the store is open.
        store.call(Hook::Session, |hooks| unsafe { (hooks.session)(store.raw, &raw mut raw) })?;
        Ok(Self { store, raw, batch: None, open: PhantomData })
    }

    /// Fails if nothing may be written now.
    #[inline]
    fn check_writes(&self) -> Result<()> {
        match (self.store.access, self.batch) {
            (Access::Read, _) => Err(refusal::read_only()),
            (_, Some(Mode::Read)) => {
                Err(Error::usage("the batch was begun to read; nothing was written"))
            }
            _ => Ok(()),
        }
    }

    /// Ends the open batch; returns its hooks, if there is one and the plugin has them.
    fn take_batch(&mut self) -> Option<BatchHooks> {
        self.batch.take()?;
        self.store.hooks.batch
    }
}

impl Session for PluginSession<'_> {
    #[inline]
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let (mut room, mut length, most) = ([0; 8], 0, into.len());
        let mut nothing = 0;
        let to = if into.is_empty() { &raw mut nothing } else { into.as_mut_ptr() };
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        // SAFETY: the session is open; the key and the room are as long as is said.
        let is_there = self.store.ask(Hook::Get, |hooks| unsafe {
            (hooks.get)(self.raw, start(key), key.len(), to, most, &raw mut length)
        })?;
        Ok(is_there.then_some(length))
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        let Some(stat) = self.store.hooks.stat else {
            return Ok(self.get(key, &mut [])?.map(|length| length as u64));
        };
        let (mut room, mut length) = ([0; 8], 0);
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        // SAFETY: as in `get`.
        let is_there = self.store.ask(Hook::Stat, |_| unsafe {
            stat(self.raw, start(key), key.len(), &raw mut length)
        })?;
        Ok(is_there.then_some(length as u64))
    }

    #[inline]
    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.check_writes()?;
        let mut room = [0; 8];
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        // SAFETY: the session is open; key and value are as long as is said.
        self.store.ask(Hook::Put, |hooks| unsafe {
            let (key, key_length) = (start(key), key.len());
            (hooks.put)(self.raw, key, key_length, start(value), value.len(), how(put.how))
        })
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.check_writes()?;
        let mut room = [0; 8];
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        // SAFETY: as in `get`.
        self.store
            .ask(Hook::Remove, |hooks| unsafe { (hooks.remove)(self.raw, start(key), key.len()) })
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.roll_back();
        let own =
            if mode == Mode::Read || self.store.access == Access::Read { READ } else { WRITE };
        if let Some(batch) = self.store.hooks.batch {
            // SAFETY: the session is open, and has no batch.
            self.store.call(Hook::Begin, |_| unsafe { (batch.begin)(self.raw, own) })?;
        }
        self.batch = Some(mode);
        Ok(())
    }

    fn roll_back(&mut self) {
        if let Some(batch) = self.take_batch() {
            // SAFETY: the session has an open batch.
            self.store.plugin.at_work(Hook::RollBack, || unsafe { (batch.roll_back)(self.raw) });
        }
    }

    fn commit(&mut self) -> Result<()> {
        match self.take_batch() {
            // SAFETY: the session has an open batch.
            Some(batch) => self.store.call(Hook::Commit, |_| unsafe { (batch.commit)(self.raw) }),
            None => Ok(()),
        }
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        if scan.limit == 0 {
            return Ok(());
        }
        let mut room = [0; 8];
        let from = match &scan.from {
            Some(key) => Some(ordered::bytes(key, self.store.keys, &mut room)?),
            None => None,
        };
        let (from, length) = from.map_or((ptr::null(), 0), |from| (start(from), from.len()));
        let mut visit = stop_after(scan.limit, visit);
        let mut shown = Shown {
            visit: &mut visit,
            keys: self.store.keys,
            outcome: Ok(ControlFlow::Continue(())),
        };
        let to = &raw mut shown;
        // SAFETY: the session is open; `show` gets back what it is given here.
        let scanned = self.store.call(Hook::Scan, |hooks| unsafe {
            let values = c_int::from(scan.values);
            (hooks.scan)(self.raw, from, length, values, show, to.cast())
        });
        shown.outcome.and(scanned)
    }
}

impl Drop for PluginSession<'_> {
    fn drop(&mut self) {
        self.roll_back();
        // SAFETY: ended once, without a batch.
        self.store.plugin.at_work(Hook::End, || unsafe { (self.store.hooks.end)(self.raw) });
    }
}

/// Returns where bytes start. No bytes start somewhere, too: Rust would give an address in the first page,
/// which a runtime that looks at pointers, as that of Go, takes for a bad one.
#[inline]
fn start(bytes: &[u8]) -> *const u8 {
    const NOTHING: &[u8] = &[0];
    if bytes.is_empty() { NOTHING.as_ptr() } else { bytes.as_ptr() }
}

/// Returns the header's number for whether a key must exist.
#[inline]
fn how(how: How) -> c_int {
    match how {
        How::Upsert => 0,
        How::Insert => 1,
        How::Update => 2,
    }
}

/// The visitor of a scan, and what came of it.
struct Shown<'a> {
    visit: &'a mut dyn FnMut(Item<'_>) -> Visit,
    keys: KeyKind,
    outcome: Visit,
}

/// Shows an item to the visitor; returns whether the scan is to end.
unsafe extern "C" fn show(
    shown: *mut c_void,
    key: *const u8,
    key_length: usize,
    value: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: it is what `scan` gave, which nothing else uses meanwhile.
    let shown = unsafe { &mut *shown.cast::<Shown<'_>>() };
    // SAFETY: the plugin shows bytes that are there until this returns.
    let key = unsafe { bytes(key, key_length) };
    // SAFETY: as above; a value that was not asked for may be null.
    let own = if value.is_null() { &[][..] } else { unsafe { bytes(value, length) } };
    shown.outcome = ordered::key(key, shown.keys)
        .and_then(|key| (shown.visit)(Item::new(key, own, None).with_length(length as u64)));
    c_int::from(!matches!(shown.outcome, Ok(ControlFlow::Continue(()))))
}

/// Makes a slice of bytes of the plugin.
///
/// # Safety
///
/// The bytes are there as long as the slice is used.
unsafe fn bytes<'b>(start: *const u8, length: usize) -> &'b [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(start, length) }
}
