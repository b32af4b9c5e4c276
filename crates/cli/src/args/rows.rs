//! What the user typed after `rows`.

use std::ffi::OsString;

use clap::Args;
use model::{Durability, rows::Style, units};

use super::RoundsOptions;

pub(super) const EXAMPLES: &str = "\
Targets (each makes its own table in a scratch store, removed afterwards):
  csv:  jsonl:                    a file with a row a line
  sqlite:?sync=normal&null=no     store=file|memory  journal=  sync=  cache=  null=yes|no
  mariadb:?engine=innodb          engine=innodb|myisam|aria|memory|csv  sync=  cache=  null=yes|no
  postgres:?sync=off              sync=off|async|on  cache=  null=yes|no

Examples:
  storemark rows                                      the published table, as far as it goes
  storemark rows --processes 1,2,4 --shared           with a database each, and all on one
  storemark rows sqlite: csv: --style text,bulk       two of them
  storemark rows sqlite: --durability durable --batch 1 --rows 1000";

/// Inserts rows of two integers, sums one column and changes every row: the published comparison
/// of SQLite with MySQL, in each way to hand rows over
#[derive(Debug, Args)]
pub(crate) struct RowsOptions {
    /// What to measure; none: what was published, as far as it can be had here
    pub(crate) targets: Vec<OsString>,

    /// Rows that each process inserts
    #[arg(long, value_name = "N", value_parser = units::parse_size, default_value = "200000", help_heading = "Workload")]
    pub(crate) rows: u64,
    /// Rows of a transaction; default: 100,000
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Workload")]
    pub(crate) batch: Option<u64>,
    /// How rows are handed over: text (one SQL string a row), prepared, multi (many rows a
    /// statement), bulk (the engine's own way), delayed (INSERT DELAYED). A file has one way, and is
    /// measured in that. Default: all but delayed
    #[arg(long, value_name = "STYLE", value_delimiter = ',', help_heading = "Workload")]
    pub(crate) style: Vec<Style>,
    /// As published: those targets, text and delayed, and as many rows of a transaction as were
    /// best for each
    #[arg(long, conflicts_with_all = ["batch", "style"], help_heading = "Workload")]
    pub(crate) as_published: bool,
    /// Processes at once, each with a database of its own; several numbers are shown one after the
    /// other
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1",
        value_parser = super::up_to(64),
        help_heading = "Workload"
    )]
    pub(crate) processes: Vec<u32>,
    /// Measure several processes on one database as well
    #[arg(long, help_heading = "Workload")]
    pub(crate) shared: bool,
    /// Set each engine up for this class: none, consistent or durable; default: as it is set, which
    /// is as published
    #[arg(long, value_name = "CLASS", help_heading = "Workload")]
    pub(crate) durability: Option<Durability>,

    #[command(flatten)]
    pub(crate) rounds: RoundsOptions,
}
