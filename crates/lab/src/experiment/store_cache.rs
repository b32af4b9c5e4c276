//! A cache of what one run leaves ready for the next one.

use std::any::Any;

/// The stores that the last run prepared, as its experiment knows them. Dropping the cache removes
/// them.
#[derive(Default)]
pub struct StoreCache(Option<Box<dyn Any>>);

impl StoreCache {
    /// Takes what the last run left, if that was a run of the same experiment. Anything else is removed.
    pub(super) fn take<T: 'static>(&mut self) -> Option<T> {
        self.0.take()?.downcast().ok().map(|kept| *kept)
    }

    /// Keeps what the next run may need.
    pub(super) fn put<T: 'static>(&mut self, kept: T) {
        self.0 = Some(Box::new(kept));
    }
}
