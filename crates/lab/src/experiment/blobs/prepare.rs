//! Makes everything ready before the rounds: the dataset, the stores, scratch copies, and one
//! checked read of every value through each target's own path.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use host::Scratch;
use model::{
    Access, Cache, Durability, Error, ErrorKind, Facet, Finding, FindingKind, KeyKind, OpenOptions,
    Operation, Order, Owner, Result, Settings,
};

use super::{
    BlobTarget, Job,
    source::Source,
    store_cache::Kept,
    stores::{PreparedTarget, Stores},
};
use crate::{
    Amount,
    copy::clone_store,
    dataset::Dataset,
    store::{ReadyStore, cache_state, check},
    workload::nanoseconds,
};

/// Makes the stores of one run, and removes them when it is dropped.
pub(super) struct Preparation<'a> {
    pub(super) job: Job<'a>,
    /// Stores that are read are there.
    pub(super) kept: bool,
    /// What there is to read and to fill stores with.
    amount: Amount,
    scratches: Scratches,
}

/// One for each folder that scratch stores are placed in, for those that are read and those that
/// are written to. Dropping one removes it.
pub(super) type Scratches = Vec<(PathBuf, Operation, Scratch)>;

impl<'a> Preparation<'a> {
    pub(super) fn new(job: Job<'a>) -> Self {
        Self { job, kept: false, amount: Amount::default(), scratches: Vec::new() }
    }

    /// Makes everything ready that an earlier run has not left.
    pub(super) fn run(&mut self, kept: Option<Kept>) -> Result<Stores> {
        let Job { part, stop, .. } = self.job;
        part.targets.iter().try_for_each(|target| self.job.settings(target).map(drop))?;
        let source = Source::open(self.job)?;
        self.kept = kept.is_some();
        self.amount = source.amount(stop)?;
        self.check_space(self.amount)?;
        self.check_memory(self.amount)?;
        let Kept { mut dataset, available, mut reads, findings, scratches } = match kept {
            Some(kept) => kept,
            None => self.read(&source)?,
        };
        self.scratches.extend(scratches);

        let mut made = Vec::new();
        for (index, target) in part.targets.iter().enumerate() {
            let read = reads[index].take();
            let stores = self.stores_of(index, target, read, &source).and_then(|made| {
                self.compare_copied(target, &made, &dataset)?;
                Ok(made)
            });
            made.push(bearable(&target.label, stores)?);
        }
        // It may be a target itself, of an engine that opens a store once.
        drop(source);
        limit(&mut dataset, part.max_key)?;
        dataset.arrange(Order::Asc, None, 0);
        dataset.arrange(Order::Permutation, None, check::seed(self.job.request.seed));
        let mut stores = Stores::new(part.data.spec(), dataset, available, findings);
        self.finish_all(made, &mut stores)?;
        if part.work.iter().any(|work| work.order.is_drawn()) {
            // Operations are drawn over keys in their order.
            stores.dataset.arrange(Order::Asc, None, 0);
        }
        Ok(stores)
    }

    /// What holds the stores.
    pub(super) fn into_scratches(self) -> Scratches {
        self.scratches
    }

    /// Reads the data, and looks whether the user's stores hold it.
    fn read(&self, source: &Source) -> Result<Kept> {
        let dataset = source.dataset(self.amount.count, self.job.progress, self.job.stop)?;
        let available = dataset.summary().count;
        if available == 0 {
            return Err(Error::usage("there are no keys to measure with"));
        }
        self.compare_located(&dataset)?;
        let reads = self.job.part.targets.iter().map(|_| None).collect();
        Ok(Kept { dataset, available, reads, findings: Vec::new(), scratches: Vec::new() })
    }

    /// Takes in those targets that are ready, unless none is.
    fn finish_all(&self, made: Vec<Result<Made>>, stores: &mut Stores) -> Result<()> {
        let mut failed = None;
        let Job { request, part, .. } = self.job;
        for (index, (target, made)) in part.targets.iter().zip(made).enumerate() {
            let place = stores.targets.len();
            let finish = |made| self.finish(place, target, made, &stores.dataset);
            match bearable(&target.label, made.and_then(finish))? {
                Ok((finished, findings)) => {
                    if index == request.baseline {
                        stores.baseline = place;
                    }
                    stores.targets.push(finished);
                    let known = |finding: &Finding| stores.findings.contains(finding);
                    let new: Vec<_> = findings.into_iter().filter(|found| !known(found)).collect();
                    stores.findings.extend(new);
                }
                Err(error) => {
                    stores.note_failed(&target.label, &error);
                    failed = Some(named(error, &target.label, &target.label));
                }
            }
        }
        failed.filter(|_| stores.targets.is_empty()).map_or(Ok(()), Err)
    }

    /// Stores that the user named must hold the same keys with values of the same lengths.
    fn compare_located(&self, dataset: &Dataset) -> Result<()> {
        for target in &self.job.part.targets {
            if let (Some(path), false) = (&target.location, reads_a_copy(target)?) {
                let (settings, keys) = (target.settings.clone(), dataset.keys());
                let options = OpenOptions { settings, access: Access::Read, keys };
                let ready = ReadyStore::new(target.engine, path.clone(), options);
                self.compare(target, &ready, dataset)?;
            }
        }
        Ok(())
    }

