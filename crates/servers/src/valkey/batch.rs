//! A batch that is not yet sent: its commands, and what they change.

use std::{collections::BTreeMap, ops::Range};

use model::{Meta, OwnedKey};

use super::connection::pack;

/// A batch that is not yet sent: its commands, and what they change.
pub(super) struct CommandBatch {
    packed: Vec<u8>,
    commands: usize,
    changed: BTreeMap<OwnedKey, Change>,
}

/// The last change of a key in a batch.
#[derive(Default)]
struct Change {
    /// The position of the value among the commands; `None` if it is deleted.
    value: Option<Range<usize>>,
    meta: Option<Meta>,
    /// Whether mode and time from before the batch are gone.
    was_deleted: bool,
}

pub(super) enum BatchedKey<'b> {
    Deleted,
    /// The key has a value. Mode and time are the batch's, or those from before it if `keeps`.
    Value {
        value: &'b [u8],
        meta: Option<Meta>,
        keeps: bool,
    },
}

impl CommandBatch {
    /// Creates an empty batch, in the room of `packed`.
    pub(super) fn new(mut packed: Vec<u8>) -> Self {
        packed.clear();
        pack(&mut packed, &[b"MULTI"]);
        Self { packed, commands: 0, changed: BTreeMap::new() }
    }

    pub(super) fn push(&mut self, words: &[&[u8]]) {
        pack(&mut self.packed, words);
        self.commands += 1;
    }

    /// Puts `value` under `key`, which the server calls `stored`.
    pub(super) fn put(&mut self, key: OwnedKey, stored: &[u8], value: &[u8], meta: Option<Meta>) {
        self.push(&[b"SET", stored, value]);
        // Two bytes end a command.
        let end = self.packed.len() - 2;
        let change = self.changed.entry(key).or_default();
        change.value = Some(end - value.len()..end);
        change.meta = meta.or(change.meta);
    }

    pub(super) fn delete(&mut self, key: OwnedKey, stored: &[u8]) {
        self.push(&[b"DEL", stored]);
        self.changed.insert(key, Change { was_deleted: true, ..Change::default() });
    }

    pub(super) fn get(&self, key: &OwnedKey) -> Option<BatchedKey<'_>> {
        let Change { value, meta, was_deleted } = self.changed.get(key)?;
        let Some(range) = value else { return Some(BatchedKey::Deleted) };
        let keeps = meta.is_none() && !was_deleted;
        Some(BatchedKey::Value { value: &self.packed[range.clone()], meta: *meta, keeps })
    }

    pub(super) fn changed_keys(&self) -> impl Iterator<Item = (&OwnedKey, bool)> {
        self.changed.iter().map(|(key, change)| (key, change.value.is_some()))
    }

    /// Returns the commands as one transaction, and the number of answers; `None` if there is
    /// nothing to do.
    pub(super) fn finish(mut self) -> Option<(Vec<u8>, usize)> {
        if self.commands == 0 {
            return None;
        }
        pack(&mut self.packed, &[b"EXEC"]);
        Some((self.packed, self.commands + 2))
    }
}
