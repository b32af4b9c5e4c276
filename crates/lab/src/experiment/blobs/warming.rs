//! Bringing stores into memory before they are read warm.

use std::time::Duration;

use model::{Cache, Finding, FindingKind, Residency, Result};

use super::{BlobTarget, Job};
use crate::{
    Amount,
    budget::{
        guessed::reading_files,
        shares::{EXAMINING, NOTING, WARMING, WARMING_AGAIN, WARMING_AT_MOST},
    },
    dataset::Dataset,
    store::{ReadyStore, cache_state, file_bytes},
};

/// Brings a store of `amount` into memory, as far as there is time for it. Of one that is too large, notes what of
/// it is there, once: later something was read of it. Returns a finding if there was no time to bring it there in
/// the same way as others.
pub(super) fn warm(
    job: Job<'_>,
    target: &BlobTarget,
    ready: &ReadyStore,
    amount: Amount,
) -> Result<Option<Finding>> {
    if ready.found.borrow().is_some() {
        return Ok(None);
    }
    let examining = job.examining();
    let Some(warming) = job.within(examining, || job.warming(target, ready, amount))? else {
        leave_unexamined(ready);
        return Ok(None);
    };
    let longest = job.remaining().map(|time| time.mul_f64(WARMING_AT_MOST));
    let is_loaded = match warming {
        Warming::Whole if ready.loaded.get() => true,
        Warming::Whole => job.within(longest, || cache_state::load(ready, job.stop))?.is_some(),
        Warming::Missing | Warming::There => true,
        Warming::None => false,
        Warming::Impossible => {
            job.within(job.of_each(NOTING), || cache_state::note_found(ready, job.stop))?;
            false
        }
    };
    // Of one that is taken for filled, only what is missing is read.
    ready.filled.set(is_loaded);
    ready.as_found.set(!is_loaded);
    let is_whole = warming == Warming::Whole && is_loaded;
    let is_known = is_whole || warming == Warming::Impossible;
    let matters = !is_known && job.part.caches.contains(&Cache::Warm);
    let finding = matters.then(|| Finding::target(FindingKind::NotReadWhole, &target.label));
    if warming == Warming::There || ready.found.borrow().is_some() {
        return Ok(finding);
    }
    let longest = if is_loaded { longest } else { examining };
    let reached = job.within(longest, || cache_state::reach(ready, Cache::Warm, job.stop))?;
    if reached.is_none() {
        leave_unexamined(ready);
    }
    Ok(finding)
}

/// Leaves a store as it was found, without examining its files.
fn leave_unexamined(ready: &ReadyStore) {
    ready.as_found.set(true);
    ready.examined.replace(Some(Vec::new()));
}

/// The largest number of files that are examined where not all can be: more show hardly more.
const EXAMINED: usize = 20_000;

/// Chooses files to be examined for being in memory where not all of `amount` can be: those of the values of
/// `dataset`, all of which were just read. Returns a finding that says so.
pub(super) fn examine_some(
    job: Job<'_>,
    target: &BlobTarget,
    ready: &ReadyStore,
    (dataset, amount): (&Dataset, Amount),
) -> Result<Finding> {
    let entries = dataset.entries().iter().take(EXAMINED);
    let (files, _) = ready.with(|store| {
        let files = entries.map(|entry| store.file_of(dataset.key(entry)));
        Ok(files.collect::<Option<Vec<_>>>().unwrap_or_default())
    })?;
    let examined = files.len() as u64;
    ready.examined.replace(Some(files));
    // They are warm without the others, unless memory cannot hold them.
    let is_warm = examined > 0 && fits_in_memory(dataset.summary().bytes);
    ready.filled.set(is_warm);
    ready.as_found.set(!is_warm);
    cache_state::reach(ready, Cache::Warm, job.stop)?;
    let kind = FindingKind::FilesNotExamined { examined, files: amount.count };
    Ok(Finding::target(kind, &target.label))
}

/// The way in which a store is brought into memory before it is read warm.
#[derive(PartialEq)]
enum Warming {
    /// From start to end, after it was evicted.
    Whole,
    /// Pages that are not in memory.
    Missing,
    /// All pages were seen in memory.
    There,
    /// Not at all, for lack of time: it is measured as it was found.
    None,
    /// Not at all, as memory cannot hold it.
    Impossible,
}

/// The part of the free memory that a store may take to be measured in memory.
const IN_MEMORY: f64 = 0.8;
/// Where so much of a store at most is not in memory, the rest is left there as it was found.
const FEW_MISSING: f64 = 0.5;

fn fits_in_memory(bytes: u64) -> bool {
    fits(bytes, host::memory().available_bytes)
}

/// Reports whether a store of so many bytes can be measured in memory of which so many are free, if that is
/// known.
fn fits(bytes: u64, free: Option<u64>) -> bool {
    free.is_none_or(|free| bytes as f64 <= free as f64 * IN_MEMORY)
}

impl Job<'_> {
    /// Returns the time in which all files of a store are to be examined; `None` if a round touches all keys.
    pub(super) fn examining(self) -> Option<Duration> {
        self.of_each(EXAMINING)
    }

    /// Returns what each target has of `share` of the time that is left; `None` if a round touches all keys.
    fn of_each(self, share: f64) -> Option<Duration> {
        let share = share / self.part.targets.len() as f64;
        self.remaining().map(|time| time.mul_f64(share))
    }

    /// Returns how a store of `amount` is brought into memory in the time that there is for it.
    fn warming(self, target: &BlobTarget, ready: &ReadyStore, amount: Amount) -> Result<Warming> {
        let Some(time) = self.remaining() else { return Ok(Warming::Whole) };
        let in_files = ready.engine.capabilities().paths;
        let bytes = if in_files {
            amount.bytes
        } else {
            // A hole takes memory too.
            let space = file_bytes(&ready.files())?;
            space.apparent.max(space.allocated)
        };
        let files = if in_files { amount.count } else { 1 };
        if !fits_in_memory(bytes) {
            return Ok(Warming::Impossible);
        }
        let part = |in_memory| reading_files(bytes, files, in_memory) / time.as_secs_f64();
        let (loading, again) = (part(false), part(true));
        if target.location.is_none() || loading <= WARMING_AGAIN {
            return Ok(if loading > WARMING { Warming::None } else { Warming::Whole });
        }
        let share = |seen: Residency| 1.0 - seen.resident as f64 / seen.pages.max(1) as f64;
        let missing = cache_state::seen(ready, self.stop)?.map_or(1.0, share);
        Ok(match () {
            () if loading * missing + again > WARMING => Warming::None,
            () if missing > FEW_MISSING => Warming::Whole,
            () if missing > 0.0 => Warming::Missing,
            () => Warming::There,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_fits_into_the_memory_that_is_free_if_it_leaves_some() {
        assert!(fits(800, Some(1000)));
        assert!(!fits(801, Some(1000)));
        assert!(fits(0, Some(0)) && !fits(1, Some(0)));
        assert!(fits(u64::MAX, None), "the system does not report it");
    }
}
