//! `storemark calibrate`: how often `run` calls a store different from itself, and how often it
//! finds a known difference.

use std::{ffi::OsString, io::Write, path::PathBuf, time::Duration};

use checks::{CalibrationLine, Part};
use clap::{Args, builder::RangedU64ValueParser};
use engines::{Slowed, registry};
use lab::{CalibrateRequest, SlowedEngine, Stop};
use model::{
    Blobs, Engine, Error, Result,
    spec::{DEFAULT_DATA, Running, Talk},
    units,
};

use crate::{
    exit::Failure,
    files::{self, Form},
    listener::Listener,
    output,
    plan::fresh_seed,
    targets::{self, Resolved},
};

/// How often a comparison is wrong: compares a store with itself, and with itself slowed down by a
/// known time per operation, many times in shuffled order, and counts what `run` would have said.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark calibrate                        false alarms and detections, in about five minutes
  storemark calibrate sqlite: --same 20 --slowed 0
  storemark calibrate thumbs.db --slow-down 10% --check")]
pub(crate) struct CalibrateOptions {
    /// The store to read: one of yours, or an engine with settings for a scratch store; default:
    /// pack:, the steadiest
    pub(crate) target: Option<OsString>,

    /// Comparisons of the store with itself
    #[arg(long, value_name = "N", default_value = "100", value_parser = count(), help_heading = "Comparisons")]
    pub(crate) same: u32,
    /// Time for each of them; at least five rounds are run
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "1s", help_heading = "Comparisons")]
    pub(crate) same_time: Duration,
    /// Comparisons of the store with itself slowed down
    #[arg(long, value_name = "N", default_value = "10", value_parser = count(), help_heading = "Comparisons")]
    pub(crate) slowed: u32,
    /// Time for each of them; at least five rounds are run
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "15s", help_heading = "Comparisons")]
    pub(crate) slowed_time: Duration,
    /// How much time slowing down adds
    #[arg(long, value_name = "PERCENT", value_parser = units::parse_percentage, default_value = "5%", help_heading = "Comparisons")]
    pub(crate) slow_down: f64,

    /// Blobs in a generated dataset
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) keys: Option<u64>,
    /// Their middle size in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) size: Option<u64>,
    /// How far sizes vary to either side
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) variance: Option<u64>,
    /// Where a scratch store goes; default: the current folder
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub(crate) scratch: Option<PathBuf>,

    /// Drives everything random; default: a new one each time, printed
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Run")]
    pub(crate) seed: Option<u64>,
    /// Exit with 3 if the whole interval of false alarms is above 5 %, or that of detections below
    /// 90 %
    #[arg(long, help_heading = "Run")]
    pub(crate) check: bool,
    /// Write a line for each comparison to FILE (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// 0 leaves comparisons out. More than the limit would take weeks.
fn count() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(0..=1_000_000)
}

pub(crate) fn run(options: &CalibrateOptions, stop: &Stop) -> Result<(), Failure> {
    let request = request(options)?;
    let mut lines = files::open(options.json.as_deref(), FORM)?;
    let mut write = |line: &CalibrationLine<'_>| write(&mut lines, line);
    let calibrate = |listener: &Listener| lab::calibrate(&request, &mut write, listener, stop);
    let done = Listener::during(options.talk, calibrate)?;
    let page = report::pages::calibration(&done.calibration, &done.alone, &done.comparisons);
    output::print_next_to(options.json.as_deref(), &output::page(&page))?;
    done.ended.map_err(Failure::PartWay)?;
    let wrong = checks::wrong_rates(&done.comparisons);
    for what in wrong.iter().filter(|_| options.check) {
        output::say(&format!("--check: {what}, the whole interval"));
    }
    if options.check && !wrong.is_empty() { Err(Failure::GATE) } else { Ok(()) }
}

fn request(options: &CalibrateOptions) -> Result<CalibrateRequest> {
    let default = OsString::from(format!("{}:", registry::steadiest().name()));
    let target = targets::resolve(options.target.as_deref().unwrap_or(&default))?;
    check(options, &target)?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let CalibrateOptions { keys, size, variance, .. } = *options;
    let part = |count, time: Duration| Part { count, seconds: time.as_secs_f64() };
    Ok(CalibrateRequest {
        settings: target.settings(&[])?,
        label: target.text,
        engine: target.engine,
        location: target.location,
        data: DEFAULT_DATA.shaped(keys, size, variance, seed),
        scratch: options.scratch.clone().unwrap_or_else(|| PathBuf::from(".")),
        seed,
        same: part(options.same, options.same_time),
        slowed: part(options.slowed, options.slowed_time),
        slow_down: options.slow_down,
        slow,
        rounds: Running::default().rounds(Duration::ZERO),
    })
}

/// Refuses a target that cannot be compared with itself.
fn check(options: &CalibrateOptions, target: &Resolved) -> Result<()> {
    let text = &target.text;
    if !target.engine.capabilities().persistent {
        let engines = registry::all_blobs().filter(|engine| engine.capabilities().persistent);
        let names: Vec<_> = engines.map(Engine::name).collect();
        return Err(Error::usage(format!(
            "{text}: is nowhere on disk, so that the same store cannot be opened twice (accepted: \
             a path, or {})",
            names.join(", ")
        )));
    }
    let Some(path) = &target.location else { return Ok(()) };
    if !path.exists() {
        return Err(targets::missing(path));
    }
    if options.keys.is_some() || options.size.is_some() || options.variance.is_some() {
        return Err(Error::usage(format!(
            "--keys, --size and --variance shape generated data; {text} has its own"
        )));
    }
    Ok(())
}

/// The lab takes engines that live forever, and a command slows one only once.
fn slow(engine: &'static dyn Blobs, ns: f64) -> Result<Option<SlowedEngine>> {
    let Some(slowed) = Slowed::new(engine, ns) else { return Ok(None) };
    let slowed: &'static Slowed = Box::leak(Box::new(slowed));
    Ok(Some(SlowedEngine { engine: slowed, measured_ns: slowed.measured_ns()? }))
}

const FORM: Form<'_> = Form {
    option: "--json",
    what: "a record of storemark calibrate",
    head: r#"{"line":"calibration""#,
};

fn write(out: &mut Option<Box<dyn Write>>, line: &CalibrationLine<'_>) -> Result<()> {
    let Some(out) = out else { return Ok(()) };
    let wrong = |e: std::io::Error| Error::io("--json: cannot be written", e);
    serde_json::to_writer(&mut *out, line).map_err(|e| wrong(e.into()))?;
    out.write_all(b"\n").and_then(|()| out.flush()).map_err(wrong)
}
