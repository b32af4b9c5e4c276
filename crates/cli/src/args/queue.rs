//! What the user typed after `queue`.

use std::ffi::OsString;

use clap::Args;
use model::{Durability, units};

use super::OnOptions;
use super::RoundsOptions;

pub(super) const EXAMPLES: &str = "\
Targets (each makes its own queue in a scratch store, removed afterwards):
  files:?write=rename             a file for each task  write=inplace|overwrite|rename
                                  sync=none|file|full
  sqlite:?journal=wal&sync=normal a table with an index  connection=own|shared|pool
                                  journal=  sync=  cache=

Examples:
  storemark queue                                     the published comparison, and what it left out
  storemark queue files: sqlite: --durability durable
  storemark queue --on .,/tmp                         on the file systems of two folders
  sudo storemark queue --on ext4,xfs,btrfs            on throw-away images";

/// Workers put tasks into a queue, change their status, rewrite their output and delete them: the
/// published comparison of SQLite with a file for each task
#[derive(Debug, Args)]
pub(crate) struct QueueOptions {
    /// What to measure; none: what was published, and SQLite as it is best used
    pub(crate) targets: Vec<OsString>,

    /// Workers at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = super::up_to(1024), help_heading = "Workload")]
    pub(crate) workers: u32,
    /// Tasks that each worker sees through, one after the other; published were 100
    #[arg(long, value_name = "N", value_parser = units::parse_size, default_value = "20", help_heading = "Workload")]
    pub(crate) tasks: u64,
    /// Times that the output of a task is rewritten
    #[arg(long, value_name = "N", value_parser = units::parse_size, default_value = "10", help_heading = "Workload")]
    pub(crate) rewrites: u64,
    /// Bytes of an output
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "33", help_heading = "Workload")]
    pub(crate) output: u64,
    /// Set each engine up for this class: none, consistent or durable; default: as its target says
    #[arg(long, value_name = "CLASS", help_heading = "Workload")]
    pub(crate) durability: Option<Durability>,

    #[command(flatten)]
    pub(crate) on: OnOptions,
    #[command(flatten)]
    pub(crate) rounds: RoundsOptions,
}
