//! One worker's connection.

use std::{collections::BTreeSet, mem};

use kit::{meta, refusal::read_only};
use model::{
    Access, Error, How, Item, Key, KeyKind, Meta, Mode, OwnedKey, Put, Result, Scan, Session,
    Store, Visitor, copy_value,
};
use redis::Value;

use super::ValkeyStore;
use crate::valkey::{
    batch::{BatchedKey, CommandBatch},
    connection::{ValkeyClient, bytes, pack, unexpected},
};

use crate::server::Answer;

/// The keys in a part of a scan with values: few, because these are large.
const FEW: usize = 32;
/// The keys in a part of a scan without values.
const MANY: usize = 1000;

pub(super) struct ValkeySession<'s> {
    store: &'s ValkeyStore,
    client: ValkeyClient,
    /// The room for a key as the server has it.
    key: Vec<u8>,
    batch: Option<(Mode, CommandBatch)>,
    /// The room of the last batch.
    room: Vec<u8>,
}

impl<'s> ValkeySession<'s> {
    pub(super) fn new(store: &'s ValkeyStore, client: ValkeyClient) -> Self {
        Self { store, client, key: Vec::new(), batch: None, room: Vec::new() }
    }

    /// Runs commands about `key`.
    fn about<T>(
        &mut self,
        key: Key<'_>,
        work: impl FnOnce(&mut ValkeyClient, &[u8]) -> Answer<T>,
    ) -> Result<T> {
        self.store.stored.write(key, &mut self.key)?;
        work(&mut self.client, &self.key).map_err(|failure| self.store.host.explain(failure))
    }

    /// Returns the key as the batch leaves it; `None` if it has not changed it.
    fn batched_change(&self, key: Key<'_>) -> Option<BatchedKey<'_>> {
        let (Mode::Write, batch) = self.batch.as_ref()? else { return None };
        batch.get(&key.into())
    }

    fn exists(&mut self, key: Key<'_>) -> Result<bool> {
        match self.batched_change(key) {
            Some(found) => Ok(matches!(found, BatchedKey::Value { .. })),
            None => Ok(self.about(key, |client, key| client.number(&[b"EXISTS", key]))? == 1),
        }
    }

    /// Returns the batch.
    ///
    /// # Errors
    ///
    /// Fails if it was started to read.
    fn open_batch(&mut self) -> Result<&mut CommandBatch> {
        match &mut self.batch {
            Some((Mode::Write, batch)) => Ok(batch),
            _ => Err(Error::usage("the batch was begun to read; nothing was written")),
        }
    }

    /// Runs `work` in the batch, or in one of its own.
    fn in_batch<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.batch.is_some() {
            return work(self);
        }
        self.begin(Mode::Write)?;
        let done = work(self).inspect_err(|_| self.batch = None)?;
        self.commit().map(|()| done)
    }

    fn put_in_batch(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let is_allowed = match put.how {
            How::Upsert => true,
            How::Insert => !self.exists(key)?,
            How::Update => self.exists(key)?,
        };
        if !is_allowed {
            return Ok(false);
        }
        let (store, mut room) = (self.store, mem::take(&mut self.key));
        store.stored.write(key, &mut room)?;
        let batch = self.open_batch()?;
        let is_name = store.stored.keys == KeyKind::Names;
        batch.put(key.into(), &room, value, put.meta.filter(|_| is_name));
        if let (Some(meta), Key::Name(name)) = (put.meta, key) {
            batch.push(&[b"HSET", &store.stored.metas, name, &meta::bytes(meta)]);
        }
        self.key = room;
        Ok(true)
    }

