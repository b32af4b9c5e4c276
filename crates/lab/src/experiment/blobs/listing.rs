//! The keys of a source, as far as they are kept.

use std::time::Duration;

use crate::{Amount, dataset::Dataset};

/// The largest number of keys that are kept: those of more data are a random part of them, in 64
/// MiB of memory.
pub(super) const KEPT: usize = 1 << 22;

/// The keys of a source with the lengths of their values.
pub(super) struct Listing {
    /// In key order: all, or a random choice of them.
    pub(super) dataset: Dataset,
    /// How much there is in all; estimated where keys were drawn.
    pub(super) all: Amount,
    pub(super) took: Duration,
    /// Whether the lengths of some keys only are known, because listing those of all took too long.
    pub(super) is_drawn: bool,
}

impl Listing {
    /// Reports whether the listing has all keys.
    pub(super) fn is_whole(&self) -> bool {
        self.dataset.entries().len() as u64 == self.all.count
    }
}
