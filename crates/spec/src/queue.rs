//! What a user can ask `storemark queue` for.

use model::{Durability, Error, Result, units::show_count};
use serde::Deserialize;

use crate::{
    common::{JudgeOption, Output, Placing, Running},
    options::options,
    value::{GivenValue, Size, UpTo, given_value},
};

/// The greatest number of tasks of all workers: their ids are generated before the run.
const MOST_TASKS: u64 = 10_000_000;
/// The greatest number of bytes of all outputs of a task.
const MOST_OUTPUT: u64 = 256 << 20;

/// The default targets: those that were published (files renamed into place; a pool of
/// connections), then files as they were before, and SQLite as a service should use it.
const TASKS: [&str; 5] = [
    "files:?write=rename",
    "files:?write=inplace",
    "sqlite:?journal=wal&sync=normal&connection=pool",
    "sqlite:?journal=wal&sync=normal&connection=own",
    "sqlite:?journal=wal&sync=normal&connection=shared",
];

/// The default targets if a durability class is asked for, which decides how each is written.
const TASKS_OF_A_CLASS: [&str; 4] =
    ["files:", "sqlite:?connection=pool", "sqlite:?connection=own", "sqlite:?connection=shared"];

options! {
    /// Workers put tasks into a queue, change their status, rewrite their output and delete them:
    /// the published comparison of SQLite with a file for each task
    pub struct QueueSpec under "Workload" {
        targets = "What to measure; none: what was published, and SQLite as it is best used";

        /// Workers at once; default: 100
        workers: Option<GivenValue<UpTo<1024>>> = "N",
        /// Tasks that each worker takes to their end, one after the other; default: 20; published
        /// were 100
        tasks: Option<GivenValue<Size>> = "N",
        /// Times that the output of a task is rewritten; default: 10
        rewrites: Option<GivenValue<Size>> = "N",
        /// Bytes of an output; default: 33
        output: Option<GivenValue<Size>> = "BYTES",
        /// Set each engine up for this class: none, consistent or durable; default: as its target
        /// says
        durability: Option<GivenValue<Durability>> = "CLASS",
        ..placing: Placing,
        ..running: Running,
        ..judged: JudgeOption,
        ..shown: Output,
    }
}

/// The amount of work in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct TaskLoad {
    /// Workers at once.
    pub workers: u32,
    /// The tasks of each worker.
    pub tasks: u64,
    /// How often the output of a task is rewritten.
    pub rewrites: u64,
    /// The bytes of an output.
    pub output: u64,
}

impl QueueSpec {
    /// Returns the targets that are measured when the user names none.
    pub fn default_targets(&self) -> &'static [&'static str] {
        if self.durability.is_some() { &TASKS_OF_A_CLASS } else { &TASKS }
    }

    /// Returns the work of a trial.
    ///
    /// # Errors
    ///
    /// Fails if there are too many tasks or bytes.
    pub fn load(&self) -> Result<TaskLoad> {
        let load = TaskLoad {
            workers: given_value(&self.workers).unwrap_or(100),
            tasks: given_value(&self.tasks).unwrap_or(20),
            rewrites: given_value(&self.rewrites).unwrap_or(10),
            output: given_value(&self.output).unwrap_or(33),
        };
        let TaskLoad { workers, tasks, rewrites, output } = load;
        let most = MOST_TASKS / u64::from(workers);
        if tasks > most {
            let most = show_count(most);
            return Err(Error::usage(format!(
                "--tasks {tasks}: accepted is up to {most} for {workers} workers"
            )));
        }
        // Only letters count against the second; the first bounds the texts that hold none.
        if rewrites.saturating_mul(output.max(32)) > MOST_OUTPUT {
            return Err(Error::usage(format!(
                "--rewrites {rewrites} of --output {output} bytes: accepted is up to {} bytes \
                 together",
                show_count(MOST_OUTPUT)
            )));
        }
        Ok(load)
    }
}
