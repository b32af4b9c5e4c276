//! Workers: threads of this process or of others. All start each pass of a trial together, each
//! in a session of its own, and wait between the passes, while the store and the machine are looked
//! at.
//!
//! [`threads`] runs the workers of one process. [`processes`] starts other processes, which
//! [`serve`](serve::serve) jobs on [`blobs`], [`roles`] and [`rows`]: storemark again, by any command that
//! carries standard input and output.

pub(crate) mod blobs;
mod client;
pub(crate) mod message;
mod pipe;
pub(crate) mod processes;
pub(crate) mod program;
pub(crate) mod roles;
pub(crate) mod rows;
mod serve;
pub(crate) mod threads;
pub(crate) mod worker_process;

use model::Result;

pub use message::ProgramFacts;
pub use program::engine::{WORKER_SETTING, plugin_facts, program_engine, works_in_program};
pub use serve::{Finders, failure, serve};

/// A worker in its session: makes a pass that starts at a time in the clock that all processes
/// share; 0: at once.
pub(crate) type Worker<'a, P, O> = Box<dyn FnMut(P, u64) -> Result<O> + 'a>;

/// A function that has workers with open sessions make a pass. When it returns nothing runs. After
/// an error there is no further pass.
pub(crate) type Workers<'a, P, O> = dyn FnMut(P, u64) -> Result<Vec<O>> + 'a;
