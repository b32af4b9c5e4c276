//! The calls of a store, carried out in the worker that has it open.

use std::{collections::BTreeMap, io::Write, ops::ControlFlow};

use model::{Blobs, Error, Item, OwnedKey, Result, Scan, Session, Store, Visitor};

use super::call::{Bytes, PassesJob, SentItem, SentPut, StoreCall, StoreReply};
use crate::{
    Stop,
    dataset::{Dataset, Pool},
    workers::{
        blobs::{self, Find, StoreJob},
        client::{Client, unexpected},
        message::{Reply, WorkerRequest},
    },
    workload::{PassInput, drawn},
};

/// Opens the store of `job`, and carries out calls until it is to be closed.
pub(in crate::workers) fn serve<W: Write>(
    job: &StoreJob,
    find: Find,
    client: &mut Client<W>,
    stop: &Stop,
) -> Result<()> {
    let store = job.store.open(find, if job.create { Blobs::create } else { Blobs::open })?;
    client.acknowledge()?;
    let mut calls = Calls { store: &*store, sessions: BTreeMap::new(), client, stop };
    calls.serve()?;
    drop(calls);
    store.close()
}

/// An open store, and the sessions that the caller has on it.
struct Calls<'a, 'c, W> {
    store: &'a dyn Store,
    sessions: BTreeMap<u32, Box<dyn Session + 'a>>,
    client: &'c mut Client<W>,
    stop: &'a Stop,
}

/// The bytes of items after which they are sent.
const BATCH: usize = 1 << 18;

impl<W: Write> Calls<'_, '_, W> {
    fn serve(&mut self) -> Result<()> {
        loop {
            match self.client.request()? {
                WorkerRequest::Pass { pass: StoreCall::Passes(job), .. } => {
                    let done = self.passes(&job).map(|()| StoreReply::Done);
                    self.reply(done)?;
                }
                WorkerRequest::Pass { pass, .. } => self.answer(pass)?,
                WorkerRequest::Close => return Ok(()),
                _ => return Err(unexpected()),
            }
        }
    }

    fn reply(&mut self, done: Result<StoreReply>) -> Result<()> {
        self.client.reply(&match done {
            Ok(reply) => Reply::Done(vec![reply]),
            Err(error) => Reply::Failed((&error).into()),
        })
    }

    fn answer(&mut self, call: StoreCall) -> Result<()> {
        let done = self.carry_out(call);
        self.reply(done)
    }

    /// Makes passes, between which there may be other calls.
    fn passes(&mut self, job: &PassesJob) -> Result<()> {
        let dataset = Dataset::receive(job.metadata, &mut &*job.entries.0);
        let dataset = dataset.map_err(|e| Error::io("the dataset", e))?;
        let (pool, ops) = (Pool::from(job.pool), drawn(&job.workload, &dataset, job.seed)?);
        let input = PassInput::new(job.workload, &dataset, &pool, ops, self.stop)?;
        let store = self.store;
        blobs::with(&input, store, |workers| {
            self.reply(Ok(StoreReply::Done))?;
            loop {
                match self.client.request()? {
                    WorkerRequest::Pass { pass: StoreCall::Pass { pass, start_ns }, .. } => {
                        let done = self.client.measured(|| workers(pass, start_ns))?;
                        self.reply(Ok(StoreReply::Passed(done)))?;
                    }
                    WorkerRequest::Pass { pass: StoreCall::EndPasses, .. } => return Ok(()),
                    WorkerRequest::Pass { pass, .. } => self.answer(pass)?,
                    _ => return Err(unexpected()),
                }
            }
        })
    }

