//! Makes everything ready before the rounds: the dataset, the stores, scratch copies, and a checked
//! read of the values through each target's own path.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use model::{
    Access, Cache, DatasetSummary, Durability, Error, ErrorKind, Facet, Finding, FindingKind,
    KeyKind, OpenOptions, Operation, Order, Owner, Residency, Result, Session, Settings, Store,
    units::show_duration,
};

use super::{
    BlobTarget, Data, Job, Scratches,
    listing::Listing,
    room,
    source::Source,
    stores::{PreparedTarget, Stores},
};
use crate::{
    Amount,
    copy::clone_store,
    dataset::{Dataset, Part, Use, check_bytes, check_type, derive},
    store::{ReadyStore, cache_state, check, file_bytes},
    workload::nanoseconds,
};

/// Makes everything ready that the first workload needs and an earlier run has not left in `kept`. Of a
/// source whose keys were listed, as many values are checked as the time allows.
pub(super) fn stores(
    job: Job<'_>,
    source: &Source,
    listing: Option<Listing>,
    kept: Option<Stores>,
) -> Result<Stores> {
    let Job { request, part, stop, .. } = job;
    part.targets.iter().try_for_each(|target| job.settings(target).map(drop))?;
    let amount = listing.as_ref().map_or_else(|| source.amount(stop), |listing| Ok(listing.all))?;
    room::check_room(job, &job.missing(kept.is_some()), amount)?;
    let (is_listed, first) = (listing.is_some(), job.first_operations(kept.is_some()));
    let is_whole = listing.as_ref().is_some_and(Listing::is_whole);
    let mut stores = kept.map_or_else(|| read(job, source, listing, amount), Ok)?;
    let mut kept = std::mem::take(&mut stores.targets).into_iter();
    let mut prepared = Vec::new();
    for (index, target) in part.targets.iter().enumerate() {
        let preparation = StorePreparation { job, index, target, source, amount };
        let kept = kept.next().map_or_else(TargetStores::default, TargetStores::kept);
        let own = in_half_of_the_rest(job, || {
            preparation.check_twin(&prepared)?;
            preparation.prepare_all(&first, kept, &mut stores)
        });
        prepared.push(tolerable_failure(&target.label, own)?);
    }
    limit(&mut stores.dataset, part.max_key)?;
    let whole = (is_listed && !job.draws_keys()).then(|| stores.dataset.clone());
    if is_listed {
        // Among keys that were drawn, parts of all sizes would differ less than what was not drawn.
        stores.dataset.mix(is_whole, derive(request.seed, Use::Sample, 0));
        if job.draws_keys() {
            stores.dataset.truncate(enough_keys(&stores.dataset.summary()));
        }
        warm_all(job, amount, &mut prepared)?;
        let count = source.note_values(&mut stores.dataset, job.check_until(), job)?;
        stores.dataset.truncate(count);
        // The values were read through this target's own path.
        if let Some(own) = job.own_source().and_then(|own| prepared[own].as_mut().ok()) {
            own.checked = true;
        }
    } else {
        stores.dataset.arrange(Order::Asc, None, Part::ALL, 0);
        stores.dataset.arrange(Order::Permutation, None, Part::ALL, check::seed(request.seed));
    }
    finish_all(job, (source, amount), prepared, &mut stores)?;
    if let Some(whole) = whole {
        stores.dataset = whole;
    } else if part.work.iter().any(|work| work.order.is_drawn()) {
        // Operations are drawn over keys in their order.
        stores.dataset.arrange(Order::Asc, None, Part::ALL, 0);
    }
    Ok(stores)
}

/// Makes the stores ready that are written to, once those that are read were measured. Returns the
/// targets for which that failed.
pub(super) fn update_stores(
    job: Job<'_>,
    source: &Source,
    stores: &mut Stores,
) -> Result<Vec<(usize, Error)>> {
    let (amount, mut failed) = (stores.all, Vec::new());
    for place in 0..stores.targets.len() {
        let label = stores.targets[place].planned.label.clone();
        let named = job.part.targets.iter().enumerate().find(|(_, target)| target.label == label);
        let (index, target) = named.expect("every prepared target was asked for");
        let preparation = StorePreparation { job, index, target, source, amount };
        let Stores { targets, scratches, dataset, .. } = &mut *stores;
        let own = in_half_of_the_rest(job, || {
            let like = targets[place].read.as_ref();
            let (ready, _) = preparation.store_for(Operation::Update, like, scratches)?;
            inspect(job, target, &ready, dataset)?;
            Ok(ready)
        });
        match tolerable_failure(&target.label, own)? {
            Ok(ready) => targets[place].update = Some(ready),
            Err(error) => failed.push((place, error)),
        }
    }
    Ok(failed)
}

