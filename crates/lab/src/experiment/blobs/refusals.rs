//! What cannot be measured, as far as that is known before anything is made. A dry run refuses it too.

use model::{Batch, Cache, Error, Result};

use super::{BlobTarget, Job, memory_limit, room};
use crate::{Amount, store::cache_state};

pub(super) fn check(job: Job<'_>) -> Result<()> {
    let part = job.part;
    job.check_sharing()?;
    job.check_caches()?;
    check_batches(job)?;
    memory_limit::check_early(job)?;
    cache_state::reachable(&part.caches)?;
    let has_files = |target: &BlobTarget| target.engine.capabilities().persistent;
    if !part.caches.contains(&Cache::Warm) && !part.targets.iter().any(has_files) {
        return Err(none_can_be_cold());
    }
    part.targets.iter().try_for_each(|target| job.settings(target).map(drop))?;
    if part.leaves_out {
        return Ok(());
    }
    let usable = |target: &BlobTarget| target.engine.usable().map_err(|e| e.context(&target.label));
    part.targets.iter().try_for_each(usable)?;
    let folders = room::needed(job, &job.operations(), Amount::default());
    folders.keys().try_for_each(|folder| host::check_scratch(folder))
}

/// Fails if several writes are to be one commit in a store where each is a commit.
fn check_batches(job: Job<'_>) -> Result<()> {
    let is_several = !matches!(job.part.batch, None | Some(Batch::Of(1)));
    let writes = job.part.work.iter().any(|work| work.operation.writes());
    let mut alone = job.part.targets.iter().filter(|target| !target.engine.capabilities().batches);
    alone.find(|_| is_several && writes).map_or(Ok(()), |target| {
        let why = "has no batches, each update is a commit of its own; leave out --batch";
        Err(Error::usage(format!("{}: {why}", target.label)))
    })
}

pub(super) fn none_can_be_cold() -> Error {
    Error::usage("none of the targets has files, so that none can be cold")
}

pub(super) fn names_have_no_max() -> Error {
    Error::usage("--max-id limits integer keys; these are names")
}

pub(super) fn no_key_is_that_small(max: i64) -> Error {
    Error::usage(format!("--max-id {max}: no key is that small"))
}
