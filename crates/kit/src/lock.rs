//! Locks that ignore poison: a panic leaves nothing that is guarded here half changed.

use std::{
    cell::Cell,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
    },
    time::Instant,
};

use model::{LOCK_WAIT_NS, LOCK_WAITS};

/// The waits of a session for the locks of others, since they were last taken.
#[derive(Default)]
pub struct Waits {
    count: Cell<i64>,
    ns: Cell<i64>,
}

impl Waits {
    /// Counts a wait that started at `since` and ends now.
    pub fn note(&self, since: Instant) {
        self.add(1, i64::try_from(since.elapsed().as_nanos()).unwrap_or(i64::MAX));
    }

    /// Adds `count` waits that took `ns` nanoseconds together.
    pub fn add(&self, count: i64, ns: i64) {
        self.count.set(self.count.get().saturating_add(count));
        self.ns.set(self.ns.get().saturating_add(ns));
    }

    /// Returns the counters of a session, and starts them again.
    pub fn take(&self) -> [(&'static str, i64); 2] {
        [(LOCK_WAITS, self.count.take()), (LOCK_WAIT_NS, self.ns.take())]
    }
}

/// Locks to read.
pub fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks to write.
pub fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex.
pub fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks as [`hold`] does, and counts in `waits` if it has to wait.
pub fn turn<'m, T>(lock: &'m Mutex<T>, waits: &Waits) -> MutexGuard<'m, T> {
    match lock.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
        Err(TryLockError::WouldBlock) => {
            let since = Instant::now();
            let guard = hold(lock);
            waits.note(since);
            guard
        }
    }
}
