//! A look at the machine before anything is measured on it for good.

mod noise;
mod states;

use std::{path::PathBuf, time::Duration};

use model::{
    Blobs, Checkup, Environment, ErrorKind, Filesystem, FindingKind, Flush, Folder, Library, Result,
};

use crate::{Progress, Stop, host};

/// Longest time for flushing.
const FLUSHING: Duration = Duration::from_secs(2);

/// What is to be looked at.
pub struct CheckupJob {
    /// Where stores would be; a folder that is there.
    pub folder: PathBuf,
    /// Each is measured against itself; those that keep files in `folder`.
    pub engines: Vec<&'static dyn Blobs>,
    /// Time for that, for all together.
    pub time: Duration,
    /// Drives everything random.
    pub seed: u64,
    /// Libraries of this build.
    pub libraries: Vec<Library>,
}

/// What was seen.
pub struct Checked {
    /// `advice` is left to the caller.
    pub checkup: Checkup,
    /// Doubts about the machine, as they came up.
    pub doubts: Vec<FindingKind>,
    /// Whether the user stopped it before all was seen.
    pub interrupted: bool,
}

/// Looks at the machine. What cannot be tried is told, and no reason to stop.
pub fn checkup(job: &CheckupJob, progress: &dyn Progress, stop: &Stop) -> Checked {
    progress.stage("looking at the machine", None);
    let checkup = machine(job);
    let mut checked =
        Checked { doubts: checks::of_machine(&checkup.environment), checkup, interrupted: false };
    checked.interrupted = checked.probe(job, progress, stop).is_err();
    checked
}

/// What is told without trying anything.
fn machine(job: &CheckupJob) -> Checkup {
    let folder = &job.folder;
    let mut environment = host::environment(std::slice::from_ref(folder));
    environment.libraries.clone_from(&job.libraries);
    Checkup {
        environment,
        user_id: host::user_id(),
        folder: Folder {
            path: folder.display().to_string(),
            unwritable: host::check_writable(folder).err().map(|why| why.to_string()),
            free_bytes: host::free_bytes(folder).ok(),
            disk: host::disk(folder),
            ..Folder::default()
        },
        other_filesystems: host::other_filesystems(folder),
        programs: host::programs(),
        ..Checkup::default()
    }
}

impl Checked {
    /// Tries things out. An error: the user stopped it.
    fn probe(&mut self, job: &CheckupJob, progress: &dyn Progress, stop: &Stop) -> Result<()> {
        let writable = self.checkup.folder.unwritable.is_none();
        progress.stage("evicting", None);
        let caches = states::states(writable.then_some(&*job.folder));
        self.checkup.caches = caches;
        if writable {
            progress.stage("flushing", None);
            let flush = host::flush_latency(&job.folder, FLUSHING, stop);
            if let Some(flush) = self.tried("flushing", flush)? {
                self.flushed(flush);
            }
        }
        let fits = |engine: &&&dyn Blobs| writable || !engine.capabilities().persistent;
        for engine in job.engines.iter().filter(fits) {
            let time = job.time / u32::try_from(job.engines.len()).unwrap_or(1);
            let measured = noise::against_itself(*engine, job, time, progress, stop);
            if let Some(measured) = self.tried(engine.name(), measured)? {
                self.measured(measured);
            }
            stop.check()?;
        }
        Ok(())
    }

    fn flushed(&mut self, flush: Flush) {
        let Checkup { folder, environment, .. } = &mut self.checkup;
        folder.flush = Some(flush);
        folder.flushes_like = Some(flush.suggests().to_owned());
        if let Some(filesystem) = environment.filesystems.first_mut() {
            filesystem.flush = Some(flush);
        }
    }

    fn measured(&mut self, measured: noise::Measured) {
        self.checkup.environment.loop_ns = measured.loop_ns;
        self.doubts.extend(measured.doubts);
        self.checkup.noise.extend(measured.noise);
    }

    /// What came of trying; a failure is noted, an interruption passed on.
    fn tried<T>(&mut self, what: &str, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.checkup.untried.push(format!("{what}: {error}"));
                Ok(None)
            }
            Ok(value) => Ok(Some(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Cpu;

    use super::*;

    fn found(
        governor: &str,
        virtualised: Option<&str>,
        filesystem: Filesystem,
    ) -> Vec<FindingKind> {
        checks::of_machine(&Environment {
            cpu: Cpu { governor: Some(governor.to_owned()), ..Cpu::default() },
            virtualised: virtualised.map(str::to_owned),
            filesystems: vec![filesystem],
            ..Environment::default()
        })
    }

    #[test]
    fn a_machine_made_for_measuring_raises_no_doubt() {
        let direct = Filesystem { loop_direct_io: Some(true), ..Filesystem::default() };
        assert_eq!(found("performance", Some("podman container"), direct), []);
    }

    #[test]
    fn each_hindrance_is_a_doubt() {
        let in_memory = Filesystem { kind: "tmpfs".to_owned(), ..Filesystem::default() };
        let tmpfs = found("powersave", None, in_memory);
        assert!(matches!(
            *tmpfs,
            [FindingKind::Governor { .. }, FindingKind::UnusualFilesystem { .. }]
        ));
        let looped = Filesystem { loop_direct_io: Some(false), ..Filesystem::default() };
        let looped = found("performance", Some("KVM"), looped);
        assert!(matches!(
            *looped,
            [FindingKind::HostMayCache { .. }, FindingKind::CachedTwice { .. }]
        ));
    }
}