/// Brings stores into memory, so that values are read from there to be checked.
fn warm_all(job: Job<'_>, amount: Amount, prepared: &mut [Result<TargetStores>]) -> Result<()> {
    job.progress.stage("reading the stores into memory", None);
    for (target, own) in job.part.targets.iter().zip(prepared) {
        let warm = |stores: &TargetStores| {
            stores.read.iter().try_for_each(|ready| warm(job, target, ready, amount))
        };
        if let Ok(stores) = own
            && let Err(error) = tolerable_failure(&target.label, warm(stores))?
        {
            *own = Err(error);
        }
    }
    Ok(())
}

fn warm(job: Job<'_>, target: &BlobTarget, ready: &ReadyStore, amount: Amount) -> Result<()> {
    let warming = job.warming(target, ready, amount)?;
    // Of one that is taken for filled, only what is missing is read.
    ready.filled.set(matches!(warming, Warming::Missing));
    ready.as_found.set(matches!(warming, Warming::None));
    cache_state::reach(ready, Cache::Warm).map(drop)
}

/// How a store is brought into memory before it is read warm.
enum Warming {
    /// From start to end, after it was evicted.
    Whole,
    /// Pages that are not in memory.
    Missing,
    /// Not at all: it is measured as it was found.
    None,
}

/// The part of the time in which a store is read into memory from start to end.
const WARMING: f64 = 0.25;
/// The same of a store of the user that is in memory.
const WARMING_AGAIN: f64 = 0.05;
/// Bytes a second of a common disk, and seconds to open and read a small file.
const DISK: f64 = 1e9;
const OPENING: f64 = 150e-6;
/// The same of files that are in memory.
const MEMORY: f64 = 3e9;
const REOPENING: f64 = 10e-6;
/// The part of the free memory that a store may take to be measured in memory.
const IN_MEMORY: f64 = 0.8;
/// Where so much of a store at most is not in memory, the rest is left there as it was found.
const FEW_MISSING: f64 = 0.5;

/// How many keys are enough to be measured of those that are listed.
fn enough_keys(listed: &DatasetSummary) -> usize {
    let cache = host::last_level_cache_bytes().unwrap_or(0).saturating_mul(CACHES);
    let mean = (listed.bytes / listed.count.max(1)).max(1);
    let keys = (cache / mean).clamp(FEW_KEYS, ENOUGH_KEYS);
    usize::try_from(keys).unwrap_or(usize::MAX)
}

impl Job<'_> {
    /// Returns how a store of `amount` is brought into memory in the time that there is for it.
    fn warming(self, target: &BlobTarget, ready: &ReadyStore, amount: Amount) -> Result<Warming> {
        let Some(time) = self.bound() else { return Ok(Warming::Whole) };
        let in_files = ready.engine.fill().whole_blocks;
        let bytes = if in_files { amount.bytes } else { file_bytes(&ready.files())?.allocated };
        let files = if in_files { amount.count } else { 1 };
        let (bytes, files) = (bytes as f64, files as f64);
        let memory = host::memory().available_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        if bytes > memory * IN_MEMORY {
            return Ok(Warming::None);
        }
        let loading = (bytes / DISK + files * OPENING) / time.as_secs_f64();
        let again = (bytes / MEMORY + files * REOPENING) / time.as_secs_f64();
        if target.location.is_none() || loading <= WARMING_AGAIN {
            return Ok(if loading > WARMING { Warming::None } else { Warming::Whole });
        }
        let share = |seen: Residency| 1.0 - seen.resident as f64 / seen.pages.max(1) as f64;
        let missing = cache_state::seen(ready)?.map_or(1.0, share);
        Ok(match () {
            () if loading * missing + again > WARMING => Warming::None,
            () if missing > FEW_MISSING => Warming::Whole,
            () => Warming::Missing,
        })
    }

    /// The target from whose store the data are read as they are measured.
    fn own_source(self) -> Option<usize> {
        let Data::Targets = self.part.data else { return None };
        let targets = self.part.targets.iter();
        let located = targets.enumerate().find(|(_, target)| target.location.is_some());
        let (index, target) = located?;
        (!self.is_scratch(target, Operation::Read)).then_some(index)
    }

    /// When the values of one of its stores, or of its data, are to be checked; absent: whenever all
    /// are.
    fn check_until(self) -> Option<Instant> {
        let own = usize::from(self.own_source().is_none());
        let passes = (self.part.targets.len() + own) as f64;
        self.bound().map(|time| Instant::now() + time.mul_f64(CHECKING / passes))
    }
}

