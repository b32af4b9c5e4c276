//! All that depends on the platform: what the machine is, what it was doing, and the few file
//! operations that the standard library lacks.
//!
//! What a system does not tell is absent, never guessed. Linux tells most; the rest of Unix
//! tells processor time and free space; elsewhere every function still exists and says
//! `Unsupported` or nothing.

#[cfg(target_os = "linux")]
mod block;
mod cgroup;
mod clock;
#[cfg(target_os = "linux")]
mod compression;
mod copy_file;
mod cost;
mod cpu;
mod device;
mod disk;
mod disks;
mod environment;
#[cfg(target_os = "linux")]
mod extents;
#[cfg(not(target_os = "linux"))]
#[path = "extents/none.rs"]
mod extents;
#[cfg(target_os = "linux")]
mod family;
#[cfg(not(target_os = "linux"))]
#[path = "family/none.rs"]
mod family;
mod flush;
mod frequency;
mod image;
mod io;
mod memory;
mod memory_group;
mod meter;
#[cfg(target_os = "linux")]
mod mounts;
mod occupied;
mod placement;
mod pressure;
mod programs;
mod remove;
mod rename;
mod scratch;
mod space;
mod stop;
mod swap;
mod sync;
mod throttle;
mod ticks;
mod undertaker;
mod user;
mod virtualised;

pub use clock::{clock_ns, now_ns, wait_until};
pub use copy_file::copy_file;
pub use device::device;
pub use disk::free_bytes;
pub use disk::shortage;
pub use disks::{disk, other_filesystems};
pub use environment::{environment, filesystems};
pub use extents::{Extents, extents};
pub use flush::flush_latency;
pub use image::{ImageKind, check_images, mount_image};
pub use memory::memory;
pub use memory::page_bytes;
pub use memory_group::MemoryGroup;
pub use meter::{Measured, Meter, tells_load};
pub use occupied::occupied_bytes;
pub use placement::{FilesystemChoice, Placement, Placements};
pub use programs::programs;
pub use rename::rename_new;
pub use scratch::Scratch;
pub use space::{Space, space};
pub use stop::Stop;
pub use sync::{sync, sync_dir};
pub use user::{check_writable, user_id};

/// Every cut of `sample` and every single byte of it replaced: input that no parser may panic on.
#[doc(hidden)]
pub fn mutilations(sample: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cuts = (0..=sample.len()).map(|end| sample[..end].to_vec());
    let replaced = (0..sample.len()).flat_map(move |at| {
        [b' ', b'\n', b'9', b'\\', 0xff].into_iter().map(move |byte| {
            let mut text = sample.to_vec();
            text[at] = byte;
            text
        })
    });
    cuts.chain(replaced)
}
