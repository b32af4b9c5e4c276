//! Looks at the machine before anything is measured on it.

mod noise;
mod reach;

use std::{path::PathBuf, time::Duration};

use model::{Blobs, DoctorReport, ErrorKind, FindingKind, Flush, Folder, Library, Result};

use crate::{Progress, Stop, host};

/// Longest time for flushing.
const FLUSHING: Duration = Duration::from_secs(2);

/// What to look at.
pub struct DoctorRequest {
    /// An existing folder that stores would be in.
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

/// Looks at the machine, and returns whether the user stopped it early. What cannot be tried is in
/// the report, and does not stop it.
pub fn doctor(
    request: &DoctorRequest,
    progress: &dyn Progress,
    stop: &Stop,
) -> (DoctorReport, bool) {
    progress.stage("looking at the machine", None);
    let mut doctor = Doctor { report: machine(request), noisy: Vec::new() };
    let interrupted = doctor.probe(request, progress, stop).is_err();
    let Doctor { mut report, noisy } = doctor;
    let findings = checks::of_machine(&report.environment).into_iter().chain(noisy);
    report.advice = checks::suggestions(findings);
    (report, interrupted)
}

/// What is known without trying anything.
fn machine(request: &DoctorRequest) -> DoctorReport {
    let folder = &request.folder;
    let mut environment = host::environment(std::slice::from_ref(folder));
    environment.libraries.clone_from(&request.libraries);
    DoctorReport {
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
        ..DoctorReport::default()
    }
}

struct Doctor {
    report: DoctorReport,
    /// Findings of the runs that measured engines against themselves.
    noisy: Vec<FindingKind>,
}

impl Doctor {
    /// Tries things out. An error: the user stopped it.
    fn probe(
        &mut self,
        request: &DoctorRequest,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<()> {
        let writable = self.report.folder.unwritable.is_none();
        progress.stage("evicting", None);
        self.report.caches = reach::caches(writable.then_some(&*request.folder));
        if writable {
            progress.stage("flushing", None);
            let flush = host::flush_latency(&request.folder, FLUSHING, stop);
            if let Some(flush) = self.tried("flushing", flush)? {
                self.flushed(flush);
            }
        }
        let fits = |engine: &&&dyn Blobs| writable || !engine.capabilities().persistent;
        for engine in request.engines.iter().filter(fits) {
            let time = request.time / u32::try_from(request.engines.len()).unwrap_or(1);
            let measured = noise::against_itself(*engine, request, time, progress, stop);
            if let Some(measured) = self.tried(engine.name(), measured)? {
                self.report.environment.loop_ns = measured.loop_ns;
                self.report.noise.extend(measured.noise);
                self.noisy.extend(measured.findings);
            }
            stop.check()?;
        }
        Ok(())
    }

    fn flushed(&mut self, flush: Flush) {
        let DoctorReport { folder, environment, .. } = &mut self.report;
        folder.flush = Some(flush);
        folder.flushes_like = Some(flush.suggests().to_owned());
        if let Some(filesystem) = environment.filesystems.first_mut() {
            filesystem.flush = Some(flush);
        }
    }

    /// What was tried; a failure is noted, an interruption passed on.
    fn tried<T>(&mut self, what: &str, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.report.untried.push(format!("{what}: {error}"));
                Ok(None)
            }
            Ok(value) => Ok(Some(value)),
        }
    }
}
