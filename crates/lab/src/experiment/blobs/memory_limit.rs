//! Equal memory for all targets: a cache of the same size for each engine that has one of its
//! own, and where the system lets us, a limit on everything, the page cache included.

use std::cell::Cell;

use host::MemoryGroup;
use model::{Blobs, Cache, Error, Finding, FindingKind, MemoryLimit, Result, units::show_size};

use super::{BlobTarget, Job};
use crate::workers::processes::Processes;

/// The part of the memory that is for an engine's own cache, as a divisor. The rest is for the page
/// cache, through which its files are read and written, for what engines hold besides their caches,
/// and for the workers.
const CACHE_PART: u64 = 2;

/// The memory that workers need besides any store: buffers of the system and of storemark.
const BASE_NEED: u64 = 8 << 20;
/// The memory of each worker in addition to its room for the largest value.
const WORKER_NEED: u64 = 1 << 20;

/// Returns the value of the setting `cache` that gives `engine` its part of `memory`; `None` if it
/// has no cache of its own.
pub fn equal_cache(engine: &dyn Blobs, memory: u64, workers: u32) -> Option<u64> {
    engine.cache(memory / CACHE_PART, workers)
}

/// The limit of a run, in force while it lives.
pub(super) struct MemoryLimiter {
    pub(super) planned: MemoryLimit,
    pub(super) findings: Vec<Finding>,
    group: Option<MemoryGroup>,
    /// Processes that the system had ended when that was last asked.
    reported: Cell<u64>,
}

impl MemoryLimiter {
    /// Puts this process and the workers under the limit that was asked for. Where that cannot be,
    /// a finding says why; one too small to work in is an error.
    pub(super) fn set(
        job: Job<'_>,
        largest: u64,
        processes: Option<&Processes<'_>>,
    ) -> Result<Option<Self>> {
        let Some(bytes) = job.part.memory else { return Ok(None) };
        let workers = job.workers();
        check(bytes, largest, workers)?;
        let mut findings = kept(&job.part.targets, bytes, workers);
        let ids = processes.map(Processes::ids).unwrap_or_default();
        let entered = MemoryGroup::new(bytes).and_then(|group| group.enter(&ids).map(|()| group));
        let group = entered.map_err(|why| {
            findings.push(Finding::run(FindingKind::MemoryNotLimited { why: why.to_string() }));
        });
        let group = group.ok();
        let limit = group.as_ref().map(MemoryGroup::limit_bytes);
        let smaller = limit.filter(|limit| *limit < bytes - bytes % pagecache::page_size());
        let smaller = smaller.map(|limit| FindingKind::MemoryLimitSmaller { asked: bytes, limit });
        findings.extend(smaller.map(Finding::run));
        let planned = MemoryLimit {
            bytes,
            cache_bytes: bytes / CACHE_PART,
            limit_bytes: limit,
            page_bytes: pagecache::page_size(),
        };
        Ok(Some(Self { planned, findings, group, reported: Cell::new(0) }))
    }

    /// Puts worker processes under it that were started since.
    pub(super) fn admit(&self, ids: &[u32]) -> Result<()> {
        let entered = self.group.as_ref().map_or(Ok(()), |group| group.enter(ids));
        entered.map_err(|why| Error::failed(format!("--memory: {why}")))
    }

    /// Returns `caches` under the limit: data larger than memory cannot be warm.
    pub(super) fn states(&self, caches: Vec<Cache>) -> Vec<Cache> {
        let limited = self.group.is_some();
        let state = |cache| if limited && cache == Cache::Warm { Cache::Limited } else { cache };
        caches.into_iter().map(state).collect()
    }

    /// Fails if the system has ended a process for lack of memory since this was last checked,
    /// whatever that looked like.
    pub(super) fn check(&self) -> Result<()> {
        let killed = self.group.as_ref().map_or(0, MemoryGroup::killed);
        if self.reported.replace(killed) == killed {
            return Ok(());
        }
        Err(too_small(self.planned.bytes, "the system ended a process that needed more"))
    }
}

/// Refuses what is too little for any values, before anything is made.
pub(super) fn check_early(job: Job<'_>) -> Result<()> {
    job.part.memory.map_or(Ok(()), |bytes| check(bytes, 0, job.workers()))
}

fn check(bytes: u64, largest: u64, workers: u32) -> Result<()> {
    let workers = u64::from(workers).saturating_mul(largest.saturating_add(WORKER_NEED));
    let need = workers.saturating_add(BASE_NEED).saturating_mul(CACHE_PART);
    if bytes >= need {
        return Ok(());
    }
    let why = format!("workers and caches of this run need {} at least", show_size(need));
    Err(too_small(bytes, &why).with_kind(model::ErrorKind::Usage))
}

fn too_small(bytes: u64, why: &str) -> Error {
    Error::failed(format!("--memory {} is too little to work in: {why}", show_size(bytes)))
}

/// Finds targets whose own setting for their cache overrides the limit's.
fn kept(targets: &[BlobTarget], bytes: u64, workers: u32) -> Vec<Finding> {
    let targets = targets.iter().filter(|target| {
        let equal = equal_cache(target.engine, bytes, workers).map(|bytes| bytes.to_string());
        equal.is_some() && target.settings.get("cache") != equal.as_deref()
    });
    targets.map(|target| Finding::target(FindingKind::CacheKept, &target.label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_workers_need_is_left_next_to_the_cache() {
        assert!(check(64 << 20, 10_000, 1).is_ok());
        let error = check(1 << 20, 10_000, 1).unwrap_err();
        assert_eq!(error.kind(), model::ErrorKind::Usage);
        assert!(error.to_string().starts_with("--memory 1.05 MB is too little"), "{error}");
        assert!(check(64 << 20, 64 << 20, 1).is_err(), "a value must fit");
        assert!(check(64 << 20, 10_000, 1000).is_err(), "and each worker");
        assert!(check(u64::MAX, u64::MAX, u32::MAX).is_ok());
    }
}
