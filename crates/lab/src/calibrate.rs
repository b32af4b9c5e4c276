//! Compares a store with itself, and with itself slowed down by a known time, many times: how often
//! a comparison is wrong.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use checks::{
    CALIBRATION_FORMAT, Calibration, CalibrationLine, Known, KnownComparison, Part, Series,
};
use model::{
    Blobs, Error, Generated, Result, Rounds, Settings,
    record::{Ended, Record},
};

use crate::{
    CopyJob, Data, Place, Progress, Recorder, Request, Silent, Stop, Target, generated,
    host::Scratch, measure, nth_seed,
};

pub struct CalibrateRequest {
    /// The target as the user wrote it.
    pub label: String,
    pub engine: &'static dyn Blobs,
    pub settings: Settings,
    /// The user's store, which is only read; absent: one is filled with `data` in `scratch`.
    pub location: Option<PathBuf>,
    pub data: Generated,
    pub scratch: PathBuf,
    pub seed: u64,
    /// Comparisons of the store with itself.
    pub same: Part,
    /// Comparisons of the store with itself slowed down.
    pub slowed: Part,
    /// Share of an operation's time that slowing down adds.
    pub slow_down: f64,
    pub slow: Slow,
    /// When a comparison stops; its time is that of its kind.
    pub rounds: Rounds,
}

