//! The room for the stores of a run.

use std::{collections::BTreeMap, path::PathBuf};

use model::{Error, Memory, Operation, Result, units::show_size};

use super::{BlobTarget, Data, Job, listing::KEPT};
use crate::{Amount, dataset::Entry};

/// The room on a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// A folder on it.
    pub folder: PathBuf,
    /// The bytes that are needed there.
    pub needed: u64,
    /// The bytes that are free; `None` if they are not known.
    pub free: Option<u64>,
}

/// Returns the bytes of scratch stores for `operations`, by their folder: as much again if updates
/// may fill a journal.
pub(super) fn needed(
    job: Job<'_>,
    operations: &[Operation],
    amount: Amount,
) -> BTreeMap<PathBuf, u64> {
    let mut needed = BTreeMap::<PathBuf, u64>::new();
    let persistent = |target: &&BlobTarget| target.engine.capabilities().persistent;
    for target in job.part.targets.iter().filter(persistent) {
        for operation in operations.iter().filter(|of| job.is_scratch(target, **of)) {
            let factor = if operation.writes() { 2 } else { 1 };
            let room = amount.room(&target.engine.fill()).saturating_mul(factor);
            let sum = needed.entry(job.request.parent(target)).or_default();
            *sum = sum.saturating_add(room);
        }
    }
    needed
}

/// Refuses stores for `operations` that have no room on disk or in memory: what fits into no memory
/// would be taken up until the system ends this process, or others.
pub(super) fn check_room(job: Job<'_>, operations: &[Operation], amount: Amount) -> Result<()> {
    let rooms =
        if job.part.short_of_room { BTreeMap::new() } else { needed(job, operations, amount) };
    for (parent, needed) in rooms {
        if let Some(free) = host::shortage(&parent, needed)? {
            return Err(Error::usage(format!(
                "scratch stores take about {}, {} has {} free: --scratch DIR names another place, \
                 a smaller --keys or data takes less",
                show_size(needed),
                parent.display(),
                show_size(free)
            )));
        }
    }
    let held = |target: &&BlobTarget| {
        let engine = target.engine.capabilities();
        engine.retains && !engine.persistent && !engine.remote
    };
    let stores = job.part.targets.iter().filter(held).count() * operations.len();
    // So many generated values are a mistake.
    let keeps_all = job.touches_all() || matches!(job.part.data, Data::Generated(_));
    let kept = if keeps_all { amount.count } else { amount.count.min(KEPT as u64) };
    let keys = kept.saturating_mul(size_of::<Entry>() as u64);
    let needed = amount.bytes.saturating_mul(stores as u64).saturating_add(keys);
    let Memory { available_bytes, swap_bytes, .. } = host::memory();
    let free = available_bytes.map(|bytes| bytes.saturating_add(swap_bytes.unwrap_or(0)));
    match free.filter(|free| *free < needed) {
        None => Ok(()),
        Some(free) => Err(Error::usage(format!(
            "keys and stores in memory take {} at least, {} are available: a smaller --keys or \
             data takes less",
            show_size(needed),
            show_size(free)
        ))),
    }
}
