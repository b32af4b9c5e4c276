//! What an interrupted copy left: every key with what identifies its value, so that only what
//! is missing or differs is copied again. Some 60 bytes a key.

use std::{ops::ControlFlow, path::Path};

use model::{Blobs, Error, How, Item, Key, Meta, OpenOptions, Result, Scan, Store};

use crate::{Stop, dataset::sorted_keys::SortedKeys};

/// What identifies a value: 16 bytes of its BLAKE3 hash, its mode, and its time in whole
/// seconds, as some engines keep no more.
#[derive(Debug)]
struct Mark {
    digest: [u8; 16],
    meta: Option<(u32, i64)>,
}

impl Mark {
    fn of(item: &Item<'_>) -> Self {
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(item.value).as_bytes()[..16]);
        Self { digest, meta: item.meta.map(|Meta { mode, seconds, .. }| (mode, seconds)) }
    }

    /// A source without modes and times does not decide about them.
    fn is_mark_of(&self, item: &Item<'_>) -> bool {
        let source = Self::of(item);
        self.digest == source.digest && (source.meta.is_none() || self.meta == source.meta)
    }
}

/// What the destination already holds, compared with the source as that is read in key order.
pub(super) struct Inventory {
    there: SortedKeys<Mark>,
    /// Rows before this one have been compared.
    row: usize,
    /// Rows that the source does not have.
    extra: Vec<usize>,
    pub(super) same: u64,
}

impl Inventory {
    /// Nothing is there.
    pub(super) fn none() -> Self {
        Self { there: SortedKeys::new(), row: 0, extra: Vec::new(), same: 0 }
    }

    /// Opens the store at `path` and reads all of it. A store that fails its integrity check is an
    /// error: damage by a power cut need not show in its values.
    pub(super) fn open(
        engine: &dyn Blobs,
        path: &Path,
        options: &OpenOptions,
        stop: &Stop,
    ) -> Result<(Box<dyn Store>, Self)> {
        let store = engine.open(path, options)?;
        if store.keys() != options.keys {
            let what = format!("its keys are {}, the source's {}", store.keys(), options.keys);
            return Err(Error::usage(what));
        }
        if let Some(complaint) = store.integrity()?.and_then(|all| all.into_iter().next()) {
            return Err(Error::corrupt(complaint));
        }
        let mut inventory = Self::none();
        store.session()?.scan(Scan::ALL, &mut |item| {
            stop.check()?;
            inventory.there.push(item.key, Mark::of(&item))?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((store, inventory))
    }

    /// How the next item of the source has to be put; `None`: it is already copied.
    pub(super) fn how(&mut self, item: &Item<'_>) -> Option<How> {
        while let Some((key, mark)) = self.there.get(self.row)
            && key <= item.key
        {
            self.row += 1;
            if key < item.key {
                self.extra.push(self.row - 1);
            } else if mark.is_mark_of(item) {
                self.same += 1;
                return None;
            } else {
                return Some(How::Upsert);
            }
        }
        Some(How::Insert)
    }

    /// The keys that the source does not have, once all of it was compared.
    pub(super) fn extra(&self) -> impl Iterator<Item = Key<'_>> {
        let rows = self.extra.iter().copied().chain(self.row..self.there.len());
        rows.filter_map(|row| self.there.get(row).map(|(key, _)| key))
    }
}
