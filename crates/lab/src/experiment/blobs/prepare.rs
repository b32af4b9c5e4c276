//! Makes everything ready before the rounds: the dataset, the stores, scratch copies, and one
//! checked read of every value through each target's own path.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use model::{
    Access, Cache, Durability, Error, ErrorKind, Facet, Finding, FindingKind, KeyKind, OpenOptions,
    Operation, Order, Owner, Result, Settings, units::show_duration,
};

use super::{
    BlobTarget, Job, Scratches, forecast,
    source::Source,
    stores::{PreparedTarget, Stores},
};
use crate::{
    Amount,
    copy::clone_store,
    dataset::{Dataset, check_bytes, check_type},
    store::{ReadyStore, cache_state, check},
    workload::nanoseconds,
};

/// Makes everything ready that an earlier run has not left in `kept`.
pub(super) fn stores(job: Job<'_>, source: &Source, kept: Option<Stores>) -> Result<Stores> {
    let Job { request, part, stop, .. } = job;
    part.targets.iter().try_for_each(|target| job.settings(target).map(drop))?;
    let (amount, missing) = (source.amount(stop)?, job.missing(kept.is_some()));
    forecast::check_room(job, &missing, amount)?;
    let mut stores = kept.map_or_else(|| read(job, source, amount), Ok)?;
    let mut kept = std::mem::take(&mut stores.targets).into_iter();
    let mut made = Vec::new();
    for (index, target) in part.targets.iter().enumerate() {
        let making = Making { job, index, target, source, amount };
        let kept = kept.next().map_or_else(Made::default, Made::kept);
        let own = in_half_of_the_rest(job, || {
            making.check_twin(&made)?;
            making.all(&missing, kept, &mut stores)
        });
        made.push(bearable(&target.label, own)?);
    }
    limit(&mut stores.dataset, part.max_key)?;
    stores.dataset.arrange(Order::Asc, None, 0);
    stores.dataset.arrange(Order::Permutation, None, check::seed(request.seed));
    finish_all(job, (source, amount), made, &mut stores)?;
    if part.work.iter().any(|work| work.order.is_drawn()) {
        // Operations are drawn over keys in their order.
        stores.dataset.arrange(Order::Asc, None, 0);
    }
    Ok(stores)
}

