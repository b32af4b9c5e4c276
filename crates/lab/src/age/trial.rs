//! The life of one store: made, filled, read, and replaced until it is as old as it was to become.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use model::{
    Access, Cache, DatasetSummary, Error, FileBytes, Fragments, KeyKind, Measured, OpenOptions,
    Operation, Result, Sample, Server, StoreFacts, Work, Workload,
};

use super::life::Step;
use crate::{
    Progress, Stop, check, host,
    pass::Round,
    payload::Pool,
    ready::Ready,
    request::Requested,
    trial::{self, Place, Tried, nanoseconds},
};

/// What lives.
pub(super) struct Life<'a> {
    pub(super) target: &'a Requested,
    /// Index of the target.
    pub(super) index: usize,
    pub(super) round: u32,
    pub(super) position: u32,
    pub(super) options: OpenOptions,
    /// Of the plan.
    pub(super) workloads: &'a [Workload],
    pub(super) steps: &'a [Step],
    /// The states of the reads.
    pub(super) caches: &'a [Cache],
    pub(super) pool: &'a Pool,
    pub(super) progress: &'a dyn Progress,
    pub(super) stop: &'a Stop,
}

/// What a life tells as it goes by.
pub(super) enum Told {
    /// Once the store is filled.
    Facts(StoreFacts),
    Tried(Box<Tried>),
}

impl Life<'_> {
    /// Lives in `folder`, which is removed afterwards however it ends.
    pub(super) fn run(
        &self,
        folder: &Path,
        tell: &mut dyn FnMut(Told) -> Result<()>,
    ) -> Result<()> {
        let lived = self.made(folder).and_then(|ready| self.grow(&ready, tell));
        // A server's store is closed by now, whatever came of it.
        let removed = fs::remove_dir_all(folder);
        // What its removal leaves to the file system is not the next store's to pay.
        let removed = removed
            .map_err(|e| Error::io(folder.display(), e))
            .and_then(|()| host::sync(folder.parent().unwrap_or(Path::new("."))));
        lived.and(removed)
    }

    /// An empty store.
    fn made(&self, folder: &Path) -> Result<Ready> {
        let engine = self.target.engine;
        let mut ready = Ready::new(engine, folder.join(engine.name()), self.options.clone());
        let store = engine.create(&ready.path, &ready.options)?;
        if engine.capabilities().persistent {
            store.close()?;
        } else {
            ready.held = Some(store);
        }
        Ok(ready)
    }

    fn grow(&self, ready: &Ready, tell: &mut dyn FnMut(Told) -> Result<()>) -> Result<()> {
        for step in self.steps {
            let mut tried = self.write(step, ready)?;
            let checking = self.check(step, ready)?;
            let (files, fragments) = (files(ready)?, fragments(ready, step)?);
            tried.sample.measured = aged(tried.sample.measured, files, fragments);
            if step.age == 0 {
                tell(Told::Facts(self.facts(ready, step, &tried.sample, checking)?))?;
            }
            tell(Told::Tried(Box::new(tried)))?;
            let Some(index) = self.workload(step.age, Operation::Read) else { continue };
            let can = |cache: &&Cache| ready.held.is_none() || !cache.is_cold();
            for &cache in self.caches.iter().filter(can) {
                self.stop.check()?;
                let mut tried = self.pass(step, index, cache, ready)?;
                tried.sample.measured = aged(tried.sample.measured, None, None);
                tell(Told::Tried(Box::new(tried)))?;
            }
        }
        Ok(())
    }

    fn write(&self, step: &Step, ready: &Ready) -> Result<Tried> {
        let operation = if step.age == 0 { Operation::Insert } else { Operation::Update };
        let index = self.workload(step.age, operation).expect("a life writes what the plan says");
        self.pass(step, index, Cache::Warm, ready)
    }

    /// Index of a workload of the plan.
    fn workload(&self, age: u32, operation: Operation) -> Option<usize> {
        let work = Work::Ageing { operation, age };
        self.workloads.iter().position(|workload| workload.work == work)
    }

    fn pass(&self, step: &Step, index: usize, cache: Cache, ready: &Ready) -> Result<Tried> {
        let planned = self.workloads[index];
        let dataset = if planned.work.writes() { &step.writes } else { &step.live };
        let workload = Workload { count: dataset.entries().len() as u64, ..planned };
        let round = Round::new(&workload, dataset, self.pool, step.salt, self.stop)?;
        let place = Place {
            round: self.round,
            position: self.position,
            target: self.index,
            workload: index,
            cache,
            salt: step.salt,
        };
        trial::run(place, &round, ready, None)
            .map_err(|e| e.context(format!("{} at age {}", planned.work, step.age)))
    }

    /// Reads every live object back: what is not there as it was written ends the life.
    fn check(&self, step: &Step, ready: &Ready) -> Result<Duration> {
        let start = Instant::now();
        if ready.retains() {
            let differs = check::bytes(&step.live, ready, self.progress, self.stop)?;
            differs.map_or(Ok(()), |key| {
                Err(Error::corrupt(format!("key {key} does not hold what was written to it")))
            })?;
        }
        Ok(start.elapsed())
    }

    fn facts(
        &self,
        ready: &Ready,
        step: &Step,
        fill: &Sample,
        checking: Duration,
    ) -> Result<StoreFacts> {
        let ((in_effect, durability, served), _) = ready.with(|store| {
            Ok((store.in_effect()?, store.durability(), !store.processes().is_empty()))
        })?;
        let files = fill.files().unwrap_or_default();
        Ok(StoreFacts {
            target: self.index,
            memory_bytes: ready.own_memory(&in_effect, step.live.summary().bytes),
            in_effect,
            durability,
            apparent_bytes: files.apparent,
            allocated_bytes: files.allocated,
            server: served.then_some(Server::Started),
            fill_ns: Some(fill.wall_ns),
            check_ns: nanoseconds(checking),
        })
    }
}

/// What a pass over values gave, as one at a storage age.
fn aged(measured: Measured, files: Option<FileBytes>, fragments: Option<Fragments>) -> Measured {
    match measured {
        Measured::Blobs(passes) => Measured::Ageing { passes, files, fragments },
        other => other,
    }
}

/// To open a store of integers for writing.
pub(super) fn options(settings: model::Settings) -> OpenOptions {
    OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers }
}

/// What the closed store takes; `None`: it has no files.
fn files(ready: &Ready) -> Result<Option<FileBytes>> {
    if ready.held.is_some() {
        return Ok(None);
    }
    let host::Space { apparent, allocated } = host::space(&ready.files())?;
    Ok(Some(FileBytes { apparent, allocated }))
}

/// Where the closed store lies.
fn fragments(ready: &Ready, step: &Step) -> Result<Option<Fragments>> {
    if ready.held.is_some() {
        return Ok(None);
    }
    let (arrangement, _) = ready.with(|store| store.arrangement())?;
    let host::Extents { files, extents } = host::extents(&ready.files())?;
    let DatasetSummary { count: objects, bytes, .. } = step.live.summary();
    Ok(Some(Fragments { objects, bytes, files, extents, arrangement }))
}
