//! Makes everything ready before the rounds: the dataset, the stores, scratch copies, and a checked
//! read of the values through each target's own path.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use model::{
    Access, Cache, DatasetSummary, Error, ErrorKind, Facet, Finding, FindingKind, KeyKind,
    OpenOptions, Operation, Order, Result, Settings, units::show_duration,
};

use super::{
    BlobTarget, Data, Job, Scratches,
    listing::Listing,
    refusals::{names_have_no_max, no_key_is_that_small},
    room,
    source::Source,
    store_preparation::{StorePreparation, TargetStores, compare, reads_a_copy},
    stores::{PreparedTarget, Stores, fails_alone},
    warming::{examine_some, warm},
};
use crate::{
    Amount,
    budget::shares,
    dataset::{Dataset, Part, Use, derive},
    store::{
        ReadyStore, cache_state,
        check::{self, MOST_SESSIONS, Reading},
    },
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
    let amount = listing.as_ref().map_or_else(|| source.amount(stop), |listing| Ok(listing.all))?;
    room::check_room(job, &job.missing(kept.is_some()), amount)?;
    let first = job.first_operations(kept.is_some());
    let is_whole = listing.as_ref().is_some_and(Listing::is_whole);
    let listed = listing.as_ref().map(Listing::summary);
    let mut stores = kept.map_or_else(|| read(job, source, listing, amount), Ok)?;
    let mut kept = std::mem::take(&mut stores.targets).into_iter();
    let mut prepared = Vec::new();
    for (index, target) in part.targets.iter().enumerate() {
        let preparation = StorePreparation { job, index, target, source, amount };
        let kept = kept.next().map_or_else(TargetStores::default, TargetStores::kept);
        let own = in_part_of_the_rest(job, job.part_of(index), shares::AFTER_CREATING, || {
            preparation.check_twin(&prepared)?;
            preparation.prepare_all(&first, kept, &mut stores)
        });
        prepared.push(job.tolerable_failure(target, own)?);
    }
    part.max_key.map_or(Ok(()), |max| limit(&mut stores.dataset, max))?;
    let whole = (listed.is_some() && !job.draws_keys()).then(|| stores.dataset.clone());
    if let Some(listed) = &listed {
        // Among keys that were drawn, parts of all sizes would differ less than what was not drawn.
        stores.dataset.mix(is_whole, derive(request.seed, Use::Sample, 0));
        if job.draws_keys() {
            stores.dataset.truncate(enough_keys(listed));
        }
        stores.note(warm_all(job, amount, &mut prepared)?);
        let count = source.note_values(&mut stores.dataset, job.checking())?;
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
    let missed = listed.and_then(|listed| missed_value(&listed, &stores.dataset.summary()));
    stores.findings.extend(missed);
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
        let own = in_part_of_the_rest(job, shares::ONE_TARGET, 0.0, || {
            let like = targets[place].read.as_ref();
            let (ready, _) = preparation.store_for(Operation::Update, like, scratches)?;
            inspect(job, target, &ready, dataset)?;
            Ok(ready)
        });
        match job.tolerable_failure(target, own)? {
            Ok(ready) => targets[place].update = Some(ready),
            Err(error) => failed.push((place, error)),
        }
    }
    Ok(failed)
}

/// Brings stores into memory, so that values are read from there to be checked. Returns what is to be said of that.
fn warm_all(
    job: Job<'_>,
    amount: Amount,
    prepared: &mut [Result<TargetStores>],
) -> Result<Vec<Finding>> {
    job.progress.stage("reading the stores into memory", None);
    let (mut findings, mut loaded) = (Vec::new(), HashSet::new());
    for (target, own) in job.part.targets.iter().zip(prepared) {
        let Ok(TargetStores { read: Some(ready), .. }) = own else { continue };
        // Another target has the same files.
        ready.loaded.set(loaded.contains(&ready.path));
        match job.tolerable_failure(target, warm(job, target, ready, amount))? {
            Ok(finding) => {
                findings.extend(finding);
                loaded.extend(ready.loaded.get().then(|| ready.path.clone()));
            }
            Err(error) => *own = Err(error),
        }
    }
    Ok(findings)
}

