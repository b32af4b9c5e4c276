//! `storemark calibrate`: how often `run` calls a store different from itself, how often it finds a
//! known difference, and how often a gate is wrong.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    slice,
    time::Duration,
};

use checks::{CalibrationLine, Form, Gate};
use clap::{Args, builder::RangedU64ValueParser};
use engines::{Slowed, registry};
use lab::{CalibrateRequest, RecordFile, SlowedEngine, Stop, write_line};
use model::{Blobs, EngineFacts, Error, Result, record::Record, units};
use spec::{GeneratedOptions, Name, Running, ScratchAndSeed, Talk, given_value};

use crate::{
    exit::Failure,
    files,
    listener::Listener,
    output,
    plan::fresh_seed,
    program,
    targets::{self, FoundTarget},
};

/// How often a run is wrong: compares a store with itself in several forms, and with itself slowed
/// down by a known time per operation, and counts what `run` and `compare` would have said.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark calibrate                        all forms, in ten minutes
  storemark calibrate sqlite: --forms same,slowed --slow-down 2% --time 5m
  storemark calibrate thumbs.db --runs 200 --time 3h --check")]
pub(crate) struct CalibrateOptions {
    /// The store to read: one of yours, or an engine with settings for a scratch store; default:
    /// pack:, the steadiest
    pub(crate) target: Option<OsString>,

    /// What is compared: one store as two targets (same), two copies of the data, a table of four
    /// targets, updates of two copies, cold reads, reads by two threads, a store slowed down, two
    /// records with a gate at 10 %; default: all
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = FORMS, help_heading = "Comparisons")]
    pub(crate) forms: Vec<String>,
    /// Runs of each form, if there is time
    #[arg(long, value_name = "N", default_value = "20", value_parser = count(), help_heading = "Comparisons")]
    pub(crate) runs: u32,
    /// Time for each run, as `storemark run --time` has it
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "20s", help_heading = "Comparisons")]
    pub(crate) run_time: Duration,
    /// Time for everything
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "10m", help_heading = "Comparisons")]
    pub(crate) time: Duration,
    /// How much time slowing down adds
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = units::parse_percentage, default_value = "2%,5%", help_heading = "Comparisons")]
    pub(crate) slow_down: Vec<f64>,

    #[command(flatten)]
    pub(crate) generated: GeneratedOptions,
    #[command(flatten)]
    pub(crate) own: ScratchAndSeed,

    /// Exit with 3 if the whole interval of a form's wrong tables or of failed gates is above 5 %, or
    /// that of slow-downs found, of 5 % and more, below 90 %
    #[arg(long, help_heading = "Run")]
    pub(crate) check: bool,
    /// Write a line for each comparison to FILE (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// The words for forms of comparison.
const FORMS: [&str; 8] =
    ["same", "copies", "table", "updates", "cold", "threads", "slowed", "gate"];

/// Returns the accepted numbers of runs: more would take weeks.
fn count() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

pub(crate) fn run(options: &CalibrateOptions, stop: &Stop) -> Result<(), Failure> {
    let request = request(options)?;
    let measured = request.location.iter().flat_map(|path| request.engine.files(path));
    let mut taken = files::Taken::measured(measured);
    let mut lines = files::open(options.json.as_deref(), FORM, &mut taken)?;
    let mut write = |line: &CalibrationLine<'_>| write(&mut lines, line);
    let calibrate = |listener: &Listener| lab::calibrate(&request, &mut write, listener, stop);
    let done = Listener::during(options.talk, calibrate)?;
    lines.map_or(Ok(()), RecordFile::finish).map_err(not_written)?;
    let page =
        report::pages::calibration(&done.calibration, &done.alone, &done.runs, &done.left_out);
    let json = options.json.as_deref();
    output::print_next_to(json, &output::page(&page), options.talk.quiet)?;
    done.ended.map_err(Failure::PartWay)?;
    let wrong = checks::wrong_rates(&done.calibration.forms, &done.runs);
    for what in wrong.iter().filter(|_| options.check) {
        output::say(&format!("--check: {what}, the whole interval"));
    }
    if options.check && !wrong.is_empty() { Err(Failure::GATE) } else { Ok(()) }
}

