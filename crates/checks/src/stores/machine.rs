//! The findings about the machine and its file systems.

use model::{
    Cache, Durability, Environment, Filesystem, Finding, FindingKind, Operation, Work,
    record::Record,
};

use super::mounts;

/// The file systems that are memory, or are between the store and a disk's own.
const UNUSUAL: [&str; 3] = ["tmpfs", "ramfs", "aufs"];

/// The compression ratio above which compressing saves next to nothing.
const COMPRESSIBLE: f64 = 0.9;

/// Returns the findings about a machine, whatever is measured on it.
pub fn of_machine(environment: &Environment) -> Vec<FindingKind> {
    let debug = environment.debug_build.then_some(FindingKind::DebugBuild);
    let emulated = environment.emulator.clone().map(|by| FindingKind::Emulated { by });
    let limited = environment.memory.address_space_bytes;
    let limited = limited.map(|bytes| FindingKind::AddressSpaceLimited { bytes });
    let pages_out = environment.memory.pages_out_after_s;
    let pages_out = pages_out.map(|seconds| FindingKind::PagesOut { seconds });
    let fsync = flushes_with_fsync(environment);
    let scanned = defender(environment);
    let machine = [
        debug,
        emulated,
        limited,
        pages_out,
        governor(environment),
        host(environment),
        fsync,
        scanned,
    ];
    let machine = machine.into_iter().flatten();
    machine.chain(environment.filesystems.iter().flat_map(of_filesystem)).collect()
}

fn of_filesystem(filesystem: &Filesystem) -> impl Iterator<Item = FindingKind> {
    let twice = (filesystem.loop_direct_io == Some(false))
        .then(|| FindingKind::CachedTwice { device: filesystem.device.clone() });
    let own = [unusual(filesystem), twice, flush_too_fast(filesystem)].into_iter().flatten();
    own.chain(mounts::findings(filesystem))
}

/// The number of readaheads that must fit into the memory of a run.
const READAHEADS: u64 = 16;

/// Returns a finding if the readahead is large under a limit on memory: it evicts what was read
/// before.
fn readahead_large(record: &Record) -> Option<FindingKind> {
    let memory = record.header.plan.memory?.limit_bytes?;
    let filesystems = record.header.environment.filesystems.iter();
    let readahead = filesystems.filter_map(|filesystem| filesystem.readahead_bytes).max()?;
    let large = readahead.saturating_mul(READAHEADS) > memory;
    large.then_some(FindingKind::ReadaheadLarge { readahead, memory })
}

/// Returns the findings about the machine that matter to the plan, and those that only matter
/// together with its data and work.
pub(super) fn findings(record: &Record) -> Vec<Finding> {
    let mut kinds = of_machine(&record.header.environment);
    kinds.retain(|kind| matters(record, kind));
    let filesystems = record.header.environment.filesystems.iter();
    let more =
        filesystems.flat_map(|f| looped(record, f).into_iter().chain(compressible(record, f)));
    let kinds = kinds.into_iter().chain(readahead_large(record));
    kinds.map(Finding::run).chain(more).collect()
}

/// Reports whether a finding matters to the plan. Unseen caches and flushes matter if a device is
/// to be reached: by cold reads, and by writes that promise to survive.
fn matters(record: &Record, kind: &FindingKind) -> bool {
    match kind {
        FindingKind::HostMayCache { .. } => {
            record.header.plan.caches.iter().any(|cache| cache.is_cold())
        }
        FindingKind::CachedTwice { .. } => reaches_device(record),
        FindingKind::SecondCache { .. } => is_read_from_device(record),
        FindingKind::FlushTooFast { .. } | FindingKind::FlushUnproven { .. } => is_flushed(record),
        FindingKind::Discards { .. } => record.header.plan.first_workload(Work::writes).is_some(),
        FindingKind::NoJournal { .. } => record.header.plan.first_workload(adds_files).is_some(),
        FindingKind::FlushesWithFsync => {
            let targets = &record.header.plan.targets;
            is_flushed(record) && targets.iter().any(|target| target.engine == "sqlite")
        }
        _ => true,
    }
}

/// Reports whether work may add files after others were deleted. An update that replaces a file takes the
/// place of one that was deleted within the same second.
fn adds_files(work: Work) -> bool {
    work.writes() && work.operation() != Some(Operation::Update)
}

