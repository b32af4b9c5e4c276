//! Makes everything ready before the rounds: the dataset, the stores, scratch copies, and one
//! checked read of every value through each target's own path.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{
    Access, Cache, Durability, Error, ErrorKind, Facet, Finding, FindingKind, Memory, OpenOptions,
    Operation, Owner, PlannedTarget, Result, Server, Settings, StoreFacts,
};

use crate::{
    Amount, Progress, Stop, check,
    copy::clone_store,
    dataset::{Dataset, Entry},
    host::{self, Scratch},
    prepared::{Prepared, PreparedTarget},
    ready::Ready,
    request::{Request, Requested},
    shelf::Kept,
    source::Source,
    state,
    trial::nanoseconds,
};

/// Makes the stores of one run, and removes them when it is dropped.
pub(crate) struct Preparation<'a> {
    request: &'a Request,
    progress: &'a dyn Progress,
    stop: &'a Stop,
    /// Stores that are read are there.
    kept: bool,
    /// What there is to read and to fill stores with.
    amount: Amount,
    scratches: Scratches,
}

/// One per directory that scratch stores stand in, for those that are read and those that are
/// written to. Dropping one removes it.
pub(crate) type Scratches = Vec<(PathBuf, Operation, Scratch)>;

impl<'a> Preparation<'a> {
    pub(crate) fn new(request: &'a Request, progress: &'a dyn Progress, stop: &'a Stop) -> Self {
        Self {
            request,
            progress,
            stop,
            kept: false,
            amount: Amount::default(),
            scratches: Vec::new(),
        }
    }

    /// Makes everything ready that an earlier run has not left.
    pub(crate) fn run(&mut self, kept: Option<Kept>) -> Result<Prepared> {
        let request = self.request;
        for target in &request.targets {
            target.settings_for(request.durability)?;
        }
        let source = Source::open(request, self.progress, self.stop)?;
        self.kept = kept.is_some();
        self.amount = source.amount(self.stop)?;
        self.check_space(self.amount)?;
        self.check_memory(self.amount)?;
        let Kept { mut dataset, available, mut reads, doubts, scratches } = match kept {
            Some(kept) => kept,
            None => self.read(&source)?,
        };
        self.scratches.extend(scratches);

        let mut stores = Vec::new();
        for (index, target) in request.targets.iter().enumerate() {
            let read = reads[index].take();
            let made = self.stores_of(index, target, read, &source).and_then(|made| {
                self.compare_copied(target, &made, &dataset)?;
                Ok(made)
            });
            stores.push(bearable(&target.label, made)?);
        }
        // It may be a target itself, of an engine that opens a store once.
        drop(source);
        limit(&mut dataset, request.max_key)?;
        dataset.arrange(model::Order::Asc, None, 0);
        dataset.arrange(model::Order::Permutation, None, check::seed(request.seed));
        let mut prepared = Prepared::new(request.data.spec(), dataset, available);
        prepared.findings = doubts;
        self.finish_all(stores, &mut prepared)?;
        if request.work.iter().any(|work| work.order.is_drawn()) {
            // Steps are drawn over keys in their order.
            prepared.dataset.arrange(model::Order::Asc, None, 0);
        }
        Ok(prepared)
    }

    /// What the stores stand in.
    pub(crate) fn into_scratches(self) -> Scratches {
        self.scratches
    }

    /// Reads the data, and looks whether the user's stores hold it.
    fn read(&self, source: &Source) -> Result<Kept> {
        let dataset = source.dataset(self.amount.count, self.progress, self.stop)?;
        let available = dataset.summary().count;
        if available == 0 {
            return Err(Error::usage("there are no keys to measure with"));
        }
        self.compare_located(&dataset)?;
        let reads = self.request.targets.iter().map(|_| None).collect();
        Ok(Kept { dataset, available, reads, doubts: Vec::new(), scratches: Vec::new() })
    }

