//! One store: made, filled, read, and its objects replaced until it is as old as it is to become.

use std::time::{Duration, Instant};

use model::{
    Cache, DatasetSummary, FileBytes, Fragments, Measured, Operation, Result, Sample, StoreFacts,
    Work, Workload,
};

use super::history::AgeStep;
use crate::{
    Progress, Stop,
    dataset::Pool,
    experiment::{
        At, Output,
        values::{Tried, ValuesTrial},
    },
    store::{ReadyStore, check},
    workload::{LATENCY_OPERATIONS, PassInput, nanoseconds},
};

/// What the store goes through.
pub(super) struct AgeingTrial<'a> {
    /// Of the plan.
    pub(super) workloads: &'a [Workload],
    pub(super) ages: &'a [AgeStep],
    /// The states of the reads.
    pub(super) caches: &'a [Cache],
    pub(super) pool: &'a Pool,
    pub(super) progress: &'a dyn Progress,
    pub(super) stop: &'a Stop,
    pub(super) at: At,
}

impl AgeingTrial<'_> {
    /// Makes the store of `ready`, and outputs its samples as it ages.
    pub(super) fn run(&self, mut ready: ReadyStore, output: &mut Output<'_>) -> Result<()> {
        let store = ready.engine.create(&ready.path, &ready.options)?;
        if ready.engine.capabilities().persistent {
            store.close()?;
        } else {
            ready.held = Some(store);
        }
        self.ages.iter().try_for_each(|step| self.reach(step, &ready, output))
    }

    fn reach(&self, step: &AgeStep, ready: &ReadyStore, output: &mut Output<'_>) -> Result<()> {
        let mut written = self.write(step, ready)?;
        let check = self.check(step, ready)?;
        let (files, fragments) = (files(ready)?, fragments(ready, step)?);
        written.sample = aged(written.sample, files, fragments);
        if step.age == 0 {
            let facts = ready.facts(0, step.live.summary().bytes)?;
            let fill_ns = Some(written.sample.wall_ns);
            output.facts(StoreFacts { fill_ns, check_ns: nanoseconds(check), ..facts })?;
        }
        output.sample(written.sample, written.written_before)?;
        let Some(index) = self.workload(step.age, Operation::Read) else { return Ok(()) };
        let can = |cache: &&Cache| ready.held.is_none() || !cache.is_cold();
        for &cache in self.caches.iter().filter(can) {
            self.stop.check()?;
            let read = self.pass(step, index, cache, ready)?;
            output.sample(aged(read.sample, None, None), None)?;
        }
        Ok(())
    }

    fn write(&self, step: &AgeStep, ready: &ReadyStore) -> Result<Tried> {
        let operation = if step.age == 0 { Operation::Insert } else { Operation::Update };
        let index = self.workload(step.age, operation).expect("the plan has all writes");
        self.pass(step, index, Cache::Warm, ready)
    }

    /// Index of a workload of the plan.
    fn workload(&self, age: u32, operation: Operation) -> Option<usize> {
        let work = Work::Ageing { operation, age };
        self.workloads.iter().position(|workload| workload.work == work)
    }

    fn pass(
        &self,
        step: &AgeStep,
        index: usize,
        cache: Cache,
        ready: &ReadyStore,
    ) -> Result<Tried> {
        let planned = self.workloads[index];
        let dataset = if planned.work.writes() { &step.writes } else { &step.live };
        let workload = Workload { count: dataset.entries().len() as u64, ..planned };
        let input = PassInput::new(workload, dataset, self.pool, None, self.stop)?;
        let trial = ValuesTrial {
            input: &input,
            ready,
            cache,
            salt: step.salt,
            timed: LATENCY_OPERATIONS,
            first_round: self.at.round == 0,
            processes: None,
        };
        let named = |e: model::Error| e.context(format!("{} at age {}", planned.work, step.age));
        let Tried { sample, written_before } = trial.run().map_err(named)?;
        Ok(Tried { sample: Sample { workload: index, ..sample }, written_before })
    }

    /// Reads every live object back: what is not there as it was written ends the trial.
    fn check(&self, step: &AgeStep, ready: &ReadyStore) -> Result<Duration> {
        let start = Instant::now();
        if ready.retains() {
            let differs = check::bytes(&step.live, ready, self.progress, self.stop)?;
            differs.map_or(Ok(()), |key| Err(check::not_as_written(&key)))?;
        }
        Ok(start.elapsed())
    }
}

/// A sample over values, as one at a storage age.
fn aged(sample: Sample, files: Option<FileBytes>, fragments: Option<Fragments>) -> Sample {
    let measured = match sample.measured {
        Measured::Blobs(passes) => Measured::Ageing { passes, files, fragments },
        other => other,
    };
    Sample { measured, ..sample }
}

/// What the closed store takes; `None`: it has no files.
fn files(ready: &ReadyStore) -> Result<Option<FileBytes>> {
    if ready.held.is_some() {
        return Ok(None);
    }
    let host::Space { apparent, allocated } = host::space(&ready.files())?;
    Ok(Some(FileBytes { apparent, allocated }))
}

/// How fragmented the closed store is.
fn fragments(ready: &ReadyStore, step: &AgeStep) -> Result<Option<Fragments>> {
    if ready.held.is_some() {
        return Ok(None);
    }
    let (arrangement, _) = ready.with(|store| store.arrangement())?;
    let host::Extents { files, extents } = host::extents(&ready.files())?;
    let DatasetSummary { count: objects, bytes, .. } = step.live.summary();
    Ok(Some(Fragments { objects, bytes, files, extents, arrangement }))
}
