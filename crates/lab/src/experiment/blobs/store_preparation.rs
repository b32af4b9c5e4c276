//! The preparation of the stores of one target.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use model::{Access, Batch, Error, OpenOptions, Operation, Owner, Result, Settings};

use super::{
    BlobTarget, Job, Scratches,
    filling::fill,
    source::Source,
    stores::{PreparedTarget, Stores, keep_layout},
};
use crate::{
    Amount,
    budget::guessed,
    copy::clone_store,
    dataset::{Dataset, check_bytes, check_type},
    store::{ReadyStore, check},
};

/// Compares the keys of a store of the user with those of `dataset`, and the lengths of their values.
pub(super) fn compare(
    job: Job<'_>,
    target: &BlobTarget,
    ready: &ReadyStore,
    dataset: &Dataset,
) -> Result<()> {
    let replaced = job.part.in_place && job.operations().iter().any(|operation| operation.writes());
    let types = if replaced { check_bytes } else { check_type };
    ready
        .with(|store| check::same_keys(dataset, &mut *store.session()?, types, job.stop))
        .map(drop)
        .map_err(|e| e.at(&target.label))
}

/// Reports whether the user's own store may be opened only as a copy.
pub(super) fn reads_a_copy(target: &BlobTarget) -> Result<bool> {
    let Some(path) = &target.location else { return Ok(false) };
    target.engine.reads_a_copy(path).map_err(|e| e.at(&target.label))
}

impl Job<'_> {
    /// Returns what stores are still to be created for; if `kept`, those that are read exist.
    pub(super) fn missing(&self, kept: bool) -> Vec<Operation> {
        let mut operations = self.operations();
        operations.retain(|operation| operation.writes() || !kept);
        operations
    }

    /// Guesses the seconds of making the stores ready; if `kept`, after a run of the same needs.
    pub(super) fn guessed_preparing(&self, data: Amount, kept: bool) -> f64 {
        let stores = self.part.targets.len() * self.missing(kept).len();
        guessed::preparing(data, stores, kept)
    }

    /// Returns what stores are created for before the first round; those that are written to come
    /// after all reads.
    pub(super) fn first_operations(&self, kept: bool) -> Vec<Operation> {
        let first = self.operations().into_iter().take(1);
        first.filter(|operation| operation.writes() || !kept).collect()
    }

    /// Reports whether a store is created for `operation`.
    pub(super) fn is_scratch(&self, target: &BlobTarget, operation: Operation) -> bool {
        let Some(path) = &target.location else { return true };
        if operation.writes() {
            return !self.part.in_place;
        }
        self.reading_changes(target, path).is_some()
    }

    /// Returns why the store of a target is not read where it is; `None` if it is.
    pub(super) fn reading_changes(&self, target: &BlobTarget, path: &Path) -> Option<String> {
        let batch = self.part.batch.unwrap_or(Batch::usual(false));
        target.engine.reading_changes(path, &self.settings(target).ok()?, batch)
    }

    /// Returns the first target before this one in whose scratch store it reads the very same
    /// files: they differ only in how they use them, and the differences of a second copy would
    /// count as theirs. `None` if there is none.
    pub(super) fn twin(&self, index: usize) -> Result<Option<usize>> {
        let own = &self.part.targets[index];
        let capabilities = own.engine.capabilities();
        if !capabilities.reopens || !capabilities.persistent {
            return Ok(None);
        }
        for (place, other) in self.part.targets[..index].iter().enumerate() {
            let is_same = other.engine.name() == own.engine.name()
                && other.location == own.location
                && self.request.parent(other) == self.request.parent(own)
                && self.is_scratch(other, Operation::Read);
            if is_same && own.engine.shares_files(&self.settings(own)?, &self.settings(other)?) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Returns whose the stores are; of several, that of the one that is written to.
    pub(super) fn owner(&self, target: &BlobTarget) -> Owner {
        let operations = self.operations();
        let operation = operations.last().expect("a run has at least one operation");
        match (self.is_scratch(target, *operation), operation.writes()) {
            (true, _) if target.location.is_some() => Owner::Copy,
            (true, _) => Owner::Scratch,
            (false, true) => Owner::InPlace,
            (false, false) => Owner::User,
        }
    }
}

/// The stores of one target, made but not yet inspected.
#[derive(Default)]
pub(super) struct TargetStores {
    pub(super) read: Option<ReadyStore>,
    /// Others like `read`.
    pub(super) copies: Vec<ReadyStore>,
    pub(super) update: Option<ReadyStore>,
    pub(super) fill: Option<Duration>,
    /// Whether the values of the one that is read were checked: in an earlier run, or as the data.
    pub(super) checked: bool,
}

impl TargetStores {
    /// Takes over what an earlier run has left.
    pub(super) fn kept(target: PreparedTarget) -> Self {
        let PreparedTarget { read, copies, .. } = target;
        Self { checked: read.is_some(), read, copies, ..Self::default() }
    }

    /// Keeps the layout of the store, so that a process that opens a folder of many files need not
    /// list them again to find how they are named.
    pub(super) fn keep_layout(&mut self, in_effect: &Settings) {
        for ready in self.read.iter_mut().chain(&mut self.copies).chain(&mut self.update) {
            keep_layout(ready.engine, &mut ready.options.settings, in_effect);
        }
    }

    pub(super) fn first(&self) -> &ReadyStore {
        let first = self.read.as_ref().or(self.update.as_ref());
        first.expect("a run has at least one operation")
    }
}

/// Makes the stores of one target.
pub(super) struct StorePreparation<'a> {
    pub(super) job: Job<'a>,
    pub(super) index: usize,
    pub(super) target: &'a BlobTarget,
    pub(super) source: &'a Source,
    /// The values with which stores are filled.
    pub(super) amount: Amount,
}

