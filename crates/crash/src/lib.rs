//! Records what a program writes and flushes in a folder, and makes the states of the folder that a
//! power cut may leave.
//!
//! A [`Recorder`] mounts a folder whose operations become a [`Record`], with the program's
//! acknowledgements between them. A [`Loss`] is what a [`CrashModel`](model::CrashModel) loses of the operations before a cut,
//! and a [`State`] is what is then there, to be written as a plain folder.
//!
//! # The models
//!
//! All models take an operation that changes a name as a whole: a rename has happened or not, as
//! journals have it. They differ in what is lost.
//!
//! | model | names, lengths that are set, attributes | data that no flush followed |
//! | --- | --- | --- |
//! | `kill` | all kept | all kept |
//! | `ordered` | the end of one journal is lost, never what a flush wrote of it | any blocks of 4 KiB are lost |
//! | `torn-4096`, `torn-512` | all kept, or as `ordered` | of one write some parts are lost, the rest is kept or as `ordered` |
//! | `strict` | any that no flush of their folder or file followed | any blocks of 4 KiB are lost |
//!
//! A file that lost data at its end is as long as it was, with zeros, or shorter.
#![cfg(target_os = "linux")]
#![warn(missing_docs)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "what is in memory fits a usize, and a request of FUSE has 16 MiB at most"
)]

mod certain;
mod contents;
mod filesystem;
mod loss;
mod nodes;
mod operation;
mod reach;
mod record;
mod recorder;
mod shared;
mod state;
mod tree;
mod words;

pub use loss::Loss;
pub use operation::{Attributes, Entry, Inode, NodeKind, Operation, ROOT, Spooled};
pub use record::Record;
pub use recorder::Recorder;
pub use shared::ACKNOWLEDGEMENTS;
pub use state::State;