    /// Those that may not be opened are compared by the copy that is measured.
    fn compare_copied(&self, target: &BlobTarget, made: &Made, dataset: &Dataset) -> Result<()> {
        if !reads_a_copy(target)? {
            return Ok(());
        }
        self.compare(target, made.first(), dataset)
    }

    fn compare(&self, target: &BlobTarget, ready: &ReadyStore, dataset: &Dataset) -> Result<()> {
        ready
            .with(|store| check::same_keys(dataset, &mut *store.session()?, self.job.stop))
            .map(drop)
            .map_err(|e| e.context(&target.label))
    }

    /// What stores are still to be made for.
    pub(super) fn missing(&self) -> impl Iterator<Item = Operation> + use<> {
        let kept = self.kept;
        self.job.operations().into_iter().filter(move |operation| operation.writes() || !kept)
    }

    pub(super) fn is_scratch(&self, target: &BlobTarget, operation: Operation) -> bool {
        match &target.location {
            None => true,
            Some(_) if operation.writes() => !self.job.part.in_place,
            Some(path) => self.reading_changes(target, path).is_some(),
        }
    }

    /// Whose the stores are, of several the one that is written to.
    fn owner(&self, target: &BlobTarget) -> Owner {
        let operations = self.job.operations();
        let operation = operations.last().expect("a run has at least one operation");
        match (self.is_scratch(target, *operation), operation.writes()) {
            (true, _) if target.location.is_some() => Owner::Copy,
            (true, _) => Owner::Scratch,
            (false, true) => Owner::InPlace,
            (false, false) => Owner::User,
        }
    }

    fn reading_changes(&self, target: &BlobTarget, path: &Path) -> Option<String> {
        let settings = self.job.settings(target).ok()?;
        target.engine.reading_changes(path, &settings)
    }