/// Slows an engine by so many nanoseconds an operation; `None`: no wait is that short.
pub type Slow = fn(&'static dyn Blobs, f64) -> Result<Option<SlowedEngine>>;

/// An engine that waits before each operation.
pub struct SlowedEngine {
    pub engine: &'static dyn Blobs,
    /// The wait as measured over an engine that does nothing.
    pub measured_ns: f64,
}

pub struct Calibrated {
    pub calibration: Calibration,
    /// A run of the store alone: what an operation takes, and where.
    pub alone: Record,
    pub comparisons: Vec<KnownComparison>,
    /// Why there are no more; all that were asked for.
    pub ended: Result<()>,
}

/// Runs the comparisons, and passes each line of the calibration's file to `write`. Comparisons
/// that ended are returned, whatever happens to a later one.
pub fn calibrate(
    request: &CalibrateRequest,
    write: &mut dyn FnMut(&CalibrationLine<'_>) -> Result<()>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Calibrated> {
    let order = order(request)?;
    let subject = Subject::ready(request, progress, stop)?;
    progress.stage("timing an operation", None);
    let alone = Rounds { max: Some(request.rounds.min), seconds: 0.0, ..request.rounds };
    let (alone, _) = subject.run(&[request.engine], request.seed, alone, stop)?;
    let (calibration, slowed) = begun(request, &alone)?;
    write(&CalibrationLine::Calibration(&calibration))?;
    let mut comparisons = Vec::new();
    let mut compare_all = || {
        for (before, (kind, seconds, seed)) in order.iter().enumerate() {
            let left = order[before..].iter().map(|(_, seconds, _)| seconds).sum();
            let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
            progress.rounds(&format!("comparison {} of {}", before + 1, order.len()), Some(left));
            let other = if *kind == Known::Same { request.engine } else { slowed };
            let rounds = Rounds { seconds: *seconds, ..request.rounds };
            let (record, ended) = subject.run(&[request.engine, other], *seed, rounds, stop)?;
            let comparison = comparison(*kind, *seed, &record, ended)?;
            write(&CalibrationLine::Comparison(&comparison))?;
            comparisons.push(comparison);
        }
        Ok(())
    };
    let ended = compare_all();
    Ok(Calibrated { calibration, alone, comparisons, ended })
}

/// All comparisons, each with its time in seconds and its seed. Their seeds are random, and so is the
/// order of these: what the machine does for a while happens to both kinds.
fn order(request: &CalibrateRequest) -> Result<Vec<(Known, f64, u64)>> {
    let parts = [(Known::Same, request.same), (Known::Slowed, request.slowed)];
    let kinds =
        parts.iter().flat_map(|(kind, part)| (0..part.count).map(|_| (*kind, part.seconds)));
    let mut order: Vec<_> = (0..)
        .zip(kinds)
        .map(|(n, (kind, seconds))| (kind, seconds, nth_seed(request.seed, n)))
        .collect();
    order.sort_by_key(|(_, _, seed)| *seed);
    if order.is_empty() {
        return Err(Error::usage("--same 0 --slowed 0: there is nothing to compare"));
    }
    Ok(order)
}

/// What is known before the first comparison, and the slowed engine.
fn begun(request: &CalibrateRequest, alone: &Record) -> Result<(Calibration, &'static dyn Blobs)> {
    let time = checks::figures(alone).first().and_then(|row| row.us_per_op);
    let operation_ns = time.ok_or_else(|| Error::failed("nothing was timed"))?.point * 1e3;
    let wait_ns = operation_ns * request.slow_down;
    let slowed = (request.slow)(request.engine, wait_ns)?.ok_or_else(|| {
        Error::usage(format!(
            "--slow-down: {wait_ns:.2} ns of {operation_ns:.0} ns an operation is shorter than any \
             wait; the shortest is about a nanosecond"
        ))
    })?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    let calibration = Calibration {
        format: CALIBRATION_FORMAT,
        started: started.map_or(0, |since| since.as_secs()),
        seed: request.seed,
        target: request.label.clone(),
        settings: request.settings.clone(),
        data: alone.header.plan.experiment.summary().copied(),
        same: request.same,
        slowed: request.slowed,
        min_rounds: request.rounds.min,
        precision: request.rounds.precision,
        slow_down: request.slow_down,
        operation_ns,
        wait_ns,
        measured_wait_ns: slowed.measured_ns,
        environment: alone.header.environment.clone(),
    };
    Ok((calibration, slowed.engine))
}

/// Judges a run of two targets as `run` does.
fn comparison(kind: Known, seed: u64, record: &Record, ended: Ended) -> Result<KnownComparison> {
    let none = || Error::failed("a comparison gave no ratio");
    let figures = checks::figures(record).into_iter().find(|row| row.target == 1);
    let figures = figures.ok_or_else(none)?;
    let ratio = figures.ratio.ok_or_else(none)?;
    let first = Series::new(record, figures.case, 0);
    let pairs: Vec<_> = first.samples().zip(first.of(1).samples()).collect();
    Ok(KnownComparison {
        kind,
        seed,
        ratio: ratio.point,
        low: ratio.low,
        high: ratio.high,
        rounds: pairs.len(),
        verdict: figures.verdict,
        ended,
        ratios: first.of(1).ratios_to(first),
        first: pairs.iter().map(|(a, b)| usize::from(b.position < a.position)).collect(),
    })
}

/// A store on disk, the same for all comparisons: two copies of the same data differ by where they
/// are stored, and a comparison that finds that is right.
struct Subject<'a> {
    request: &'a CalibrateRequest,
    path: PathBuf,
    /// Removed with the subject.
    _scratch: Option<Scratch>,
}

impl<'a> Subject<'a> {
    fn ready(request: &'a CalibrateRequest, progress: &dyn Progress, stop: &Stop) -> Result<Self> {
        let CalibrateRequest { engine, label, settings, .. } = request;
        let (path, scratch) = if let Some(path) = &request.location {
            (path.clone(), None)
        } else {
            let scratch = Scratch::new_in(&request.scratch)?;
            let path = scratch.path().join(engine.name());
            let place = Place { engine: *engine, path: path.clone(), settings: settings.clone() };
            let (from, force, resume) = (generated(request.data)?, false, false);
            let job = CopyJob { from, to: place, force, resume, scratch: None };
            crate::copy(&job, progress, stop)?;
            (path, Some(scratch))
        };
        if let Some(why) = engine.reading_changes(&path, settings) {
            return Err(Error::usage(format!("{label}: {why}; it is not read in place")));
        }
        Ok(Self { request, path, _scratch: scratch })
    }

    /// Reads the store through each of `engines`, as `run` does. An interrupted run is an error.
    fn run(
        &self,
        engines: &[&'static dyn Blobs],
        seed: u64,
        rounds: Rounds,
        stop: &Stop,
    ) -> Result<(Record, Ended)> {
        let targets = (1..).zip(engines).map(|(number, engine)| Target {
            location: Some(self.path.clone()),
            settings: self.request.settings.clone(),
            ..Target::scratch(&format!("{} #{number}", self.request.label), *engine)
        });
        let request = Request::reading(Data::Targets, targets.collect(), rounds, seed);
        let mut recorder = Recorder::new(None);
        let ended = measure(&request, &mut recorder, &Silent, stop)?.ended;
        let record = recorder.record().filter(|_| ended != Ended::Interrupted);
        Ok((record.cloned().ok_or_else(Error::interrupted)?, ended))
    }
}
