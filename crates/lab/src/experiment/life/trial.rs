//! A trial: a store from its filling to its last deletion, each step with its costs.

use std::{collections::HashSet, ops::ControlFlow, time::Instant};

use host::RunClock;
use model::{
    Action, BackupBytes, Batch, Cache, Error, FileBytes, LifeMeasured, Mode, Result, Sample, Scan,
    Session, Store, StoreFacts, life::LifeStep, units::show_count,
};

use super::{Life, drawn::Touched, snapshot::Snapshot};
use crate::{
    dataset::checksum,
    experiment::{
        Output,
        blobs::filling::fill,
        meter::{Others, PassMeter, flush},
        values::missed,
    },
    store::{ReadyStore, cache_state, check, file_bytes},
    workload::{NoClock, Op, WorkerPass, WorkerReport, nanoseconds, run},
};

pub(super) struct LifeTrial<'a> {
    pub(super) of: &'a Life<'a>,
    pub(super) ready: ReadyStore,
}

#[derive(Default)]
struct PassResult {
    operations: u64,
    bytes: u64,
}

impl LifeTrial<'_> {
    /// Fills the store and lives its life: outputs what it is, then a sample for each step.
    pub(super) fn run(mut self, output: &mut Output<'_>) -> Result<()> {
        let start = Instant::now();
        let Life { source, progress, stop, .. } = self.of;
        fill(&mut self.ready, source, *progress, stop)?;
        let fill_ns = Some(nanoseconds(start.elapsed()));
        let facts = self.ready.facts(self.of.dataset.summary().bytes)?;
        output.facts(StoreFacts { fill_ns, ..facts })?;
        self.look_up(output)?;
        self.change(output)?;
        let (half, rest) = self.of.drawn.halves();
        self.delete(LifeStep::Half, half, output)?;
        self.reclaim(output)?;
        self.check(half)?;
        self.delete(LifeStep::Rest, rest, output)
    }

    fn look_up(&self, output: &mut Output<'_>) -> Result<()> {
        let order = &self.of.drawn.order;
        self.step(LifeStep::Stat, output, |_, session| {
            self.pass(session, Action::Stat, order, Batch::All, 0)
        })?;
        self.step(LifeStep::List, output, |_, session| self.list(session))?;
        self.of.caches.iter().try_for_each(|cache| self.open(*cache, output))
    }

    fn change(&self, output: &mut Output<'_>) -> Result<()> {
        let drawn = &self.of.drawn;
        let day = |session: &mut dyn Session, day: usize| {
            self.pass(session, Action::Update, &drawn.days[day], Batch::Of(1), drawn.salt(day))
        };
        self.step(LifeStep::Day, output, |_, session| day(session, 0))?;
        if drawn.days.len() == 1 {
            return Ok(());
        }
        self.step(LifeStep::Month, output, |store, session| {
            (1..drawn.days.len()).try_fold(PassResult::default(), |sum, number| {
                let did = day(session, number)?;
                store.flush_writes()?;
                let operations = sum.operations + did.operations;
                Ok(PassResult { operations, bytes: sum.bytes + did.bytes })
            })
        })
    }

    fn delete(&self, step: LifeStep, values: &[Touched], output: &mut Output<'_>) -> Result<()> {
        let batch = Batch::Of(super::DELETED);
        self.step(step, output, |_, session| self.pass(session, Action::Delete, values, batch, 0))
    }

    /// Carries out the same operation on each of `values`.
    fn pass(
        &self,
        session: &mut dyn Session,
        action: Action,
        values: &[Touched],
        batch: Batch,
        salt: u64,
    ) -> Result<PassResult> {
        let Life { dataset, pool, stop, .. } = self.of;
        let (count, writes) = (values.len() as u64, action.writes());
        let pass = WorkerPass { pool, batch, writes, count, salt, stop };
        let ops = values.iter().map(|Touched { place, size }| {
            let key = dataset.key(&dataset.entries()[*place]);
            Op { action, key, size: *size, items: 0, least: 0 }
        });
        let tally = run(&pass, ops, session, &mut [], &mut NoClock)?;
        match &tally.first {
            Some(key) if self.ready.retains() => Err(missed(&tally, count, key)),
            _ => Ok(PassResult { operations: count, bytes: tally.bytes }),
        }
    }

    fn list(&self, session: &mut dyn Session) -> Result<PassResult> {
        let mut operations = 0;
        session.scan(Scan::LENGTHS, &mut |_| {
            operations += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        let all = self.of.dataset.entries().len() as u64;
        if operations != all && self.ready.retains() {
            let [listed, all] = [operations, all].map(show_count);
            return Err(Error::corrupt(format!("{listed} of {all} values are listed")));
        }
        Ok(PassResult { operations, bytes: 0 })
    }

    /// Runs a step in sessions of the store, whose files are in memory when it starts, and outputs its sample.
    fn step(
        &self,
        step: LifeStep,
        output: &mut Output<'_>,
        work: impl FnOnce(&dyn Store, &mut dyn Session) -> Result<PassResult>,
    ) -> Result<()> {
        let named = |e: Error| e.context(step);
        let files = (step == LifeStep::Day).then(|| self.snapshot()).transpose()?.flatten();
        let before = cache_state::reach(&self.ready, Cache::Warm, self.of.stop)?;
        let used = self.ready.with(|store| {
            let mut session = store.session()?;
            let settle = || store.flush_writes();
            self.timed(&store.processes(), step, || work(store, &mut *session), settle)
        });
        let (sample, opening) = used.map_err(named)?;
        let backup = files.map(|files| Ok(self.snapshot()?.map(|now| now.since(&files))));
        let sample = Sample { before, open_ns: nanoseconds(opening), ..sample };
        self.output(step, sample, backup.transpose()?.flatten(), output)
    }

    fn snapshot(&self) -> Result<Option<Snapshot>> {
        let on_disk = self.ready.held.is_none();
        on_disk.then(|| Snapshot::take(&self.ready.files(), self.of.stop)).transpose()
    }

    /// Opens the store in a cache state and reads a value. One that is open anyway is left out.
    fn open(&self, cache: Cache, output: &mut Output<'_>) -> Result<()> {
        let ReadyStore { engine, path, options, held, .. } = &self.ready;
        let Life { dataset, drawn, .. } = self.of;
        let first = &dataset.entries()[drawn.order[0].place];
        if held.is_some() {
            return Ok(());
        }
        let mut buffer = vec![0; first.size as usize];
        let before = cache_state::reach(&self.ready, cache, self.of.stop)?;
        let mut opened = None;
        let work = || {
            let store = opened.insert(engine.open(path, options)?);
            let found = store.session()?.get(dataset.key(first), &mut buffer)?;
            Ok(PassResult { operations: 1, bytes: found.unwrap_or(0) as u64 })
        };
        let sample =
            self.timed(&[], LifeStep::Open, work, || Ok(())).map_err(|e| e.context("open"))?;
        opened.map_or(Ok(()), Store::close)?;
        self.output(LifeStep::Open, Sample { before, cache, ..sample }, None, output)
    }

    /// Gives the space of what was deleted back, if the engine has a way.
    fn reclaim(&self, output: &mut Output<'_>) -> Result<()> {
        let ReadyStore { engine, path, options, held, .. } = &self.ready;
        if engine.declaration().reclaim.is_none() || held.is_some() {
            return Ok(());
        }
        let before = cache_state::reach(&self.ready, Cache::Warm, self.of.stop)?;
        let store = engine.open(path, options)?;
        let processes = store.processes();
        let work = || store.reclaim().map(|()| PassResult { operations: 1, bytes: 0 });
        let sample = self.timed(&processes, LifeStep::Reclaim, work, || Ok(()));
        let sample = sample.map_err(|e| e.context("reclaim"))?;
        self.output(LifeStep::Reclaim, Sample { before, ..sample }, None, output)
    }

    fn timed(
        &self,
        processes: &[u32],
        step: LifeStep,
        work: impl FnOnce() -> Result<PassResult>,
        settle: impl FnOnce() -> Result<()>,
    ) -> Result<Sample> {
        let clock = RunClock::of_this_thread();
        let server = self.ready.engine.servers().is_ok();
        let others = Others { servers: processes, ..Others::default() };
        let meter = PassMeter::start(others, Some(&self.ready.path), server);
        let start = clock.now();
        let PassResult { operations, bytes } = work()?;
        let done = [WorkerReport::new(start, clock.now().since(start), operations, ())];
        let sample = meter.stop(&done, step.writes(), settle, || self.ready.files())?;
        Ok(Sample { bytes, ..sample })
    }

    /// Adds what the store occupies, which is closed now, and records the sample.
    fn output(
        &self,
        step: LifeStep,
        sample: Sample,
        backup: Option<BackupBytes>,
        output: &mut Output<'_>,
    ) -> Result<()> {
        if step.writes() {
            flush(&self.ready.files())?;
            self.ready.filled.set(false);
        }
        let index = self.of.workloads.iter().position(|of| of.work == step.into());
        let workload = index.expect("the plan has each step that is made");
        let on_disk = self.ready.held.is_none();
        let files: Option<FileBytes> =
            on_disk.then(|| file_bytes(&self.ready.files())).transpose()?;
        let measured = LifeMeasured { files, backup }.into();
        output.sample(Sample { workload, measured, ..sample }, None)
    }

    /// Compares every value with what was last written, and that those in `deleted` are gone.
    fn check(&self, deleted: &[Touched]) -> Result<()> {
        let Life { dataset, drawn, pool, stop, .. } = self.of;
        if !self.ready.retains() {
            return Ok(());
        }
        let gone: HashSet<usize> = deleted.iter().map(|value| value.place).collect();
        let mut last = vec![None; dataset.entries().len()];
        for (day, changes) in drawn.days.iter().enumerate() {
            for (position, Touched { place, size }) in (0..).zip(changes) {
                last[*place] = Some((drawn.salt(day), position, *size));
            }
        }
        let mut buffer = vec![0; usize::try_from(dataset.summary().largest).unwrap_or(usize::MAX)];
        let checked = self.ready.with(|store| {
            let mut session = store.session()?;
            session.begin(Mode::Read)?;
            for ((place, entry), last) in dataset.entries().iter().enumerate().zip(last) {
                stop.check()?;
                let key = dataset.key(entry);
                let found = session.get(key, &mut buffer)?;
                let value = found.and_then(|length| buffer.get(..length));
                let right = match last {
                    _ if gone.contains(&place) => found.is_none(),
                    Some((salt, position, size)) => value == Some(pool.slice(salt, position, size)),
                    None => value.is_some_and(|value| checksum(value) == entry.check),
                };
                if !right {
                    return Err(check::not_as_written(&key.to_string()));
                }
            }
            session.commit()
        });
        checked.map(|((), _)| ())
    }
}
