//! A queue of tasks, and what `storemark queue` asks of an engine: a task is created, its status
//! is changed, its output is rewritten over and over, and it is deleted.
//!
//! Small traits again: [`Tasks`](crate::Tasks), [`Queue`], [`QueueWorker`]. Each trial creates a
//! queue and removes it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Durability, Result, Settings, words::words};

/// A task at some point of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Task<'a> {
    /// What it is found by: 32 hexadecimal digits.
    pub id: &'a str,
    /// How far it is.
    pub status: &'a str,
    /// What is to be done.
    pub command: &'a str,
    /// With what.
    pub arguments: &'a [&'a str],
    /// What it has said so far.
    pub output: &'a str,
}

/// What a store holds of a task, without what never changes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredTask {
    /// Its status.
    pub status: String,
    /// Its output.
    pub output: String,
}

words! {
    /// A step of a task's life. Each is a commit of its own.
    pub enum TaskStep {
        /// It is put into the queue.
        Create = "create",
        /// Its status changes, once.
        Status = "status",
        /// Its output takes the place of the one before.
        Rewrite = "rewrite",
        /// It is removed.
        Delete = "delete",
    }
}

/// A queue, shared by its workers.
pub trait Queue: Send + Sync {
    /// A worker's own use of it. Created on the thread that uses it.
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>>;

    /// All settings as read back from the engine, asked for or not, and the durability class that
    /// they give.
    fn in_effect(&self) -> Result<(Settings, Durability)>;

    /// The files and folders that hold it, present or not. A folder means all in it.
    fn files(&self) -> Vec<PathBuf>;

    /// Flushes what the durability class asks for after the last step (a checkpoint, say). No worker
    /// uses it; it counts as measured time.
    fn flush_writes(&self) -> Result<()>;

    /// Number of tasks in it. Never timed.
    fn count(&self) -> Result<u64>;

    /// Removes it; no worker has it.
    fn remove(self: Box<Self>) -> Result<()>;
}

/// One worker's use of a queue. What the engine gives up for the sake of another worker (busy) is
/// repeated until it is done.
pub trait QueueWorker {
    /// Takes a step; `task` is as it shall be after it. When it returns, the durability class holds
    /// for it. A task that exists cannot be created, and any other step needs one that does.
    fn take(&mut self, step: TaskStep, task: &Task<'_>) -> Result<()>;

    /// What is held of a task; `None` where there is none. Never timed.
    fn find(&mut self, id: &str) -> Result<Option<StoredTask>>;

    /// The engine's own counters for this worker since they were last asked for. Waiting for
    /// others is counted under [`LOCK_WAITS`](crate::LOCK_WAITS) and
    /// [`BUSY_RETRIES`](crate::BUSY_RETRIES).
    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }
}
