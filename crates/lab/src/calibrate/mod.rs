//! Compares a store with itself in several forms, and with itself slowed down by a known time, many
//! times: how often a run is wrong.

mod subject;

use std::{
    ffi::OsString,
    path::PathBuf,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use checks::{
    CALIBRATION_FORMAT, Calibration, CalibrationLine, Form, Gate, KnownRatio, KnownRun, LeftOutRun,
    Series, SlowDown,
};
use model::{
    Blobs, Error, ErrorKind, Generated, Result, Rounds, Settings,
    record::Record,
    units::{duration_of, show_duration},
};

use crate::{Progress, Stop, nth_seed};
use subject::Subject;

/// The request of a calibration.
pub struct CalibrateRequest {
    /// The target as the user wrote it.
    pub label: String,
    /// The engine of the target.
    pub engine: &'static dyn Blobs,
    /// Its settings.
    pub settings: Settings,
    /// The user's store, which is only read; `None` if one is filled with `data` in `scratch`.
    pub location: Option<PathBuf>,
    /// The data of a scratch store.
    pub data: Generated,
    /// The folder of scratch stores.
    pub scratch: PathBuf,
    /// The seed of the first run.
    pub seed: u64,
    /// The forms of comparison.
    pub forms: Vec<Form>,
    /// The runs of each form, if there is time.
    pub runs: u32,
    /// The limits of a run.
    pub rounds: Rounds,
    /// The time for all runs.
    pub time: Duration,
    /// Slows the engine.
    pub slow: Slow,
    /// Judges two records.
    pub gate: JudgeGate,
    /// The command that starts a worker process: see [`Request::worker`](crate::Request::worker).
    pub worker: Vec<OsString>,
}

/// A function that slows an engine by this many nanoseconds an operation; it returns `None` if no
/// wait is that short.
pub type Slow = fn(&'static dyn Blobs, f64) -> Result<Option<SlowedEngine>>;

/// A function that judges an old record and a new one.
pub type JudgeGate = fn(&[Record; 2]) -> Result<Gate>;

/// An engine that waits before each operation.
pub struct SlowedEngine {
    /// The engine.
    pub engine: &'static dyn Blobs,
    /// The wait as measured over an engine that does nothing.
    pub measured_ns: f64,
}

/// The result of a calibration.
pub struct Calibrated {
    /// The plan of the calibration.
    pub calibration: Calibration,
    /// A run of the store alone, which shows the time of an operation and the machine.
    pub alone: Record,
    /// The runs that measured.
    pub runs: Vec<KnownRun>,
    /// The runs that measured nothing.
    pub left_out: Vec<LeftOutRun>,
    /// Why there are no more runs. The end of the given time is no error.
    pub ended: Result<()>,
}

/// Makes the runs, and passes each line of the calibration's file to `write`. Runs that ended are
/// returned, whatever happens to a later one.
///
/// # Errors
///
/// Fails if the store cannot be prepared or `write` fails before the first run.
pub fn calibrate(
    request: &CalibrateRequest,
    write: &mut dyn FnMut(&CalibrationLine<'_>) -> Result<()>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Calibrated> {
    let order = order(request);
    let began = Instant::now();
    let calibrate = || {
        let subject = Subject::ready(request, progress, stop)?;
        progress.say(&how_long(request, &order));
        progress.stage("timing an operation", None);
        let alone = subject.alone(stop)?;
        let (calibration, slowed) = begun(request, &alone)?;
        write(&CalibrationLine::Calibration(&calibration))?;
        let (mut runs, mut left_out) = (Vec::new(), Vec::new());
        let mut make_all = || -> Result<()> {
            for (before, (form, seed)) in order.iter().enumerate() {
                let left = most(request, &order[before..]);
                let left = left.min(request.time.saturating_sub(began.elapsed()));
                progress.rounds(&format!("run {} of {}", before + 1, order.len()), Some(left));
                let done = subject.attempt(*form, &slowed, *seed, stop)?;
                write(&done.as_ref().map_or_else(CalibrationLine::LeftOut, CalibrationLine::Run))?;
                match done {
                    Ok(run) => runs.push(run),
                    Err(out) => left_out.push(out),
                }
            }
            Ok(())
        };
        let ended = match make_all() {
            Err(error) if error.kind() != ErrorKind::Overdue => Err(error),
            _ if runs.is_empty() => Err(Error::failed(
                "none of the runs could be measured; use more --time and --run-time, or fewer --keys",
            )),
            _ => Ok(()),
        };
        Ok(Calibrated { calibration, alone, runs, left_out, ended })
    };
    stop.within(Some(request.time), calibrate).map_err(|error: Error| match error.kind() {
        ErrorKind::Overdue => error.context("--time"),
        _ => error,
    })
}

/// Returns all runs, each with its seed: every form once, then again, each time in random order.
/// What happens to the machine for a while then affects all forms, and whenever the time is over,
/// each had its share.
fn order(request: &CalibrateRequest) -> Vec<(Form, u64)> {
    let forms = request.forms.len();
    let seeded = |n: u64| nth_seed(request.seed, n);
    let mut order: Vec<_> = (0..request.runs)
        .flat_map(|_| request.forms.iter().copied())
        .zip((0..).map(seeded))
        .collect();
    order.chunks_mut(forms.max(1)).for_each(|all| all.sort_by_key(|(_, seed)| *seed));
    order
}

/// Returns the time of these runs if none ends early.
fn most(request: &CalibrateRequest, runs: &[(Form, u64)]) -> Duration {
    let records: f64 = runs.iter().map(|(form, _)| f64::from(form.records())).sum();
    duration_of(records * request.rounds.seconds)
}

fn how_long(request: &CalibrateRequest, order: &[(Form, u64)]) -> String {
    let CalibrateRequest { forms, runs, time, rounds, .. } = request;
    let each = duration_of(rounds.seconds);
    let [most, each, given] = [most(request, order), each, *time].map(show_duration);
    let count = forms.len();
    let forms = if count == 1 { String::new() } else { format!(" of each of {count} forms") };
    let runs = if *runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let all = format!("{runs}{forms}, up to {each} a record");
    if self::most(request, order) <= *time {
        format!("this takes up to {most}: {all}")
    } else {
        format!("this takes {given}: as much as fits of {all}; all take up to {most} (--time)")
    }
}

/// The second engines of the forms that have another one.
type Slowed = Vec<(Form, &'static dyn Blobs)>;

/// Returns what is known before the first run, and the slowed engines.
fn begun(request: &CalibrateRequest, alone: &Record) -> Result<(Calibration, Slowed)> {
    let time = checks::figures(alone).first().and_then(|row| row.us_per_op);
    let operation_ns = time.ok_or_else(|| Error::failed("nothing was timed"))?.point * 1e3;
    let (mut slow_downs, mut slowed) = (Vec::new(), Vec::new());
    for form in &request.forms {
        let Form::Slowed(share) = *form else { continue };
        let wait_ns = operation_ns * share;
        let engine = (request.slow)(request.engine, wait_ns)?.ok_or_else(|| {
            Error::usage(format!(
                "--slow-down: {wait_ns:.2} ns of {operation_ns:.0} ns an operation is shorter than \
                 any wait; the shortest is about a nanosecond"
            ))
        })?;
        slow_downs.push(SlowDown { share, wait_ns, measured_ns: engine.measured_ns });
        slowed.push((*form, engine.engine));
    }
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    let calibration = Calibration {
        format: CALIBRATION_FORMAT,
        started: started.map_or(0, |since| since.as_secs()),
        seed: request.seed,
        target: request.label.clone(),
        settings: request.settings.clone(),
        data: alone.header.plan.experiment.summary().copied(),
        forms: request.forms.clone(),
        runs: request.runs,
        rounds: request.rounds,
        seconds: request.time.as_secs_f64(),
        operation_ns,
        slow_downs,
        environment: alone.header.environment.clone(),
    };
    Ok((calibration, slowed))
}

impl Subject<'_> {
    /// Makes a run of `form`, or returns why it measured nothing. Fails once all the time is over.
    fn attempt(
        &self,
        form: Form,
        slowed: &[(Form, &'static dyn Blobs)],
        seed: u64,
        stop: &Stop,
    ) -> Result<std::result::Result<KnownRun, LeftOutRun>> {
        self.known(form, slowed, seed, stop).map(Ok).or_else(|error| {
            stop.check()?;
            Ok(Err(LeftOutRun { form, seed, why: error.to_string() }))
        })
    }

    /// Makes a run of `form`, judged as `storemark run` or `compare` does. Fails if it measured
    /// nothing.
    fn known(
        &self,
        form: Form,
        slowed: &[(Form, &'static dyn Blobs)],
        seed: u64,
        stop: &Stop,
    ) -> Result<KnownRun> {
        let second = slowed.iter().find(|(slow, _)| *slow == form).map(|(_, engine)| *engine);
        let began = Instant::now();
        let (record, ended) = self.run(form, second, seed, stop)?;
        let (mut ratios, mut gate) = (Vec::new(), None);
        if form == Form::Gate {
            let (again, _) = self.run(form, second, nth_seed(seed, 1), stop)?;
            gate = Some((self.request.gate)(&[record, again])?);
        } else {
            ratios = ratios_of(&record);
        }
        Ok(KnownRun { form, seed, seconds: began.elapsed().as_secs_f64(), ended, ratios, gate })
    }
}

/// Returns the ratios of each target of a record except the baseline.
fn ratios_of(record: &Record) -> Vec<KnownRatio> {
    let figures = checks::figures(record).into_iter();
    let others = figures.filter(|row| row.target != record.header.plan.baseline);
    let ratio = |row: checks::Figures| {
        let series = Series::new(record, row.case, row.target);
        let by_round = series.ratios_to(series.baseline()).values;
        KnownRatio { verdict: row.verdict, ratio: row.ratio, by_round }
    };
    others.map(ratio).collect()
}
