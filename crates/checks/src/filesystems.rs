//! Doubts that the file systems under the stores raise.

use model::{
    Cache, Durability, Filesystem, Finding, FindingKind, Operation,
    record::{Header, Record},
};

/// File systems that are memory, or stand between the store and a disk's own.
const UNUSUAL: [&str; 7] = ["tmpfs", "ramfs", "overlay", "aufs", "fuse", "9p", "nfs"];

/// Ratio above which compressing saves next to nothing.
const COMPRESSIBLE: f64 = 0.9;

pub(super) fn filesystems(record: &Record) -> Vec<Finding> {
    let each = record.header.environment.filesystems.iter();
    each.flat_map(|filesystem| about(record, filesystem)).collect()
}

fn about(record: &Record, filesystem: &Filesystem) -> impl Iterator<Item = Finding> {
    let unusual = unusual(filesystem).map(Finding::run);
    let twice = cached_twice(record, filesystem).map(Finding::run);
    let fast = flush_too_fast(filesystem).filter(|_| flushed(record)).map(Finding::run);
    let looped = looped(record, filesystem).filter(|_| twice.is_none()).map(Finding::run);
    [unusual, twice, looped, compressible(&record.header, filesystem), fast].into_iter().flatten()
}

pub fn unusual(filesystem: &Filesystem) -> Option<FindingKind> {
    let kind = &filesystem.kind;
    let unusual = UNUSUAL.contains(&kind.as_str()) || kind.starts_with("fuse.");
    let mount = &filesystem.mount;
    unusual.then(|| FindingKind::UnusualFilesystem { kind: kind.clone(), mount: mount.clone() })
}

/// Where a device is reached, it is another file system that reaches it.
fn looped(record: &Record, filesystem: &Filesystem) -> Option<FindingKind> {
    let plan = &record.header.plan;
    let cold = plan.caches.iter().any(|cache| *cache != Cache::Warm);
    let direct = filesystem.loop_direct_io.filter(|_| cold || plan.first_write().is_some())?;
    let Filesystem { kind, device, .. } = filesystem.clone();
    Some(FindingKind::LoopDevice { kind, device, direct })
}

/// What a loop device without direct I/O holds in memory matters where a device is to be reached:
/// by cold reads, and by updates that promise to survive.
fn cached_twice(record: &Record, filesystem: &Filesystem) -> Option<FindingKind> {
    let cold = record.header.plan.caches.iter().any(|cache| *cache != Cache::Warm);
    let matters = cold || flushed(record);
    (filesystem.loop_direct_io == Some(false) && matters)
        .then(|| FindingKind::CachedTwice { device: filesystem.device.clone() })
}

/// Compressed data make reads and sizes small. Updates write random bytes, which no file system
/// makes smaller.
fn compressible(header: &Header, filesystem: &Filesystem) -> Option<Finding> {
    let ratio = header.plan.experiment.summary()?.deflated.filter(|ratio| *ratio < COMPRESSIBLE)?;
    filesystem.compression.as_ref()?;
    let read = header.plan.first(Operation::Read)?;
    let doubt = FindingKind::Compressible { kind: filesystem.kind.clone(), ratio };
    Some(Finding::run(doubt).in_workload(read))
}

/// Persistent memory is no drive: it may be that fast.
pub fn flush_too_fast(filesystem: &Filesystem) -> Option<FindingKind> {
    let memory = filesystem.device.starts_with("/dev/pmem");
    let flush = filesystem.flush.filter(|flush| flush.is_too_fast() && !memory)?;
    Some(FindingKind::FlushTooFast { p50_ns: flush.p50_ns, mount: filesystem.mount.clone() })
}

/// Whether updates are flushed to a device.
fn flushed(record: &Record) -> bool {
    let promised = record.stores.iter().any(|facts| facts.durability != Durability::None);
    promised && record.header.plan.first_write().is_some()
}