/// The part of the time in which values are read to be checked, and so may be measured.
const CHECKING: f64 = 0.3;
/// More keys show hardly more, unless their values fit into the processor's cache a few times.
const ENOUGH_KEYS: u64 = 500_000;
const FEW_KEYS: u64 = 50_000;
const CACHES: u64 = 4;
/// The part of the time in which the keys of the user's stores are compared with each other.
const COMPARING: f64 = 0.1;

/// Reads the data, and checks whether the user's stores hold it: the same keys with values of the
/// same lengths. Where that takes too long, the values that are measured are compared only.
fn read(job: Job<'_>, source: &Source, listing: Option<Listing>, all: Amount) -> Result<Stores> {
    let located = job.part.targets.iter().filter(|target| target.location.is_some()).count();
    let (dataset, is_compared) = match listing {
        None => (source.dataset(all.count, job.progress, job.stop)?, true),
        Some(listing) => {
            let takes = listing.took.as_secs_f64() * located as f64;
            let time = job.bound().map_or(f64::INFINITY, |time| time.as_secs_f64() * COMPARING);
            let compared = listing.is_whole() && takes <= time;
            (listing.dataset, compared)
        }
    };
    if dataset.entries().is_empty() {
        let named = match &job.part.data {
            Data::Store { path, .. } => format!("{}: ", path.display()),
            _ => String::new(),
        };
        return Err(Error::usage(format!("{named}holds no values to measure with")));
    }
    for target in job.part.targets.iter().filter(|_| is_compared) {
        if let (Some(path), false) = (&target.location, reads_a_copy(target)?) {
            let (settings, keys) = (target.settings.clone(), dataset.keys());
            let options = OpenOptions { settings, access: Access::Read, keys };
            compare(job, target, &ReadyStore::new(target.engine, path.clone(), options), &dataset)?;
        }
    }
    Ok(Stores {
        dataset,
        all,
        is_compared,
        targets: Vec::new(),
        baseline: 0,
        sampled: None,
        half: None,
        findings: Vec::new(),
        failed: Vec::new(),
        scratches: Scratches::default(),
    })
}

fn compare(job: Job<'_>, target: &BlobTarget, ready: &ReadyStore, dataset: &Dataset) -> Result<()> {
    let replaced = job.part.in_place && job.operations().iter().any(|operation| operation.writes());
    let types = if replaced { check_bytes } else { check_type };
    ready
        .with(|store| check::same_keys(dataset, &mut *store.session()?, types, job.stop))
        .map(drop)
        .map_err(|e| e.context(&target.label))
}

/// Whether the user's own store may be opened as a copy only.
fn reads_a_copy(target: &BlobTarget) -> Result<bool> {
    let Some(path) = &target.location else { return Ok(false) };
    target.engine.reads_a_copy(path).map_err(|e| e.context(&target.label))
}

