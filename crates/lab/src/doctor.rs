//! Looks at the machine before anything is measured on it: what it is, which cache states can be
//! reached, how long a flush takes, and how a target measured against itself comes out.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use checks::{FEWEST_ROUNDS, Series};
use model::{
    Blobs, Cache, DoctorReport, Error, ErrorKind, FindingKind, Flush, Folder, Generated, Library,
    Noise, Reach, Result, Rounds,
    record::Record,
    units::{duration_of, show_count},
};
use pagecache::{Files, Pages};
use stats::{detectable, geometric_mean};

use crate::{
    Coverage, Data, Progress, Recorder, Request, ResolvedTarget, Stop,
    budget::Budget,
    host::{self, Scratch},
    measure,
    progress::Quiet,
};

/// The longest time for flushing, and its largest part of the whole time.
const FLUSHING: Duration = Duration::from_secs(2);
const FLUSHING_PART: u32 = 10;

/// The request of an examination of the machine.
pub struct DoctorRequest {
    /// An existing folder in which stores would be.
    pub folder: PathBuf,
    /// The engines, each of which is measured against itself; those that keep files do so in
    /// `folder`.
    pub engines: Vec<&'static dyn Blobs>,
    /// The time for all of it.
    pub time: Duration,
    /// The seed of the runs.
    pub seed: u64,
    /// The libraries of the engines.
    pub libraries: Vec<Library>,
    /// The command that starts a worker process: see [`Request::worker`].
    pub worker: Vec<OsString>,
}

/// Examines the machine, and returns whether the user stopped it early. What cannot be tried is in
/// the report, and does not stop the examination.
pub fn doctor(
    request: &DoctorRequest,
    progress: &dyn Progress,
    stop: &Stop,
) -> (DoctorReport, bool) {
    let budget = Budget::new(Some(request.time));
    progress.stage("looking at the machine", None);
    let report = machine(request);
    let mut doctor = Doctor { request, report, noisy: Vec::new(), budget, progress, stop };
    let interrupted = stop.within(budget.limit(), || doctor.probe()).is_err();
    let Doctor { mut report, noisy, .. } = doctor;
    let findings = checks::of_machine(&report.environment).into_iter().chain(noisy);
    report.advice = checks::suggestions(findings);
    report.judge();
    (report, interrupted)
}

/// Returns what is known without trying anything.
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

