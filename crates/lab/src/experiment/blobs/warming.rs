//! Bringing stores into memory before they are read warm.

use model::{Cache, Residency, Result};

use super::{BlobTarget, Job};
use crate::{
    Amount,
    budget::{
        guessed::reading_files,
        shares::{WARMING, WARMING_AGAIN, WARMING_AT_MOST},
    },
    store::{ReadyStore, cache_state, file_bytes},
};

/// Brings a store of `amount` into memory, as far as there is time for it.
pub(super) fn warm(
    job: Job<'_>,
    target: &BlobTarget,
    ready: &ReadyStore,
    amount: Amount,
) -> Result<()> {
    let warming = job.warming(target, ready, amount)?;
    let longest = job.remaining().map(|time| time.mul_f64(WARMING_AT_MOST));
    let is_loaded = match warming {
        Warming::Whole => job.stop.within(longest, || cache_state::load(ready, job.stop))?,
        Warming::Missing => true,
        Warming::None => false,
    };
    // A limit within which it was not read may have been that of the whole command.
    job.stop.check()?;
    // Of one that is taken for filled, only what is missing is read.
    ready.filled.set(is_loaded);
    ready.as_found.set(!is_loaded);
    cache_state::reach(ready, Cache::Warm).map(drop)
}

/// The way in which a store is brought into memory before it is read warm.
enum Warming {
    /// From start to end, after it was evicted.
    Whole,
    /// Pages that are not in memory.
    Missing,
    /// Not at all: it is measured as it was found.
    None,
}

/// The part of the free memory that a store may take to be measured in memory.
const IN_MEMORY: f64 = 0.8;
/// Where so much of a store at most is not in memory, the rest is left there as it was found.
const FEW_MISSING: f64 = 0.5;

impl Job<'_> {
    /// Returns how a store of `amount` is brought into memory in the time that there is for it.
    fn warming(self, target: &BlobTarget, ready: &ReadyStore, amount: Amount) -> Result<Warming> {
        let Some(time) = self.remaining() else { return Ok(Warming::Whole) };
        let in_files = ready.engine.fill().whole_blocks;
        let bytes = if in_files {
            amount.bytes
        } else {
            // A hole takes memory too.
            let space = file_bytes(&ready.files())?;
            space.apparent.max(space.allocated)
        };
        let files = if in_files { amount.count } else { 1 };
        let memory = host::memory().available_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        if bytes as f64 > memory * IN_MEMORY {
            return Ok(Warming::None);
        }
        let part = |in_memory| reading_files(bytes, files, in_memory) / time.as_secs_f64();
        let (loading, again) = (part(false), part(true));
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
}
