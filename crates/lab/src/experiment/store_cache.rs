//! A cache of what one run leaves ready for the next one.

use std::any::Any;

/// The stores that the last run prepared, as its experiment knows them. Dropping the cache removes
/// them.
#[derive(Default)]
pub struct StoreCache {
    kept: Option<Box<dyn Any>>,
    /// No run can use these again.
    used: Vec<Box<dyn Any>>,
}

impl StoreCache {
    /// Removes the stores that no other run can use: some take a while.
    pub fn remove_used(&mut self) {
        self.used.clear();
    }

    /// Takes what the last run left, if that was a run of the same experiment. Anything else is removed.
    pub(super) fn take<T: 'static>(&mut self) -> Option<T> {
        self.kept.take()?.downcast().ok().map(|kept| *kept)
    }

    /// Keeps what the next run may need.
    pub(super) fn put<T: 'static>(&mut self, kept: T) {
        self.kept = Some(Box::new(kept));
    }

    /// Leaves what is only to be removed.
    pub(super) fn leave<T: 'static>(&mut self, used: T) {
        self.used.push(Box::new(used));
    }
}