fn reaches_device(record: &Record) -> bool {
    is_read_from_device(record) || is_flushed(record)
}

fn is_read_from_device(record: &Record) -> bool {
    record.header.plan.caches.iter().any(|cache| *cache != Cache::Warm)
}

fn is_flushed(record: &Record) -> bool {
    let promised = record.stores.iter().any(|facts| facts.durability != Durability::None);
    promised && record.header.plan.first_workload(Work::writes).is_some()
}

/// Returns a finding if SQLite flushes with fsync, as it does if it is built from a registry
/// without the settings of its folder. A loaded library does not report this.
fn flushes_with_fsync(environment: &Environment) -> Option<FindingKind> {
    let mut linked = environment.libraries.iter().filter(|library| library.loaded.is_none());
    let sqlite = linked.find(|library| library.name == "SQLite")?;
    let is_known = environment.os == "linux" && !sqlite.options.is_empty();
    let without = !sqlite.options.iter().any(|option| option.starts_with("HAVE_FDATASYNC"));
    (is_known && without).then_some(FindingKind::FlushesWithFsync)
}

/// Returns a finding on Windows unless its own scanner does not run.
fn defender(environment: &Environment) -> Option<FindingKind> {
    if environment.os != "windows" {
        return None;
    }
    match (environment.defender, environment.defender_excludes) {
        (Some(true), Some(true)) => Some(FindingKind::DefenderExcludes),
        (Some(true), excludes) => Some(FindingKind::Defender { is_seen: excludes.is_some() }),
        (Some(false), _) => None,
        (None, _) => Some(FindingKind::DefenderUnknown),
    }
}

/// Returns a finding if the governor follows the load, and lags behind it: any but `performance`.
/// In a virtual machine the governor is not that of the host.
fn governor(environment: &Environment) -> Option<FindingKind> {
    let governor = environment.cpu.governor.as_ref().filter(|governor| *governor != "performance");
    let real = virtual_machine(environment).is_none();
    governor.filter(|_| real).map(|governor| FindingKind::Governor { governor: governor.clone() })
}

/// Returns a finding in a virtual machine: evicting here empties no cache of the host.
fn host(environment: &Environment) -> Option<FindingKind> {
    let machine = virtual_machine(environment)?.to_owned();
    Some(FindingKind::HostMayCache { machine })
}

/// Returns the kind of virtual machine. A container, which the environment names last, shares its
/// host's kernel and page cache: what is cold there is cold here.
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

/// Returns a finding if a flush is too fast for a drive. Persistent memory is no drive: it may be
/// that fast.
fn flush_too_fast(filesystem: &Filesystem) -> Option<FindingKind> {
    let memory = filesystem.device.starts_with("/dev/pmem");
    let flush = filesystem.flush.filter(|flush| flush.is_too_fast() && !memory)?;
    Some(FindingKind::FlushTooFast { p50_ns: flush.p50_ns, mount: filesystem.mount.clone() })
}

/// Returns a finding if the store is on a loop device, and no other finding reports that the device
/// is cached twice.
fn looped(record: &Record, filesystem: &Filesystem) -> Option<Finding> {
    let direct = filesystem.loop_direct_io.filter(|direct| *direct || !reaches_device(record))?;
    let used =
        is_read_from_device(record) || record.header.plan.first_workload(Work::writes).is_some();
    let Filesystem { kind, device, .. } = filesystem.clone();
    used.then(|| Finding::run(FindingKind::LoopDevice { kind, device, direct }))
}

/// Returns a finding if the data compresses and the file system compresses it, which makes reads
/// and sizes small. Updates write random bytes, which no file system makes smaller.
fn compressible(record: &Record, filesystem: &Filesystem) -> Option<Finding> {
    let plan = &record.header.plan;
    let ratio = plan.experiment.summary()?.deflated.filter(|ratio| *ratio < COMPRESSIBLE)?;
    filesystem.compression.as_ref()?;
    let read = plan.first_workload(|work| work.operation() == Some(Operation::Read))?;
    let kind = FindingKind::Compressible { kind: filesystem.kind.clone(), ratio };
    Some(Finding::run(kind).in_workload(read))
}