    /// Takes in those targets that are ready, unless none is.
    fn finish_all(&self, stores: Vec<Result<Made>>, prepared: &mut Prepared) -> Result<()> {
        let mut failed = None;
        for (index, (target, made)) in self.request.targets.iter().zip(stores).enumerate() {
            let place = prepared.targets.len();
            let finish = |made| self.finish(place, target, made, &prepared.dataset);
            match bearable(&target.label, made.and_then(finish))? {
                Ok((finished, doubts)) => {
                    if index == self.request.baseline {
                        prepared.baseline = place;
                    }
                    prepared.targets.push(finished);
                    let known = |doubt: &Finding| prepared.findings.contains(doubt);
                    let new: Vec<_> = doubts.into_iter().filter(|doubt| !known(doubt)).collect();
                    prepared.findings.extend(new);
                }
                Err(error) => {
                    prepared.note_failed(&target.label, &error);
                    failed = Some(named(error, &target.label, &target.label));
                }
            }
        }
        failed.filter(|_| prepared.targets.is_empty()).map_or(Ok(()), Err)
    }

    /// Stores that the user named must hold the same keys with values of the same lengths.
    fn compare_located(&self, dataset: &Dataset) -> Result<()> {
        for target in &self.request.targets {
            if let (Some(path), false) = (&target.location, reads_a_copy(target)?) {
                let options = options(target.settings.clone(), Access::Read, dataset);
                let ready = Ready::new(target.engine, path.clone(), options);
                self.compare(target, &ready, dataset)?;
            }
        }
        Ok(())
    }

    /// Those that may not be opened are compared by the copy that is measured.
    fn compare_copied(&self, target: &Requested, made: &Made, dataset: &Dataset) -> Result<()> {
        if !reads_a_copy(target)? {
            return Ok(());
        }
        self.compare(target, made.first(), dataset)
    }

    fn compare(&self, target: &Requested, ready: &Ready, dataset: &Dataset) -> Result<()> {
        ready
            .with(|store| check::same_keys(dataset, &mut *store.session()?, self.stop))
            .map(drop)
            .map_err(|e| e.context(&target.label))
    }

    /// What scratch stores take, by the folder they stand in: as much again where updates may
    /// fill a journal.
    pub(crate) fn needed(&self, amount: Amount) -> BTreeMap<PathBuf, u64> {
        let mut needed = BTreeMap::<PathBuf, u64>::new();
        for target in &self.request.targets {
            for operation in self.missing() {
                if target.engine.capabilities().persistent && self.is_scratch(target, operation) {
                    let factor = if operation.writes() { 2 } else { 1 };
                    let room = amount.room(&target.engine.fill()).saturating_mul(factor);
                    let sum = needed.entry(self.parent(target)).or_default();
                    *sum = sum.saturating_add(room);
                }
            }
        }
        needed
    }

    /// Finds out before writing whether there is room.
    fn check_space(&self, amount: Amount) -> Result<()> {
        if self.request.short_of_room {
            return Ok(());
        }
        for (parent, needed) in self.needed(amount) {
            if let Some(free) = host::shortage(&parent, needed)? {
                return Err(Error::usage(format!(
                    "scratch stores take about {}, {} has {} free: --scratch DIR names another \
                     place, a smaller --keys or data takes less",
                    model::units::show_size(needed),
                    parent.display(),
                    model::units::show_size(free)
                )));
            }
        }
        Ok(())
    }

    /// What stores are still to be made for.
    fn missing(&self) -> impl Iterator<Item = Operation> + use<> {
        let kept = self.kept;
        operations(self.request).into_iter().filter(move |operation| operation.writes() || !kept)
    }

    /// What fits into no memory would be taken up until the system ends this process, or others.
    fn check_memory(&self, amount: Amount) -> Result<()> {
        let held = |target: &&Requested| {
            let engine = target.engine.capabilities();
            engine.retains && !engine.persistent && !engine.remote
        };
        let stores = self.request.targets.iter().filter(held).count() * self.missing().count();
        let keys = amount.count.saturating_mul(size_of::<Entry>() as u64);
        let needed = amount.bytes.saturating_mul(stores as u64).saturating_add(keys);
        let Memory { available_bytes, swap_bytes, .. } = host::memory();
        let free = available_bytes.map(|bytes| bytes.saturating_add(swap_bytes.unwrap_or(0)));
        match free.filter(|free| *free < needed) {
            None => Ok(()),
            Some(free) => Err(Error::usage(format!(
                "keys and stores in memory take {} at least, {} are available: a smaller --keys or \
                 data takes less",
                model::units::show_size(needed),
                model::units::show_size(free)
            ))),
        }
    }

