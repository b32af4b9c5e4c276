//! A deduplicating repository of folders. Files are cut into blocks by their content, each block is
//! stored once, under its BLAKE3 sum, compressed in pack files; which file has which blocks is in
//! a catalogue, which can be in any [`Store`](model::Store) with names for keys.
//!
//! Everything is flushed before the catalogue mentions it, and the catalogue is committed once: a
//! repository is as it was before a backup, or as it is after it. It is not encrypted.

#![warn(missing_docs)]

mod batch;
mod catalogue;
mod check;
mod compare;
mod entry;
mod kept;
mod os;
mod packs;
mod replay;
mod repository;
mod restore;
mod save;
mod tree;

pub use self::{
    catalogue::{Operation, Snapshot},
    check::{Checked, Stats, check, stats},
    compare::differences,
    kept::{About, KeptRepository},
    replay::{Replay, repeat},
    repository::{Listed, Repository, StopCheck},
    restore::{Restored, restore},
    save::{Problem, Saved, save},
    tree::{Copied, copy_tree},
};