    /// The folder of a target's scratch stores: on the file system of what they are copies of.
    pub(super) fn parent(&self, target: &BlobTarget) -> PathBuf {
        if let Some(placement) = &target.placement {
            return placement.path.clone();
        }
        let own = || target.location.as_deref().and_then(Path::parent).map(Path::to_owned);
        let parent = self.job.request.scratch.clone().or_else(own).unwrap_or_default();
        if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent }
    }

    /// A name for a scratch store that nothing else has.
    fn place(
        &mut self,
        index: usize,
        target: &BlobTarget,
        operation: Operation,
    ) -> Result<PathBuf> {
        let parent = self.parent(target);
        let is_it =
            |(of, done, _): &&(PathBuf, Operation, Scratch)| *of == parent && *done == operation;
        if self.scratches.iter().find(is_it).is_none() {
            self.scratches.push((parent.clone(), operation, Scratch::new_in(&parent)?));
        }
        let (.., scratch) =
            self.scratches.iter().find(is_it).expect("it was made above if it was not there");
        let folder = scratch.folder(&format!("{index}-{operation}"), target.engine.account())?;
        let name = target.location.as_deref().and_then(Path::file_name);
        Ok(folder.join(name.unwrap_or(target.engine.name().as_ref())))
    }

    fn stores_of(
        &mut self,
        index: usize,
        target: &BlobTarget,
        read: Option<ReadyStore>,
        source: &Source,
    ) -> Result<Made> {
        let mut made = Made { checked: read.is_some(), read, ..Made::default() };
        for operation in self.missing() {
            let (ready, fill) = self
                .store_for(index, target, operation, source)
                .map_err(|e| named(e, &target.label, &format!("preparing to {operation}")))?;
            let own = if operation.writes() { &mut made.update } else { &mut made.read };
            *own = Some(ready);
            made.fill = made.fill.or(fill);
        }
        Ok(made)
    }

    fn store_for(
        &mut self,
        index: usize,
        target: &BlobTarget,
        operation: Operation,
        source: &Source,
    ) -> Result<(ReadyStore, Option<Duration>)> {
        let Job { progress, stop, .. } = self.job;
        let (settings, engine) = (self.job.settings(target)?, target.engine);
        let options = |access| OpenOptions { settings, access, keys: source.keys() };
        if !self.is_scratch(target, operation) {
            let path = target.location.clone().expect("only a located target is not scratch");
            let access = if operation.writes() { Access::Write } else { Access::Read };
            return Ok((ReadyStore::new(engine, path, options(access)), None));
        }
        let mut ready = ReadyStore::new(engine, PathBuf::new(), options(Access::Write));
        let start = Instant::now();
        if !engine.capabilities().persistent {
            ready.path = target.table(&format!("{index}_{operation}"));
            let store = engine.create(&ready.path, &ready.options)?;
            source.fill(&mut *store.session()?, progress, stop)?;
            ready.held = Some(store);
            return Ok((ready, Some(start.elapsed())));
        }
        ready.path = self.place(index, target, operation)?;
        let start = Instant::now();
        match &target.location {
            Some(location) => clone_store(engine, location, &ready.path, progress, stop)?,
            None => self.make(&ready, source)?,
        }
        host::sync(&ready.path)?;
        Ok((ready, Some(start.elapsed())))
    }

    /// Makes and fills a scratch store, without durability for speed; the trials open it again
    /// with the settings that are measured.
    fn make(&self, ready: &ReadyStore, source: &Source) -> Result<()> {
        let Job { progress, stop, .. } = self.job;
        progress.stage(&format!("filling {}", ready.engine.name()), Some(self.amount.count));
        let fast = ready.engine.class_settings(Facet::Blobs, Durability::None)?;
        let settings = ready.options.settings.clone().overlaid(&fast);
        let store =
            ready.engine.create(&ready.path, &OpenOptions { settings, ..ready.options.clone() })?;
        source.fill(&mut *store.session()?, progress, stop)?;
        store.settle()?;
        store.close()
    }

    /// Reads every value once through the target's own path and notes what is in effect.
    fn finish(
        &self,
        place: usize,
        target: &BlobTarget,
        made: Made,
        dataset: &Dataset,
    ) -> Result<(PreparedTarget, Vec<Finding>)> {
        let (findings, check) = self.check(target, &made, dataset)?;
        let ready = made.first();
        let mut facts = ready.facts(place, dataset.summary().bytes)?;
        (facts.fill_ns, facts.check_ns) = (made.fill.map(nanoseconds), nanoseconds(check));
        self.show(&target.label, ready, &facts.in_effect);
        let planned = target.planned(ready.options.settings.clone(), self.owner(target));
        Ok((PreparedTarget { planned, facts, read: made.read, update: made.update }, findings))
    }

    /// Reads every value of the stores that were not checked yet; also returns how long that took.
    fn check(
        &self,
        target: &BlobTarget,
        made: &Made,
        dataset: &Dataset,
    ) -> Result<(Vec<Finding>, Duration)> {
        let Job { progress, stop, .. } = self.job;
        let count = dataset.entries().len() as u64;
        progress.stage(&format!("checking {}", target.label), Some(count));
        let (mut findings, mut took) = (Vec::new(), Duration::ZERO);
        let read = made.read.iter().filter(|_| !made.checked);
        for ready in read.chain(&made.update).filter(|ready| ready.retains()) {
            // Filled as a warm trial wants it: the calibration finds it so.
            cache_state::reach(ready, Cache::Warm)?;
            let start = Instant::now();
            let differs = check::bytes(dataset, ready, progress, stop)?;
            took += start.elapsed();
            match differs {
                Some(key) if target.location.is_none() => return Err(check::not_as_written(&key)),
                Some(key) => {
                    let kind = FindingKind::BytesDiffer { key };
                    findings = vec![Finding::target(kind, &target.label)];
                }
                None => {}
            }
        }
        Ok((findings, took))
    }

    /// Shows where a store is, and its settings as read back. An address may hold a password.
    fn show(&self, label: &str, ready: &ReadyStore, in_effect: &Settings) {
        let settings = in_effect.0.iter().map(|(name, value)| format!(" {name}={value}"));
        let settings: String = settings.collect();
        let place = match ready.engine.capabilities() {
            can if can.persistent && !can.remote => format!("in {}", ready.path.display()),
            _ => "not in files of its own".to_owned(),
        };
        self.job.progress.detail(&format!("{label}: {place}, in effect:{settings}"));
    }
}

/// A failure of one target's own system stays with it; any other error ends the run.
fn bearable<T>(label: &str, result: Result<T>) -> Result<Result<T>> {
    match result {
        Err(error) if error.kind() != ErrorKind::Failed => Err(named(error, label, label)),
        other => Ok(other),
    }
}

/// The stores of one target, made but not yet looked at.
#[derive(Default)]
struct Made {
    read: Option<ReadyStore>,
    update: Option<ReadyStore>,
    fill: Option<Duration>,
    /// Whether the one that is read was looked at in an earlier run.
    checked: bool,
}

impl Made {
    fn first(&self) -> &ReadyStore {
        let first = self.read.as_ref().or(self.update.as_ref());
        first.expect("a run has at least one operation")
    }
}

/// Whether the user's own store may be opened as a copy only.
fn reads_a_copy(target: &BlobTarget) -> Result<bool> {
    let Some(path) = &target.location else { return Ok(false) };
    target.engine.reads_a_copy(path).map_err(|e| e.context(&target.label))
}

/// What went wrong `during` something with a target; an engine may have named the target already.
fn named(error: Error, label: &str, during: &str) -> Error {
    if error.to_string().starts_with(label) { error } else { error.context(during) }
}

/// Drops the keys past `--max-id`.
fn limit(dataset: &mut Dataset, max: Option<i64>) -> Result<()> {
    let Some(max) = max else { return Ok(()) };
    if dataset.keys() == KeyKind::Names {
        return Err(Error::usage("--max-id limits integer keys; these are names"));
    }
    dataset.limit(max);
    if dataset.entries().is_empty() {
        return Err(Error::usage(format!("--max-id {max}: no key is that small")));
    }
    Ok(())
}