struct Doctor<'a> {
    request: &'a DoctorRequest,
    report: DoctorReport,
    /// Findings of the runs that measured engines against themselves.
    noisy: Vec<FindingKind>,
    budget: Budget,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl Doctor<'_> {
    /// Tries everything. Fails if the user stops it.
    fn probe(&mut self) -> Result<()> {
        let DoctorRequest { folder, engines, time, .. } = self.request;
        let flushing = FLUSHING.min(*time / FLUSHING_PART);
        let writable = self.report.folder.unwritable.is_none();
        self.progress.stage("evicting", None);
        self.report.caches = caches(writable.then_some(folder));
        if writable {
            self.progress.stage("flushing", None);
            let flushed = host::flush_latency(folder, flushing, self.stop);
            let flushed = flushed.map(|flush| self.flushed(flush));
            self.tried("flushing", flushed)?;
        }
        let fits = |engine: &&&dyn Blobs| writable || !engine.capabilities().persistent;
        let engines: Vec<_> = engines.iter().filter(fits).collect();
        for (engine, after) in engines.iter().zip((1..=engines.len()).rev()) {
            // The unused share of an engine is for those after it.
            let time = duration_of(self.budget.remaining() / after as f64);
            let measured = self.against_itself(**engine, time);
            self.tried(engine.name(), measured)?;
            if self.stop.is_set() {
                return Err(Error::interrupted());
            }
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

    /// Records what failed; passes an interruption on.
    fn tried(&mut self, what: &str, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                self.report.untried.push(format!("{what}: {error}"));
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Reads scratch stores of `engine` for about `time`, in pairs.
    fn against_itself(&mut self, engine: &'static dyn Blobs, time: Duration) -> Result<()> {
        let mut recorder = Recorder::new(None);
        let request = request(engine, self.request, time);
        let took = measure(
            &request,
            &mut recorder,
            &Quiet { progress: self.progress, details: false },
            self.stop,
        )?
        .measuring;
        let record = recorder.record().expect("a run that succeeded has a record");
        self.report.environment.loop_ns = record.header.environment.loop_ns;
        let findings = record.findings.iter().map(|finding| finding.kind.clone());
        self.noisy.extend(findings.filter(is_about_machine));
        // Without a ratio it was stopped too early.
        if let Some(noise) = noise(engine.name(), &ratios(record), took) {
            let uneven = FindingKind::NotEven { ratio: noise.ratio };
            self.noisy.extend((!noise.even).then_some(uneven));
            self.report.noise.push(noise);
        }
        Ok(())
    }
}

/// The data, as `run` generates it.
const DATA: Generated =
    Generated { seed: 0, count: 5_000, size: 10_000, variance: 2_000, random_percent: 100 };

fn request(engine: &'static dyn Blobs, request: &DoctorRequest, time: Duration) -> Request {
    let target = |label: &str| ResolvedTarget::scratch(label, engine);
    let data = Data::Generated(Generated { seed: request.seed, ..DATA });
    let targets = vec![target(engine.name()), target(&format!("{} again", engine.name()))];
    // No interval is ever narrow enough: all of the time is for rounds.
    let rounds = Rounds { precision: 0.0, ..Rounds::within(time.as_secs_f64()) };
    let scratch = Some(request.folder.clone());
    let worker = request.worker.clone();
    let mut request =
        Request { scratch, worker, ..Request::reading(data, targets, rounds, request.seed) };
    request.change_blobs(|part| part.coverage = Coverage::ALL_THAT_FITS);
    request
}

/// Reports whether a finding is about the machine. The others are about data, targets and rounds,
/// which the user did not choose here.
fn is_about_machine(kind: &FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::DebugBuild
            | FindingKind::Governor { .. }
            | FindingKind::FrequencyVaries { .. }
            | FindingKind::LoadUnknown
            | FindingKind::MemorySmall { .. }
            | FindingKind::OtherLoad { .. }
            | FindingKind::Pressure { .. }
            | FindingKind::StateFetched { .. }
            | FindingKind::StateLost { .. }
            | FindingKind::StateNotReached { .. }
            | FindingKind::StateUnproven { .. }
            | FindingKind::Steal { .. }
            | FindingKind::WaitingUnknown
            | FindingKind::Swapped { .. }
            | FindingKind::Throttled { .. }
            | FindingKind::UnusualFilesystem { .. }
    )
}

/// Returns the ratios of the second target to the first, one for each round.
fn ratios(record: &Record) -> Vec<f64> {
    let first = record.header.plan.cases().next().map(|case| Series::new(record, case, 0));
    first.map(|first| first.with_target(1).ratios_to(first).values).unwrap_or_default()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cast to the nearest integer, and rounds are not negative"
)]
fn noise(target: &str, ratios: &[f64], took: Duration) -> Option<Noise> {
    let ratio = geometric_mean(ratios).filter(|ratio| ratio.n >= FEWEST_ROUNDS as usize)?;
    let a_minute = (ratio.n as f64 * 60.0 / took.as_secs_f64()).max(2.0) as u32;
    Some(Noise {
        target: target.to_owned(),
        rounds: u32::try_from(ratio.n).unwrap_or(u32::MAX),
        seconds: took.as_secs_f64(),
        ratio: ratio.point,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        even: ratio.low <= 1.0 && 1.0 <= ratio.high,
        rounds_a_minute: a_minute,
        detectable_share: detectable(ratios, a_minute as usize),
    })
}

/// The bytes that are written, read and evicted to test whether eviction works.
const BYTES: usize = 4 << 20;

/// Returns all cache states in `folder`; `None` if nothing can be written there. Leaves the caches
/// of the machine unchanged.
fn caches(folder: Option<&Path>) -> Vec<Reach> {
    let warm =
        Reach { cache: Cache::Warm, reached: Some(true), why: "files are read first".to_owned() };
    let data_cold = match (pagecache::can_evict(), folder.map(evicted)) {
        (Err(error), _) => Reach { reached: Some(false), ..unknown(&error.to_string()) },
        (_, None) => unknown("nothing can be written there to try it with"),
        (_, Some(Err(error))) => unknown(&error.to_string()),
        (_, Some(Ok((before, after)))) => judged(before, after),
    };
    let cold = cold(&data_cold, pagecache::can_drop_all());
    vec![warm, data_cold, cold]
}

