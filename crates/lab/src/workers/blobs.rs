//! Workers on values.

use std::{ffi::OsString, path::Path};

use host::RunClock;
use model::{Access, Blobs, KeyKind, OpenOptions, Result, Settings, Store, Workload};
use serde::{Deserialize, Serialize};

use super::{Worker, Workers, threads};
use crate::{
    Stop,
    dataset::{Dataset, Pool},
    store::ReadyStore,
    workload::{Done, Pass, PassInput, PassOutcome, Timing, drawn, during},
};

/// Opens a session of `store` for each worker of this process, and lets `work` have them make
/// passes.
pub(crate) fn with<T>(
    input: &PassInput<'_>,
    store: &dyn Store,
    work: impl FnOnce(&mut Workers<'_, Pass, Done<PassOutcome>>) -> Result<T>,
) -> Result<T> {
    let open = |number| {
        let (mut buffer, mut session) = (input.buffer(), store.session()?);
        let clock = RunClock::of_this_thread();
        let worker: Worker<'_, _, _> = Box::new(move |pass: Pass, start_ns| {
            input.run(&pass, number, start_ns, &mut *session, &mut buffer, &clock)
        });
        Ok(worker)
    };
    threads::with(input.workers(), open, |workers| {
        work(&mut |pass, start_ns| {
            if pass.timing == Timing::None {
                return workers(pass, start_ns);
            }
            let (done, background) = during(store, || workers(pass, start_ns));
            let mut done = done?;
            // The store is that of all workers; the first reports of it.
            if let Some(first) = done.first_mut() {
                first.outcome.background.extend(background);
            }
            Ok(done)
        })
    })
}

/// A trial of another process.
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
}

impl BlobRequest {
    pub(crate) fn new(process: u32, workload: Workload, seed: u64, ready: &ReadyStore) -> Self {
        Self {
            process,
            engine: ready.engine.name().to_owned(),
            location: ready.path.clone().into_os_string(),
            settings: ready.options.settings.clone(),
            write: ready.options.access == Access::Write,
            keys: ready.options.keys,
            workload,
            seed,
        }
    }

    /// Opens the store next to the process that asks, and lets `work` have the workers make passes.
    pub(super) fn with(
        &self,
        engine: &dyn Blobs,
        (dataset, pool): &(Dataset, Pool),
        stop: &Stop,
        work: impl FnOnce(&mut Workers<'_, Pass, Done<PassOutcome>>) -> Result<()>,
    ) -> Result<()> {
        let access = if self.write { Access::Write } else { Access::Read };
        let options = OpenOptions { settings: self.settings.clone(), access, keys: self.keys };
        let store = engine.join(Path::new(&self.location), &options)?;
        let ops = drawn(&self.workload, dataset, self.seed)?;
        let mut input = PassInput::new(self.workload, dataset, pool, ops, stop)?;
        input.process = self.process;
        with(&input, &*store, work)?;
        store.close()
    }
}
