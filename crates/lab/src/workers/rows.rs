//! Workers on rows: each a process of its own.

use std::{ffi::OsString, fmt, ops::Range, path::Path};

use host::RunClock;
use model::{
    Result, Rows, Settings,
    rows::{RowOperation, RowSession, Style},
};
use serde::{Deserialize, Serialize};

use super::{Worker, Workers, threads};
use crate::workload::{WorkerReport, worker_report::named};

/// The number that each pass adds to every row.
pub(crate) const ADDED: i64 = 2;

/// A pass over rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowPass {
    Work(RowOperation),
    /// Count and sum all rows of the database, off the clock.
    Check,
}

/// The result of a pass: the rows that it counted or changed, and their sum; 0 if it did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    pub(crate) count: u64,
    pub(crate) sum: i64,
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows with the sum {}", self.count, self.sum)
    }
}

/// The job of a worker process in a trial.
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
}

impl RowRequest {
    /// Opens the tables next to the process that asks, and lets `work` have the worker make passes.
    pub(super) fn with(
        &self,
        engine: &dyn Rows,
        work: impl FnOnce(&mut Workers<'_, RowPass, WorkerReport<Contents>>) -> Result<()>,
    ) -> Result<()> {
        let tables = engine.join(Path::new(&self.location), &self.settings)?;
        let open = |_| {
            let (mut session, clock) = (tables.session(self.database)?, RunClock::of_this_thread());
            let pass = move |pass, _| self.pass(pass, &mut *session, &clock);
            let worker: Worker<'_, _, _> = Box::new(pass);
            Ok(worker)
        };
        threads::with(0..1, open, work)
    }

    fn pass(
        &self,
        pass: RowPass,
        session: &mut dyn RowSession,
        clock: &RunClock,
    ) -> Result<WorkerReport<Contents>> {
        // Counts between passes belong to none.
        session.statistics();
        let start = clock.now();
        let (count, sum) = match pass {
            RowPass::Check => (session.count()?, session.sum()?),
            RowPass::Work(RowOperation::Insert) => {
                session.insert(self.rows.clone(), self.style, self.batch)?;
                (0, 0)
            }
            RowPass::Work(RowOperation::Sum) => (0, session.sum()?),
            RowPass::Work(RowOperation::Add) => (session.add(ADDED)?, 0),
        };
        let passed = clock.now().since(start);
        let operations = match pass {
            RowPass::Work(RowOperation::Insert) => (self.rows.end - self.rows.start).unsigned_abs(),
            _ => self.all_rows,
        };
        let (process, counters) = (self.process, named(session.statistics()));
        Ok(WorkerReport {
            process,
            counters,
            ..WorkerReport::new(start, passed, operations, Contents { count, sum })
        })
    }
}
