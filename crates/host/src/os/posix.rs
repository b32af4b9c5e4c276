//! Functions that Linux, macOS and the BSDs have in common. `windows` has them for Windows.

use std::{
    fs::{self, DirBuilder, Metadata},
    io,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
};

use model::Cost;
#[cfg(not(target_os = "macos"))]
use model::{Io, Memory};
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::{TimeVal, TimeValLike},
};
use rustix::{
    fs::{Access, access, statvfs},
    process::{Pid, Resource, Signal, geteuid, getrlimit, kill_process_group},
    time::{ClockId, clock_gettime},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

pub(crate) use std::os::unix::fs::chown;

/// Returns device and inode.
pub(crate) fn identity(_: &Path, meta: &Metadata) -> Option<(u64, u64)> {
    Some((meta.dev(), meta.ino()))
}

/// Returns the path, which programs show as it is.
pub(crate) fn shown_path(path: PathBuf) -> PathBuf {
    path
}

/// Returns device and inode of what `path` leads to.
pub(crate) fn file_identity(path: &Path) -> Option<(u64, u64)> {
    identity(path, &fs::metadata(path).ok()?)
}

pub(crate) fn flush_file(path: &Path, _: &Metadata) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

/// Returns the effective user (0 is root).
pub(crate) fn user_id() -> Option<u32> {
    Some(geteuid().as_raw())
}

/// Returns user and group.
pub(crate) fn owner(meta: &Metadata) -> (u32, u32) {
    (meta.uid(), meta.gid())
}

pub(crate) fn mode(meta: &Metadata) -> u32 {
    meta.mode() & 0o7777
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Takes the rights of the group and others away from what is created from now on.
pub(crate) fn create_private() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Sets the mode of the folders that `builder` creates.
pub(crate) fn set_creation_mode(builder: &mut DirBuilder, mode: u32) {
    builder.mode(mode);
}

/// Returns whether this user may create entries in a folder, by its permissions.
pub(crate) fn is_writable(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Returns the identity of a file or folder, and the bytes that it occupies on disk.
pub(crate) fn occupied(path: &Path, meta: &Metadata) -> (Option<(u64, u64)>, u64) {
    // In units of 512 bytes, whatever the block size of the file system.
    (identity(path, meta), meta.blocks() * 512)
}

/// Returns the bytes that this user may still write to the file system of `place`.
pub(crate) fn free_bytes(place: &Path) -> Option<io::Result<u64>> {
    let space = statvfs(place).map_err(io::Error::from);
    Some(space.map(|space| space.f_bavail.saturating_mul(space.f_frsize)))
}

/// Returns the smaller of the limits on all addresses and on those of data, which counts mapped
/// memory too.
pub(crate) fn address_space() -> Option<u64> {
    [Resource::As, Resource::Data]
        .into_iter()
        .filter_map(|resource| getrlimit(resource).current)
        .min()
}

/// Returns nanoseconds on a clock that never goes back and is the same in all processes.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let part = |part: i64| u64::try_from(part).unwrap_or(0);
    #[allow(clippy::useless_conversion, reason = "both parts are narrower on some systems")]
    let (seconds, nanoseconds) = (i64::from(now.tv_sec), i64::from(now.tv_nsec));
    part(seconds) * 1_000_000_000 + part(nanoseconds)
}

/// Puts the process into a group of its own, which a terminal's interrupt does not reach.
pub(crate) fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Puts the process into a group of its own. It ignores SIGHUP by itself.
pub(crate) fn without_terminal(command: &mut Command) -> &mut Command {
    in_own_group(command)
}

/// The processes of a group that one started in it leads.
#[derive(Debug)]
pub(crate) struct Group;

impl Group {
    pub(crate) fn with(_: &Child) -> Self {
        Self
    }

    /// Ends all processes in the group of one that has not been waited for.
    pub(crate) fn kill(&self, child: &Child) {
        // It may have ended.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

/// Calls `handler`, in a thread of its own, when the user or the system asks this process to end.
pub(crate) fn on_interrupt(handler: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || signals.forever().for_each(|_| handler());
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}

/// Returns what this process, all its threads together, has spent so far.
pub(crate) fn spent() -> Cost {
    usage(UsageWho::RUSAGE_SELF)
}

pub(super) fn usage(who: UsageWho) -> Cost {
    let Ok(usage) = getrusage(who) else { return Cost::default() };
    let ns = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0) * 1_000;
    let count = |count: std::ffi::c_long| u64::try_from(count).ok();
    Cost {
        user_ns: ns(usage.user_time()),
        system_ns: ns(usage.system_time()),
        minor_faults: count(usage.minor_page_faults()),
        major_faults: count(usage.major_page_faults()),
        voluntary_switches: count(usage.voluntary_context_switches()),
        involuntary_switches: count(usage.involuntary_context_switches()),
        // Of the whole process, also for a thread.
        flushes: super::flush_calls(),
    }
}

/// Returns nothing: what Linux reports is read in `processes.rs`.
#[cfg(not(target_os = "macos"))]
pub(crate) fn io() -> Option<Io> {
    None
}

/// Returns nothing: what Linux reports is read in `memory.rs`.
#[cfg(not(target_os = "macos"))]
pub(crate) fn memory() -> Memory {
    Memory::default()
}

/// Returns nothing: what Linux reports is read in `processor.rs`.
#[cfg(not(target_os = "macos"))]
pub(crate) fn processor_name() -> Option<String> {
    None
}

/// Returns nothing: what Linux reports is read in `processes.rs`.
#[cfg(not(target_os = "macos"))]
pub(crate) fn own_bytes() -> Option<u64> {
    None
}

/// Returns nothing: the service is one of Windows.
pub(crate) fn defender_runs() -> Option<bool> {
    None
}

/// Returns nothing, as above.
pub(crate) fn defender_exclusions() -> Option<Vec<String>> {
    None
}

pub(crate) fn kernel() -> Option<String> {
    Some(rustix::system::uname().release().to_string_lossy().into_owned())
}

/// Returns the number that a value of the system is, by its length.
#[cfg(any(test, target_os = "macos"))]
pub(super) fn native_number(value: &[u8]) -> Option<u64> {
    match value.len() {
        4 => value.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes).into()),
        8 => value.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_or_eight_bytes() {
        assert_eq!(native_number(&16_384_u32.to_ne_bytes()), Some(16_384));
        assert_eq!(native_number(&(24_u64 << 30).to_ne_bytes()), Some(24 << 30));
        assert_eq!((native_number(&[]), native_number(&[1; 5])), (None, None));
    }
}
