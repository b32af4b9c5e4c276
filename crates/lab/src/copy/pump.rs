//! Moves all items: one thread reads the source, others write the destination. A large value is written by
//! the thread that reads it: in parts, if both stores have them, or else so that memory has it once.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    ops::ControlFlow,
    sync::{
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

use model::{
    Entry, EntryKind, Error, ErrorKind, How, Item, Key, Mode, OwnedKey, Parts, Put, Result, Scan,
    Session, Store, Visit,
};

use super::{Copied, Copier, inventory::Inventory, value_room::LARGE};

/// The bytes after which a batch is committed: the most that a killed copy loses.
const BATCH_BYTES: usize = 32 << 20;

/// The items after which a batch is committed.
const BATCH_ITEMS: usize = 4096;

/// The number of threads that compare what an interrupted copy has copied.
const COMPARERS: usize = 8;

/// The number of parcels that wait for each writer.
const WAITING: usize = 2;

impl Copier<'_> {
    /// Moves what `inventory` does not have, and removes what only it has. If interrupted,
    /// everything that was written is committed.
    pub(super) fn move_all(
        &self,
        to: &dyn Store,
        inventory: Inventory,
        writers: usize,
    ) -> Result<Copied> {
        let (done, same) = (AtomicU64::new(0), AtomicU64::new(0));
        let (spare, spares) = channel();
        let (read, written) = thread::scope(|scope| {
            let (writers, threads): (Vec<_>, Vec<_>) = (0..writers)
                .map(|_| {
                    let (sender, parcels) = sync_channel(WAITING);
                    let (spare, done, same) = (spare.clone(), &done, &same);
                    (sender, scope.spawn(move || self.write(to, &parcels, &spare, [done, same])))
                })
                .unzip();
            let (parcel, copied) = (Parcel::default(), Copied::default());
            let plain_modes = self.job.to.engine.capabilities().paths;
            let reader = Reader {
                copier: self,
                to,
                own: None,
                writers,
                turn: 0,
                spares,
                parcel,
                inventory,
                copied,
                plain_modes,
                done: &done,
            };
            let read = self.read(reader, to);
            (read, threads.into_iter().map(crate::join).collect::<Vec<_>>())
        });
        // A writer that failed also ends the reading: its error is the cause.
        let failed = |end: &Result<()>| end.as_ref().is_err_and(|error| !error.is_stopped());
        written.into_iter().find(failed).transpose()?;
        let (mut copied, inventory) = read?;
        copied.resumed += same.into_inner();
        self.stop.check()?;
        if self.job.to.engine.capabilities().remote {
            // What is there besides is the user's.
            return Ok(copied);
        }
        let mut session = to.session()?;
        session.begin(Mode::Write)?;
        for key in inventory.extra() {
            session.delete(key.as_key())?;
        }
        session.commit()?;
        Ok(copied)
    }

    fn read(&self, mut reader: Reader<'_>, to: &dyn Store) -> Result<(Copied, Inventory)> {
        let has_own_names = self.job.key_suffix.is_none();
        if self.job.resume
            && has_own_names
            && self.job.from.is_charged()
            && !self.job.to.is_charged()
        {
            return self.read_missing(reader, to);
        }
        let longest = if self.in_parts(to) { LARGE } else { u64::MAX };
        self.source.session()?.scan(Scan { longest, ..Scan::ALL }, &mut |item| {
            self.stop.check()?;
            reader.take(&item)
        })?;
        // A failed writer returns its own error.
        let _ = reader.send();
        Ok((reader.copied, reader.inventory))
    }

    /// Reads only the values that an interrupted copy did not copy, because each read is charged for.
    fn read_missing(&self, mut reader: Reader<'_>, to: &dyn Store) -> Result<(Copied, Inventory)> {
        let (mut wanted, mut there) = (Vec::new(), Vec::new());
        let mut source = self.source.session()?;
        source.scan(Scan::LENGTHS, &mut |item| {
            self.stop.check()?;
            let key = (OwnedKey::from(item.key), item.length);
            if reader.inventory.has(item.key) {
                there.push(key.clone());
            }
            wanted.push(key);
            Ok(ControlFlow::Continue(()))
        })?;
        let same = self.same(&there, to)?;
        reader.copied.count += same.len() as u64;
        reader.copied.resumed = same.len() as u64;
        reader.copied.bytes += same.values().sum::<u64>();
        wanted.retain(|(key, _)| !same.contains_key(key));
        source.visit_each(&wanted, &mut |item| {
            self.stop.check()?;
            reader.take_as(&item, Some(How::Upsert))
        })?;
        let _ = reader.send();
        Ok((reader.copied, reader.inventory))
    }

    /// Returns the keys among those of both stores, with the lengths of their values, that `to` has with
    /// the same value as the source.
    fn same(&self, shared: &[(OwnedKey, u64)], to: &dyn Store) -> Result<BTreeMap<OwnedKey, u64>> {
        let compare = |part: &[(OwnedKey, u64)]| -> Result<Vec<(OwnedKey, u64)>> {
            let (mut source, mut copy) = (self.source.session()?, to.session()?);
            let (mut value, mut same) = (Vec::new(), Vec::new());
            for (key, length) in part {
                self.stop.check()?;
                value.resize(usize::try_from(*length).unwrap_or(usize::MAX), 0);
                let found = copy.get(key.as_key(), &mut value)?;
                let item = Item::new(key.as_key(), &value, None);
                if found == Some(value.len()) && source.has_value(&item)? == Some(true) {
                    same.push((key.clone(), *length));
                }
            }
            Ok(same)
        };
        let parts = shared.chunks(shared.len().div_ceil(COMPARERS).max(1));
        thread::scope(|scope| {
            let threads: Vec<_> = parts.map(|part| scope.spawn(move || compare(part))).collect();
            let found: Result<Vec<_>> = threads.into_iter().map(crate::join).collect();
            Ok(found?.into_iter().flatten().collect())
        })
    }

    /// Returns whether long values are copied in parts, so that memory has none as a whole. A copy that is
    /// continued, or replaces values at a service, compares them as a whole.
    pub(super) fn in_parts(&self, to: &dyn Store) -> bool {
        let compares = self.job.resume || self.job.to.is_charged();
        !compares && self.source.has_parts() && to.has_parts()
    }

    /// Writes a value in parts, which a second session reads.
    fn put_parts(&self, session: &mut dyn Session, item: &Item<'_>, put: &Put) -> Result<()> {
        let (mut source, mut failed) = (self.source.session()?, None);
        let mut parts = |to: &mut dyn Write| {
            source.read_parts(item.key, to).map_err(|error| {
                failed = Some(error);
                io::Error::other("the source cannot be read")
            })
        };
        let parts = Parts { length: item.length, write: &mut parts };
        let is_new = session.put_parts(item.key, parts, put);
        self.note_put(&is_new);
        match (failed, is_new) {
            (Some(error), _) => Err(error),
            (None, Ok(false)) => Err(taken(item.key)),
            (None, is_new) => is_new.map(drop),
        }
    }

    /// Writes a value. Returns `false` if it was there.
    fn put(&self, session: &mut dyn Session, item: &Item<'_>, put: &Put) -> Result<bool> {
        if put.how == How::Upsert && self.job.to.is_charged() {
            if has(session, item)? {
                return Ok(false);
            }
            if !self.job.force {
                let what = format!("{}: another value is there; --force replaces it", item.key);
                return Err(Error::new(ErrorKind::Exists, what));
            }
        }
        let is_new = session.put(item.key, item.value, put);
        self.note_put(&is_new);
        if is_new? { Ok(true) } else { Err(taken(item.key)) }
    }

    /// Notes that a value is there from now on, if it is.
    fn note_put(&self, put: &Result<bool>) {
        if matches!(put, Ok(true)) && !self.has_put.load(Relaxed) {
            self.has_put.store(true, Relaxed);
        }
    }

    /// Writes what arrives until the reader ends. After a failure the uncommitted batch is lost.
    fn write(
        &self,
        to: &dyn Store,
        parcels: &Receiver<Parcel>,
        spare: &Sender<Parcel>,
        [done, same]: [&AtomicU64; 2],
    ) -> Result<()> {
        let mut session = to.session()?;
        // Since the last commit.
        let (mut items, mut bytes, mut in_batch) = (0, 0, false);
        for mut parcel in parcels {
            if !in_batch {
                session.begin(Mode::Write)?;
                in_batch = true;
            }
            let mut written = 0;
            for (key, value, put) in parcel.items().take_while(|_| self.stop.check().is_ok()) {
                let item = Item { meta: put.meta, ..Item::new(key, value, None) };
                if !self.put(&mut *session, &item, put)? {
                    same.fetch_add(1, Relaxed);
                }
                (items, bytes, written) = (items + 1, bytes + value.len(), written + 1);
                if items >= BATCH_ITEMS || bytes >= BATCH_BYTES {
                    session.commit()?;
                    session.begin(Mode::Write)?;
                    (items, bytes) = (0, 0);
                }
            }
            self.progress.advance_to(done.fetch_add(written, Relaxed) + written);
            if let Some(committed) = parcel.committed.take() {
                session.commit()?;
                (items, bytes, in_batch) = (0, 0, false);
                // The reader may have failed.
                let _ = committed.send(());
            }
            // Once the reader has read everything, nobody waits for spares.
            let _ = spare.send(parcel.emptied());
        }
        if in_batch { session.commit() } else { Ok(()) }
    }
}

