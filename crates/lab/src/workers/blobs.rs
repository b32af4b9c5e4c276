//! Workers on values.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use host::RunClock;
use model::{
    Access, BackgroundWork, Blobs, Error, KeyKind, Mode, OpenOptions, Result, Settings, Store,
    WORKER, Workload,
};
use serde::{Deserialize, Serialize};

use super::{Worker, Workers, threads};
use crate::{
    Stop,
    dataset::{Dataset, Pool, checksum},
    store::ReadyStore,
    workload::{
        Pass, PassInput, PassOutcome, Timing, WorkerReport, drawn, during, index,
        interleaved::{Opener, WarmUp, epoch, with_lanes},
        turns::{LaneDone, Turns},
    },
};

/// Opens a session of `store` for each worker of this process, and lets `work` have them make
/// passes.
pub(crate) fn with<T>(
    input: &PassInput<'_>,
    store: &dyn Store,
    work: impl FnOnce(&mut Workers<'_, Pass, WorkerReport<PassOutcome>>) -> Result<T>,
) -> Result<T> {
    let open = |number| {
        let (mut buffer, mut session) = (input.buffer(), store.session()?);
        let clock = RunClock::of_this_thread();
        let worker: Worker<'_, _, _> = Box::new(move |pass: Pass, start_ns| {
            input.run(&pass, number, start_ns, &mut *session, &mut buffer, &clock)
        });
        Ok(worker)
    };
    threads::with(input.workers(), open, |workers| {
        work(&mut |pass, start_ns| {
            if pass.timing == Timing::None {
                return workers(pass, start_ns);
            }
            with_background(store, |of| &mut of.background, || workers(pass, start_ns))
        })
    })
}

/// Runs a pass of all workers on `store`, the first of which reports its background work.
pub(super) fn with_background<O>(
    store: &dyn Store,
    background_of: fn(&mut O) -> &mut Vec<BackgroundWork>,
    pass: impl FnOnce() -> Result<Vec<WorkerReport<O>>>,
) -> Result<Vec<WorkerReport<O>>> {
    let (done, background) = during(store, pass);
    let mut done = done?;
    if let Some(first) = done.first_mut() {
        background_of(&mut first.outcome).extend(background);
    }
    Ok(done)
}

/// A request to another process to open a store.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoreRequest {
    engine: String,
    /// Not a path, which JSON could not hold whatever its bytes.
    location: OsString,
    /// Whether the location is a path, which a worker on another host must see as well.
    path: bool,
    settings: Settings,
    write: bool,
    keys: KeyKind,
}

impl StoreRequest {
    pub(crate) fn new(ready: &ReadyStore) -> Self {
        let mut settings = ready.options.settings.clone();
        settings.0.remove(WORKER);
        settings.0.extend(ready.engine.worker_settings(&ready.path, ready.options.keys).0);
        let path = !ready.engine.capabilities().remote && ready.path.exists();
        // Another host starts its worker in another folder.
        let location = std::path::absolute(&ready.path).ok().filter(|_| path);
        Self {
            engine: ready.engine.full_name(),
            location: location.unwrap_or_else(|| ready.path.clone()).into_os_string(),
            path,
            settings,
            write: ready.options.access == Access::Write,
            keys: ready.options.keys,
        }
    }

    /// Reads the first, the middle and the last value of `dataset`, as it was filled, next to the
    /// process that asks.
    pub(super) fn try_reads(&self, find: Find, dataset: &Dataset) -> Result<()> {
        let path = Path::new(&self.location);
        if self.path && !path.exists() {
            return Err(Error::usage(format!("{} does not exist there", path.display())));
        }
        let store = self.open(find, Blobs::join)?;
        let mut session = store.session()?;
        let (entries, mut buffer) = (dataset.entries(), Vec::new());
        session.begin(Mode::Read)?;
        for entry in [entries.first(), entries.get(entries.len() / 2), entries.last()] {
            let Some(entry) = entry else { continue };
            buffer.resize(entry.size as usize, 0);
            let key = dataset.key(entry);
            let read = session.get(key, &mut buffer)?;
            // A value that was not read yet has no checksum.
            let sum = checksum(&buffer);
            let same = read == Some(buffer.len()) && [sum, 0].contains(&entry.check);
            if !same {
                return Err(Error::usage(format!(
                    "the value of key {key} is another one there, or missing"
                )));
            }
        }
        session.commit()?;
        drop(session);
        store.close()
    }

    /// Opens it by `how`: alone, or next to the process that asks.
    pub(super) fn open(&self, find: Find, how: How) -> Result<Box<dyn Store>> {
        let access = if self.write { Access::Write } else { Access::Read };
        let options = OpenOptions { settings: self.settings.clone(), access, keys: self.keys };
        how(find(&self.engine)?, Path::new(&self.location), &options)
    }
}

