//! The index of the blocks that a backup has encountered.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::entry::{Block, BlockPlace, Hash};

/// A block in the index.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The place of the block; `None` if its frame is not written yet.
    place: Option<BlockPlace>,
    /// The references of earlier snapshots; `None` if the block is new.
    before: Option<u64>,
    added: u64,
}

/// An index of blocks, shared by all workers.
pub(super) struct Index {
    slots: Mutex<HashMap<Hash, Slot>>,
    /// Whether the catalogue has blocks.
    older: bool,
}

impl Index {
    pub(super) fn new(older: bool) -> Self {
        Self { slots: Mutex::default(), older }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Hash, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the blocks that have to be looked up in the catalogue.
    pub(super) fn unknown(&self, hashes: &[Hash]) -> Vec<Hash> {
        if !self.older {
            return Vec::new();
        }
        let slots = self.slots();
        hashes.iter().filter(|hash| !slots.contains_key(*hash)).copied().collect()
    }

    /// Adds what the catalogue has of a block.
    pub(super) fn insert_known(&self, hash: Hash, block: Option<Block>) {
        let Some(Block { place, references }) = block else { return };
        let slot = Slot { place: Some(place), before: Some(references), added: 0 };
        self.slots().entry(hash).or_insert(slot);
    }

    /// Returns whether the caller has to store the block, because no other worker does.
    pub(super) fn claim(&self, hash: Hash) -> bool {
        match self.slots().entry(hash) {
            Entry::Occupied(_) => false,
            Entry::Vacant(slot) => {
                slot.insert(Slot::default());
                true
            }
        }
    }

    /// Sets the places of blocks that were written.
    pub(super) fn set_places(&self, blocks: impl Iterator<Item = (Hash, BlockPlace)>) {
        let mut slots = self.slots();
        for (hash, place) in blocks {
            slots.entry(hash).or_default().place = Some(place);
        }
    }

    /// Counts the references of a file to its blocks.
    pub(super) fn count(&self, blocks: &[Hash]) {
        let mut slots = self.slots();
        for hash in blocks {
            slots.entry(*hash).or_default().added += 1;
        }
    }

    pub(super) fn new_blocks(&self) -> u64 {
        self.slots().values().filter(|slot| slot.before.is_none()).count() as u64
    }

    /// Returns the blocks that are new or have new references, in the order of their sums.
    pub(super) fn changed(&self) -> Vec<(Hash, Block)> {
        let slots = self.slots();
        let is_changed = |slot: &Slot| slot.added > 0 || slot.before.is_none();
        let changed = slots.iter().filter(|(_, slot)| is_changed(slot));
        let block = |(hash, slot): (&Hash, &Slot)| {
            let references = slot.before.unwrap_or(0) + slot.added;
            Some((*hash, Block { place: slot.place?, references }))
        };
        let mut blocks: Vec<_> = changed.filter_map(block).collect();
        blocks.sort_unstable_by_key(|(hash, _)| *hash);
        blocks
    }
}