impl Job<'_> {
    /// What stores are still to be made for; `kept`: those that are read are there.
    pub(super) fn missing(&self, kept: bool) -> Vec<Operation> {
        let mut operations = self.operations();
        operations.retain(|operation| operation.writes() || !kept);
        operations
    }

    /// What stores are made for before the first round; those that are written to come after all reads.
    fn first_operations(&self, kept: bool) -> Vec<Operation> {
        let first = self.operations().into_iter().take(1);
        first.filter(|operation| operation.writes() || !kept).collect()
    }

    /// Whether a store is made for `operation`.
    pub(super) fn is_scratch(&self, target: &BlobTarget, operation: Operation) -> bool {
        let Some(path) = &target.location else { return true };
        if operation.writes() {
            return !self.part.in_place;
        }
        let changes = |settings| target.engine.reading_changes(path, &settings);
        self.settings(target).is_ok_and(|settings| changes(settings).is_some())
    }

    /// The first target before one in whose scratch store it reads the very same files: they differ
    /// only in how they use them, and what a second copy has of its own would count as theirs.
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

    /// Whose the stores are, of several the one that is written to.
    fn owner(&self, target: &BlobTarget) -> Owner {
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
struct TargetStores {
    read: Option<ReadyStore>,
    /// Others like `read`.
    copies: Vec<ReadyStore>,
    update: Option<ReadyStore>,
    fill: Option<Duration>,
    /// Whether the values of the one that is read were checked: in an earlier run, or as the data.
    checked: bool,
}

impl TargetStores {
    /// What an earlier run has left.
    fn kept(target: PreparedTarget) -> Self {
        let PreparedTarget { read, copies, .. } = target;
        Self { checked: read.is_some(), read, copies, ..Self::default() }
    }

    /// A process that opens a folder of many files need not list them again to find how they are named.
    fn keep_layout(&mut self, in_effect: &Settings) {
        for ready in self.read.iter_mut().chain(&mut self.copies).chain(&mut self.update) {
            let capabilities = ready.engine.capabilities();
            if capabilities.paths && !capabilities.remote {
                let stored = in_effect.stored(ready.engine.settings(Facet::Blobs));
                ready.options.settings = ready.options.settings.clone().overlaid(&stored);
            }
        }
    }

    fn first(&self) -> &ReadyStore {
        let first = self.read.as_ref().or(self.update.as_ref());
        first.expect("a run has at least one operation")
    }
}

/// Makes the stores of one target.
struct StorePreparation<'a> {
    job: Job<'a>,
    index: usize,
    target: &'a BlobTarget,
    source: &'a Source,
    /// What there is to fill stores with.
    amount: Amount,
}

impl StorePreparation<'_> {
    /// A target that reads the store of another one fails with it.
    fn check_twin(&self, prepared: &[Result<TargetStores>]) -> Result<()> {
        let twin = self.job.twin(self.index)?.and_then(|twin| prepared[twin].as_ref().err());
        twin.map_or(Ok(()), |error| Err(Error::failed(error.to_string())))
    }

    /// Makes the stores for `operations`; `made` has those that are there already. A store that may not
    /// be opened is compared by the copy that is measured.
    fn prepare_all(
        &self,
        operations: &[Operation],
        mut made: TargetStores,
        stores: &mut Stores,
    ) -> Result<TargetStores> {
        let label = &self.target.label;
        for &operation in operations {
            let (ready, fill) = self
                .store_for(operation, None, &mut stores.scratches)
                .map_err(|e| e.naming(label, format!("preparing to {operation}")))?;
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
    fn store_for(
        &self,
        operation: Operation,
        like: Option<&ReadyStore>,
        scratches: &mut Scratches,
    ) -> Result<(ReadyStore, Option<Duration>)> {
        let Job { request, progress, stop, .. } = self.job;
        let (target, engine) = (self.target, self.target.engine);
        let own = !self.job.is_scratch(target, operation);
        let access = if own && !operation.writes() { Access::Read } else { Access::Write };
        let settings = self.job.settings(target)?;
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
        if own || twin.is_some() {
            return Ok((ready, None));
        }
        let start = Instant::now();
        if !engine.capabilities().persistent {
            let store = engine.create(&ready.path, &ready.options)?;
            self.source.fill(&mut *store.session()?, ready.filling(), progress, stop)?;
            ready.held = Some(store);
            return Ok((ready, Some(start.elapsed())));
        }
        // A server's files belong to its own user.
        let can_be_cloned = engine.account().is_none() && !engine.capabilities().remote;
        let like = like.filter(|like| can_be_cloned && like.held.is_none());
        match (&target.location, like) {
            (Some(location), _) => clone_store(engine, location, &ready.path, progress, stop)?,
            (None, Some(like)) => clone_store(engine, &like.path, &ready.path, progress, stop)?,
            (None, None) => self.fill(&ready)?,
        }
        host::sync(&ready.path)?;
        Ok((ready, Some(start.elapsed())))
    }

    /// Adds copies of the scratch store that is read, for epochs to take in turn: those that it shares
    /// with one of `others`, or new ones.
    fn add_copies(
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
            let ready = like(folder.join(self.target.engine.name()));
            self.fill(&ready)?;
            host::sync(&ready.path)?;
            Ok(ready)
        };
        let filled = self.target.engine.fill();
        let more = self.job.more_copies(self.amount, &filled, scratch.path(), fill)?;
        own.copies = (1..=more).map(copy).collect::<Result<_>>()?;
        Ok(())
    }

    /// Makes and fills a scratch store, without durability for speed; the trials open it again
    /// with the settings that are measured.
    fn fill(&self, ready: &ReadyStore) -> Result<()> {
        let Job { progress, stop, .. } = self.job;
        progress.stage(&format!("filling {}", ready.engine.name()), Some(self.amount.count));
        create_filled(ready, |session| self.source.fill(session, ready.filling(), progress, stop))?
            .close()
    }
}

