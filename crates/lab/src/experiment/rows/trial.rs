//! A trial: it creates tables, has the workers fill, sum and change them, checks the results, and
//! removes the tables.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use model::{
    Error, Result, RowsMeasured, Sample, Server, Settings, StoreFacts,
    rows::{RowOperation, RowStore, RowTables},
};

use super::{BATCH, Group, RowTarget, RowsRequest, STYLE};
use crate::{
    Stop,
    experiment::meter::{Others, Own, PassMeter, soon_ns},
    store::{facts, file_bytes},
    workers::{
        Workers,
        message::JobRequest,
        processes::Processes,
        rows::{ADDED, Contents, RowPass, RowRequest},
        worker_process::Launch,
    },
    workload::WorkerReport,
};

pub(super) struct RowTrial<'a> {
    pub(super) part: &'a RowsRequest,
    /// Starts a worker process.
    pub(super) worker: &'a [OsString],
    pub(super) target: &'a RowTarget,
    pub(super) settings: &'a Settings,
    pub(super) group: Group,
    pub(super) store: &'a dyn RowStore,
    /// The folder of the stores, for the device under them.
    pub(super) folder: &'a Path,
    pub(super) stop: &'a Stop,
}

impl RowTrial<'_> {
    /// Returns what is known of the store, and a sample of each operation.
    pub(super) fn run(&self) -> Result<(StoreFacts, Vec<Sample>)> {
        let tables = self.store.create(self.databases(), self.settings)?;
        let run = self.measure(&*tables);
        // Sessions are closed by now, whatever came of them.
        let removed = tables.remove();
        run.and_then(|run| removed.map(|()| run))
    }

    fn measure(&self, tables: &dyn RowTables) -> Result<(StoreFacts, Vec<Sample>)> {
        let (mut in_effect, durability) = tables.in_effect()?;
        in_effect.set(STYLE, self.target.style);
        in_effect.set(BATCH, self.target.batch(self.part));
        let count = self.group.processes;
        let workers = Processes::start(&Launch::here(self.worker, count), None, self.stop)?;
        let others = self.store.processes();
        let server = (!others.is_empty()).then_some(Server::Started);
        let ids = workers.ids();
        let others = Others { servers: &others, workers: &ids, own: Own::Settles };
        let by_wall = server.is_some() || self.target.target.engine.capabilities().remote;
        let samples = workers.with(
            |process| JobRequest::Rows(self.job(process)),
            |workers| {
                let operation = |of| {
                    let sample = self.operation(of, tables, (others, by_wall), workers);
                    sample.map_err(|e| e.context(of))
                };
                RowOperation::ALL.into_iter().map(operation).collect::<Result<Vec<_>>>()
            },
        )?;
        // Sizes are those after the trial.
        let files = samples.last().and_then(Sample::files).unwrap_or_default();
        Ok((StoreFacts { server, ..facts((in_effect, durability), files) }, samples))
    }

    /// Measures an operation of all workers, and checks its result.
    fn operation(
        &self,
        operation: RowOperation,
        tables: &dyn RowTables,
        (others, by_wall): (Others<'_>, bool),
        workers: &mut Workers<'_, RowPass, WorkerReport<Contents>>,
    ) -> Result<Sample> {
        // Counts between passes belong to none.
        tables.statistics()?;
        let meter = PassMeter::start(others, Some(self.folder), by_wall);
        let done = workers(RowPass::Work(operation), soon_ns())?;
        let (writes, paths) = (operation.writes(), self.paths(tables));
        let mut sample = meter.stop(&done, writes, || tables.flush_writes(), || paths.clone())?;
        for (name, value) in tables.statistics()? {
            *sample.counters.entry(name.to_owned()).or_default() += value;
        }
        let files = (!paths.is_empty()).then(|| file_bytes(&paths)).transpose()?;
        let contents = workers(RowPass::Check, soon_ns())?;
        self.check(operation, &done, &contents)?;
        Ok(Sample { measured: RowsMeasured { files }.into(), ..sample })
    }

    /// Returns the rows of all processes in a database.
    fn all_rows(&self) -> u64 {
        self.part.rows * u64::from(self.group.processes_per_database())
    }

    /// Databases of the group; on one, each process has its own part of the rows.
    fn databases(&self) -> u32 {
        self.group.processes / self.group.processes_per_database()
    }

    fn job(&self, process: u32) -> RowRequest {
        let rows = self.part.rows.cast_signed();
        let per_database = self.group.processes_per_database();
        let first = rows.saturating_mul((process % per_database).into());
        RowRequest {
            process,
            engine: self.target.target.engine.name().to_owned(),
            location: self.store.location().into_os_string(),
            settings: self.settings.clone(),
            database: process / per_database,
            rows: first..first.saturating_add(rows),
            style: self.target.style,
            batch: self.target.batch(self.part),
            all_rows: self.all_rows(),
        }
    }

    fn paths(&self, tables: &dyn RowTables) -> Vec<PathBuf> {
        let databases = 0..self.databases();
        let files = databases.flat_map(|database| tables.files(database));
        files.filter(|path| path.exists()).collect()
    }

    /// Fails if a result is wrong, because then the trial did other work.
    fn check(
        &self,
        operation: RowOperation,
        answers: &[WorkerReport<Contents>],
        contents: &[WorkerReport<Contents>],
    ) -> Result<()> {
        let before = expected(self.all_rows());
        let changed =
            before.count.cast_signed() * ADDED * i64::from(self.group.processes_per_database());
        let after = Contents { sum: before.sum + changed, ..before };
        let (answer, left) = match operation {
            RowOperation::Insert => (Contents::default(), before),
            RowOperation::Sum => (Contents { count: 0, ..before }, before),
            RowOperation::Add => (Contents { sum: 0, ..before }, after),
        };
        let checked = [("the answer", answer, answers), ("the database", left, contents)];
        for (what, expected, done) in checked {
            if let Some(worker) = done.iter().find(|worker| worker.outcome != expected) {
                return Err(Error::corrupt(format!(
                    "{what} has {}, expected were {expected}",
                    worker.outcome
                )));
            }
        }
        Ok(())
    }
}

/// Returns the contents of a database with rows 0 to `count`, none of them changed: the sum of 2 i.
fn expected(count: u64) -> Contents {
    let n = count.cast_signed();
    Contents { count, sum: n * (n - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_published_script() {
        let sum: i64 = (0..200_000).map(|i| 2 * i).sum();
        assert_eq!(expected(200_000), Contents { count: 200_000, sum });
        assert_eq!(expected(0).sum, 0);
    }
}
