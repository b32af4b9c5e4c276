//! What each experiment compares when the user names nothing.

use super::{AgeingSpec, BlobsSpec, RowsSpec, TasksSpec};

const BLOBS: [&str; 6] = [
    "files:",
    "files:?write=overwrite",
    "sqlite:",
    "sqlite:?api=blob",
    "sqlite:?api=blob&mmap=1GiB",
    "pack:",
];

/// What was published, of its kind.
const AGEING: [&str; 2] = ["files:", "sqlite:"];

/// What was published (files renamed into place; a pool of connections), then files as they were
/// before, and SQLite as a service should use it.
const TASKS: [&str; 5] = [
    "files:?write=rename",
    "files:?write=inplace",
    "sqlite:?journal=wal&sync=normal&connection=pool",
    "sqlite:?journal=wal&sync=normal&connection=own",
    "sqlite:?journal=wal&sync=normal&connection=shared",
];

/// The same if a durability class is asked for, which says how each is written.
const TASKS_OF_A_CLASS: [&str; 4] =
    ["files:", "sqlite:?connection=pool", "sqlite:?connection=own", "sqlite:?connection=shared"];

/// A target of rows, and whether it is measured in every style or only in the published ones.
pub type RowsDefault = (&'static str, bool);

const ROWS: [RowsDefault; 18] = [
    ("jsonl:", true),
    ("csv:", true),
    ("sqlite:?store=memory", false),
    ("sqlite:?store=memory&null=no", false),
    ("sqlite:?sync=normal", false),
    ("sqlite:", true),
    ("sqlite:?null=no", false),
    ("mariadb:?engine=memory", false),
    ("mariadb:?engine=memory&null=no", false),
    ("mariadb:?engine=csv&null=no", false),
    ("mariadb:?engine=myisam", false),
    ("mariadb:?engine=myisam&null=no", false),
    ("mariadb:?engine=innodb", true),
    ("mariadb:?engine=innodb&null=no", false),
    // What is of interest and was not published.
    ("mariadb:?engine=aria", false),
    ("mariadb:?engine=aria&null=no", false),
    ("postgres:", true),
    ("postgres:?null=no", false),
];
/// So many of [`ROWS`] were published.
const PUBLISHED_ROWS: usize = 14;
/// What the others are compared with.
const ROWS_BASELINE: &str = "sqlite text";
/// Rows of a transaction that were best when it was published, in MySQL.
const PUBLISHED_BATCH: (&str, u64) = ("mariadb", 30_000);

impl BlobsSpec {
    /// What is compared when the user names nothing.
    pub fn default_targets() -> &'static [&'static str] {
        &BLOBS
    }
}

impl AgeingSpec {
    /// What is compared when the user names nothing.
    pub fn default_targets() -> &'static [&'static str] {
        &AGEING
    }
}

impl TasksSpec {
    /// What is compared when the user names nothing.
    pub fn default_targets(&self) -> &'static [&'static str] {
        if self.durability.is_some() { &TASKS_OF_A_CLASS } else { &TASKS }
    }
}

impl RowsSpec {
    /// What is compared when the user names nothing.
    pub fn default_targets(&self) -> &'static [RowsDefault] {
        if self.as_published { &ROWS[..PUBLISHED_ROWS] } else { &ROWS }
    }

    /// The label of the target that these are compared with.
    pub fn default_baseline() -> &'static str {
        ROWS_BASELINE
    }

    /// Rows of a transaction that an engine has as published, if they differ from the others'.
    pub fn batch_of(&self, engine: &str) -> Option<u64> {
        let (published, batch) = PUBLISHED_BATCH;
        (self.as_published && engine == published).then_some(batch)
    }
}