/// Returns whether a store has a value: without reading it, if it can.
fn has(session: &mut dyn Session, item: &Item<'_>) -> Result<bool> {
    if let Some(has) = session.has_value(item)? {
        return Ok(has);
    }
    let mut value = vec![0; item.value.len()];
    Ok(session.get(item.key, &mut value)? == Some(value.len()) && value == item.value)
}

/// Returns the error for a key that exists already: on a file system that folds case, two names may
/// be one file.
fn taken(key: Key<'_>) -> Error {
    Error::new(
        ErrorKind::Exists,
        format!("{key}: another key has taken its place; do two names differ in case only?"),
    )
}

/// The reader of the source, which packs the items to be written and hands them to the writers in
/// turn.
struct Reader<'a> {
    copier: &'a Copier<'a>,
    to: &'a dyn Store,
    /// The session that writes large values; `None` until there is one.
    own: Option<Box<dyn Session + 'a>>,
    writers: Vec<SyncSender<Parcel>>,
    turn: usize,
    spares: Receiver<Parcel>,
    parcel: Parcel,
    inventory: Inventory,
    copied: Copied,
    /// Whether the destination keeps only the bits of a mode that allow reading, writing and
    /// executing.
    plain_modes: bool,
    done: &'a AtomicU64,
}

/// The bits of a mode that run a file as another user, or keep it in its folder.
const SPECIAL: u32 = 0o7000;

