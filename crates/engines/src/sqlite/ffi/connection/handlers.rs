//! The functions that SQLite calls while a connection works: one waits for the locks of others, and
//! one checkpoints the WAL as SQLite does by itself. Both are recorded.

use std::{
    cell::{Cell, RefCell},
    ffi::{c_char, c_int, c_void},
    rc::Rc,
    thread,
    time::{Duration, Instant},
};

use libsqlite3_sys as sys;
use model::{BUSY_RETRIES, Error, FinishedWork, LOCK_WAIT_NS, LOCK_WAITS, Result};

use super::Connection;
use crate::sqlite::ffi::Functions;

/// The longest wait unless the setting `busy` says otherwise: another process may hold the lock for a whole batch, and a longer wait is a
/// failure.
const LONGEST_WAIT_MS: u64 = 60_000;
/// The longest wait before anything was done.
const FIRST_WAIT_MS: u64 = 5_000;
/// The times to sleep before each attempt; the last one repeats.
const SLEEPS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// The most checkpoints that are recorded until they are taken.
const MOST: usize = 4096;
/// The shortest checkpoint that is recorded: nobody waits for shorter ones, which find nothing that
/// they may move.
const SHORTEST: Duration = Duration::from_micros(100);

/// The state of a connection's handlers, and what they record.
pub(super) struct Handlers {
    sqlite: &'static Functions,
    longest_wait_ms: Cell<u64>,
    /// The longest wait after the short ones of [`Connection::with_short_waits`].
    usual_wait_ms: Cell<u64>,
    gave_up: Cell<bool>,
    /// The calls that found the database busy.
    calls: Cell<i64>,
    /// The attempts that were repeated.
    repeats: Cell<i64>,
    /// The nanoseconds of all waits.
    waited_ns: Cell<i64>,
    /// The pages of the WAL from which on it is checkpointed.
    pages: Cell<c_int>,
    /// The checkpoints. Their room is allocated beforehand; those beyond it are not recorded.
    checkpoints: RefCell<Vec<FinishedWork>>,
}

impl Handlers {
    pub(super) fn new(sqlite: &'static Functions) -> Self {
        Self {
            sqlite,
            longest_wait_ms: Cell::default(),
            usual_wait_ms: Cell::new(LONGEST_WAIT_MS),
            gave_up: Cell::default(),
            calls: Cell::default(),
            repeats: Cell::default(),
            waited_ns: Cell::default(),
            pages: Cell::default(),
            checkpoints: RefCell::default(),
        }
    }
}

impl Connection {
    /// Returns the state that the handlers get. It lives as long as the connection, which takes
    /// them back when it is dropped.
    fn state_pointer(&self) -> *mut c_void {
        Rc::as_ptr(&self.handlers).cast_mut().cast()
    }

    pub(super) fn handle_waits(&self) {
        self.limit_waits(LONGEST_WAIT_MS);
        // SAFETY: the handle is open; see `state_pointer`.
        unsafe { self.sqlite.sqlite3_busy_handler(self.raw, Some(wait), self.state_pointer()) };
    }

    /// Sets the longest wait for the lock of another session.
    pub(crate) fn limit_waits(&self, ms: u64) {
        self.handlers.usual_wait_ms.set(ms);
        self.handlers.longest_wait_ms.set(ms);
    }

    /// Runs `work`, which comes before anything that could be lost, with waits of at most
    /// [`FIRST_WAIT_MS`] for a lock, whatever the setting `busy` says.
    pub(crate) fn with_short_waits<T>(&self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.handlers.longest_wait_ms.set(FIRST_WAIT_MS);
        self.handlers.gave_up.set(false);
        let done = work(self);
        self.limit_waits(self.handlers.usual_wait_ms.get());
        if done.is_err() && self.handlers.gave_up.get() {
            let seconds = FIRST_WAIT_MS / 1000;
            let why = format!("another process holds it locked (waited {seconds} s)");
            return Err(self.add_file_name(Error::usage(why)));
        }
        done
    }