impl StorePreparation<'_> {
    /// Fails if the target reads the store of another one that failed.
    pub(super) fn check_twin(&self, prepared: &[Result<TargetStores>]) -> Result<()> {
        let twin = self.job.twin(self.index)?.and_then(|twin| prepared[twin].as_ref().err());
        twin.map_or(Ok(()), |error| Err(Error::failed(error.to_string())))
    }

    /// Makes the stores for `operations`; `made` has those that are there already. A store that may not
    /// be opened is compared by the copy that is measured.
    pub(super) fn prepare_all(
        &self,
        operations: &[Operation],
        mut made: TargetStores,
        stores: &mut Stores,
    ) -> Result<TargetStores> {
        let label = &self.target.label;
        for &operation in operations {
            let (ready, fill) =
                self.store_for(operation, None, &mut stores.scratches).map_err(|e| {
                    let is_named = e.location().starts_with(label);
                    if is_named { e } else { e.context(format!("preparing to {operation}")) }
                })?;
            let own = if operation.writes() { &mut made.update } else { &mut made.read };
            *own = Some(ready);
            made.fill = made.fill.or(fill);
        }
        if stores.is_compared && reads_a_copy(self.target)? {
            compare(self.job, self.target, made.first(), &stores.dataset)?;
        }
        Ok(made)
    }

    /// Makes the store for `operation`, if it is not the user's own; `like` has the same values already.
    /// Also returns how long that took.
    pub(super) fn store_for(
        &self,
        operation: Operation,
        like: Option<&ReadyStore>,
        scratches: &mut Scratches,
    ) -> Result<(ReadyStore, Option<Duration>)> {
        let Job { request, progress, stop, .. } = self.job;
        let (target, engine) = (self.target, self.target.engine);
        let own = !self.job.is_scratch(target, operation);
        let access = if own && !operation.writes() { Access::Read } else { Access::Write };
        let mut settings = self.job.settings(target)?;
        if own && let Some(in_effect) = self.source.layout_at(target.location.as_deref()) {
            keep_layout(engine, &mut settings, in_effect);
        }
        let options = OpenOptions { settings, access, keys: self.source.keys() };
        let twin = if operation.writes() { None } else { self.job.twin(self.index)? };
        let place = format!("{}-{operation}", twin.unwrap_or(self.index));
        let path = if own {
            target.location.clone().expect("only a located target is not scratch")
        } else if engine.capabilities().persistent {
            let scratch = scratches.in_folder(request.parent(target), operation.writes())?;
            let name = target.location.as_deref().and_then(Path::file_name);
            let folder = match twin {
                Some(_) => scratch.path().join(&place),
                None => scratch.folder(&place, engine.account())?,
            };
            folder.join(name.unwrap_or(engine.name().as_ref()))
        } else {
            target.table(&place.replace('-', "_"))
        };
        let mut ready = ReadyStore::new(engine, path, options);
        if self.job.part.in_place {
            ready.since = None;
        }
        if own || twin.is_some() {
            return Ok((ready, None));
        }
        let start = Instant::now();
        // A server's files belong to its own user.
        let can_be_cloned = engine.account().is_none() && !engine.capabilities().remote;
        let like = like.filter(|like| can_be_cloned && like.held.is_none());
        let from = target.location.as_deref().or(like.map(|like| &*like.path));
        match from.filter(|_| engine.capabilities().persistent) {
            Some(from) => {
                clone_store(engine, from, &ready.path, progress, stop)?;
                host::sync(&ready.path)?;
            }
            None => self.fill(&mut ready)?,
        }
        Ok((ready, Some(start.elapsed())))
    }

    /// Adds copies of the scratch store that is read, for epochs to take in turn: those that it shares
    /// with one of `others`, or new ones.
    pub(super) fn add_copies(
        &self,
        own: &mut PreparedTarget,
        others: &[PreparedTarget],
        scratches: &mut Scratches,
    ) -> Result<()> {
        let scratch = self.target.location.is_none() && own.can_take_turns();
        let Some(read) = own.read.as_ref().filter(|_| scratch && own.copies.is_empty()) else {
            return Ok(());
        };
        let like = |path| ReadyStore::new(self.target.engine, path, read.options.clone());
        let same =
            |other: &&PreparedTarget| other.read.as_ref().is_some_and(|of| of.path == read.path);
        if let Some(twin) = others.iter().find(same) {
            own.copies = twin.copies.iter().map(|copy| like(copy.path.clone())).collect();
            return Ok(());
        }
        let Some(fill) = own.facts.fill_ns.map(Duration::from_nanos) else { return Ok(()) };
        let scratch = scratches.in_folder(self.job.request.parent(self.target), false)?;
        let copy = |number| {
            let folder = scratch.folder(&format!("{}-read-{number}", self.index), None)?;
            let mut ready = like(folder.join(self.target.engine.name()));
            self.fill(&mut ready)?;
            Ok(ready)
        };
        let filled = self.target.engine.fill();
        let more = self.job.more_copies(self.amount, &filled, scratch.path(), fill)?;
        own.copies = (1..=more).map(copy).collect::<Result<_>>()?;
        Ok(())
    }

    fn fill(&self, ready: &mut ReadyStore) -> Result<()> {
        let Job { progress, stop, .. } = self.job;
        progress.stage(&format!("filling {}", ready.engine.name()), Some(self.amount.count));
        fill(ready, self.source, progress, stop)
    }
}
