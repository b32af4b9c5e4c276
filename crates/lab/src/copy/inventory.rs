//! The inventory of an interrupted copy: every key with the identity of its value, so that only
//! what is missing or differs is copied again. It takes some 60 bytes a key.

use std::ops::ControlFlow;

use model::{Error, How, Item, Key, Meta, OwnedKey, Result, Scan, Store, ValueType};

use crate::{Stop, dataset::push_sorted};

/// The identity of a value: 16 bytes of its BLAKE3 hash, its type, its mode, and its time in whole
/// seconds, because some engines keep no more.
#[derive(Debug)]
struct Mark {
    digest: [u8; 16],
    meta: Option<(u32, i64)>,
    of: ValueType,
}

impl Mark {
    /// The mark of no value.
    const UNKNOWN: Self = Self { digest: [0; 16], meta: None, of: ValueType::Null };

    fn from_item(item: &Item<'_>) -> Self {
        let digest = blake3::hash(item.value);
        let digest = *digest.as_bytes().first_chunk().expect("a digest has 32 bytes");
        let meta = item.meta.map(|Meta { mode, seconds, .. }| (mode, seconds));
        Self { digest, meta, of: item.value_type }
    }

    /// Reports whether the mark is that of `item`. A source without modes and times does not
    /// compare them.
    fn matches(&self, item: &Item<'_>) -> bool {
        let source = Self::from_item(item);
        let same = (self.digest, self.of) == (source.digest, source.of);
        same && (source.meta.is_none() || self.meta == source.meta)
    }
}

/// The contents of the destination, which are compared with the source in any order.
#[derive(Default)]
pub(super) struct Inventory {
    /// The keys in order, each with whether the source has it as well.
    there: Vec<(OwnedKey, (Mark, bool))>,
}

impl Inventory {
    /// Reads all of `store`. Fails if it does not pass its integrity check: damage by a power cut
    /// need not show in its values.
    pub(super) fn read(store: &dyn Store, stop: &Stop) -> Result<Self> {
        if let Some(complaint) = store.integrity()?.and_then(|all| all.into_iter().next()) {
            return Err(Error::corrupt(complaint));
        }
        let mut rows = Vec::new();
        store.session()?.scan(Scan::ALL, &mut |item| {
            stop.check()?;
            push_sorted(&mut rows, item.key, (Mark::from_item(&item), false))?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Self { there: rows })
    }

    /// Lists the keys of a `store` on a service that charges for reads: what is there is compared when
    /// it would be written.
    pub(super) fn of_keys(store: &dyn Store, stop: &Stop) -> Result<Self> {
        let mut rows = Vec::new();
        store.session()?.scan(Scan::LENGTHS, &mut |item| {
            stop.check()?;
            push_sorted(&mut rows, item.key, (Mark::UNKNOWN, false))?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Self { there: rows })
    }

    /// Notes that the source has a key, and returns its mark; `None` if the key is not there.
    fn note(&mut self, key: Key<'_>) -> Option<&Mark> {
        let place = self.there.binary_search_by(|(there, _)| there.as_key().cmp(&key)).ok()?;
        let (_, (mark, is_in_source)) = &mut self.there[place];
        *is_in_source = true;
        Some(mark)
    }

    /// Notes that the source has a key, and returns whether it is there.
    pub(super) fn has(&mut self, key: Key<'_>) -> bool {
        self.note(key).is_some()
    }

    /// Returns how an item of the source has to be put; `None` if it is already copied.
    pub(super) fn how(&mut self, item: &Item<'_>) -> Option<How> {
        match self.note(item.key) {
            None => Some(How::Insert),
            Some(mark) => (!mark.matches(item)).then_some(How::Upsert),
        }
    }

    /// Returns the keys that the source does not have. Call it once all of the source was compared.
    pub(super) fn extra(self) -> impl Iterator<Item = OwnedKey> {
        let extra = self.there.into_iter().filter(|(_, (_, is_in_source))| !is_in_source);
        extra.map(|(key, _)| key)
    }
}
