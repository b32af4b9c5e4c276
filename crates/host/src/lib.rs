//! All that depends on the platform: what the machine is, what it was doing, and the few file
//! operations that the standard library lacks.
//!
//! A figure that a system does not report is absent, never guessed. Linux reports most; the rest of Unix
//! reports processor time and free space; elsewhere every function still exists and returns
//! nothing, or an error of kind `Unsupported`.

#![warn(missing_docs)]

mod access;
mod clamd;
mod cleanup_guard;
mod clock;
mod defender;
mod disk;
mod environment;
mod file_lock;
mod files;
mod flush;
mod image;
mod memory;
mod memory_group;
mod meter;
#[cfg(target_os = "linux")]
mod mounts;
mod os;
mod paging;
#[cfg(unix)]
mod pid_file;
mod placement;
mod process_group;
mod processes;
mod processor;
mod programs;
mod read_only;
mod removal;
mod run_clock;
mod scanner;
mod scratch;
mod signals;
mod space;
mod stop;
mod text;
mod thread_meter;
mod unchecked;
mod usage;
mod usage_meter;
mod writers;

pub use access::{
    FileAccess, create_private, mode_without_list, mode_without_list_of, remove_access_lists,
    set_mode,
};
pub use cleanup_guard::guard_with;
pub use clock::{clock_ns, now_ns, set_clock, unix_ns, wait_until};
pub use disk::{device, disk, other_filesystems};
pub use environment::environment;
pub use file_lock::FileLock;
pub use files::{
    check_writable, copy_file, create_folder, exchange, identity, is_mine, is_mount_point,
    is_open_to_write, is_same_file, may_be_moved, real_path, rename_new, user_id,
};
pub use flush::{flush_latency, sync, sync_dir};
pub use image::ImageKind;
pub use memory::{memory, peak_bytes, release_freed_memory};
pub use memory_group::MemoryGroup;
pub use meter::{Measured, Meter};
pub use mounts::filesystems;
#[cfg(unix)]
pub use pid_file::{PidFile, leave_terminal};
pub use placement::{FilesystemChoice, Placement, Placements};
pub use process_group::ProcessGroup;
pub use processes::occupied_bytes;
pub use processor::last_level_cache_bytes;
pub use programs::programs;
pub use read_only::{MountedImage, ReadOnlyKind};
pub use run_clock::{Instant, Passed, RunClock};
pub use scratch::{
    LOCK, Scratch, check_scratch, empty_folder, enterable, guard, lock_folder, random,
    remove_folder,
};
pub use signals::on_interrupt;
pub use space::{
    Extents, Space, extents, free_bytes, repeated_files, shortage, space, space_within, walk,
};
pub use stop::Stop;
#[doc(hidden)]
pub use text::mutilations;
pub use thread_meter::{Spent, ThreadMeter};
pub use unchecked::{WITHOUT, does_without, unchecked};
pub use usage::{Usage, add_usage};
pub use usage_meter::UsageMeter;
pub use writers::writers;

/// The replacement on systems that do not describe their mounts.
#[cfg(not(target_os = "linux"))]
mod mounts {
    use std::path::{Path, PathBuf};

    use model::Filesystem;

    use crate::{os, space::nearest_existing};

    /// Returns the file systems that `paths` are on, as far as the system names them, each once.
    pub fn filesystems(paths: &[PathBuf]) -> Vec<Filesystem> {
        let found = paths.iter().filter_map(|path| os::filesystem(&nearest_existing(path)));
        let mut found: Vec<_> = found.collect();
        found.sort_by(|one, other| one.mount.cmp(&other.mount));
        found.dedup_by(|one, other| one.mount == other.mount);
        found
    }

    pub(crate) fn local() -> Vec<Filesystem> {
        Vec::new()
    }

    pub(crate) fn device_folder(_: &Path) -> Option<PathBuf> {
        None
    }

    pub(crate) fn below(_: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}
