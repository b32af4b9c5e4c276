//! Workers on values.

use std::{ffi::OsString, ops::Range, path::Path};

use model::{Access, Blobs, KeyKind, OpenOptions, Result, Session, Settings, Store, Workload};
use serde::{Deserialize, Serialize};

use super::{Job, Watch, Worker, threads};
use crate::{
    Stop,
    dataset::{Dataset, Pool},
    store::ReadyStore,
    workload::{Done, Pass, PassInput, PassOutcome, drawn, during},
};

/// The passes of a trial in an open store.
pub(crate) struct BlobJob<'a> {
    pub(crate) input: &'a PassInput<'a>,
    pub(crate) store: &'a dyn Store,
    pub(crate) passes: &'a [Pass],
}

impl Job for BlobJob<'_> {
    type Pass = Pass;
    type Outcome = PassOutcome;

    fn passes(&self) -> &[Pass] {
        self.passes
    }

    fn workers(&self) -> Range<usize> {
        self.input.workers()
    }

    fn worker(&self, number: usize) -> Result<Box<dyn Worker<Pass, PassOutcome> + '_>> {
        let buffer = self.input.buffer();
        let session = self.store.session()?;
        Ok(Box::new(BlobWorker { input: self.input, number, session, buffer }))
    }

    fn observe(
        &self,
        pass: &Pass,
        run: &mut dyn FnMut() -> Result<Vec<Done<PassOutcome>>>,
    ) -> Result<Vec<Done<PassOutcome>>> {
        if !pass.clocked {
            return run();
        }
        let (done, background) = during(self.store, run);
        let mut done = done?;
        // The store is that of all workers; the first reports of it.
        if let Some(first) = done.first_mut() {
            first.outcome.background.extend(background);
        }
        Ok(done)
    }
}

struct BlobWorker<'a> {
    input: &'a PassInput<'a>,
    number: usize,
    session: Box<dyn Session + 'a>,
    buffer: Vec<u8>,
}

impl Worker<Pass, PassOutcome> for BlobWorker<'_> {
    fn run(&mut self, pass: &Pass, start_ns: u64) -> Result<Done<PassOutcome>> {
        self.input.run(pass, self.number, start_ns, &mut *self.session, &mut self.buffer)
    }
}

/// The passes of a trial, for another process.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct BlobRequest {
    process: u32,
    pub(super) engine: String,
    /// Not a path, which JSON could not hold whatever its bytes.
    location: OsString,
    settings: Settings,
    write: bool,
    keys: KeyKind,
    workload: Workload,
    /// What operations are drawn from, if they are.
    seed: u64,
    passes: Vec<Pass>,
}

impl BlobRequest {
    pub(crate) fn new(
        process: u32,
        input: &PassInput<'_>,
        seed: u64,
        ready: &ReadyStore,
        passes: &[Pass],
    ) -> Self {
        Self {
            process,
            engine: ready.engine.name().to_owned(),
            location: ready.path.clone().into_os_string(),
            settings: ready.options.settings.clone(),
            write: ready.options.access == Access::Write,
            keys: ready.options.keys,
            workload: input.workload,
            seed,
            passes: passes.to_vec(),
        }
    }

    /// Opens the store next to the process that asks, and makes the passes.
    pub(super) fn run(
        &self,
        engine: &dyn Blobs,
        (dataset, pool): (&Dataset, &Pool),
        stop: &Stop,
        watch: &mut dyn Watch<Pass, PassOutcome>,
    ) -> Result<()> {
        let access = if self.write { Access::Write } else { Access::Read };
        let options = OpenOptions { settings: self.settings.clone(), access, keys: self.keys };
        let store = engine.join(Path::new(&self.location), &options)?;
        let ops = drawn(&self.workload, dataset, self.seed)?;
        let mut input = PassInput::new(self.workload, dataset, pool, ops, stop)?;
        input.process = self.process;
        threads::run(&BlobJob { input: &input, store: &*store, passes: &self.passes }, watch)?;
        store.close()
    }
}
