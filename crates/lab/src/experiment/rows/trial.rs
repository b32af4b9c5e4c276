//! One trial: makes tables, has the workers fill, sum and change them, checks what came of each,
//! and removes them.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use model::{
    Error, FileBytes, Measured, Result, Sample, Server, Settings, StoreFacts,
    rows::{Operation, RowStore, RowTables},
};

use super::{BATCH, Group, RowTarget, RowsRequest, STYLE};
use crate::{
    Stop,
    experiment::meter::{PassMeter, flush, soon_ns},
    workers::{
        Watch,
        message::JobRequest,
        processes::Processes,
        rows::{ADDED, Contents, RowOutcome, RowPass, RowRequest},
    },
    workload::{Done, done},
};

/// What a trial works on.
pub(super) struct RowTrial<'a> {
    pub(super) part: &'a RowsRequest,
    pub(super) target: &'a RowTarget,
    pub(super) settings: &'a Settings,
    pub(super) group: Group,
    pub(super) store: &'a dyn RowStore,
    /// Where the stores are, for the device under them.
    pub(super) folder: &'a Path,
    pub(super) stop: &'a Stop,
}

impl RowTrial<'_> {
    /// Returns what is known of the store, and a sample of each operation.
    pub(super) fn run(&self) -> Result<(StoreFacts, Vec<Sample>)> {
        let tables = self.store.create(self.group.databases(), self.settings)?;
        let run = self.measure(&*tables);
        // Sessions are closed by now, whatever came of them.
        let removed = tables.remove();
        run.and_then(|run| removed.map(|()| run))
    }

    fn measure(&self, tables: &dyn RowTables) -> Result<(StoreFacts, Vec<Sample>)> {
        let mut facts = self.facts(tables)?;
        let workers = Processes::start(&self.part.worker, self.group.processes, self.stop)?;
        let passes: Vec<_> = Operation::ALL
            .into_iter()
            .flat_map(|operation| [RowPass::Work(operation), RowPass::Check])
            .collect();
        let mut watch = Passing {
            trial: self,
            tables,
            processes: workers.ids().into_iter().chain(self.store.processes()).collect(),
            meter: None,
            done: None,
            samples: Vec::new(),
        };
        workers.run(|process| self.job(process, &passes), &passes, &mut watch)?;
        if let Some(files) = watch.samples.last().and_then(Sample::files) {
            (facts.apparent_bytes, facts.allocated_bytes) = (files.apparent, files.allocated);
        }
        Ok((facts, watch.samples))
    }

    /// Sizes are those after the trial.
    fn facts(&self, tables: &dyn RowTables) -> Result<StoreFacts> {
        let (mut in_effect, durability) = tables.in_effect()?;
        in_effect.set(STYLE, self.target.style);
        in_effect.set(BATCH, self.target.batch(self.part));
        Ok(StoreFacts {
            target: 0,
            in_effect,
            durability,
            apparent_bytes: 0,
            allocated_bytes: 0,
            memory_bytes: None,
            server: (!self.store.processes().is_empty()).then_some(Server::Started),
            fill_ns: None,
            check_ns: 0,
        })
    }

    /// Processes that share a database.
    fn sharing(&self) -> u32 {
        if self.group.own_databases { 1 } else { self.group.processes }
    }

    /// Rows of all processes in a database.
    fn all_rows(&self) -> u64 {
        self.part.rows * u64::from(self.sharing())
    }

    /// On one database, each process has its own part of the rows.
    fn rows(&self, process: u32) -> Range<i64> {
        let rows = self.part.rows.cast_signed();
        let start = if self.group.own_databases { 0 } else { rows.saturating_mul(process.into()) };
        start..start.saturating_add(rows)
    }

    fn job(&self, process: u32, passes: &[RowPass]) -> JobRequest {
        JobRequest::Rows(RowRequest {
            process,
            engine: self.target.target.engine.name().to_owned(),
            location: self.store.location().into_os_string(),
            settings: self.settings.clone(),
            database: self.group.database(process),
            rows: self.rows(process),
            style: self.target.style,
            batch: self.target.batch(self.part),
            all_rows: self.all_rows(),
            passes: passes.to_vec(),
        })
    }
}

