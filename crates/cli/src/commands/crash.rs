//! `storemark crash`: what a power cut leaves of stores, or of what a program wrote.

mod stores;

use std::{
    ffi::OsString,
    path::{self, Path, PathBuf},
    thread,
    time::Duration,
};

use clap::{Args, Command, FromArgMatches};
use lab::{CrashRequest, OneState, Stop};
use model::{CrashModel, CrashedStore, Error, Result, shell_quoted, units};
use serde::Serialize;
use spec::{Name, ScratchAndSeed, Talk, given_value};

use self::stores::StoresOptions;
use crate::{
    clap_error::one_line, exit::Failure, files, listener::Listener, output, plan::fresh_seed,
};

/// Cuts the power under stores, or under a program, by simulation: runs it in a folder whose writes and
/// flushes are recorded, makes the states that a disk may be left in, and has a command check each.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark crash                            all embedded stores, in each durability class
  storemark crash sqlite: lmdb: --durability durable
  storemark crash 'sqlite:?journal=delete&sync=full' --states 200 --html lost.html
  storemark crash mariadb: postgres: valkey: --states 100
  storemark crash --check ./check.sh -- ./writer.py
  storemark crash --check ./check.sh --models ordered,torn --states 200 -- ./writer.py
  storemark crash --check ./check.sh --json - -- ./writer.py {}

Each line `ACK text` that PROGRAM prints, each line that it writes to the file $STOREMARK_ACK, or
its end without an error if it does neither, is an acknowledgement: a promise that what it did so
far is safe. COMMAND finds the acknowledgements before the cut in the file $STOREMARK_ACKED, and
exits with 0 if all that they promise is in the folder that it is given.")]
pub(crate) struct CrashOptions {
    #[command(flatten)]
    stores: StoresOptions,
    /// The command of a shell that checks a state and exits with 0 if the state keeps the promise: `{}`
    /// in it, without quotes, is the folder of the state, or else its last argument is
    #[arg(long, value_name = "COMMAND", requires = "program", help_heading = "Check")]
    pub(crate) check: Option<String>,
    /// How many different states are checked, all models together; default: 1000, or 40 of a server,
    /// because each starts one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Check")]
    states: Option<u64>,
    /// What is lost: kill (nothing: the program is killed), ordered (the end of a journal, and blocks
    /// of unflushed data), torn (parts of a write, of 512 bytes and of 4 KiB), strict (all that was not
    /// flushed itself); default: all of these. eio, alone: no power cut, but a flush fails, another one in
    /// each of up to 50 runs, and a restart loses what it did not write
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = models, help_heading = "Check")]
    pub(crate) models: Vec<Models>,
    /// The longest time of a check
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "30s", help_heading = "Check")]
    pub(crate) time_limit: Duration,
    /// The longest time of PROGRAM
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "10m", help_heading = "Check")]
    pub(crate) program_limit: Duration,
    /// How many checks run at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Check")]
    pub(crate) jobs: Option<u16>,

    /// Make one state again: that of a cut before operation N, with --models, --seed and --keep
    #[arg(
        long,
        value_name = "N",
        requires = "keep",
        requires = "seed",
        requires = "models",
        help_heading = "One state"
    )]
    pub(crate) cut: Option<u64>,
    /// The folder that this state becomes
    #[arg(long, value_name = "DIR", requires = "cut", help_heading = "One state")]
    pub(crate) keep: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) own: ScratchAndSeed,
    /// Write one JSON object to FILE (- for standard output, instead of the page)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with a chart of what was lost over the moment of the cut to FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,

    /// The program that writes, with its arguments: `{}` is the recorded folder, which is its current
    /// folder
    #[arg(last = true, requires = "check", value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

impl CrashOptions {
    /// Reads the words of a command line without its program and subcommand.
    pub(crate) fn parse(words: Vec<String>) -> Result<Self> {
        let command = Self::augment_args(Command::new("crash").no_binary_name(true));
        let matches = command.try_get_matches_from(words);
        let options = matches.and_then(|matches| Self::from_arg_matches(&matches));
        options.map_err(|error| Error::usage(one_line(&error)))
    }

    /// Returns how many states are checked.
    fn states(&self, of_server: bool) -> u64 {
        let default = if of_server { report::pages::SERVER_STATES } else { 1000 };
        self.states.unwrap_or(default)
    }
}

/// The models that a word of `--models` means.
#[derive(Clone, Debug)]
pub(crate) struct Models(Vec<CrashModel>);

fn models(text: &str) -> Result<Models, String> {
    if text == "torn" {
        return Ok(Models(vec![CrashModel::Torn4096, CrashModel::Torn512]));
    }
    text.parse().map(|model| Models(vec![model]))
}

pub(crate) fn run(options: &CrashOptions, stop: &Stop) -> Result<(), Failure> {
    match &options.check {
        Some(check) => check_program(options, check, stop),
        None => check_stores(options, stop),
    }
}

