//! What a user can ask `storemark rows` for.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    common::{Output, Running},
    value::{Name, Size, UpTo, Written, all, one},
};
use crate::{Durability, Error, Result, Rounds, rows::Style};

/// Rows of a transaction: what was best for SQLite when it was published, and now the same for all.
const BATCH: u64 = 100_000;
/// Greatest number of all rows: twice that is what a column of 32 bits holds.
const MOST_ROWS: u64 = 1_000_000_000;

/// Inserts rows of two integers, sums one column and changes every row: the published comparison
/// of SQLite with MySQL, in each way to hand rows over
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Workload"))]
pub struct RowsSpec {
    /// What to measure; none: what was published, as far as this machine has it
    #[cfg_attr(feature = "clap", arg(help_heading = None))]
    pub targets: Vec<Name>,

    /// Rows that each process inserts; default: 200000
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub rows: Option<Written<Size>>,
    /// Rows of a transaction; default: 100,000
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub batch: Option<Written<Size>>,
    /// How rows are handed over: text (one SQL string a row), prepared, multi (many rows a
    /// statement), bulk (the engine's own way), delayed (INSERT DELAYED). A file has one way, and is
    /// measured in that. Default: all but delayed
    #[cfg_attr(feature = "clap", arg(long, value_name = "STYLE"))]
    pub style: Vec<Written<Style>>,
    /// As published: those targets, text and delayed, and as many rows of a transaction as were
    /// best for each
    #[cfg_attr(feature = "clap", arg(long))]
    pub as_published: bool,
    /// Processes at once, each with its own database; several numbers are shown one after the
    /// other; default: 1
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub processes: Vec<Written<UpTo<64>>>,
    /// Measure several processes on one database as well
    #[cfg_attr(feature = "clap", arg(long))]
    pub shared: bool,
    /// Set each engine up for this class: none, consistent or durable; default: as it is set, which
    /// is as published
    #[cfg_attr(feature = "clap", arg(long, value_name = "CLASS"))]
    pub durability: Option<Written<Durability>>,

    /// How long to measure, and where.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub running: Running,
    /// What to print and write.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub shown: Output,
}

impl RowsSpec {
    /// Rows that each process inserts, and rows of a transaction.
    pub fn rows_and_batch(&self) -> Result<(u64, u64)> {
        let rows = one(&self.rows).unwrap_or(200_000);
        let batch = one(&self.batch).unwrap_or(BATCH);
        if rows == 0 || batch == 0 {
            let name = if batch == 0 { "batch" } else { "rows" };
            return Err(Error::usage(format!("--{name} 0: accepted is 1 or more")));
        }
        let processes = self.processes().into_iter().max().unwrap_or(1);
        let most = MOST_ROWS / u64::from(processes);
        if rows > most {
            return Err(Error::usage(format!(
                "--rows {rows}: accepted is up to {most}, so that all of {processes} processes \
                 fit into 32 bits"
            )));
        }
        Ok((rows, batch))
    }

    /// Processes at once, in the order written.
    pub fn processes(&self) -> Vec<u32> {
        if self.processes.is_empty() { vec![1] } else { all(&self.processes) }
    }

    /// The ways to hand rows over in which a target is measured that has several; `every`: in all
    /// ways, not only as published.
    pub fn styles(&self, every: bool) -> Vec<Style> {
        match self.style.as_slice() {
            [] if self.as_published => vec![Style::Text, Style::Delayed],
            [] if every => vec![Style::Text, Style::Prepared, Style::Multi, Style::Bulk],
            [] => vec![Style::Text],
            asked => all(asked),
        }
    }

    /// When to stop.
    pub fn rounds(&self) -> Rounds {
        self.running.rounds(Duration::from_secs(60))
    }
}