/// A value with more than one in so many of all bytes decides what reading all keys costs: whether it is
/// measured is not left to chance.
const DECISIVE: u64 = 100;

fn has_decisive_value(listed: &DatasetSummary) -> bool {
    listed.count > 1 && listed.largest.saturating_mul(DECISIVE) > listed.bytes
}

/// Returns the finding that the largest of the `listed` values, which decides, is not among the `measured` ones.
pub(super) fn missed_value(listed: &DatasetSummary, measured: &DatasetSummary) -> Option<Finding> {
    let share = listed.largest as f64 / listed.bytes.max(1) as f64;
    (has_decisive_value(listed) && measured.largest < listed.largest)
        .then(|| Finding::run(FindingKind::LargeValueNotRead { bytes: listed.largest, share }))
}

/// Returns how many of the listed keys are enough to be measured.
fn enough_keys(listed: &DatasetSummary) -> usize {
    if has_decisive_value(listed) {
        return usize::MAX;
    }
    let cache = host::last_level_cache_bytes().unwrap_or(0).saturating_mul(CACHES);
    let mean = (listed.bytes / listed.count.max(1)).max(1);
    let keys = (cache / mean).clamp(FEW_KEYS, ENOUGH_KEYS);
    usize::try_from(keys).unwrap_or(usize::MAX)
}

impl<'a> Job<'a> {
    /// Returns whether the other targets are measured without one that cannot be made ready for this reason.
    pub(super) fn is_tolerable(self, target: &BlobTarget, error: &Error) -> bool {
        use ErrorKind::{Denied, Unsupported, Usage};

        let is_own = self.part.leaves_out && matches!(error.kind(), Denied | Unsupported | Usage);
        fails_alone(error, target.engine.program().is_some()) || is_own
    }

    /// Returns the part of the time left for it that making the target at `index` ready may take.
    pub(super) fn part_of(self, index: usize) -> f64 {
        let is_last = index + 1 == self.part.targets.len();
        if is_last { 1.0 } else { shares::ONE_TARGET_AT_MOST }
    }

    /// Keeps a failure of one target as a result, if it is tolerable; any other error ends the run.
    fn tolerable_failure<T>(self, target: &BlobTarget, result: Result<T>) -> Result<Result<T>> {
        match result {
            Err(error) if !self.is_tolerable(target, &error) => Err(error.within(&target.label)),
            other => Ok(other),
        }
    }

    /// Returns the target from whose store the data are read while they are measured; `None` if
    /// they come from elsewhere.
    fn own_source(self) -> Option<usize> {
        let Data::Targets = self.part.data else { return None };
        let targets = self.part.targets.iter();
        let located = targets.enumerate().find(|(_, target)| target.location.is_some());
        let (index, target) = located?;
        (!self.is_scratch(target, Operation::Read)).then_some(index)
    }

    /// Returns how the values of a store, or of the data, are checked: all of them, or for so long.
    fn checking(self) -> Reading<'a> {
        let Job { part, progress, stop, .. } = self;
        let own = usize::from(self.own_source().is_none());
        let passes = (part.targets.len() + own) as f64;
        let left = self.remaining();
        let until = left.map(|left| Instant::now() + left.mul_f64(shares::CHECKING / passes));
        // Where memory is limited, each session would take the cache that one may have.
        let most_sessions = if part.memory.is_some() { 1 } else { MOST_SESSIONS };
        Reading { until, most_sessions, progress, stop }
    }
}

