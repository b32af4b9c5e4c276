//! All that depends on the platform: what the machine is, what it was doing, and the few file
//! operations that the standard library lacks.
//!
//! What a system does not tell is absent, never guessed. Linux tells most; the rest of Unix
//! tells processor time and free space; elsewhere every function still exists and says
//! `Unsupported` or nothing.

mod clock;
mod copy_file;
mod cost;
mod cpu;
mod disk;
mod environment;
mod load;
mod memory;
#[cfg(target_os = "linux")]
mod mounts;
mod remove;
mod rename;
mod scratch;
mod space;
mod sync;
mod virtualised;

pub use clock::clock_ns;
pub use copy_file::copy_file;
pub use disk::free_bytes;
pub use environment::environment;
pub use load::{Meter, tells_load};
pub use rename::rename_new;
pub use scratch::Scratch;
pub use space::{Space, space};
pub use sync::{sync, sync_dir};

/// Every cut of `sample` and every single byte of it replaced: input that no parser may panic on.
#[cfg(test)]
fn mutilations(sample: &[u8]) -> impl Iterator<Item = Vec<u8>> {
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