/// Reads the data, and looks whether the user's stores hold it: the same keys with values of the
/// same lengths.
fn read(job: Job<'_>, source: &Source, amount: Amount) -> Result<Stores> {
    let dataset = source.dataset(amount.count, job.progress, job.stop)?;
    let available = dataset.summary().count;
    if available == 0 {
        return Err(Error::usage("there are no keys to measure with"));
    }
    for target in &job.part.targets {
        if let (Some(path), false) = (&target.location, reads_a_copy(target)?) {
            let (settings, keys) = (target.settings.clone(), dataset.keys());
            let options = OpenOptions { settings, access: Access::Read, keys };
            compare(job, target, &ReadyStore::new(target.engine, path.clone(), options), &dataset)?;
        }
    }
    Ok(Stores {
        dataset,
        available,
        targets: Vec::new(),
        baseline: 0,
        sampled: None,
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
    fn twin(&self, index: usize) -> Result<Option<usize>> {
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

/// The stores of one target, made but not yet looked at.
#[derive(Default)]
struct Made {
    read: Option<ReadyStore>,
    /// Others like `read`.
    copies: Vec<ReadyStore>,
    update: Option<ReadyStore>,
    fill: Option<Duration>,
    /// Whether the one that is read was looked at in an earlier run.
    checked: bool,
}

impl Made {
    /// What an earlier run has left.
    fn kept(target: PreparedTarget) -> Self {
        let PreparedTarget { read, copies, .. } = target;
        Self { checked: read.is_some(), read, copies, ..Self::default() }
    }

    fn first(&self) -> &ReadyStore {
        let first = self.read.as_ref().or(self.update.as_ref());
        first.expect("a run has at least one operation")
    }
}

/// Makes the stores of one target.
struct Making<'a> {
    job: Job<'a>,
    index: usize,
    target: &'a BlobTarget,
    source: &'a Source,
    /// What there is to fill stores with.
    amount: Amount,
}

impl Making<'_> {
    /// A target that reads the store of another one fails with it.
    fn check_twin(&self, made: &[Result<Made>]) -> Result<()> {
        let twin = self.job.twin(self.index)?.and_then(|twin| made[twin].as_ref().err());
        twin.map_or(Ok(()), |error| Err(Error::failed(error.to_string())))
    }

    /// `made` has what is there already. A store that may not be opened is compared by the copy that
    /// is measured.
    fn all(&self, operations: &[Operation], mut made: Made, stores: &mut Stores) -> Result<Made> {
        let label = &self.target.label;
        for &operation in operations {
            let (ready, fill) = self
                .store_for(operation, &mut stores.scratches)
                .map_err(|e| e.naming(label, format!("preparing to {operation}")))?;
            let own = if operation.writes() { &mut made.update } else { &mut made.read };
            *own = Some(ready);
            made.fill = made.fill.or(fill);
        }
        if reads_a_copy(self.target)? {
            compare(self.job, self.target, made.first(), &stores.dataset)?;
        }
        Ok(made)
    }

    fn store_for(
        &self,
        operation: Operation,
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
            self.source.fill(&mut *store.session()?, progress, stop)?;
            ready.held = Some(store);
            return Ok((ready, Some(start.elapsed())));
        }
        match &target.location {
            Some(location) => clone_store(engine, location, &ready.path, progress, stop)?,
            None => self.fill(&ready)?,
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
        let fast = ready.engine.class_settings(Facet::Blobs, Durability::None)?;
        let settings = ready.options.settings.clone().overlaid(&fast);
        let store =
            ready.engine.create(&ready.path, &OpenOptions { settings, ..ready.options.clone() })?;
        self.source.fill(&mut *store.session()?, progress, stop)?;
        store.settle()?;
        store.close()
    }
}

/// Takes in those targets that are ready, unless none is.
fn finish_all(
    job: Job<'_>,
    (source, amount): (&Source, Amount),
    made: Vec<Result<Made>>,
    stores: &mut Stores,
) -> Result<()> {
    let mut failed = None;
    stores.baseline = 0;
    for (index, (target, made)) in job.part.targets.iter().zip(made).enumerate() {
        let place = stores.targets.len();
        let Stores { dataset, targets, scratches, .. } = stores;
        let making = Making { job, index, target, source, amount };
        let finish = || {
            let (mut finished, findings) = finish(job, place, target, made?, dataset)?;
            making.add_copies(&mut finished, targets, scratches)?;
            Ok((finished, findings))
        };
        match bearable(&target.label, in_half_of_the_rest(job, finish))? {
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

/// Reads every value once through the target's own path and notes what is in effect.
fn finish(
    job: Job<'_>,
    place: usize,
    target: &BlobTarget,
    made: Made,
    dataset: &Dataset,
) -> Result<(PreparedTarget, Vec<Finding>)> {
    let (finding, check) = look(job, target, &made, dataset)?;
    let ready = made.first();
    let mut facts = ready.facts(place, dataset.summary().bytes)?;
    (facts.fill_ns, facts.check_ns) = (made.fill.map(nanoseconds), nanoseconds(check));
    show(job, &target.label, ready, &facts.in_effect);
    let planned = target.planned(Facet::Blobs, job.request.durability, job.owner(target))?;
    let findings = finding.into_iter().chain(copied(job, target)).collect();
    let Made { read, copies, update, .. } = made;
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

/// Reads every value of the stores that were not checked yet; also returns how long that took.
fn look(
    job: Job<'_>,
    target: &BlobTarget,
    made: &Made,
    dataset: &Dataset,
) -> Result<(Option<Finding>, Duration)> {
    let Job { progress, stop, .. } = job;
    let count = dataset.entries().len() as u64;
    progress.stage(&format!("checking {}", target.label), Some(count));
    let (mut finding, mut took) = (None, Duration::ZERO);
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
                finding = Some(Finding::target(FindingKind::BytesDiffer { key }, &target.label));
            }
            None => {}
        }
    }
    Ok((finding, took))
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
fn bearable<T>(label: &str, result: Result<T>) -> Result<Result<T>> {
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
