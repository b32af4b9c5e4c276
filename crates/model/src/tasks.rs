//! A queue of tasks, and what `storemark queue` asks of an engine: a task is created, its status
//! is changed, its output is rewritten over and over, and it is deleted.
//!
//! It consists of small traits: [`Tasks`](crate::Tasks), [`Queue`], [`QueueWorker`]. Each trial creates a
//! queue and removes it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Durability, Result, Settings, words::words};

/// A task at some point of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Task<'a> {
    /// The id that it is found by: 32 hexadecimal digits.
    pub id: &'a str,
    /// The stage that it has reached.
    pub status: &'a str,
    /// The command to run.
    pub command: &'a str,
    /// The arguments of the command.
    pub arguments: &'a [&'a str],
    /// The output of the command so far.
    pub output: &'a str,
}

/// The part of a task that changes, as a store returns it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredTask {
    /// The status.
    pub status: String,
    /// The output.
    pub output: String,
}

words! {
    /// A step of a task's life. Each is a commit of its own.
    pub enum TaskStep {
        /// It is put into the queue.
        Create = "create",
        /// The status of the task changes, once.
        Status = "status",
        /// The output of the task replaces the previous output.
        Rewrite = "rewrite",
        /// It is removed.
        Delete = "delete",
    }
}

/// A queue, shared by its workers.
pub trait Queue: Send + Sync {
    /// Opens a worker's own use of the queue. It is called on the thread that uses it.
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>>;

    /// Returns all settings as read back from the engine, asked for or not, and the durability
    /// class that they give.
    fn in_effect(&self) -> Result<(Settings, Durability)>;

    /// Returns the files and folders of the queue, present or not. A folder includes all in it.
    fn files(&self) -> Vec<PathBuf>;

    /// Flushes the remaining writes that the durability class requires after the last step (a
    /// checkpoint, for example). No worker uses the queue meanwhile; it counts as measured time.
    fn flush_writes(&self) -> Result<()>;

    /// Returns the number of tasks in the queue. It is never timed.
    fn count(&self) -> Result<u64>;

    /// Removes the queue; no worker has it open.
    fn remove(self: Box<Self>) -> Result<()>;
}

/// One worker's use of a queue. If the engine gives up a step for the sake of another worker
/// (busy), it is repeated until it succeeds.
pub trait QueueWorker {
    /// Takes a step that brings the task into the state `task`. When it returns, the durability
    /// class holds for it.
    ///
    /// # Errors
    ///
    /// Fails if the step is to create a task that exists, or any other step on one that does not.
    fn take(&mut self, step: TaskStep, task: &Task<'_>) -> Result<()>;

    /// Returns the stored part of a task; `None` if there is no such task. It is never timed.
    fn find(&mut self, id: &str) -> Result<Option<StoredTask>>;

    /// Returns the engine's own counters for this worker since the last call. Waiting for other
    /// workers is counted under [`LOCK_WAITS`](crate::LOCK_WAITS) and
    /// [`BUSY_RETRIES`](crate::BUSY_RETRIES).
    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }
}