impl Reader<'_> {
    /// Takes up an item; returns `Break` if a writer has failed.
    fn take(&mut self, item: &Item<'_>) -> Visit {
        let how = self.inventory.how(item);
        self.take_as(item, how)
    }

    /// Takes up an item that is to be written in this way, or that is there already.
    fn take_as(&mut self, item: &Item<'_>, how: Option<How>) -> Visit {
        self.copied.count += 1;
        self.copied.bytes += item.length;
        if self.plain_modes && item.meta.is_some_and(|meta| meta.mode & SPECIAL != 0) {
            let name = match item.key {
                Key::Name(name) => name.to_vec(),
                Key::Int(number) => number.to_string().into_bytes(),
            };
            let kind = EntryKind::SpecialBits;
            self.copied.left_out.push(Entry { name, kind, content: Vec::new() });
        }
        match how {
            Some(how) if item.length > LARGE => return self.write(item, how),
            Some(how) => self.parcel.add(item, how),
            None => {
                self.copied.resumed += 1;
                self.done.fetch_add(1, Relaxed);
            }
        }
        Ok(if self.parcel.is_full() { self.send() } else { ControlFlow::Continue(()) })
    }

    /// Writes an item itself, once the writers have committed what they got: an engine may have one writing
    /// transaction at a time.
    fn write(&mut self, item: &Item<'_>, how: How) -> Visit {
        if self.send().is_break() || !self.wait_for_commits() {
            return Ok(ControlFlow::Break(()));
        }
        let session = match &mut self.own {
            Some(session) => session,
            none => none.insert(self.to.session()?),
        };
        let put = Put { how, meta: item.meta, value_type: item.value_type };
        if (item.value.len() as u64) < item.length {
            self.copier.put_parts(&mut **session, item, &put)?;
        } else if !self.copier.put(&mut **session, item, &put)? {
            self.copied.resumed += 1;
        }
        self.copier.progress.advance_to(self.done.fetch_add(1, Relaxed) + 1);
        Ok(ControlFlow::Continue(()))
    }

    /// Waits until all writers have committed; returns `false` if one has failed.
    fn wait_for_commits(&self) -> bool {
        let (committed, commits) = channel();
        let ask = |writer: &SyncSender<Parcel>| {
            let parcel = Parcel { committed: Some(committed.clone()), ..Parcel::default() };
            writer.send(parcel).is_ok()
        };
        let asked = self.writers.iter().all(ask);
        // A writer that fails drops its part of the channel.
        drop(committed);
        asked && commits.iter().count() == self.writers.len()
    }

    fn send(&mut self) -> ControlFlow<()> {
        let next = self.spares.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.parcel, next);
        let writer = self.turn % self.writers.len();
        self.turn += 1;
        match self.writers[writer].send(full) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

