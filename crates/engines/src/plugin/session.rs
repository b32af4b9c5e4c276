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
    header::{READ, RawSession, WRITE},
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
        let code =
            store.plugin.at_work(|| unsafe { (store.hooks.session)(store.raw, &raw mut raw) });
        store.hooks.done(code)?;
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
}

impl Session for PluginSession<'_> {
    #[inline]
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let (mut room, mut length, hooks) = ([0; 8], 0, self.store.hooks);
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        let (to, most) = (into.as_mut_ptr(), into.len());
        // SAFETY: the session is open; the key and the room are as long as is said.
        let code = self.store.plugin.at_work(|| unsafe {
            (hooks.get)(self.raw, key.as_ptr(), key.len(), to, most, &raw mut length)
        });
        Ok(hooks.is_done(code)?.then_some(length))
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        let Some(stat) = self.store.hooks.stat else {
            return Ok(self.get(key, &mut [])?.map(|length| length as u64));
        };
        let (mut room, mut length) = ([0; 8], 0);
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        // SAFETY: as in `get`.
        let code = self
            .store
            .plugin
            .at_work(|| unsafe { stat(self.raw, key.as_ptr(), key.len(), &raw mut length) });
        Ok(self.store.hooks.is_done(code)?.then_some(length as u64))
    }

    #[inline]
    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.check_writes()?;
        let (mut room, hooks) = ([0; 8], self.store.hooks);
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        // SAFETY: the session is open; key and value are as long as is said.
        let code = self.store.plugin.at_work(|| unsafe {
            let (bytes, length) = (value.as_ptr(), value.len());
            (hooks.put)(self.raw, key.as_ptr(), key.len(), bytes, length, how(put.how))
        });
        hooks.is_done(code)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.check_writes()?;
        let (mut room, hooks) = ([0; 8], self.store.hooks);
        let key = ordered::bytes(&key, self.store.keys, &mut room)?;
        // SAFETY: as in `put`.
        let code = self
            .store
            .plugin
            .at_work(|| unsafe { (hooks.remove)(self.raw, key.as_ptr(), key.len()) });
        hooks.is_done(code)
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.roll_back();
        let own =
            if mode == Mode::Read || self.store.access == Access::Read { READ } else { WRITE };
        if let Some(batch) = self.store.hooks.batch {
            // SAFETY: the session is open, and has no batch.
            let code = self.store.plugin.at_work(|| unsafe { (batch.begin)(self.raw, own) });
            self.store.hooks.done(code)?;
        }
        self.batch = Some(mode);
        Ok(())
    }

    fn roll_back(&mut self) {
        let (true, Some(batch)) = (self.batch.take().is_some(), self.store.hooks.batch) else {
            return;
        };
        // SAFETY: the session has an open batch.
        self.store.plugin.at_work(|| unsafe { (batch.roll_back)(self.raw) });
    }

    fn commit(&mut self) -> Result<()> {
        let (true, Some(batch)) = (self.batch.take().is_some(), self.store.hooks.batch) else {
            return Ok(());
        };
        // SAFETY: the session has an open batch.
        let code = self.store.plugin.at_work(|| unsafe { (batch.commit)(self.raw) });
        self.store.hooks.done(code)
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
        let (start, length) = from.map_or((ptr::null(), 0), |from| (from.as_ptr(), from.len()));
        let mut visit = stop_after(scan.limit, visit);
        let mut shown = Shown {
            visit: &mut visit,
            keys: self.store.keys,
            outcome: Ok(ControlFlow::Continue(())),
        };
        let (hooks, to) = (self.store.hooks, &raw mut shown);
        // SAFETY: the session is open; `show` gets back what it is given here.
        let code = self.store.plugin.at_work(|| unsafe {
            let values = c_int::from(scan.values);
            (hooks.scan)(self.raw, start, length, values, show, to.cast())
        });
        shown.outcome.and(hooks.done(code))
    }
}

impl Drop for PluginSession<'_> {
    fn drop(&mut self) {
        self.roll_back();
        // SAFETY: ended once, without a batch.
        self.store.plugin.at_work(|| unsafe { (self.store.hooks.end)(self.raw) });
    }
}

/// A key that must be there or not, as the header has it.
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
