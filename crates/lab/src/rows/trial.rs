//! One trial: makes tables, has the workers fill, sum and change them, checks what came of each,
//! and removes them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{
    Error, FileBytes, Measured, Result, Sample, Server, StoreFacts, Worker,
    rows::{Operation, RowStore, RowTables},
};

use super::{
    crew::Crew,
    message::{Done, Held, Job},
    request::{BATCH, Group, RowTarget, RowsRequest, STYLE},
    worker::ADDED,
};
use crate::{Stop, host, rounds::Tried, trial::nanoseconds};

/// What a trial works on, and what it is told of.
pub(super) struct Trial<'a> {
    pub(super) request: &'a RowsRequest,
    pub(super) target: &'a RowTarget,
    pub(super) group: Group,
    pub(super) store: &'a dyn RowStore,
    /// Where the stores are, for the device under them.
    pub(super) folder: &'a Path,
    pub(super) stop: &'a Stop,
}

impl Trial<'_> {
    pub(super) fn run(&self) -> Result<Tried> {
        let tables = self.store.create(self.group.databases(), &self.target.settings)?;
        let tried = self.with(&*tables);
        // Sessions are closed by now, whatever came of them.
        let removed = tables.remove();
        tried.and_then(|tried| removed.map(|()| tried))
    }

    fn with(&self, tables: &dyn RowTables) -> Result<Tried> {
        let mut facts = self.facts(tables)?;
        let mut crew = Crew::start(&self.request.worker, &self.jobs(), self.stop)?;
        let mut samples = Vec::new();
        for operation in Operation::ALL {
            let sample = self.operate(operation, tables, &mut crew);
            samples.push(sample.map_err(|e| e.context(operation))?);
        }
        crew.end()?;
        if let Some(files) = samples.last().and_then(Sample::files) {
            (facts.apparent_bytes, facts.allocated_bytes) = (files.apparent, files.allocated);
        }
        Ok(Tried { samples, facts })
    }

    /// Sizes are those after the trial.
    fn facts(&self, tables: &dyn RowTables) -> Result<StoreFacts> {
        let mut in_effect = tables.in_effect()?;
        in_effect.set(STYLE, self.target.style);
        in_effect.set(BATCH, self.target.batch(self.request));
        Ok(StoreFacts {
            target: 0,
            in_effect,
            durability: tables.durability()?,
            apparent_bytes: 0,
            allocated_bytes: 0,
            memory_bytes: None,
            server: (!self.store.processes().is_empty()).then_some(Server::Started),
            fill_ns: None,
            check_ns: 0,
        })
    }

    /// On one database, each process has its own part of the rows.
    fn jobs(&self) -> Vec<Job> {
        let rows = self.request.rows.cast_signed();
        let job = |process: u32| {
            let start =
                if self.group.own_databases { 0 } else { rows.saturating_mul(process.into()) };
            Job {
                engine: self.target.engine.name().to_owned(),
                location: self.store.location().into_os_string(),
                settings: self.target.settings.clone(),
                database: self.group.database(process),
                rows: start..start.saturating_add(rows),
                style: self.target.style,
                batch: self.target.batch(self.request),
            }
        };
        (0..self.group.processes).map(job).collect()
    }

    /// Has all workers do `operation`, pays what is owed on the clock, then notes and checks.
    fn operate(
        &self,
        operation: Operation,
        tables: &dyn RowTables,
        crew: &mut Crew<'_>,
    ) -> Result<Sample> {
        tables.statistics()?;
        let processes: Vec<u32> = crew.processes().chain(self.store.processes()).collect();
        let device = host::device(self.folder);
        let meter = host::Meter::start(&processes);
        let (start_ns, done) = crew.work(operation)?;
        let owed = timed(|| if operation.writes() { tables.settle() } else { Ok(()) })?;
        let measured = meter.stop();
        let memory_bytes = host::occupied_bytes(&processes);
        let counters = counters(&done, tables.statistics()?);
        let paths = self.paths(tables);
        let background = timed(|| if operation.writes() { flush(&paths) } else { Ok(()) })?;
        let device = device.zip(host::device(self.folder)).map(|(then, now)| now.since(then));
        let files = (!paths.is_empty()).then(|| host::space(&paths)).transpose()?;
        self.check(operation, &done, &crew.check()?)?;
        let ended_ns = done.iter().map(|done| done.ended_ns).max().unwrap_or(start_ns);
        Ok(Sample {
            operations: self.request.operations(operation, self.group),
            wall_ns: ended_ns.saturating_sub(start_ns) + nanoseconds(owed),
            settle_ns: nanoseconds(owed),
            background_ns: nanoseconds(background),
            cost: measured.cost,
            io: measured.io,
            device,
            load: measured.load,
            memory_bytes,
            workers: self.workers(operation, start_ns, &done),
            counters,
            measured: Measured::Rows { files: files.map(file_bytes) },
            ..Sample::default()
        })
    }

    fn paths(&self, tables: &dyn RowTables) -> Vec<PathBuf> {
        let databases = 0..self.group.databases();
        databases.flat_map(|database| tables.files(database)).filter(|path| path.exists()).collect()
    }

    fn workers(&self, operation: Operation, start_ns: u64, done: &[Done]) -> Vec<Worker> {
        if done.len() == 1 {
            return Vec::new();
        }
        let operations = self.request.operations(operation, self.group) / done.len() as u64;
        let worker = |(process, done): (u32, &Done)| Worker {
            process,
            operations,
            wall_ns: done.ended_ns.saturating_sub(start_ns),
        };
        (0..).zip(done).map(worker).collect()
    }

    /// What is not right ends the trial: it did other work.
    fn check(&self, operation: Operation, done: &[Done], held: &[Held]) -> Result<()> {
        let Group { processes, own_databases } = self.group;
        let sharing = if own_databases { 1 } else { processes };
        let before = expected(self.request.rows * u64::from(sharing));
        let after = Held {
            sum: before.sum + before.count.cast_signed() * ADDED * i64::from(sharing),
            ..before
        };
        let (result, expected) = match operation {
            Operation::Sum => (before.sum, before),
            Operation::Add => (before.count.cast_signed(), after),
            _ => (0, before),
        };
        if let Some(done) = done.iter().find(|done| done.result != result) {
            return Err(wrong("the answer was", done.result, result));
        }
        match held.iter().find(|held| **held != expected) {
            None => Ok(()),
            Some(held) if held.count != expected.count => {
                Err(wrong("rows counted", held.count.cast_signed(), expected.count.cast_signed()))
            }
            Some(held) => Err(wrong("the sum is", held.sum, expected.sum)),
        }
    }
}

/// A database with rows 0 to `count`, none of them changed: the sum of 2 i.
fn expected(count: u64) -> Held {
    let n = count.cast_signed();
    Held { count, sum: n * (n - 1) }
}

fn file_bytes(host::Space { apparent, allocated }: host::Space) -> FileBytes {
    FileBytes { apparent, allocated }
}

fn wrong(what: &str, found: i64, expected: i64) -> Error {
    Error::corrupt(format!("{what} {found}, expected was {expected}"))
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn flush(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| host::sync(path))
}

/// Those of all workers and of the store itself, summed.
fn counters(done: &[Done], store: Vec<(&'static str, i64)>) -> BTreeMap<String, i64> {
    let of_workers = done.iter().flat_map(|done| done.counters.clone());
    let of_store = store.into_iter().map(|(name, n)| (name.to_owned(), n));
    let mut counters = BTreeMap::new();
    for (name, n) in of_workers.chain(of_store) {
        *counters.entry(name).or_default() += n;
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_published_script() {
        let sum: i64 = (0..200_000).map(|i| 2 * i).sum();
        assert_eq!(expected(200_000), Held { count: 200_000, sum });
        assert_eq!(expected(0).sum, 0);
    }
}
