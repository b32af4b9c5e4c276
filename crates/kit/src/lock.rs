//! Locks that ignore poison: a panic leaves nothing that is guarded here half changed.

use std::{
    cell::Cell,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
    },
};

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
pub fn turn<'m, T>(lock: &'m Mutex<T>, waits: &Cell<i64>) -> MutexGuard<'m, T> {
    match lock.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
        Err(TryLockError::WouldBlock) => {
            waits.set(waits.get() + 1);
            hold(lock)
        }
    }
}