    /// Returns how often the connection waited for others' locks since the last call.
    pub(crate) fn waits(&self) -> [(&'static str, i64); 3] {
        let Handlers { calls, repeats, waited_ns, .. } = &*self.handlers;
        [
            (LOCK_WAITS, calls.take()),
            (LOCK_WAIT_NS, waited_ns.take()),
            (BUSY_RETRIES, repeats.take()),
        ]
    }

    /// Makes automatic checkpoints timed from now on, if there are any.
    pub(crate) fn time_checkpoints(&self) -> Result<()> {
        let pages = self.number("PRAGMA wal_autocheckpoint")?;
        if let Some(pages) = c_int::try_from(pages).ok().filter(|pages| *pages > 0) {
            self.handlers.pages.set(pages);
            self.handlers.checkpoints.borrow_mut().reserve(MOST);
            // SAFETY: the handle is open; see `state_pointer`.
            unsafe {
                self.sqlite.sqlite3_wal_hook(self.raw, Some(checkpoint), self.state_pointer())
            };
        }
        Ok(())
    }

    /// Returns the checkpoints since the last call.
    pub(crate) fn checkpoints(&self) -> Vec<FinishedWork> {
        self.handlers.checkpoints.borrow_mut().drain(..).collect()
    }
}

/// Waits as `sqlite3_busy_timeout` does, and counts. Returns 0 to wait no longer.
///
/// # Safety
///
/// `handed` points to live [`Handlers`] that no other thread uses.
unsafe extern "C" fn wait(handed: *mut c_void, attempts: c_int) -> c_int {
    // SAFETY: promised by the caller; its parts may be changed through a shared reference.
    let handlers = unsafe { &*handed.cast::<Handlers>() };
    let attempt = usize::try_from(attempts).unwrap_or(0);
    let last = SLEEPS_MS.len() - 1;
    let slept = SLEEPS_MS[..attempt.min(last)].iter().sum::<u64>()
        + attempt.saturating_sub(last) as u64 * SLEEPS_MS[last];
    if slept >= handlers.longest_wait_ms.get() {
        handlers.gave_up.set(true);
        return 0;
    }
    handlers.calls.set(handlers.calls.get() + i64::from(attempt == 0));
    handlers.repeats.set(handlers.repeats.get() + 1);
    let since = Instant::now();
    let left = handlers.longest_wait_ms.get() - slept;
    thread::sleep(Duration::from_millis(SLEEPS_MS[attempt.min(last)].min(left)));
    let ns = i64::try_from(since.elapsed().as_nanos()).unwrap_or(i64::MAX);
    handlers.waited_ns.set(handlers.waited_ns.get().saturating_add(ns));
    1
}

/// Replaces `sqlite3WalDefaultHook`: makes a passive checkpoint after a commit that leaves as many
/// pages as asked for, whatever its outcome.
///
/// # Safety
///
/// The requirements of [`wait`] hold for `handed`; the other arguments come from SQLite.
unsafe extern "C" fn checkpoint(
    handed: *mut c_void,
    db: *mut sys::sqlite3,
    schema: *const c_char,
    pages: c_int,
) -> c_int {
    // SAFETY: promised by the caller.
    let handlers = unsafe { &*handed.cast::<Handlers>() };
    if pages < handlers.pages.get() {
        return sys::SQLITE_OK;
    }
    let started = Instant::now();
    // SAFETY: SQLite passes its own connection and the name of one of its databases.
    unsafe { handlers.sqlite.sqlite3_wal_checkpoint(db, schema) };
    let ended = Instant::now();
    let mut done = handlers.checkpoints.borrow_mut();
    if ended - started >= SHORTEST && done.len() < MOST {
        done.push(FinishedWork { name: "checkpoint", started, ended });
    }
    sys::SQLITE_OK
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::sqlite::{
        database::with_suffix,
        ffi::{LINKED, Open},
    };

    /// A database in WAL mode of many pages.
    fn created(path: &Path) -> Connection {
        fs::File::create_new(path).unwrap();
        let db = Connection::open(&LINKED, path, Open::ReadWrite).unwrap();
        db.execute("PRAGMA journal_mode=wal").unwrap();
        db.execute("PRAGMA synchronous=off").unwrap();
        db.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)").unwrap();
        db
    }

    /// Writes some hundred pages, other bytes each time.
    fn write(db: &Connection, time: u8) {
        let letter = char::from(b'a' + time);
        db.execute(&format!(
            "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n LIMIT 40)
             INSERT OR REPLACE INTO t SELECT k, printf('%.40000c', '{letter}') FROM n"
        ))
        .unwrap();
    }

    #[test]
    fn it_is_made_after_the_commits_after_which_sqlite_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let (timed, plain) = (folder.path().join("timed"), folder.path().join("plain"));
        let (timing, by_itself) = (created(&timed), created(&plain));
        timing.time_checkpoints().unwrap();
        let mut moved = 0;
        for time in 0..12 {
            let before = fs::read(&timed).unwrap();
            for db in [&timing, &by_itself] {
                write(db, time);
            }
            let now = fs::read(&timed).unwrap();
            moved += usize::from(now != before);
            assert!(now == fs::read(&plain).unwrap(), "the databases differ");
            let log = |path| fs::metadata(with_suffix(path, "-wal")).unwrap().len();
            assert_eq!(log(&timed), log(&plain));
        }
        assert!((2..12).contains(&moved), "checkpoints after {moved} of 12 commits");
        let done = timing.checkpoints();
        assert!(!done.is_empty() && done.len() <= 12, "{done:?}");
        assert!(done.iter().all(|one| one.name == "checkpoint" && one.started < one.ended));
        assert!(done.is_sorted_by(|one, next| one.ended <= next.started));
        assert_eq!(timing.checkpoints().len(), 0, "they are returned once");
    }

    #[test]
    fn without_automatic_checkpoints_none_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let db = created(&folder.path().join("a"));
        db.execute("PRAGMA wal_autocheckpoint=0").unwrap();
        db.time_checkpoints().unwrap();
        (0..6).for_each(|time| write(&db, time));
        assert_eq!(db.checkpoints().len(), 0);
        assert!(fs::metadata(folder.path().join("a-wal")).unwrap().len() > 2000 * 4096);
    }
}