    fn is_scratch(&self, target: &Requested, operation: Operation) -> bool {
        match &target.location {
            None => true,
            Some(_) if operation.writes() => !self.request.in_place,
            Some(path) => self.reading_changes(target, path).is_some(),
        }
    }

    /// Whose the stores are, of several the one that is written to.
    fn owner(&self, target: &Requested) -> Owner {
        let operations = operations(self.request);
        let operation = operations.last().expect("a run has at least one operation");
        match (self.is_scratch(target, *operation), operation.writes()) {
            (true, _) if target.location.is_some() => Owner::Copy,
            (true, _) => Owner::Scratch,
            (false, true) => Owner::InPlace,
            (false, false) => Owner::User,
        }
    }

    fn reading_changes(&self, target: &Requested, path: &Path) -> Option<String> {
        let settings = target.settings_for(self.request.durability).ok()?;
        target.engine.reading_changes(path, &settings)
    }

    /// Where a target's scratch stores stand: on the file system of what they stand for.
    fn parent(&self, target: &Requested) -> PathBuf {
        if let Some(site) = &target.site {
            return site.path.clone();
        }
        let beside = || target.location.as_deref().and_then(Path::parent).map(Path::to_owned);
        let parent = self.request.scratch.clone().or_else(beside).unwrap_or_default();
        if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent }
    }

    /// A name for a scratch store that nothing else has.
    fn place(&mut self, index: usize, target: &Requested, operation: Operation) -> Result<PathBuf> {
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
        target: &Requested,
        read: Option<Ready>,
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
        target: &Requested,
        operation: Operation,
        source: &Source,
    ) -> Result<(Ready, Option<Duration>)> {
        let settings = target.settings_for(self.request.durability)?;
        let options = |access| OpenOptions { settings, access, keys: source.keys() };
        let engine = target.engine;
        if !self.is_scratch(target, operation) {
            let path = target.location.clone().expect("only a located target is not scratch");
            let access = if operation.writes() { Access::Write } else { Access::Read };
            return Ok((Ready::new(engine, path, options(access)), None));
        }
        let mut ready = Ready::new(engine, PathBuf::new(), options(Access::Write));
        if !engine.capabilities().persistent {
            let start = Instant::now();
            ready.path = target.table(&format!("{index}_{operation}"));
            let store = engine.create(&ready.path, &ready.options)?;
            source.fill(&mut *store.session()?, self.progress, self.stop)?;
            ready.held = Some(store);
            return Ok((ready, Some(start.elapsed())));
        }
        ready.path = self.place(index, target, operation)?;
        let start = Instant::now();
        match &target.location {
            Some(location) => {
                clone_store(engine, location, &ready.path, self.progress, self.stop)?;
            }
            None => self.make(&ready, source)?,
        }
        host::sync(&ready.path)?;
        Ok((ready, Some(start.elapsed())))
    }

    /// Makes and fills a scratch store, without durability for speed; the trials open it anew
    /// with the settings that are measured.
    fn make(&self, ready: &Ready, source: &Source) -> Result<()> {
        let what = format!("filling {}", ready.engine.name());
        self.progress.stage(&what, Some(self.amount.count));
        let fast = ready.engine.class_settings(Facet::Blobs, Durability::None)?;
        let options = OpenOptions {
            settings: ready.options.settings.clone().overlaid(&fast),
            ..ready.options.clone()
        };
        let store = ready.engine.create(&ready.path, &options)?;
        source.fill(&mut *store.session()?, self.progress, self.stop)?;
        store.settle()?;
        store.close()
    }

    /// Reads every value once through the target's own path and notes what is in effect.
    fn finish(
        &self,
        place: usize,
        target: &Requested,
        made: Made,
        dataset: &Dataset,
    ) -> Result<(PreparedTarget, Vec<Finding>)> {
        let count = dataset.entries().len() as u64;
        self.progress.stage(&format!("checking {}", target.label), Some(count));
        let mut findings = Vec::new();
        let mut check = Duration::ZERO;
        let read = made.read.iter().filter(|_| !made.checked);
        for ready in read.chain(&made.update).filter(|ready| ready.retains()) {
            // Filled as a warm trial wants it: the pilot finds it so.
            state::reach(ready, Cache::Warm)?;
            let start = Instant::now();
            let differs = check::bytes(dataset, ready, self.progress, self.stop)?;
            check += start.elapsed();
            if let Some(key) = differs {
                if target.location.is_none() {
                    return Err(Error::corrupt(format!(
                        "key {key} does not hold what was written to it"
                    )));
                }
                findings = vec![Finding::target(FindingKind::BytesDiffer { key }, &target.label)];
            }
        }
        let ready = made.first();
        let ((in_effect, durability, started), _) = ready.with(|store| {
            Ok((store.in_effect()?, store.durability(), !store.processes().is_empty()))
        })?;
        self.tell(&target.label, ready, &in_effect);
        let space = host::space(&ready.files())?;
        let facts = StoreFacts {
            target: place,
            memory_bytes: ready.own_memory(&in_effect, dataset.summary().bytes),
            in_effect,
            durability,
            apparent_bytes: space.apparent,
            allocated_bytes: space.allocated,
            server: match (started, ready.engine.capabilities().remote) {
                (true, _) => Some(Server::Started),
                (false, true) => Some(Server::Existing),
                (false, false) => None,
            },
            fill_ns: made.fill.map(nanoseconds),
            check_ns: nanoseconds(check),
        };
        let planned = PlannedTarget {
            label: target.label.clone(),
            engine: target.engine.name().to_owned(),
            location: target.shown_location(),
            settings: ready.options.settings.clone(),
            owner: self.owner(target),
            on: target.site.as_ref().map(|site| site.name.clone()),
        };
        let (read, update) = (made.read, made.update);
        Ok((PreparedTarget { planned, facts, read, update }, findings))
    }

    /// Where a store is, and its settings as read back. An address may hold a password.
    fn tell(&self, label: &str, ready: &Ready, in_effect: &Settings) {
        let settings = in_effect.0.iter().map(|(name, value)| format!(" {name}={value}"));
        let place = match ready.engine.capabilities() {
            can if can.persistent && !can.remote => format!("in {}", ready.path.display()),
            _ => "not in files of its own".to_owned(),
        };
        self.progress
            .tell(&format!("{label}: {place}, in effect:{}", settings.collect::<String>()));
    }
}

