//! Moves all items: one thread reads the source, others write the destination.

use std::{
    ops::ControlFlow,
    sync::{
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

use model::{Error, ErrorKind, Item, Mode, Result, Scan, Session, Store};

use super::{Copied, inventory::Inventory, parcel::Parcel};
use crate::{Progress, Stop};

/// A batch is committed when it has so many bytes: what a killed copy loses at most.
const BATCH_BYTES: usize = 32 << 20;

/// … or so many items.
const BATCH_ITEMS: usize = 4096;

/// Parcels that wait for each writer.
const WAITING: usize = 2;

/// What was moved.
#[derive(Default)]
pub(super) struct Moved {
    count: u64,
    bytes: u64,
    same: u64,
}

impl Moved {
    pub(super) fn copied(&self) -> Copied {
        Copied { count: self.count, bytes: self.bytes, resumed: self.same }
    }
}

/// Two open stores.
pub(super) struct Pump<'a> {
    pub(super) from: &'a dyn Store,
    pub(super) to: &'a dyn Store,
    pub(super) progress: &'a dyn Progress,
    pub(super) stop: &'a Stop,
}

impl Pump<'_> {
    /// Moves what `inventory` does not have, and removes what only it has. When interrupted, all
    /// that was written is committed.
    pub(super) fn run(&self, inventory: Inventory, writers: usize) -> Result<Moved> {
        let done = AtomicU64::new(0);
        let (spare, spares) = channel();
        let (read, written) = thread::scope(|scope| {
            let (senders, threads): (Vec<_>, Vec<_>) = (0..writers)
                .map(|_| {
                    let (sender, parcels) = sync_channel(WAITING);
                    let spare = spare.clone();
                    let done = &done;
                    (sender, scope.spawn(move || self.write(&parcels, &spare, done)))
                })
                .unzip();
            let reader = Reader::new(senders, spares, inventory, &done);
            let read = self.read(reader);
            let written = threads.into_iter().map(join).collect::<Vec<_>>();
            (read, written)
        });
        // A writer that failed also ends the reading: its error is the cause.
        written.into_iter().find(failed).transpose()?;
        let (moved, inventory) = read?;
        self.stop.check()?;
        self.remove_extra(&inventory)?;
        Ok(moved)
    }

    fn read(&self, mut reader: Reader<'_>) -> Result<(Moved, Inventory)> {
        self.from.session()?.scan(Scan::ALL, &mut |item| {
            self.stop.check()?;
            Ok(reader.take(&item))
        })?;
        Ok(reader.end())
    }

    /// Writes what arrives until the reader ends. After a failure the uncommitted batch is lost.
    fn write(
        &self,
        parcels: &Receiver<Parcel>,
        spare: &Sender<Parcel>,
        done: &AtomicU64,
    ) -> Result<()> {
        let mut session = self.to.session()?;
        let mut batch = Batch::default();
        session.begin(Mode::Write)?;
        for parcel in parcels {
            let mut written = 0;
            for (key, value, put) in parcel.items().take_while(|_| !self.stop.is_set()) {
                if !session.put(key, value, put)? {
                    return Err(taken(key));
                }
                batch.add(value.len(), &mut *session)?;
                written += 1;
            }
            self.progress.done(done.fetch_add(written, Relaxed) + written);
            // Once the reader has read everything, nobody waits for spares.
            let _ = spare.send(parcel.emptied());
        }
        session.commit()
    }

    fn remove_extra(&self, inventory: &Inventory) -> Result<()> {
        let mut session = self.to.session()?;
        session.begin(Mode::Write)?;
        for key in inventory.extra() {
            session.delete(key)?;
        }
        session.commit()
    }
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn failed(end: &Result<()>) -> bool {
    end.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted)
}

/// On a file system that folds case, two names may be one file.
fn taken(key: model::Key<'_>) -> Error {
    Error::new(
        ErrorKind::Exists,
        format!("{key}: another key has taken its place; do two names differ in case only?"),
    )
}

/// What was written since the last commit.
#[derive(Default)]
struct Batch {
    items: usize,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, bytes: usize, session: &mut dyn Session) -> Result<()> {
        self.items += 1;
        self.bytes += bytes;
        if self.items >= BATCH_ITEMS || self.bytes >= BATCH_BYTES {
            session.commit()?;
            session.begin(Mode::Write)?;
            *self = Self::default();
        }
        Ok(())
    }
}

/// Packs what has to be written and hands it to the writers in turn.
struct Reader<'a> {
    writers: Vec<SyncSender<Parcel>>,
    turn: usize,
    spares: Receiver<Parcel>,
    parcel: Parcel,
    inventory: Inventory,
    moved: Moved,
    done: &'a AtomicU64,
}

impl<'a> Reader<'a> {
    fn new(
        writers: Vec<SyncSender<Parcel>>,
        spares: Receiver<Parcel>,
        inventory: Inventory,
        done: &'a AtomicU64,
    ) -> Self {
        let (parcel, moved) = (Parcel::default(), Moved::default());
        Self { writers, turn: 0, spares, parcel, inventory, moved, done }
    }

    /// `Break`: a writer has failed.
    fn take(&mut self, item: &Item<'_>) -> ControlFlow<()> {
        self.moved.count += 1;
        self.moved.bytes += item.value.len() as u64;
        match self.inventory.how(item) {
            None => {
                self.done.fetch_add(1, Relaxed);
            }
            Some(how) => self.parcel.add(item, how),
        }
        if self.parcel.is_full() { self.send() } else { ControlFlow::Continue(()) }
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

    fn end(mut self) -> (Moved, Inventory) {
        if !self.parcel.is_empty() {
            // A failed writer returns its own error.
            let _ = self.send();
        }
        self.moved.same = self.inventory.same;
        (self.moved, self.inventory)
    }
}
