//! The keys of a source, as far as they are kept.

use std::time::Duration;

use model::{DatasetSummary, Item, KeyKind, Result};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Amount,
    dataset::{Dataset, below, value_size},
};

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
    /// Bytes of the largest value of all, whether or not its key is kept; `None` if some lengths were not seen.
    pub(super) largest: Option<u64>,
}

impl Listing {
    /// Reports whether the listing has all keys.
    pub(super) fn is_whole(&self) -> bool {
        self.dataset.entries().len() as u64 == self.all.count
    }

    /// Summarises all values whose lengths were seen.
    pub(super) fn summary(&self) -> DatasetSummary {
        let (Amount { count, bytes }, kept) = (self.all, self.dataset.summary());
        self.largest.map_or(kept, |largest| DatasetSummary { count, bytes, largest, ..kept })
    }
}

/// Keys that are being listed.
pub(super) struct Lister {
    listing: Listing,
    /// The largest number of keys that are kept.
    most: usize,
    halvings: u32,
    random: Xoshiro256PlusPlus,
}

impl Lister {
    pub(super) fn new(keys: KeyKind, most: usize, seed: u64) -> Self {
        let listing = Listing {
            dataset: Dataset::new(keys),
            all: Amount::default(),
            took: Duration::ZERO,
            is_drawn: false,
            largest: Some(0),
        };
        Self { listing, most, halvings: 0, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Adds the next key, and keeps a random half of all as often as they become too many.
    pub(super) fn add(&mut self, item: &Item<'_>) -> Result<()> {
        let Self { listing: Listing { dataset, all, largest, .. }, random, .. } = self;
        all.add(item);
        *largest = (*largest).max(Some(item.length));
        if below(random, 1 << self.halvings) == 0 {
            let length = usize::try_from(item.length).unwrap_or(usize::MAX);
            dataset.push_sized(item.key, value_size(item.key, length)?)?;
        }
        if dataset.entries().len() > self.most {
            dataset.halve(random);
            self.halvings += 1;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Listing {
        self.listing
    }
}

#[cfg(test)]
mod tests {
    use model::{FindingKind, Key};

    use super::{super::prepare::missed_value, *};

    #[test]
    fn a_value_that_decides_is_named_though_its_key_is_not_kept() {
        let missed = (0..20).filter(|seed| {
            let mut lister = Lister::new(KeyKind::Integers, 100, *seed);
            for key in 0..1000 {
                let length = if key == 300 { 1_000_000 } else { 1000 };
                let item = Item::new(Key::Int(key), &[], None).with_length(length);
                lister.add(&item).unwrap();
            }
            let listing = lister.finish();
            let kept = listing.dataset.summary();
            assert_eq!((listing.all.count, listing.all.bytes), (1000, 1_999_000));
            assert!((20..=100).contains(&kept.count), "{}", kept.count);
            let found = missed_value(&listing.summary(), &kept);
            let named = FindingKind::LargeValueNotRead { bytes: 1_000_000, share: 1e6 / 1_999e3 };
            let is_missed = kept.largest < 1_000_000;
            assert_eq!(found.map(|finding| finding.kind), is_missed.then_some(named));
            is_missed
        });
        assert!((10..20).contains(&missed.count()));
    }
}
