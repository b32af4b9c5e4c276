//! Keys in ascending order, each with a mark: held compactly, passed between threads.

use std::ops::Range;

use model::{Error, Key, Result};

/// A key; a name is in a buffer next to it.
#[derive(Clone, Debug)]
pub(crate) enum OwnedKey {
    Int(i64),
    Name(Range<usize>),
}

impl OwnedKey {
    /// Takes `key` up, appending its name to `names`.
    pub(crate) fn keep(key: Key<'_>, names: &mut Vec<u8>) -> Self {
        match key {
            Key::Int(key) => Self::Int(key),
            Key::Name(name) => {
                let start = names.len();
                names.extend_from_slice(name);
                Self::Name(start..names.len())
            }
        }
    }

    /// The key, out of the buffer it was put into.
    pub(crate) fn key<'n>(&self, names: &'n [u8]) -> Key<'n> {
        match self {
            Self::Int(key) => Key::Int(*key),
            Self::Name(range) => Key::Name(&names[range.clone()]),
        }
    }
}

/// Keys in ascending order with a mark each.
#[derive(Debug)]
pub(crate) struct SortedKeys<M> {
    rows: Vec<(OwnedKey, M)>,
    names: Vec<u8>,
}

impl<M> SortedKeys<M> {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), names: Vec::new() }
    }

    /// Adds a key, which must come after all others.
    pub(crate) fn push(&mut self, key: Key<'_>, mark: M) -> Result<()> {
        if let Some(last) = self.last() {
            ascending(last, key)?;
        }
        let held = OwnedKey::keep(key, &mut self.names);
        self.rows.push((held, mark));
        Ok(())
    }

    pub(crate) fn get(&self, row: usize) -> Option<(Key<'_>, &M)> {
        self.rows.get(row).map(|(held, mark)| (held.key(&self.names), mark))
    }

    pub(crate) fn last(&self) -> Option<Key<'_>> {
        self.rows.last().map(|(held, _)| held.key(&self.names))
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// Two keys that follow each other in a scan. Merging relies on their order, so that a damaged
/// store must not go unnoticed.
pub(crate) fn ascending(before: Key<'_>, after: Key<'_>) -> Result<()> {
    if before < after {
        return Ok(());
    }
    Err(Error::corrupt(format!("keys are out of order: {after} comes after {before}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let mut sorted = SortedKeys::new();
        for (key, mark) in [("a", 1), ("a/b", 2), ("b", 3)] {
            sorted.push(Key::Name(key.as_bytes()), mark).unwrap();
        }
        assert_eq!(sorted.get(1), Some((Key::Name(b"a/b"), &2)));
        assert_eq!((sorted.len(), sorted.last()), (3, Some(Key::Name(b"b"))));
        assert_eq!(sorted.get(3), None);
    }

    #[test]
    fn keys_out_of_order_are_damage() {
        let mut sorted = SortedKeys::new();
        sorted.push(Key::Int(2), ()).unwrap();
        for key in [2, 1] {
            let error = sorted.push(Key::Int(key), ()).unwrap_err();
            assert_eq!(error.kind(), model::ErrorKind::Corrupt);
        }
    }
}