/// The bytes after which a parcel is sent: few enough to stay in the processor's cache on the way,
/// enough that the handover costs nothing in comparison.
const BYTES: usize = 1 << 20;

/// The items after which a parcel is sent, however small they are.
const ITEMS: usize = 1024;

/// The largest buffer that is reused: a large value makes it grow.
const KEEP: usize = 4 * BYTES;

/// A parcel of items in key order, all in one buffer.
#[derive(Default)]
struct Parcel {
    items: Vec<Packed>,
    bytes: Vec<u8>,
    /// Hears of the commit that the writer makes after the parcel; `None` if it goes on with its batch.
    committed: Option<Sender<()>>,
}

struct Packed {
    /// The key; `None` for a name, which is before the value.
    key: Option<i64>,
    start: usize,
    value: usize,
    end: usize,
    put: Put,
}

impl Parcel {
    fn add(&mut self, item: &Item<'_>, how: How) {
        let start = self.bytes.len();
        let key = match item.key {
            Key::Int(key) => Some(key),
            Key::Name(name) => {
                self.bytes.extend_from_slice(name);
                None
            }
        };
        let value = self.bytes.len();
        self.bytes.extend_from_slice(item.value);
        let (end, put) =
            (self.bytes.len(), Put { how, meta: item.meta, value_type: item.value_type });
        self.items.push(Packed { key, start, value, end, put });
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= BYTES || self.items.len() >= ITEMS
    }

    fn items(&self) -> impl Iterator<Item = (Key<'_>, &[u8], &Put)> {
        self.items.iter().map(|Packed { key, start, value, end, put }| {
            let name = Key::Name(&self.bytes[*start..*value]);
            (key.map_or(name, Key::Int), &self.bytes[*value..*end], put)
        })
    }

    /// Returns the parcel without its items, to be filled again.
    fn emptied(mut self) -> Self {
        if self.bytes.capacity() > KEEP {
            return Self::default();
        }
        self.items.clear();
        self.bytes.clear();
        self
    }
}
