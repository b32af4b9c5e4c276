//! All that depends on the platform: what the machine is, what it was doing, and the few file
//! operations that the standard library lacks.
//!
//! What a system does not report is absent, never guessed. Linux reports most; the rest of Unix
//! reports processor time and free space; elsewhere every function still exists and returns
//! nothing, or an error of kind `Unsupported`.

mod cgroup;
mod cleanup_guard;
mod clock;
mod copy_file;
mod disk;
mod environment;
mod extents;
mod flush;
mod image;
mod load;
mod memory;
mod memory_group;
mod meter;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(not(target_os = "linux"))]
#[path = "mounts/none.rs"]
mod mounts;
#[cfg(unix)]
mod pid_file;
mod placement;
mod processes;
mod processor;
mod programs;
mod remove;
mod rename;
mod scratch;
mod space;
mod stop;
mod text;
mod usage;
mod user;
mod virtualised;

pub use clock::{clock_ns, now_ns, wait_until};
pub use copy_file::copy_file;
pub use disk::{device, disk, other_filesystems};
pub use environment::environment;
pub use extents::{Extents, extents};
pub use flush::{flush_latency, sync, sync_dir};
pub use image::{ImageKind, check_images, mount_image};
pub use memory::memory;
pub use memory_group::MemoryGroup;
pub use meter::{Measured, Meter, reports_load};
pub use mounts::filesystems;
#[cfg(unix)]
pub use pid_file::{PidFile, leave_terminal};
pub use placement::{FilesystemChoice, Placement, Placements};
pub use processes::occupied_bytes;
pub use programs::programs;
pub use rename::rename_new;
pub use scratch::Scratch;
pub use space::{Space, free_bytes, shortage, space};
pub use stop::Stop;
#[doc(hidden)]
pub use text::mutilations;
pub use user::{check_writable, user_id};
