//! Many items in one buffer, to pass from the reading thread to a writing one.

use std::ops::Range;

use model::{How, Item, Key, Put};

use crate::dataset::sorted_keys::OwnedKey;

/// Bytes after which a parcel is sent: few enough to stay in the processor's cache on the way,
/// enough that the handover costs nothing in comparison.
const BYTES: usize = 1 << 20;

/// Items after which it is sent, however small they are.
const ITEMS: usize = 1024;

/// A buffer that a large value has made larger than this is not reused.
const KEEP: usize = 4 * BYTES;

struct Packed {
    key: OwnedKey,
    value: Range<usize>,
    put: Put,
}

/// Items in key order.
#[derive(Default)]
pub(super) struct Parcel {
    items: Vec<Packed>,
    bytes: Vec<u8>,
}

impl Parcel {
    pub(super) fn add(&mut self, item: &Item<'_>, how: How) {
        let key = OwnedKey::keep(item.key, &mut self.bytes);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(item.value);
        let put = Put { how, meta: item.meta };
        self.items.push(Packed { key, value: start..self.bytes.len(), put });
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= BYTES || self.items.len() >= ITEMS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn items(&self) -> impl Iterator<Item = (Key<'_>, &[u8], &Put)> {
        self.items
            .iter()
            .map(|item| (item.key.key(&self.bytes), &self.bytes[item.value.clone()], &item.put))
    }

    /// The parcel without its items, to be filled again.
    pub(super) fn emptied(mut self) -> Self {
        if self.bytes.capacity() > KEEP {
            return Self::default();
        }
        self.items.clear();
        self.bytes.clear();
        self
    }
}
