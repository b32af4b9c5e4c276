//! What the machine and its file systems make doubtful.

use model::{
    Cache, Durability, Environment, Filesystem, Finding, FindingKind, Operation, Work,
    record::Record,
};

use super::mounts;

/// File systems that are memory, or are between the store and a disk's own.
const UNUSUAL: [&str; 3] = ["tmpfs", "ramfs", "aufs"];

/// Ratio above which compressing saves next to nothing.
const COMPRESSIBLE: f64 = 0.9;

/// What a machine makes doubtful, whatever is measured on it.
pub fn of_machine(environment: &Environment) -> Vec<FindingKind> {
    let debug = environment.debug_build.then_some(FindingKind::DebugBuild);
    let limited = environment.memory.address_space_bytes;
    let limited = limited.map(|bytes| FindingKind::AddressSpaceLimited { bytes });
    let pages_out = environment.memory.pages_out_after_s;
    let pages_out = pages_out.map(|seconds| FindingKind::PagesOut { seconds });
    let fsync = flushes_with_fsync(environment);
    let machine = [debug, limited, pages_out, governor(environment), host(environment), fsync];
    let machine = machine.into_iter().flatten();
    machine.chain(environment.filesystems.iter().flat_map(of_filesystem)).collect()
}

fn of_filesystem(filesystem: &Filesystem) -> impl Iterator<Item = FindingKind> {
    let twice = (filesystem.loop_direct_io == Some(false))
        .then(|| FindingKind::CachedTwice { device: filesystem.device.clone() });
    let own = [unusual(filesystem), twice, flush_too_fast(filesystem)].into_iter().flatten();
    own.chain(mounts::findings(filesystem))
}

/// What is read ahead at once is to fit so often into the memory of a run.
const READAHEADS: u64 = 16;

/// Under a limit a large readahead evicts what was read before.
fn readahead_large(record: &Record) -> Option<FindingKind> {
    let memory = record.header.plan.memory?.limit_bytes?;
    let filesystems = record.header.environment.filesystems.iter();
    let readahead = filesystems.filter_map(|filesystem| filesystem.readahead_bytes).max()?;
    let large = readahead.saturating_mul(READAHEADS) > memory;
    large.then_some(FindingKind::ReadaheadLarge { readahead, memory })
}

/// What matters of it to a plan, and what only matters together with its data and work.
pub(super) fn findings(record: &Record) -> Vec<Finding> {
    let mut kinds = of_machine(&record.header.environment);
    kinds.retain(|kind| matters(record, kind));
    let filesystems = record.header.environment.filesystems.iter();
    let more =
        filesystems.flat_map(|f| looped(record, f).into_iter().chain(compressible(record, f)));
    let kinds = kinds.into_iter().chain(readahead_large(record));
    kinds.map(Finding::run).chain(more).collect()
}

/// What is cached or flushed out of sight matters if a device is to be reached: by cold reads, and
/// by writes that promise to survive.
fn matters(record: &Record, kind: &FindingKind) -> bool {
    match kind {
        FindingKind::HostMayCache { .. } => {
            record.header.plan.caches.iter().any(|cache| cache.is_cold())
        }
        FindingKind::CachedTwice { .. } => reaches_device(record),
        FindingKind::SecondCache { .. } => is_read_from_device(record),
        FindingKind::FlushTooFast { .. } | FindingKind::FlushUnproven { .. } => is_flushed(record),
        FindingKind::Discards { .. } => record.header.plan.first(Work::writes).is_some(),
        FindingKind::FlushesWithFsync => {
            let targets = &record.header.plan.targets;
            is_flushed(record) && targets.iter().any(|target| target.engine == "sqlite")
        }
        _ => true,
    }
}

fn reaches_device(record: &Record) -> bool {
    is_read_from_device(record) || is_flushed(record)
}

fn is_read_from_device(record: &Record) -> bool {
    record.header.plan.caches.iter().any(|cache| *cache != Cache::Warm)
}

fn is_flushed(record: &Record) -> bool {
    let promised = record.stores.iter().any(|facts| facts.durability != Durability::None);
    promised && record.header.plan.first(Work::writes).is_some()
}

/// A crate from a registry is built without the settings of its folder. A loaded library does not
/// report this one.
fn flushes_with_fsync(environment: &Environment) -> Option<FindingKind> {
    let mut linked = environment.libraries.iter().filter(|library| library.loaded.is_none());
    let sqlite = linked.find(|library| library.name == "SQLite")?;
    let is_known = environment.os == "linux" && !sqlite.options.is_empty();
    let without = !sqlite.options.iter().any(|option| option.starts_with("HAVE_FDATASYNC"));
    (is_known && without).then_some(FindingKind::FlushesWithFsync)
}

/// Any governor but `performance` follows the load, and lags behind it. What a virtual machine
/// shows is not what its host does.
fn governor(environment: &Environment) -> Option<FindingKind> {
    let governor = environment.cpu.governor.as_ref().filter(|governor| *governor != "performance");
    let real = virtual_machine(environment).is_none();
    governor.filter(|_| real).map(|governor| FindingKind::Governor { governor: governor.clone() })
}

/// Evicting here empties no cache of the host.
fn host(environment: &Environment) -> Option<FindingKind> {
    let machine = virtual_machine(environment)?.to_owned();
    Some(FindingKind::HostMayCache { machine })
}

/// The kind of virtual machine. A container, which the environment names last, shares its host's
/// kernel and page cache: what is cold there is cold here.
fn virtual_machine(environment: &Environment) -> Option<&str> {
    let kinds = environment.virtualised.as_deref()?;
    match kinds.strip_suffix(" container") {
        None => Some(kinds),
        Some(kinds) => kinds.rsplit_once(", ").map(|(machine, _)| machine),
    }
}

fn unusual(filesystem: &Filesystem) -> Option<FindingKind> {
    let Filesystem { kind, mount, .. } = filesystem;
    let unusual = UNUSUAL.contains(&kind.as_str()) || mounts::is_reached_through_others(kind);
    unusual.then(|| FindingKind::UnusualFilesystem { kind: kind.clone(), mount: mount.clone() })
}

/// Persistent memory is no drive: it may be that fast.
fn flush_too_fast(filesystem: &Filesystem) -> Option<FindingKind> {
    let memory = filesystem.device.starts_with("/dev/pmem");
    let flush = filesystem.flush.filter(|flush| flush.is_too_fast() && !memory)?;
    Some(FindingKind::FlushTooFast { p50_ns: flush.p50_ns, mount: filesystem.mount.clone() })
}

/// A device is reached through another file system, and that it is cached there was not found.
fn looped(record: &Record, filesystem: &Filesystem) -> Option<Finding> {
    let direct = filesystem.loop_direct_io.filter(|direct| *direct || !reaches_device(record))?;
    let used = is_read_from_device(record) || record.header.plan.first(Work::writes).is_some();
    let Filesystem { kind, device, .. } = filesystem.clone();
    used.then(|| Finding::run(FindingKind::LoopDevice { kind, device, direct }))
}

/// Compressed data makes reads and sizes small. Updates write random bytes, which no file system
/// makes smaller.
fn compressible(record: &Record, filesystem: &Filesystem) -> Option<Finding> {
    let plan = &record.header.plan;
    let ratio = plan.experiment.summary()?.deflated.filter(|ratio| *ratio < COMPRESSIBLE)?;
    filesystem.compression.as_ref()?;
    let read = plan.first(|work| work.operation() == Some(Operation::Read))?;
    let kind = FindingKind::Compressible { kind: filesystem.kind.clone(), ratio };
    Some(Finding::run(kind).in_workload(read))
}