/// Returns the pages of a new file after it was read, and after it was evicted.
fn evicted(folder: &Path) -> Result<(Pages, Pages)> {
    let scratch = Scratch::new_in(folder)?;
    let path = scratch.path().join("evicted");
    let seen = || {
        fs::write(&path, vec![7; BYTES])?;
        let files = Files::below([&path])?;
        files.warm()?;
        let before = files.pages()?;
        files.evict()?;
        Ok((before, files.pages()?))
    };
    seen().map_err(|cause| Error::io("evicting a file", cause))
}

fn judged(before: Pages, after: Pages) -> Reach {
    if before.resident == 0 || after.unknown > 0 {
        return unknown("this system does not report what is in memory");
    }
    let stayed = after.resident;
    let left = if stayed == 0 { "none".to_owned() } else { show_count(stayed) };
    let total = show_count(after.total);
    let why = format!("a file of {total} pages was read and evicted, and {left} stayed in memory");
    Reach { cache: Cache::DataCold, reached: Some(stayed == 0), why }
}

fn unknown(why: &str) -> Reach {
    Reach { cache: Cache::DataCold, reached: None, why: why.to_owned() }
}

/// Returns whether a cold machine can be reached. If eviction leaves pages in memory, dropping all
/// caches does so as well.
fn cold(data_cold: &Reach, can_drop: io::Result<()>) -> Reach {
    let (reached, why) = match can_drop {
        Err(error) => (Some(false), error.to_string()),
        Ok(()) if data_cold.reached == Some(false) => {
            (Some(false), "pages stay in memory here".to_owned())
        }
        Ok(()) => {
            (data_cold.reached, "by dropping all caches of the machine; not tried".to_owned())
        }
    };
    Reach { cache: Cache::Cold, reached, why }
}

#[cfg(test)]
mod noise_tests {
    use super::*;

    #[test]
    fn a_minute_is_counted_from_the_rounds_and_their_time() {
        let ratios = [[1.0, 1.1, 0.95]; 7].concat();
        let measured = noise("some", &ratios[1..], Duration::from_secs(30)).unwrap();
        assert_eq!((measured.rounds, measured.rounds_a_minute, measured.even), (20, 40, true));
        // Twice the rounds show less than the interval of these.
        assert!((0.01..0.04).contains(&measured.detectable_share), "{measured:?}");
        let apart = ratios.iter().map(|ratio| ratio * 1.1).collect::<Vec<_>>();
        assert!(!noise("some", &apart, Duration::from_secs(30)).unwrap().even);
        assert!(noise("some", &ratios[..4], Duration::from_secs(30)).is_none(), "too few");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(resident: u64, unknown: u64) -> Pages {
        Pages { total: 1024, resident, unknown, ..Pages::default() }
    }

    #[test]
    fn only_pages_that_were_there_and_went_prove_anything() {
        let reached = |before, after| judged(before, after).reached;
        assert_eq!(reached(pages(1024, 0), pages(0, 0)), Some(true));
        assert_eq!(reached(pages(1024, 0), pages(1, 0)), Some(false));
        assert_eq!(reached(pages(0, 0), pages(0, 0)), None);
        assert_eq!(reached(pages(1024, 0), pages(0, 1024)), None);
    }

    #[test]
    fn cold_needs_both_the_right_and_a_device() {
        let data_cold = |reached| Reach { reached, ..unknown("") };
        let may = |reached| cold(&data_cold(reached), Ok(())).reached;
        assert_eq!([Some(true), Some(false), None].map(may), [Some(true), Some(false), None]);
        let denied = cold(&data_cold(Some(true)), Err(io::Error::other("needs root")));
        assert_eq!((denied.reached, denied.why.as_str()), (Some(false), "needs root"));
    }

    #[test]
    fn trying_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let states = caches(Some(folder.path()));
        assert_eq!(states.iter().map(|state| state.cache).collect::<Vec<_>>(), Cache::CHOICES);
        assert_eq!(states[0].reached, Some(true));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(caches(None)[1].reached, None);
    }
}