/// The largest number of keys that are needed: more show hardly more, unless their values fit into
/// the processor's cache a few times.
const ENOUGH_KEYS: u64 = 500_000;
const FEW_KEYS: u64 = 50_000;
/// Four times the cache is enough; values that are drawn may be smaller than the mean.
const CACHES: u64 = 5;

/// Reads the data, and checks whether the user's stores hold it: the same keys with values of the
/// same lengths. Where that takes too long, the values that are measured are compared only.
fn read(job: Job<'_>, source: &Source, listing: Option<Listing>, all: Amount) -> Result<Stores> {
    let located = job.part.targets.iter().filter(|target| target.location.is_some()).count();
    let (dataset, is_compared) = match listing {
        None => (source.dataset(all.count, job.progress, job.stop)?, true),
        Some(listing) => {
            let takes = listing.took.mul_f64(located as f64);
            let fits = job.share(shares::COMPARING).is_none_or(|time| takes <= time);
            let is_compared = listing.is_whole() && fits && !source.is_part();
            (listing.dataset, is_compared)
        }
    };
    if dataset.entries().is_empty() {
        let place = job.part.data.location(&job.part.targets);
        let name = place.map_or_else(|| "the data".to_owned(), |place| place.shown());
        return Err(Error::usage("holds no values to measure with").at(name));
    }
    // The store that the data are from has them, and what another program has added since. Whether they
    // may be replaced is still to be seen.
    let from = job.part.data.location(&job.part.targets).filter(|_| !job.part.in_place);
    let is_source = |target: &&BlobTarget| {
        from.as_ref().is_some_and(|place| {
            target.location.as_ref() == Some(&place.path) && target.settings == place.settings
        })
    };
    for target in job.part.targets.iter().filter(|target| is_compared && !is_source(target)) {
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
        chosen: None,
        half: None,
        findings: Vec::new(),
        failed: Vec::new(),
        scratches: Scratches::default(),
    })
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
        let finished = in_part_of_the_rest(job, job.part_of(index), shares::AFTER_CHECKING, finish);
        match job.tolerable_failure(target, finished)? {
            Ok((finished, findings)) => {
                if index == job.request.baseline {
                    stores.baseline = place;
                }
                stores.targets.push(finished);
                stores.note(findings);
            }
            Err(error) => {
                stores.note_failed(&target.label, &error);
                failed = Some(error.within(&target.label));
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
        if !job.touches_all() {
            dataset.truncate(checked);
        }
    }
    if let Some(ready) = &made.read {
        dataset.truncate(activate_pages(job, ready, dataset)?);
    }
    // The check has read more of it.
    let mut warmed = None;
    for ready in made.read.iter().filter(|ready| ready.as_found.get()) {
        warmed = if ready.examined.borrow().is_some() {
            Some(examine_some(job, target, ready, (dataset, amount))?)
        } else {
            warm(job, target, ready, amount)?
        };
    }
    let longest = job.examining().unwrap_or(Duration::MAX);
    let (mut facts, some) = made.first().facts_within(place, amount, longest)?;
    let estimated = some.map(|files| {
        let kind = FindingKind::SpaceEstimated { files, all: amount.count };
        Finding::target(kind, &target.label)
    });
    made.keep_layout(&facts.in_effect);
    (facts.fill_ns, facts.check_ns) = (made.fill.map(nanoseconds), nanoseconds(check));
    show(job, &target.label, made.first(), &facts.in_effect);
    let planned = target.planned(Facet::Blobs, job.request.durability, job.owner(target))?;
    let findings = [finding, copied(job, target), warmed, estimated];
    let findings = findings.into_iter().flatten().collect();
    let TargetStores { read, copies, update, .. } = made;
    Ok((PreparedTarget { planned, facts, read, copies, update }, findings))
}