fn request(options: &CalibrateOptions) -> Result<CalibrateRequest> {
    let default = OsString::from(format!("{}:", registry::steadiest().name()));
    let target = targets::resolve(options.target.as_deref().unwrap_or(&default))?;
    check(options, &target)?;
    let seed = given_value(&options.own.seed).unwrap_or_else(fresh_seed);
    let scratch = options.own.scratch.as_ref().map_or(Path::new("."), Name::path);
    Ok(CalibrateRequest {
        settings: target.settings(&[])?,
        forms: forms(options, &target)?,
        label: target.text,
        engine: target.engine,
        location: target.place.location().map(Path::to_owned),
        data: options.generated.dataset(seed),
        scratch: scratch.to_owned(),
        seed,
        runs: options.runs,
        rounds: Running::default().rounds(options.run_time),
        time: options.time,
        slow,
        gate,
        worker: program::worker_command()?,
    })
}

/// Returns what is compared, in the order of the help. Only generated data has copies; a store of
/// the user is one store.
fn forms(options: &CalibrateOptions, target: &FoundTarget) -> Result<Vec<Form>> {
    let CalibrateOptions { forms, slow_down, .. } = options;
    let asked = |word: &str| forms.iter().any(|form| form == word);
    if asked("copies") && target.place.location().is_some() {
        return Err(Error::usage(format!("--forms copies: {} is one store of yours", target.text)));
    }
    let is_left = |word: &&str| {
        asked(word)
            || (forms.is_empty() && (*word != "copies" || target.place.location().is_none()))
    };
    let of = |word: &str| match word {
        "same" => vec![Form::Same],
        "copies" => vec![Form::Copies],
        "table" => vec![Form::Table],
        "updates" => vec![Form::Updates],
        "cold" => vec![Form::Cold],
        "threads" => vec![Form::Threads],
        "slowed" => slow_down.iter().copied().map(Form::Slowed).collect(),
        _ => vec![Form::Gate],
    };
    Ok(FORMS.iter().filter(|word| is_left(word)).flat_map(|word| of(word)).collect())
}

/// Refuses a target that cannot be compared with itself.
fn check(options: &CalibrateOptions, target: &FoundTarget) -> Result<()> {
    let text = &target.text;
    if !target.engine.capabilities().persistent {
        let engines = registry::all_blobs().filter(|engine| engine.capabilities().persistent);
        let names: Vec<_> = engines.map(EngineFacts::name).collect();
        return Err(Error::usage(format!(
            "is nowhere on disk, so that the same store cannot be opened twice (accepted: \
             a path, or {})",
            names.join(", ")
        ))
        .at(text));
    }
    let Some(path) = target.place.location() else { return Ok(()) };
    if !path.exists() {
        return Err(targets::missing(path));
    }
    options.generated.check_unused(text)
}

/// Slows an engine; `None` if it cannot be slowed. The result is leaked, because the lab takes
/// engines that live forever, and a command slows one only once.
fn slow(engine: &'static dyn Blobs, ns: f64) -> Result<Option<SlowedEngine>> {
    let Some(slowed) = Slowed::new(engine, ns) else { return Ok(None) };
    let slowed: &'static Slowed = Box::leak(Box::new(slowed));
    Ok(Some(SlowedEngine { engine: slowed, measured_ns: slowed.measured_ns()? }))
}

/// Returns the verdict of `compare --fail-above 10%`.
fn gate([old, new]: &[Record; 2]) -> Result<Gate> {
    Ok(report::comparison(slice::from_ref(old), slice::from_ref(new), None)?.gate(GATE))
}

/// The share above which the gate fails: two single records cannot pass a narrow one.
const GATE: f64 = 0.1;

const FORM: files::Form<'_> = files::Form {
    option: "--json",
    what: "a record of storemark calibrate",
    head: r#"{"line":"calibration""#,
};

fn write(out: &mut Option<Box<dyn RecordFile>>, line: &CalibrationLine<'_>) -> Result<()> {
    out.as_mut().map_or(Ok(()), |out| write_line(out, line)).map_err(not_written)
}

fn not_written(cause: io::Error) -> Error {
    Error::io("--json: cannot be written", cause)
}