/// A store that a worker opens for the calls that follow.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoreJob {
    pub(crate) store: StoreRequest,
    /// Whether it is created.
    pub(crate) create: bool,
}

/// A function that finds an engine by its name.
pub(super) type Find = fn(&str) -> Result<&'static dyn Blobs>;
pub(super) type How = fn(&'static dyn Blobs, &Path, &OpenOptions) -> Result<Box<dyn Store>>;

/// A trial of another process.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct BlobRequest {
    pub(crate) process: u32,
    pub(crate) store: StoreRequest,
    pub(crate) workload: Workload,
    /// The seed from which operations are drawn, if they are.
    pub(crate) seed: u64,
}

impl BlobRequest {
    /// Opens the store next to the process that asks, and lets `work` have the workers make passes.
    pub(super) fn with(
        &self,
        find: Find,
        (dataset, pool): &(Dataset, Pool),
        stop: &Stop,
        work: impl FnOnce(&mut Workers<'_, Pass, WorkerReport<PassOutcome>>) -> Result<()>,
    ) -> Result<()> {
        let store = self.store.open(find, Blobs::join)?;
        let ops = drawn(&self.workload, dataset, self.seed)?;
        let mut input = PassInput::new(self.workload, dataset, pool, ops, stop)?;
        input.process = self.process;
        with(&input, &*store, work)?;
        store.close()
    }
}

/// An epoch: several stores, which this process alone opens and reads in turns.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct EpochRequest {
    pub(crate) stores: Vec<StoreRequest>,
    /// The warm-up of each store before its reads count.
    pub(crate) warm_ups: Vec<WarmUp>,
    pub(crate) workload: Workload,
    /// The seed from which operations are drawn, if they are.
    pub(crate) seed: u64,
    /// The turns, for a worker that has one store of several.
    pub(crate) turns: Option<Turns>,
}

/// A turn of a store whose turns another process hands over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum LaneTurn {
    /// Opens the store and makes its first pass.
    Open,
    /// Makes the slice of this number.
    Slice(u64),
    /// Closes its session, and returns what came of its reads.
    Finish,
}

/// The result of each store, or why it failed.
pub(crate) type EpochDone = std::result::Result<LaneDone, String>;

/// The stores of an epoch in a worker process.
struct WorkerStores<'a> {
    stores: &'a [StoreRequest],
    find: Find,
}

impl Opener for WorkerStores<'_> {
    fn open(&self, store: usize) -> Result<Box<dyn Store>> {
        self.stores[store].open(self.find, Blobs::open)
    }

    fn files(&self, store: usize) -> Vec<PathBuf> {
        let StoreRequest { engine, location, .. } = &self.stores[store];
        (self.find)(engine).map(|engine| engine.files(Path::new(location))).unwrap_or_default()
    }
}

impl EpochRequest {
    /// Lets `work` have a worker that makes epochs.
    pub(super) fn with(
        &self,
        find: Find,
        (dataset, pool): &(Dataset, Pool),
        stop: &Stop,
        work: impl FnOnce(&mut Workers<'_, Turns, EpochDone>) -> Result<()>,
    ) -> Result<()> {
        let ops = drawn(&self.workload, dataset, self.seed)?;
        let input = PassInput::new(self.workload, dataset, pool, ops, stop)?;
        let opener = WorkerStores { stores: &self.stores, find };
        work(&mut |turns, _| {
            let done = epoch(&input, turns, &self.warm_ups, &opener);
            Ok(done.into_iter().map(|done| done.map_err(|error| error.to_string())).collect())
        })
    }

    /// Lets `work` have a worker that reads its one store when it is its turn.
    pub(super) fn with_lane(
        &self,
        find: Find,
        (dataset, pool): &(Dataset, Pool),
        stop: &Stop,
        work: impl FnOnce(&mut Workers<'_, LaneTurn, Option<LaneDone>>) -> Result<()>,
    ) -> Result<()> {
        let ops = drawn(&self.workload, dataset, self.seed)?;
        let input = PassInput::new(self.workload, dataset, pool, ops, stop)?;
        let opener = WorkerStores { stores: &self.stores, find };
        let turns = self.turns.ok_or_else(|| Error::failed("has no turns"))?;
        let (done, closed) = with_lanes(&input, turns, &self.warm_ups, &opener, |lane| {
            work(&mut |turn, _| {
                let done = match turn {
                    LaneTurn::Open => {
                        lane.open(0)?;
                        lane.start();
                        None
                    }
                    LaneTurn::Slice(slice) => lane.slice(0, index(slice)).map(|()| None)?,
                    LaneTurn::Finish => Some(lane.finish(0)?),
                };
                Ok(vec![done])
            })
        });
        closed.into_iter().collect::<Result<()>>().and(done)
    }
}
