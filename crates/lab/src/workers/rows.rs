//! Workers on rows: each a process of its own.

use std::{ffi::OsString, ops::Range, path::Path};

use model::{
    Result, Rows, Settings,
    rows::{Operation, RowSession, RowTables, Style},
};
use serde::{Deserialize, Serialize};

use super::{Job, Watch, Worker, threads};
use crate::workload::{Done, done::named};

/// What each pass adds to every row.
pub(crate) const ADDED: i64 = 2;

/// What is done with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowPass {
    Work(Operation),
    /// Count and sum all rows of the database, off the clock.
    Check,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowOutcome {
    /// The sum, or the number of rows changed.
    Answer(i64),
    Contents(Contents),
}

/// What a database holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    pub(crate) count: u64,
    pub(crate) sum: i64,
}

/// What a worker process does in a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowRequest {
    pub(crate) process: u32,
    pub(crate) engine: String,
    /// The store's. Not a path, which JSON could not hold whatever its bytes.
    pub(crate) location: OsString,
    pub(crate) settings: Settings,
    pub(crate) database: u32,
    pub(crate) rows: Range<i64>,
    pub(crate) style: Style,
    pub(crate) batch: u64,
    /// Rows of all processes in the database.
    pub(crate) all_rows: u64,
    pub(crate) passes: Vec<RowPass>,
}

impl RowRequest {
    /// Opens the tables next to the process that asks, and makes the passes.
    pub(super) fn run(
        &self,
        engine: &dyn Rows,
        watch: &mut dyn Watch<RowPass, RowOutcome>,
    ) -> Result<()> {
        let tables = engine.join(Path::new(&self.location), &self.settings)?;
        threads::run(&RowJob { request: self, tables: &*tables }, watch)
    }
}

struct RowJob<'a> {
    request: &'a RowRequest,
    tables: &'a dyn RowTables,
}

impl Job for RowJob<'_> {
    type Pass = RowPass;
    type Outcome = RowOutcome;

    fn passes(&self) -> &[RowPass] {
        &self.request.passes
    }

    fn workers(&self) -> Range<usize> {
        0..1
    }

    fn worker(&self, _: usize) -> Result<Box<dyn Worker<RowPass, RowOutcome> + '_>> {
        let session = self.tables.session(self.request.database)?;
        Ok(Box::new(RowWorker { request: self.request, session }))
    }
}

struct RowWorker<'a> {
    request: &'a RowRequest,
    session: Box<dyn RowSession + 'a>,
}

impl Worker<RowPass, RowOutcome> for RowWorker<'_> {
    fn run(&mut self, pass: &RowPass, _: u64) -> Result<Done<RowOutcome>> {
        let Self { request, session } = self;
        // What was counted between passes is of none.
        session.statistics();
        let start_ns = host::now_ns();
        let outcome = match pass {
            RowPass::Check => {
                let contents = Contents { count: session.count()?, sum: session.sum()? };
                RowOutcome::Contents(contents)
            }
            RowPass::Work(operation) => RowOutcome::Answer(match operation {
                Operation::Insert => {
                    session.insert(request.rows.clone(), request.style, request.batch)?;
                    0
                }
                Operation::Sum => session.sum()?,
                Operation::Add => session.add(ADDED)?.cast_signed(),
            }),
        };
        let end_ns = host::now_ns();
        let counters = named(session.statistics());
        let operations = match pass {
            RowPass::Work(Operation::Insert) => {
                (request.rows.end - request.rows.start).unsigned_abs()
            }
            _ => request.all_rows,
        };
        let process = request.process;
        Ok(Done { process, operations, start_ns, end_ns, counters, outcome })
    }
}