/// Reads the values that were checked once more, in as much time, unless the store was read from start to end
/// before. Linux moves a page to its active list at the second read, and rounds in which that happens would be
/// slower than all later ones. Returns how many values the rounds may read.
fn activate_pages(job: Job<'_>, ready: &ReadyStore, dataset: &Dataset) -> Result<usize> {
    let reading = job.checking();
    let is_evicted = ready.found.borrow().is_some();
    let is_remote = ready.engine.capabilities().remote;
    if ready.loaded.get() || is_evicted || reading.until.is_none() || is_remote {
        return Ok(dataset.entries().len());
    }
    check::bytes(dataset, ready, reading).map(|(_, read)| read)
}

/// Returns why a copy of the user's own store is measured, with the processes that write to it; or these
/// alone if the store itself is measured.
fn copied(job: Job<'_>, target: &BlobTarget) -> Option<Finding> {
    let path = target.location.as_ref()?;
    let copied = |operation: &Operation| job.is_scratch(target, *operation);
    let Some(operation) = job.operations().into_iter().find(copied) else {
        let writers = host::writers(&target.engine.files(path)).join(", ");
        let kind = FindingKind::OpenToWrite { writers: writers.clone() };
        return (!writers.is_empty()).then(|| Finding::target(kind, &target.label));
    };
    let updated = operation.writes();
    let why = if updated {
        "it is written to, and --in-place was not given".to_owned()
    } else {
        let why = job.reading_changes(target, path)?;
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
        cache_state::reach(ready, Cache::Warm, job.stop)?;
    }
    let start = Instant::now();
    let (differs, checked) = check::bytes(dataset, ready, job.checking())?;
    // What its own cache held would stay with this process.
    host::release_freed_memory();
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

/// Makes one target ready in a `part` of the time that is left, without the part `after` of all of it; a fifth of
/// it is there in any case. One that takes longer fails, so that the others can be measured.
pub(super) fn in_part_of_the_rest<T>(
    job: Job<'_>,
    part: f64,
    after: f64,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let kept = job.share(after).unwrap_or_default();
    let limit = job.budget.limit();
    let limit = limit
        .map(|left| left.saturating_sub(kept).mul_f64(part).max(left.mul_f64(shares::LATE_TARGET)));
    job.within(limit, work)?.ok_or_else(|| {
        let limit = show_duration(limit.unwrap_or_default());
        let [time, data] = job.request.limit_options;
        let less = if job.can_sample() { format!(" or a smaller {data}") } else { String::new() };
        Error::failed(format!(
            "making it ready takes more than {limit}, its share of the time that was left; use more {time}{less}"
        ))
    })
}

/// Drops the keys past `--max-id`.
fn limit(dataset: &mut Dataset, max: i64) -> Result<()> {
    if dataset.keys() == KeyKind::Names {
        return Err(names_have_no_max());
    }
    dataset.limit(max);
    if dataset.entries().is_empty() {
        return Err(no_key_is_that_small(max));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(count: u64, bytes: u64, largest: u64) -> DatasetSummary {
        DatasetSummary {
            keys: KeyKind::Integers,
            count,
            bytes,
            smallest: 1,
            largest,
            half_in: None,
            deflated: None,
        }
    }

    #[test]
    fn a_value_that_decides_is_not_left_to_chance() {
        let even = listed(10_000_000, 20_000_000_000, 3_000);
        assert!(enough_keys(&even) < 1_000_000);
        assert!(!has_decisive_value(&even));

        let outlier = listed(200_000, 600_000_000, 200_000_000);
        assert_eq!(enough_keys(&outlier), usize::MAX);
        assert!(missed_value(&outlier, &outlier).is_none());
        let missed = missed_value(&outlier, &listed(50_000, 100_000_000, 2_499)).unwrap();
        let expected = FindingKind::LargeValueNotRead { bytes: 200_000_000, share: 1.0 / 3.0 };
        assert_eq!(missed.kind, expected);

        let single = listed(1, 5_000, 5_000);
        assert!(enough_keys(&single) < usize::MAX, "nothing is left to chance");
    }
}
