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
    let needed = needed_memory(amount, keeps_all, stores as u64);
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

/// Returns the bytes that the keys take of which all are kept, or as many as a listing keeps, and the values
/// in so many stores in memory.
fn needed_memory(amount: Amount, keeps_all: bool, stores: u64) -> u64 {
    let kept = if keeps_all { amount.count } else { amount.count.min(KEPT as u64) };
    let keys = kept.saturating_mul(size_of::<Entry>() as u64);
    amount.bytes.saturating_mul(stores).saturating_add(keys)
}

#[cfg(test)]
mod tests {
    use model::Rounds;

    use super::*;
    use crate::{BlobsRequest, Request, Silent, Stop};

    #[test]
    fn keys_that_are_not_kept_need_no_memory() {
        let many = Amount { count: 500_000_000, bytes: 50_000_000_000 };
        assert_eq!(needed_memory(many, false, 0), 64 << 20);
        assert_eq!(needed_memory(many, true, 0), 8_000_000_000);
        assert_eq!(needed_memory(many, false, 2), 100_000_000_000 + (64 << 20));
        let few = Amount { count: 1000, bytes: 5000 };
        assert_eq!(needed_memory(few, false, 0), 16_000);
        let most = Amount { count: u64::MAX, bytes: u64::MAX };
        assert_eq!(needed_memory(most, true, 2), u64::MAX);
    }

    #[test]
    fn more_keys_than_memory_has_are_refused_only_where_all_are_kept() {
        let many = Amount { count: 1 << 60, bytes: 1 << 60 };
        let request = Request::reading(Data::Targets, Vec::new(), Rounds::within(1.0), 1);
        let listed = request.blobs().expect("it reads values");
        let stop = Stop::new();
        let check = |part: &BlobsRequest| {
            check_room(Job::new(&request, part, &Silent, &stop), &[Operation::Read], many)
        };
        check(listed).unwrap();
        let error = check(&BlobsRequest { count: Some(1), ..listed.clone() }).unwrap_err();
        assert!(error.to_string().contains("keys and stores in memory take"), "{error}");
    }
}