    /// Returns each key from `from` on with the batch's own, in order.
    fn keys(&mut self, from: Option<Key<'_>>) -> Result<Vec<OwnedKey>> {
        let (stored, host) = (&self.store.stored, &self.store.host);
        let (mut keys, mut odd) = (BTreeSet::new(), None);
        let seen = self.client.each_key(&stored.pattern(), |_, found| {
            for key in found {
                match stored.key(&key) {
                    Ok(key) => drop(keys.insert(key)),
                    Err(error) => odd = Some(error),
                }
            }
            Ok(())
        });
        seen.map_err(|failure| host.explain(failure))?;
        if let Some(odd) = odd {
            return Err(odd.at(&host.shown));
        }
        for (key, is_there) in self.batch.iter().flat_map(|(_, batch)| batch.changed_keys()) {
            if is_there {
                keys.insert(key.clone());
            } else {
                keys.remove(key);
            }
        }
        let from = from.map(OwnedKey::from);
        Ok(keys.into_iter().filter(|key| from.as_ref().is_none_or(|from| key >= from)).collect())
    }

    /// Returns the values of `keys` with mode and time; one may have been deleted meanwhile.
    fn values(&mut self, keys: &[OwnedKey]) -> Result<Vec<Stored>> {
        let stored = &self.store.stored;
        let names: Result<Vec<_>> = keys
            .iter()
            .map(|key| {
                let mut name = Vec::new();
                stored.write(key.as_key(), &mut name).map(|()| name)
            })
            .collect();
        let names = names?;
        let get: Vec<&[u8]> =
            [&b"MGET"[..]].into_iter().chain(names.iter().map(|n| &**n)).collect();
        let mut found = || {
            let values = optional(self.client.run_command(&get)?)?;
            let fields = keys.iter().filter_map(|key| match key {
                OwnedKey::Name(name) => Some(&**name),
                OwnedKey::Int(_) => None,
            });
            let ask: Vec<&[u8]> =
                [&b"HMGET"[..], &stored.metas].into_iter().chain(fields).collect();
            let metas =
                if ask.len() > 2 { optional(self.client.run_command(&ask)?)? } else { Vec::new() };
            let metas = metas
                .into_iter()
                .map(|bytes| meta::from_bytes(&bytes?))
                .chain(std::iter::repeat(None));
            Ok(values.into_iter().zip(metas).collect())
        };
        found().map_err(|failure| self.store.host.explain(failure))
    }

    /// Returns the lengths of the values of `keys`, in one round trip.
    fn lengths(&mut self, keys: &[OwnedKey]) -> Result<Vec<i64>> {
        let (mut packed, mut name) = (Vec::new(), Vec::new());
        for key in keys {
            self.store.stored.write(key.as_key(), &mut name)?;
            pack(&mut packed, &[b"STRLEN", &name]);
        }
        let answers = self.client.ask_packed(&packed, keys.len(), keys.len());
        let length = |value| match value {
            Value::Int(length) => Ok(length),
            other => Err(unexpected(&other)),
        };
        let lengths = answers.and_then(|all| all.into_iter().map(length).collect());
        lengths.map_err(|failure| self.store.host.explain(failure))
    }
}

/// A value with mode and time; `None` if it does not exist, or the store has none.
type Stored = (Option<Vec<u8>>, Option<Meta>);

/// Returns strings, some of which may not exist.
fn optional(value: Value) -> Answer<Vec<Option<Vec<u8>>>> {
    let Value::Array(values) = value else { return Err(unexpected(&value)) };
    let string = |value| if value == Value::Nil { Ok(None) } else { bytes(value).map(Some) };
    values.into_iter().map(string).collect()
}

