//! Automatic checkpoints of a connection's WAL, made as SQLite makes them, and timed.

use std::{
    cell::RefCell,
    ffi::{c_char, c_int, c_void},
    rc::Rc,
    time::{Duration, Instant},
};

use libsqlite3_sys as sys;
use model::{Done, Result};

use super::Connection;

/// What the hook of a connection needs.
pub(super) struct Checkpoints {
    /// Pages of the WAL from which on it is checkpointed.
    pages: c_int,
    /// Room for them is made beforehand; those beyond it are not noted.
    done: RefCell<Vec<Done>>,
}

/// Checkpoints that are noted at most until they are asked for.
const MOST: usize = 4096;
/// Nobody waits for shorter ones, which find nothing that they may move.
const SHORTEST: Duration = Duration::from_micros(100);

impl Connection {
    /// From now on automatic checkpoints are timed, if there are any.
    pub(in crate::sqlite) fn time_checkpoints(&mut self) -> Result<()> {
        let pages = self.number("PRAGMA wal_autocheckpoint")?;
        let Some(pages) = c_int::try_from(pages).ok().filter(|pages| *pages > 0) else {
            return Ok(());
        };
        let timed = Rc::new(Checkpoints { pages, done: RefCell::new(Vec::with_capacity(MOST)) });
        let hooked = Rc::as_ptr(&timed).cast_mut().cast();
        // SAFETY: the handle is open; what is pointed to lives as long as the connection, which
        // takes the hook back when it is dropped.
        unsafe { sys::sqlite3_wal_hook(self.raw, Some(checkpoint), hooked) };
        self.checkpoints = Some(timed);
        Ok(())
    }

    /// Those since last asked.
    pub(in crate::sqlite) fn checkpoints(&self) -> Vec<Done> {
        let timed = self.checkpoints.as_ref();
        timed.map_or_else(Vec::new, |timed| timed.done.borrow_mut().drain(..).collect())
    }
}

/// What `sqlite3WalDefaultHook` does, whose place it takes: a passive checkpoint after a commit that
/// leaves as many pages as asked for, whatever becomes of it.
///
/// # Safety
/// `hooked` points to live [`Checkpoints`], used by no other thread meanwhile; the rest comes from
/// SQLite.
unsafe extern "C" fn checkpoint(
    hooked: *mut c_void,
    db: *mut sys::sqlite3,
    schema: *const c_char,
    pages: c_int,
) -> c_int {
    // SAFETY: promised by the caller.
    let timed = unsafe { &*hooked.cast::<Checkpoints>() };
    if pages < timed.pages {
        return sys::SQLITE_OK;
    }
    let began = Instant::now();
    // SAFETY: SQLite passes its own connection and the name of one of its databases.
    unsafe { sys::sqlite3_wal_checkpoint(db, schema) };
    let ended = Instant::now();
    let mut done = timed.done.borrow_mut();
    if ended - began >= SHORTEST && done.len() < MOST {
        done.push(Done { name: "checkpoint", began, ended });
    }
    sys::SQLITE_OK
}