/// A trial as its passes go by.
struct Passing<'a> {
    trial: &'a RowTrial<'a>,
    tables: &'a dyn RowTables,
    /// The workers and others that work for the store.
    processes: Vec<u32>,
    meter: Option<PassMeter>,
    /// What is to be checked next: the answers of all workers.
    done: Option<(Operation, Vec<i64>)>,
    samples: Vec<Sample>,
}

impl Watch<RowPass, RowOutcome> for Passing<'_> {
    fn starts(&mut self, pass: &RowPass) -> Result<u64> {
        if let RowPass::Work(_) = pass {
            self.tables.statistics()?;
            self.meter = Some(PassMeter::start(self.processes.clone(), Some(self.trial.folder)));
        }
        Ok(soon_ns())
    }

    fn ended(&mut self, pass: &RowPass, done: Vec<Done<RowOutcome>>) -> Result<()> {
        match pass {
            RowPass::Work(operation) => {
                self.note(*operation, &done).map_err(|e| e.context(operation))
            }
            RowPass::Check => {
                let contents = done.iter().filter_map(|worker| match worker.outcome {
                    RowOutcome::Contents(contents) => Some(contents),
                    RowOutcome::Answer(_) => None,
                });
                let (operation, answers) = self.done.take().expect("what is checked was done");
                self.check(operation, &answers, contents).map_err(|e| e.context(operation))
            }
        }
    }
}

impl Passing<'_> {
    fn note(&mut self, operation: Operation, done: &[Done<RowOutcome>]) -> Result<()> {
        let meter = self.meter.take().expect("every pass starts before it ends");
        let paths = self.paths();
        let (wall, writes) = (done::wall(done), operation.writes());
        let measured = meter.stop(wall, writes, || self.tables.settle(), || flush(&paths))?;
        let mut counters = done::counters(done);
        for (name, value) in self.tables.statistics()? {
            *counters.entry(name.to_owned()).or_default() += value;
        }
        let files = (!paths.is_empty()).then(|| host::space(&paths)).transpose()?;
        let files =
            files.map(|host::Space { apparent, allocated }| FileBytes { apparent, allocated });
        let answers = done.iter().filter_map(|worker| match worker.outcome {
            RowOutcome::Answer(answer) => Some(answer),
            RowOutcome::Contents(_) => None,
        });
        self.done = Some((operation, answers.collect()));
        self.samples.push(Sample {
            operations: self.trial.part.operations(operation, self.trial.group),
            workers: done::workers(done),
            counters,
            measured: Measured::Rows { files },
            ..measured
        });
        Ok(())
    }

    fn paths(&self) -> Vec<PathBuf> {
        let databases = 0..self.trial.group.databases();
        let files = databases.flat_map(|database| self.tables.files(database));
        files.filter(|path| path.exists()).collect()
    }

    /// What is not right ends the trial: it did other work.
    fn check(
        &self,
        operation: Operation,
        answers: &[i64],
        mut contents: impl Iterator<Item = Contents>,
    ) -> Result<()> {
        let before = expected(self.trial.all_rows());
        let changed = before.count.cast_signed() * ADDED * i64::from(self.trial.sharing());
        let after = Contents { sum: before.sum + changed, ..before };
        let (answer, expected) = match operation {
            Operation::Insert => (0, before),
            Operation::Sum => (before.sum, before),
            Operation::Add => (before.count.cast_signed(), after),
        };
        if let Some(other) = answers.iter().find(|other| **other != answer) {
            return Err(wrong("the answer was", *other, answer));
        }
        match contents.find(|contents| *contents != expected) {
            None => Ok(()),
            Some(Contents { count, .. }) if count != expected.count => {
                Err(wrong("rows counted", count.cast_signed(), expected.count.cast_signed()))
            }
            Some(Contents { sum, .. }) => Err(wrong("the sum is", sum, expected.sum)),
        }
    }
}

/// A database with rows 0 to `count`, none of them changed: the sum of 2 i.
fn expected(count: u64) -> Contents {
    let n = count.cast_signed();
    Contents { count, sum: n * (n - 1) }
}

fn wrong(what: &str, found: i64, expected: i64) -> Error {
    Error::corrupt(format!("{what} {found}, expected was {expected}"))
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
