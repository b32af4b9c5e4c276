//! Workers: threads of this process or of others. All start each pass of a trial together, each
//! in a session of its own, and wait between the passes, while the store and the machine are looked
//! at.
//!
//! What a worker does for each facet of an engine is a [`Job`]: [`blobs`], [`rows`], [`tasks`].
//! [`threads`] runs the workers of one process. [`processes`] starts other processes, which
//! [`serve`](serve::serve) the same jobs: storemark again, by any command that carries standard
//! input and output.

pub(crate) mod blobs;
mod child;
pub(crate) mod message;
pub(crate) mod processes;
pub(crate) mod rows;
mod serve;
pub(crate) mod tasks;
pub(crate) mod threads;

use std::ops::Range;

use model::Result;

use crate::workload::Done;
pub use serve::{Finders, serve};

/// What the workers of one process do in a trial.
pub(crate) trait Job: Sync {
    type Pass: Sync;
    type Outcome: Send;

    fn passes(&self) -> &[Self::Pass];

    /// The numbers of the workers of this process among all.
    fn workers(&self) -> Range<usize>;

    /// Opens a worker's session, on the thread that uses it. What can be made before a pass is.
    fn worker(&self, number: usize) -> Result<Box<dyn Worker<Self::Pass, Self::Outcome> + '_>>;

    /// Runs a pass of all workers by calling `run`, and may watch the store meanwhile.
    fn observe(
        &self,
        pass: &Self::Pass,
        run: &mut dyn FnMut() -> Result<Vec<Done<Self::Outcome>>>,
    ) -> Result<Vec<Done<Self::Outcome>>> {
        let _ = pass;
        run()
    }
}

/// One worker in its session.
pub(crate) trait Worker<P, O> {
    /// Makes a pass that starts at `start_ns` in the clock that all processes share; 0: at once.
    fn run(&mut self, pass: &P, start_ns: u64) -> Result<Done<O>>;
}

/// Who looks on while the workers wait, before and after each pass.
pub(crate) trait Watch<P, O> {
    /// All sessions are open and nothing runs. Returns when the workers start, in the clock that
    /// all processes share. An error ends the trial.
    fn starts(&mut self, pass: &P) -> Result<u64>;

    /// The pass is over and nothing runs. An error ends the trial.
    fn ended(&mut self, pass: &P, done: Vec<Done<O>>) -> Result<()>;
}
