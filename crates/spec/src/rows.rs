//! What a user can ask `storemark rows` for.

use model::{Durability, Error, Result, rows::Style};

use crate::{
    common::{Output, Running},
    options::options,
    value::{GivenValue, Size, UpTo, given_value, given_values},
};

/// The rows of a transaction: what was best for SQLite when it was published, and now the same for
/// all.
const BATCH: u64 = 100_000;
/// The greatest number of all rows: twice that fits into a column of 32 bits.
const MOST_ROWS: u64 = 1_000_000_000;

/// A target of rows, and whether it is measured in every style or only in the published ones.
pub type RowsDefault = (&'static str, bool);

const ROWS: [RowsDefault; 19] = [
    ("jsonl:", true),
    ("csv:", true),
    ("sqlite:?store=memory", false),
    ("sqlite:?store=memory&null=no", false),
    ("sqlite:?sync=normal", false),
    ("sqlite:", true),
    ("sqlite:?null=no", false),
    // The published script connected over TCP.
    ("mariadb:?engine=memory&via=tcp", false),
    ("mariadb:?engine=memory&null=no&via=tcp", false),
    ("mariadb:?engine=csv&null=no&via=tcp", false),
    ("mariadb:?engine=myisam&via=tcp", false),
    ("mariadb:?engine=myisam&null=no&via=tcp", false),
    ("mariadb:?engine=innodb&via=tcp", false),
    ("mariadb:?engine=innodb&null=no&via=tcp", false),
    // Targets of interest that were not published.
    ("mariadb:?engine=innodb", true),
    ("mariadb:?engine=aria", false),
    ("mariadb:?engine=aria&null=no", false),
    ("postgres:", true),
    ("postgres:?null=no", false),
];
/// The number of targets at the front of [`ROWS`] that were published.
const PUBLISHED_ROWS: usize = 14;
/// The engine and the rows of a transaction that were best for it when it was published (in MySQL).
const PUBLISHED_BATCH: (&str, u64) = ("mariadb", 30_000);

options! {
    /// Inserts rows of two integers, sums one column and changes every row: the published
    /// comparison of SQLite with MySQL, in each way to hand rows over
    pub struct RowsSpec under "Workload" {
        targets = "What to measure; none: what was published, as far as this machine has it, compared with \
            SQLite as it is set";

        /// Rows that each process inserts; default: 200000
        rows: Option<GivenValue<Size>> = "N",
        /// Rows of a transaction; default: 100,000. A target may have its own: sqlite:?batch=30k
        batch: Option<GivenValue<Size>> = "N",
        /// How rows are handed over: text (one SQL string a row), prepared, multi (many rows a
        /// statement), bulk (the engine's own way), delayed (INSERT DELAYED). A file has one way,
        /// and is measured in that. Default: all but delayed
        style: Vec<GivenValue<Style>> = "STYLE",
        /// As published: those targets, text and delayed, and as many rows of a transaction as were
        /// best for each
        as_published: bool,
        /// Processes at once, each with its own database; several numbers are shown one after the
        /// other; default: 1
        processes: Vec<GivenValue<UpTo<64>>> = "N",
        /// Measure several processes on one database as well
        shared: bool,
        /// Set each engine up for this class: none, consistent or durable; default: durable, and
        /// targets that cannot are left out; of targets that are named, and as published: as they
        /// are set
        durability: Option<GivenValue<Durability>> = "CLASS",
        ..running: Running,
        ..shown: Output,
    }
}

impl RowsSpec {
    /// The label of the default target that the others are compared with.
    pub const BASELINE: &str = "sqlite text";

    /// Returns the targets that are measured when the user names none.
    pub fn default_targets(&self) -> &'static [RowsDefault] {
        if self.as_published { &ROWS[..PUBLISHED_ROWS] } else { &ROWS }
    }

    /// Returns the durability class that all targets are set up for, or `None` if each keeps its
    /// own. If the user chooses neither targets nor a class, commits survive a power cut in all of
    /// them: other work would not be comparable.
    pub fn class(&self) -> Option<Durability> {
        let chosen = self.as_published || !self.targets.is_empty();
        given_value(&self.durability).or((!chosen).then_some(Durability::Durable))
    }

    /// Returns the rows of a transaction that an engine has as published, if they differ from the
    /// others'.
    pub fn batch_of(&self, engine: &str) -> Option<u64> {
        let (published, batch) = PUBLISHED_BATCH;
        (self.as_published && engine == published).then_some(batch)
    }

    /// Returns the rows that each process inserts, and the rows of a transaction.
    ///
    /// # Errors
    ///
    /// Fails if the rows of all processes do not fit into 32 bits.
    pub fn rows_and_batch(&self) -> Result<(u64, u64)> {
        let rows = given_value(&self.rows).unwrap_or(200_000);
        let batch = given_value(&self.batch).unwrap_or(BATCH);
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

    /// Returns the numbers of processes, in the order written.
    pub fn processes(&self) -> Vec<u32> {
        if self.processes.is_empty() { vec![1] } else { given_values(&self.processes) }
    }

    /// Returns the styles in which a target with several styles is measured. If `every` is set,
    /// these are all styles, not only the published ones.
    pub fn styles(&self, every: bool) -> Vec<Style> {
        match self.style.as_slice() {
            [] if self.as_published => vec![Style::Text, Style::Delayed],
            [] if every => vec![Style::Text, Style::Prepared, Style::Multi, Style::Bulk],
            [] => vec![Style::Text],
            asked => given_values(asked),
        }
    }
}