/// Fails if a store broke the promise of its class.
fn check_stores(options: &CrashOptions, stop: &Stop) -> Result<(), Failure> {
    let mut taken = files::Taken::default();
    let json = files::try_json(options.json.as_deref(), STORES_HEAD, &mut taken)?;
    let html = files::page(options.html.as_deref(), &mut taken)?;
    let stores = cut(options, stop)?;
    let page = report::pages::crashed_stores(&stores);
    json.print(&stores_json(&stores)?, &output::page(&page))?;
    write(html.map(|html| (html, report::html_crashed_stores(&stores))))?;
    if stores.iter().any(CrashedStore::is_broken) { Err(Failure::GATE) } else { Ok(()) }
}

/// Cuts the power under the stores that the options name, and returns what is left.
pub(crate) fn cut(options: &CrashOptions, stop: &Stop) -> Result<Vec<CrashedStore>> {
    let request = request(options, Vec::new())?;
    let crash = |listener: &Listener| stores::run(options, &request, listener, stop);
    Listener::during(options.talk, crash)
}

/// Returns the JSON of stores.
pub(crate) fn stores_json(stores: &[CrashedStore]) -> Result<String> {
    output::json(&CrashedStores { stores })
}

/// The JSON of stores.
#[derive(Serialize)]
struct CrashedStores<'a> {
    stores: &'a [CrashedStore],
}

/// Its start.
pub(crate) const STORES_HEAD: &str = "{\n  \"stores\"";

fn check_program(options: &CrashOptions, check: &str, stop: &Stop) -> Result<(), Failure> {
    let request = request(options, shell(check))?;
    let mut taken = files::Taken::default();
    let json = files::try_json(options.json.as_deref(), HEAD, &mut taken)?;
    let html = files::page(options.html.as_deref(), &mut taken)?;
    let crash = |listener: &Listener| lab::crash(&request, listener, stop);
    let result = Listener::during(options.talk, crash)?;
    let again = |state: &model::BrokenState| again(options, check, state);
    let name = request.program[0].to_string_lossy();
    let page = report::pages::crash(&name, &result, &again);
    json.print(&output::json(&result)?, &output::page(&page))?;
    write(html.map(|html| (html, report::html_crash(&name, &result, &again))))?;
    if result.holds() { Ok(()) } else { Err(Failure::GATE) }
}

/// Writes the page that was asked for.
fn write(page: Option<(files::PageFile, String)>) -> Result<(), Failure> {
    match page {
        Some((file, page)) => file.write(&page).map_err(Failure::PartWay),
        None => Ok(()),
    }
}

/// The start of the JSON of this command.
const HEAD: &str = "{\n  \"unrecorded\"";

fn request(options: &CrashOptions, check: Vec<OsString>) -> Result<CrashRequest> {
    let scratch = options.own.scratch.as_ref().map_or(Path::new("."), Name::path);
    // The programs have other current folders.
    let scratch = path::absolute(scratch).map_err(|e| Error::io(scratch.display(), e))?;
    let mut models: Vec<_> = options.models.iter().flat_map(|models| models.0.clone()).collect();
    if models.is_empty() {
        models.extend(CrashModel::CUTS);
    }
    if models.len() > 1 && models.contains(&CrashModel::Eio) {
        return Err(Error::usage("eio cuts no power, and goes alone").at("--models"));
    }
    let seed = given_value(&options.own.seed);
    Ok(CrashRequest {
        program: options.program.clone(),
        program_env: Vec::new(),
        check,
        check_env: Vec::new(),
        prepared: None,
        owner: None,
        only: only(options, &models, seed)?,
        models,
        states: options.states(false),
        seed: seed.unwrap_or_else(fresh_seed),
        scratch,
        check_limit: options.time_limit,
        program_limit: options.program_limit,
        jobs: options.jobs.map_or_else(processors, usize::from),
    })
}

/// Returns the shell that runs `command`. The folder is an argument of it: a path is never a part of
/// the script.
fn shell(command: &str) -> Vec<OsString> {
    let script = if command.contains("{}") {
        command.replace("{}", "\"$1\"")
    } else {
        format!("{command} \"$1\"")
    };
    ["/bin/sh", "-c", &script, "sh", "{}"].map(OsString::from).into()
}

fn only(
    options: &CrashOptions,
    models: &[CrashModel],
    seed: Option<u64>,
) -> Result<Option<OneState>> {
    let (Some(cut), Some(keep), Some(seed)) = (options.cut, &options.keep, seed) else {
        return Ok(None);
    };
    let [model] = models else {
        return Err(Error::usage("takes one model, such as ordered or torn-512").at("--models"));
    };
    if keep.exists() {
        return Err(Error::usage("exists already; name a folder that does not").at(keep.display()));
    }
    Ok(Some(OneState { cut, model: *model, seed, keep: keep.clone() }))
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the command that makes a state again.
fn again(options: &CrashOptions, check: &str, state: &model::BrokenState) -> String {
    let program: Vec<_> =
        options.program.iter().map(|word| shell_quoted(&word.to_string_lossy())).collect();
    format!(
        "storemark crash --check {} --cut {} --models {} --seed {} --keep state -- {}",
        shell_quoted(check),
        state.cut,
        state.model,
        state.seed,
        program.join(" ")
    )
}
