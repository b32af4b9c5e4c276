//! A trial: a repository from its first backup to a restore, each step with its costs.

use std::{fs, path::PathBuf};

use backup::{Replay, Repository};
use host::RunClock;
use model::{BackupMeasured, Blobs, Error, Result, Sample, Store, StoreFacts, backup::BackupStep};

use super::Backup;
use crate::{
    experiment::{
        Output,
        meter::{Others, PassMeter},
    },
    store::{facts, file_bytes},
    workload::{WorkerReport, nanoseconds},
};

pub(super) struct BackupTrial<'a> {
    pub(super) of: &'a Backup<'a>,
    pub(super) engine: &'static dyn Blobs,
    /// The catalogue's.
    pub(super) path: PathBuf,
    /// The folder of the trial.
    pub(super) folder: PathBuf,
    /// Which files change.
    pub(super) seed: u64,
}

#[derive(Default)]
struct StepResult {
    /// Files, bytes of them, and bytes that were added to packs.
    files: u64,
    bytes: u64,
    added: u64,
    /// The part of the time that the catalogue took; `None` for all of it.
    catalogue_ns: Option<u64>,
}

impl BackupTrial<'_> {
    /// Outputs a sample for each step.
    pub(super) fn run(&self, store: Box<dyn Store>, output: &mut Output<'_>) -> Result<()> {
        let repository = Repository::new(self.folder.join("packs"), store)?;
        let run = repository.warm_up().and_then(|()| match &self.of.replay {
            Some((replay, copies)) => self.replay(&repository, replay, *copies, output),
            None => self.backups(&repository, output),
        });
        let closed = repository.close();
        run.and(closed)
    }

    fn backups(&self, repository: &Repository, output: &mut Output<'_>) -> Result<()> {
        let (source, go_on) = (&self.of.source.folder, || self.of.stop.check());
        let save = || {
            let saved = backup::save(repository, source, &go_on)?;
            refuse(saved.problems.first().map(ToString::to_string))?;
            let catalogue_ns = Some(nanoseconds(saved.catalogue));
            let (files, added) = (saved.entries, saved.stored_bytes);
            Ok(StepResult { files, bytes: saved.bytes, added, catalogue_ns })
        };
        self.step(repository, BackupStep::Full, output, save)?;
        self.step(repository, BackupStep::Unchanged, output, save)?;
        let change = self.of.source.change(self.seed)?;
        let changed = self.step(repository, BackupStep::Changed, output, save);
        let checked = changed.and_then(|()| self.reads(repository, output));
        checked.and(change.undo())
    }

    /// Measures the steps that only read, while the folder is as it was last backed up.
    fn reads(&self, repository: &Repository, output: &mut Output<'_>) -> Result<()> {
        let (source, go_on) = (&self.of.source, || self.of.stop.check());
        self.step(repository, BackupStep::Stats, output, || {
            let stats = backup::stats(repository)?;
            Ok(StepResult {
                files: source.count,
                catalogue_ns: Some(nanoseconds(stats.catalogue)),
                ..StepResult::default()
            })
        })?;
        self.step(repository, BackupStep::Selftest, output, || {
            let checked = backup::check(repository, &go_on)?;
            refuse(checked.problems.into_iter().next())?;
            let catalogue_ns = Some(nanoseconds(checked.catalogue));
            Ok(StepResult { files: source.count, bytes: checked.bytes, catalogue_ns, added: 0 })
        })?;
        // What is restored has the modes of the user's files in the end.
        let private = self.folder.join("restored");
        host::create_folder(&private, 0o700).map_err(|e| Error::io(private.display(), e))?;
        let to = private.join("copy");
        self.step(repository, BackupStep::Restore, output, || {
            let restored = backup::restore(repository, None, &to, &go_on)?;
            refuse(restored.problems.first().map(ToString::to_string))?;
            let catalogue_ns = Some(nanoseconds(restored.catalogue));
            Ok(StepResult { files: restored.files, bytes: restored.bytes, catalogue_ns, added: 0 })
        })?;
        let differs = backup::differences(&source.folder, &to, &go_on)?;
        fs::remove_dir_all(&private).map_err(|e| Error::io(private.display(), e))?;
        refuse(differs.into_iter().next())
    }

    /// Repeats what a catalogue was asked for.
    fn replay(
        &self,
        repository: &Repository,
        replay: &Replay,
        copies: u32,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let Replay { full, unchanged, changed, stats, check, files } = replay;
        let steps = [full, unchanged, changed, stats, check];
        for (step, operations) in BackupStep::ALL.into_iter().zip(steps) {
            self.of.stop.check()?;
            let operations = Replay::copies(operations, copies);
            self.step(repository, step, output, || {
                backup::repeat(repository.store(), &operations, step.writes())?;
                Ok(StepResult { files: files * u64::from(copies), ..StepResult::default() })
            })?;
        }
        Ok(())
    }

    fn step(
        &self,
        repository: &Repository,
        step: BackupStep,
        output: &mut Output<'_>,
        work: impl FnOnce() -> Result<StepResult>,
    ) -> Result<()> {
        let named = |e: Error| e.context(step);
        let store = repository.store();
        let servers = store.processes();
        let others = Others { servers: &servers, ..Others::default() };
        let clock = RunClock::of_this_thread();
        let meter = PassMeter::start(others, Some(&self.folder), !servers.is_empty());
        let start = clock.now();
        let did = work().map_err(named)?;
        let passed = clock.now().since(start);
        let done = [WorkerReport::new(start, passed, did.files, ())];
        let files = || vec![self.folder.clone()];
        let sample =
            meter.stop(&done, step.writes(), || store.flush_writes(), files).map_err(named)?;
        let paths: Vec<_> =
            self.engine.files(&self.path).into_iter().filter(|p| p.exists()).collect();
        let files = (!paths.is_empty()).then(|| file_bytes(&paths)).transpose()?;
        if step == BackupStep::Full {
            let facts = facts(store.in_effect()?, files.unwrap_or_default());
            output.facts(StoreFacts { fill_ns: Some(sample.wall_ns), ..facts })?;
        }
        // Threads of the backup wait for each other too: this one's waiting for a processor is not
        // all of it.
        let waited_ns = sample.waited_ns.filter(|_| self.of.replay.is_some());
        // A checkpoint is the catalogue's too.
        let catalogue_ns = did.catalogue_ns.map(|ns| ns + sample.settle_ns);
        let catalogue_ns = catalogue_ns.unwrap_or(sample.wall_ns);
        let measured = BackupMeasured { catalogue_ns, added_bytes: did.added, files }.into();
        let bytes = did.bytes;
        output
            .sample(Sample { workload: step as usize, bytes, waited_ns, measured, ..sample }, None)
    }
}

/// Fails with a problem: a backup that is not complete ends the trial.
fn refuse(problem: Option<String>) -> Result<()> {
    problem.map_or(Ok(()), |problem| Err(Error::corrupt(problem)))
}
