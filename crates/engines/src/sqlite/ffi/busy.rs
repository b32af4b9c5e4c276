//! Waiting for other connections' locks.

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    rc::Rc,
    thread,
    time::Duration,
};

use libsqlite3_sys as sys;

/// Another process may hold the lock for a whole batch; a longer wait is a failure.
const LONGEST_WAIT_MS: u64 = 60_000;
/// The same before anything was done.
const FIRST_WAIT_MS: u64 = 5_000;
/// How long to sleep before each attempt; the last one repeats.
const SLEEPS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// How long a connection waits for the locks of others, and how often it did.
pub(super) struct Waits {
    longest_ms: Cell<u64>,
    gave_up: Cell<bool>,
    /// Calls that found the database busy.
    calls: Cell<i64>,
    /// Attempts that were repeated.
    repeats: Cell<i64>,
}

impl Waits {
    /// Counts the waits of the connection `db`.
    ///
    /// # Safety
    /// `db` is open, and the handler is taken back before the result is dropped.
    pub(super) unsafe fn of(db: *mut sys::sqlite3) -> Rc<Self> {
        let waits = Rc::new(Self {
            longest_ms: Cell::new(LONGEST_WAIT_MS),
            gave_up: Cell::default(),
            calls: Cell::default(),
            repeats: Cell::default(),
        });
        // SAFETY: promised by the caller.
        unsafe { sys::sqlite3_busy_handler(db, Some(wait), Rc::as_ptr(&waits).cast_mut().cast()) };
        waits
    }

    /// Does `work` with short waits; the seconds after which one gave up.
    pub(super) fn shorten<T>(&self, work: impl FnOnce() -> T) -> (T, Option<u64>) {
        self.longest_ms.set(FIRST_WAIT_MS);
        let done = work();
        self.longest_ms.set(LONGEST_WAIT_MS);
        (done, self.gave_up.get().then_some(FIRST_WAIT_MS / 1000))
    }

    /// The counters since they were last asked for.
    pub(super) fn take(&self) -> [(&'static str, i64); 2] {
        [(model::LOCK_WAITS, self.calls.take()), (model::BUSY_RETRIES, self.repeats.take())]
    }
}

/// Waits as `sqlite3_busy_timeout` does, and counts. 0: no longer.
///
/// # Safety
/// `waits` points to live [`Waits`] that no other thread uses.
unsafe extern "C" fn wait(waits: *mut c_void, attempts: c_int) -> c_int {
    // SAFETY: promised by the caller; its parts may be changed through a shared reference.
    let waits = unsafe { &*waits.cast::<Waits>() };
    let attempt = usize::try_from(attempts).unwrap_or(0);
    let last = SLEEPS_MS.len() - 1;
    let slept = SLEEPS_MS[..attempt.min(last)].iter().sum::<u64>()
        + attempt.saturating_sub(last) as u64 * SLEEPS_MS[last];
    if slept >= waits.longest_ms.get() {
        waits.gave_up.set(true);
        return 0;
    }
    waits.calls.set(waits.calls.get() + i64::from(attempt == 0));
    waits.repeats.set(waits.repeats.get() + 1);
    thread::sleep(Duration::from_millis(SLEEPS_MS[attempt.min(last)]));
    1
}