    fn carry_out(&mut self, call: StoreCall) -> Result<StoreReply> {
        use StoreReply::{Done, Flag};

        Ok(match call {
            StoreCall::Keys => StoreReply::Keys(self.store.keys()),
            StoreCall::InEffect => {
                let (settings, class) = self.store.in_effect()?;
                StoreReply::InEffect(settings, class)
            }
            StoreCall::Flush => self.flush_writes().map(|()| Done)?,
            StoreCall::Integrity => StoreReply::Complaints(self.store.integrity()?),
            StoreCall::Unlocked => self.store.check_unlocked().map(|()| Done)?,
            StoreCall::Table => StoreReply::Table(self.store.table()?),
            StoreCall::Arrangement => StoreReply::Arrangement(self.store.arrangement()?),
            StoreCall::Session(number) => {
                self.sessions.insert(number, self.store.session()?);
                Done
            }
            StoreCall::End(number) => {
                self.sessions.remove(&number);
                Done
            }
            StoreCall::Get { session, key, room } => {
                let room = usize::try_from(room).unwrap_or(usize::MAX);
                StoreReply::Value(get(self.session(session)?, &key, room)?)
            }
            StoreCall::Length { session, key } => {
                StoreReply::Length(self.session(session)?.length(key.as_key())?)
            }
            StoreCall::Put { session, put: (key, value, put) } => {
                Flag(self.session(session)?.put(key.as_key(), &value.0, &put)?)
            }
            StoreCall::PutEach { session, puts } => {
                put_each(self.session(session)?, &puts).map(|()| Done)?
            }
            StoreCall::Delete { session, key } => {
                Flag(self.session(session)?.delete(key.as_key())?)
            }
            StoreCall::Begin { session, mode } => {
                self.session(session)?.begin(mode).map(|()| Done)?
            }
            StoreCall::RollBack { session } => {
                self.session(session)?.roll_back();
                Done
            }
            StoreCall::Commit { session } => self.session(session)?.commit().map(|()| Done)?,
            StoreCall::Scan { session, from, limit, values } => {
                let from = from.as_ref().map(OwnedKey::as_key);
                self.show(session, |session, visit| {
                    session.scan(Scan { from, limit, values, ..Scan::ALL }, visit)
                })?
            }
            StoreCall::Visit { session, keys } => {
                self.show(session, |session, visit| session.visit_each(&keys, visit))?
            }
            StoreCall::Passes(_) | StoreCall::Pass { .. } | StoreCall::EndPasses => {
                return Err(unexpected());
            }
        })
    }

    fn flush_writes(&mut self) -> Result<()> {
        let store = self.store;
        self.client.measured(|| store.flush_writes())
    }

    fn session(&mut self, number: u32) -> Result<&mut (dyn Session + '_)> {
        match self.sessions.get_mut(&number) {
            Some(session) => Ok(&mut **session),
            None => Err(unexpected()),
        }
    }

    /// Sends the items that `scan` shows to its visitor.
    fn show(
        &mut self,
        session: u32,
        scan: impl FnOnce(&mut dyn Session, &mut Visitor<'_>) -> Result<()>,
    ) -> Result<StoreReply> {
        let Self { sessions, client, .. } = self;
        let session = sessions.get_mut(&session).ok_or_else(unexpected)?;
        let (mut items, mut bytes) = (Vec::new(), 0);
        let mut send = |items: &mut Vec<SentItem>| {
            client.reply(&Reply::Done(vec![StoreReply::Items(std::mem::take(items))]))
        };
        scan(&mut **session, &mut |item| {
            bytes += item.value.len() + ITEM;
            items.push(SentItem::from(item));
            if bytes >= BATCH {
                bytes = 0;
                send(&mut items)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        send(&mut items)?;
        Ok(StoreReply::Done)
    }
}

/// Reads a value. Returns its length, and the value itself if it is not longer than `room`.
fn get(session: &mut dyn Session, key: &OwnedKey, room: usize) -> Result<Option<(u64, Bytes)>> {
    let mut value = vec![0; room];
    let length = session.get(key.as_key(), &mut value)?;
    Ok(length.map(|length| {
        value.truncate(if length > room { 0 } else { length });
        (length as u64, Bytes(value))
    }))
}

/// Puts values, and fails at the first that is forbidden.
fn put_each(session: &mut dyn Session, puts: &[SentPut]) -> Result<()> {
    for (key, value, put) in puts {
        let key = key.as_key();
        if !session.put(key, &value.0, put)? {
            return Err(Error::corrupt(format!("key {key} cannot be put")));
        }
    }
    Ok(())
}

/// Bytes that an item takes besides its value, about.
const ITEM: usize = 100;

impl From<Item<'_>> for SentItem {
    fn from(item: Item<'_>) -> Self {
        let Item { key, value, length, meta, value_type } = item;
        Self { key: key.into(), value: Bytes(value.to_vec()), length, meta, value_type }
    }
}