/// A failure of one target's own system stays with it; any other error ends the run.
fn bearable<T>(label: &str, result: Result<T>) -> Result<Result<T>> {
    match result {
        Err(error) if error.kind() != ErrorKind::Failed => Err(named(error, label, label)),
        other => Ok(other),
    }
}

/// What stores are made for: one for all that only reads, one for all that writes.
pub(crate) fn operations(request: &Request) -> Vec<Operation> {
    let any = |writes| request.work.iter().any(|work| work.operation.writes() == writes);
    let read = any(false).then_some(Operation::Read);
    read.into_iter().chain(any(true).then_some(Operation::Update)).collect()
}

/// The stores of one target, made but not yet looked at.
#[derive(Default)]
struct Made {
    read: Option<Ready>,
    update: Option<Ready>,
    fill: Option<Duration>,
    /// Whether the one that is read was looked at in an earlier run.
    checked: bool,
}

impl Made {
    fn first(&self) -> &Ready {
        let first = self.read.as_ref().or(self.update.as_ref());
        first.expect("a run has at least one operation")
    }
}

/// Whether the user's own store may be opened as a copy only.
fn reads_a_copy(target: &Requested) -> Result<bool> {
    let Some(path) = &target.location else { return Ok(false) };
    target.engine.reads_a_copy(path).map_err(|e| e.context(&target.label))
}

fn options(settings: Settings, access: Access, dataset: &Dataset) -> OpenOptions {
    OpenOptions { settings, access, keys: dataset.keys() }
}

/// What went wrong `during` something with a target; an engine may have named the target already.
fn named(error: Error, label: &str, during: &str) -> Error {
    if error.to_string().starts_with(label) { error } else { error.context(during) }
}

/// Drops the keys past `--max-id`.
fn limit(dataset: &mut Dataset, max: Option<i64>) -> Result<()> {
    let Some(max) = max else { return Ok(()) };
    if dataset.keys() == model::KeyKind::Names {
        return Err(Error::usage("--max-id limits integer keys; these are names"));
    }
    dataset.limit(max);
    if dataset.entries().is_empty() {
        return Err(Error::usage(format!("--max-id {max}: no key is that small")));
    }
    Ok(())
}