/// Creates a store without durability, has it filled, and leaves nothing to its background.
pub(super) fn create_filled(
    ready: &ReadyStore,
    fill: impl FnOnce(&mut dyn Session) -> Result<()>,
) -> Result<Box<dyn Store>> {
    let fast = ready.engine.class_settings(Facet::Blobs, Durability::None)?;
    let settings = ready.options.settings.clone().overlaid(&fast);
    let options = OpenOptions { settings, ..ready.options.clone() };
    let store = ready.engine.create(&ready.path, &options)?;
    fill(&mut *store.session()?)?;
    store.flush_writes()?;
    Ok(store)
}

/// Takes in those targets that are ready, unless none is.
fn finish_all(
    job: Job<'_>,
    (source, amount): (&Source, Amount),
    prepared: Vec<Result<TargetStores>>,
    stores: &mut Stores,
) -> Result<()> {
    let mut failed = None;
    stores.baseline = 0;
    for (index, (target, own)) in job.part.targets.iter().zip(prepared).enumerate() {
        let place = stores.targets.len();
        let Stores { dataset, targets, scratches, .. } = stores;
        let preparation = StorePreparation { job, index, target, source, amount };
        let finish = || {
            let finished = finish(job, (place, amount), target, own?, dataset);
            let finished = finished.map_err(|error| source.blame(error, dataset, job.stop));
            let (mut finished, findings) = finished?;
            preparation.add_copies(&mut finished, targets, scratches)?;
            Ok((finished, findings))
        };
        match tolerable_failure(&target.label, in_half_of_the_rest(job, finish))? {
            Ok((finished, findings)) => {
                if index == job.request.baseline {
                    stores.baseline = place;
                }
                stores.targets.push(finished);
                for finding in findings {
                    if !stores.findings.contains(&finding) {
                        stores.findings.push(finding);
                    }
                }
            }
            Err(error) => {
                stores.note_failed(&target.label, &error);
                failed = Some(error.naming(&target.label, &target.label));
            }
        }
    }
    failed.filter(|_| stores.targets.is_empty()).map_or(Ok(()), Err)
}