impl Session for ValkeySession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        match self.batched_change(key) {
            Some(BatchedKey::Deleted) => return Ok(None),
            Some(BatchedKey::Value { value, .. }) => return Ok(Some(copy_value(value, into))),
            None => {}
        }
        self.about(key, |client, key| match client.run_command(&[b"GET", key])? {
            Value::BulkString(value) => Ok(Some(copy_value(&value, into))),
            Value::Nil => Ok(None),
            other => Err(unexpected(&other)),
        })
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        match self.batched_change(key) {
            Some(BatchedKey::Deleted) => return Ok(None),
            Some(BatchedKey::Value { value, .. }) => return Ok(Some(value.len() as u64)),
            None => {}
        }
        let length = self.about(key, |client, key| client.number(&[b"STRLEN", key]))?;
        // The length of nothing is 0, too.
        let is_there = length > 0 || self.exists(key)?;
        Ok(is_there.then_some(length.unsigned_abs()))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        if self.store.access == Access::Read {
            return Err(read_only());
        }
        self.store.check_item(key, value.len() as u64)?;
        if self.batch.is_some() || (put.meta.is_some() && self.store.stored.keys == KeyKind::Names)
        {
            return self.in_batch(|session| session.put_in_batch(key, value, put));
        }
        let how: &[&[u8]] = match put.how {
            How::Upsert => &[],
            How::Insert => &[b"NX"],
            How::Update => &[b"XX"],
        };
        self.about(key, |client, key| {
            let words = [&b"SET"[..], key, value, how.first().copied().unwrap_or_default()];
            match client.run_command(&words[..3 + how.len()])? {
                Value::Okay => Ok(true),
                Value::Nil => Ok(false),
                other => Err(unexpected(&other)),
            }
        })
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        if self.store.access == Access::Read {
            return Err(read_only());
        }
        if self.batch.is_none() && self.store.stored.keys == KeyKind::Integers {
            return Ok(self.about(key, |client, key| client.number(&[b"DEL", key]))? == 1);
        }
        self.in_batch(|session| {
            if !session.exists(key)? {
                return Ok(false);
            }
            let (store, mut room) = (session.store, mem::take(&mut session.key));
            store.stored.write(key, &mut room)?;
            let batch = session.open_batch()?;
            batch.delete(key.into(), &room);
            if let Key::Name(name) = key {
                batch.push(&[b"HDEL", &store.stored.metas, name]);
            }
            session.key = room;
            Ok(true)
        })
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.batch = Some((mode, CommandBatch::new(mem::take(&mut self.room))));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let Some((packed, answers)) = self.batch.take().and_then(|(_, batch)| batch.finish())
        else {
            return Ok(());
        };
        let mut run = || match self.client.ask_packed(&packed, answers, 1)?.pop() {
            Some(Value::Array(done)) => match done.into_iter().find(is_error) {
                Some(error) => Err(unexpected(&error)),
                None => Ok(()),
            },
            other => Err(unexpected(&other.unwrap_or_default())),
        };
        let ran = run();
        self.room = packed;
        ran.map_err(|failure| self.store.host.explain(failure))
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let mut keys = self.keys(scan.from)?;
        keys.truncate(usize::try_from(scan.limit).unwrap_or(usize::MAX));
        for keys in keys.chunks(if scan.values { FEW } else { MANY }) {
            let shown = if scan.values {
                self.show_values(keys, visit)?
            } else {
                self.show_lengths(keys, visit)?
            };
            if !shown {
                break;
            }
        }
        Ok(())
    }
}

fn is_error(value: &Value) -> bool {
    matches!(value, Value::ServerError(_))
}

impl ValkeySession<'_> {
    /// Shows values; returns whether the visitor wants more.
    fn show_values(&mut self, keys: &[OwnedKey], visit: &mut Visitor<'_>) -> Result<bool> {
        for (key, (value, meta)) in keys.iter().zip(self.values(keys)?) {
            let key = key.as_key();
            let (value, meta) = match self.batched_change(key) {
                Some(BatchedKey::Value { value, keeps: true, .. }) => (value, meta),
                Some(BatchedKey::Value { value, meta, .. }) => (value, meta),
                _ => match &value {
                    Some(value) => (&**value, meta),
                    None => continue,
                },
            };
            if visit(Item::new(key, value, meta))?.is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn show_lengths(&mut self, keys: &[OwnedKey], visit: &mut Visitor<'_>) -> Result<bool> {
        for (key, length) in keys.iter().zip(self.lengths(keys)?) {
            let key = key.as_key();
            let is_known = length > 0 && self.batched_change(key).is_none();
            let length = if is_known { Some(length.unsigned_abs()) } else { self.length(key)? };
            let Some(length) = length else { continue };
            if visit(Item::new(key, &[], None).with_length(length))?.is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