/// Reads the values once through the target's own path and notes what is in effect.
fn finish(
    job: Job<'_>,
    (place, amount): (usize, Amount),
    target: &BlobTarget,
    mut made: TargetStores,
    dataset: &mut Dataset,
) -> Result<(PreparedTarget, Vec<Finding>)> {
    let (mut finding, mut check) = (None, Duration::ZERO);
    let read = made.read.iter().filter(|_| !made.checked);
    for ready in read.chain(&made.update) {
        let (differs, checked, took) = inspect(job, target, ready, dataset)?;
        check += took;
        finding = finding.or(differs);
        if job.bound().is_some() {
            dataset.truncate(checked);
        }
    }
    // The check has read more of it.
    let left = made.read.iter().filter(|ready| ready.as_found.get());
    left.into_iter().try_for_each(|ready| warm(job, target, ready, amount))?;
    let mut facts = made.first().facts(place, amount.bytes)?;
    made.keep_layout(&facts.in_effect);
    (facts.fill_ns, facts.check_ns) = (made.fill.map(nanoseconds), nanoseconds(check));
    show(job, &target.label, made.first(), &facts.in_effect);
    let planned = target.planned(Facet::Blobs, job.request.durability, job.owner(target))?;
    let findings = finding.into_iter().chain(copied(job, target)).collect();
    let TargetStores { read, copies, update, .. } = made;
    Ok((PreparedTarget { planned, facts, read, copies, update }, findings))
}

/// Why a copy of the user's own store is measured, with the processes that write to it.
fn copied(job: Job<'_>, target: &BlobTarget) -> Option<Finding> {
    let path = target.location.as_ref()?;
    let copied = |operation: &Operation| job.is_scratch(target, *operation);
    let operation = job.operations().into_iter().find(copied)?;
    let updated = operation.writes();
    let why = if updated {
        "it is written to, and --in-place was not given".to_owned()
    } else {
        let why = target.engine.reading_changes(path, &job.settings(target).ok()?)?;
        match host::writers(&target.engine.files(path)).join(", ") {
            writers if writers.is_empty() => why,
            writers => format!("{why}; open to write in {writers}"),
        }
    };
    Some(Finding::target(FindingKind::ScratchCopy { why, updated }, &target.label))
}

/// Reads values of a store and compares them with the dataset's. Returns what differs, how many were
/// read, and how long that took.
fn inspect(
    job: Job<'_>,
    target: &BlobTarget,
    ready: &ReadyStore,
    dataset: &Dataset,
) -> Result<(Option<Finding>, usize, Duration)> {
    let count = dataset.entries().len();
    job.progress.stage(&format!("checking {}", target.label), Some(count as u64));
    if !ready.retains() {
        return Ok((None, count, Duration::ZERO));
    }
    // Filled as a warm trial wants it: the calibration finds it so.
    if !ready.filled.get() {
        cache_state::reach(ready, Cache::Warm)?;
    }
    let start = Instant::now();
    let until = job.check_until();
    let (differs, checked) = check::bytes(dataset, ready, until, (job.progress, job.stop))?;
    let finding = match differs {
        Some(key) if target.location.is_none() => return Err(check::not_as_written(&key)),
        Some(key) => Some(Finding::target(FindingKind::BytesDiffer { key }, &target.label)),
        None => None,
    };
    Ok((finding, checked, start.elapsed()))
}

/// Shows where a store is, and its settings as read back. An address may hold a password.
fn show(job: Job<'_>, label: &str, ready: &ReadyStore, in_effect: &Settings) {
    let settings = in_effect.0.iter().map(|(name, value)| format!(" {name}={value}"));
    let settings: String = settings.collect();
    let place = match ready.engine.capabilities() {
        can if can.persistent && !can.remote => format!("in {}", ready.path.display()),
        _ => "not in files of its own".to_owned(),
    };
    job.progress.detail(&format!("{label}: {place}, in effect:{settings}"));
}

/// Makes one target ready. One that takes more than half of the time that is left fails, so that the
/// others can be measured.
fn in_half_of_the_rest<T>(job: Job<'_>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let half = job.left().map(|left| left / 2);
    let result = job.stop.within(half, work);
    match result {
        Err(error) if error.kind() == ErrorKind::Overdue && job.stop.check().is_ok() => {
            let half = show_duration(half.unwrap_or_default());
            Err(Error::failed(format!(
                "making it ready takes more than {half}, half of the time that was left; use more \
                 --time or a smaller --sample"
            )))
        }
        result => result,
    }
}

/// A failure of one target's own system stays with it; any other error ends the run.
fn tolerable_failure<T>(label: &str, result: Result<T>) -> Result<Result<T>> {
    match result {
        Err(error) if error.kind() != ErrorKind::Failed => Err(error.naming(label, label)),
        other => Ok(other),
    }
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
