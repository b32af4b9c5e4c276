//! From what was typed to what is measured: a plan file or a record among the targets is read, and
//! what was typed is laid over it.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use engines::registry;
use model::{
    Error, ErrorKind, Plan, Result, Target,
    record::Header,
    spec::{Name, PlanFile, RunSpec},
};

use crate::files;

/// The most that a plan file may hold in bytes.
const LONGEST: u64 = 1 << 20;

/// What a word among the targets names, if it is no target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plan,
    Record,
}

/// What was named among the targets, and what was typed laid over.
#[derive(Default)]
pub(crate) struct Origin {
    pub(crate) file: Option<PlanFile>,
    /// Of a record of one run, not of a sweep.
    pub(crate) recorded: Option<Plan>,
}

/// Understands what was typed, with the plan or record among it. So that it can be asked for again,
/// it gets a seed.
pub(crate) fn understand(typed: RunSpec) -> Result<(RunSpec, Origin)> {
    let (mut spec, origin) = with_plan(typed)?;
    let seed = &mut spec.running_mut().seed;
    if seed.is_empty() {
        seed.push(fresh_seed().to_string().parse()?);
    }
    spec.check().map_err(|error| origin.blame(error, &spec))?;
    Ok((spec, origin))
}

impl Origin {
    /// The same error, led by the place in the plan file that it is about.
    pub(crate) fn blame(&self, error: Error, spec: &RunSpec) -> Error {
        match &self.file {
            Some(file) if error.kind() == ErrorKind::Usage => file.blame(error, spec),
            _ => error,
        }
    }
}

/// From the clock: runs differ unless a seed is given. Printed and recorded.
pub(crate) fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // Nine digits are easy to type again.
    now.map_or(1, |since| u64::from(since.subsec_nanos()))
}

/// What the plan or record among the targets asks for, with all else that was typed laid over it.
fn with_plan(mut typed: RunSpec) -> Result<(RunSpec, Origin)> {
    let words = std::mem::take(typed.targets_mut());
    let (plans, targets): (Vec<Name>, Vec<Name>) =
        words.into_iter().partition(|word| kind(word.as_ref()).is_some());
    *typed.targets_mut() = targets;
    let Some(path) = plans.first().map(Name::path) else { return Ok((typed, Origin::default())) };
    if let Some(second) = plans.get(1) {
        let (first, second) = (path.display(), second.path().display());
        return Err(Error::usage(format!("{first} and {second}: one plan or record is accepted")));
    }
    if kind(path.as_os_str()) == Some(Kind::Record) {
        let (spec, recorded) = record(path, typed.command())?;
        return Ok((spec.overlaid(&typed)?, Origin { recorded, file: None }));
    }
    let file = plan(path, typed.command())?;
    Ok((file.spec.overlaid(&typed)?, Origin { file: Some(file), recorded: None }))
}

/// What `word` names; `None`: a target. A store that exists is a target whatever it is called; a
/// record is known by its first line, and both by their endings.
fn kind(word: &OsStr) -> Option<Kind> {
    let path = Path::new(word);
    let by_name = match path.extension().and_then(OsStr::to_str) {
        Some("toml") => Some(Kind::Plan),
        Some("json" | "jsonl") => Some(Kind::Record),
        _ => None,
    };
    if path.is_file() {
        let store = registry::recognise(path).is_some();
        let empty = path.metadata().is_ok_and(|data| data.len() == 0);
        let recorded = || !empty && files::starts_with(path, files::RECORD_HEAD);
        return if store { None } else { by_name.or_else(|| recorded().then_some(Kind::Record)) };
    }
    let bare = word.to_str().is_some_and(|words| Target::parse(words).engine.is_none());
    by_name.filter(|_| bare && !path.exists())
}

fn plan(path: &Path, command: &str) -> Result<PlanFile> {
    let name = path.display().to_string();
    let mut text = String::new();
    match open(path)?.take(LONGEST + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > LONGEST => {
            Err(Error::usage(format!("{name}: a plan has at most 1 MiB")))
        }
        Ok(_) => PlanFile::parse(command, &name, &text),
        Err(error) => Err(Error::io(name, error).with_kind(ErrorKind::Usage)),
    }
}

/// What the record was asked for, and its plan if it is the only one.
fn record(path: &Path, command: &str) -> Result<(RunSpec, Option<Plan>)> {
    let name = path.display();
    let header = report::read_header(BufReader::new(open(path)?)).map_err(|e| e.context(&name))?;
    let Header { spec, plan, point, .. } = header;
    let Some(spec) = spec else {
        return Err(Error::usage(format!("{name}: this record does not have what was asked for")));
    };
    match spec.command() {
        own if own == command => Ok((spec, point.is_none().then_some(plan))),
        own => Err(Error::usage(format!(
            "{name}: this record is of storemark {own}; use storemark {own} {name}"
        ))),
    }
}

fn open(path: &Path) -> Result<File> {
    if !path.exists() {
        return Err(files::missing(path, "plan or record"));
    }
    File::open(path).map_err(|e| Error::io(path.display(), e).with_kind(ErrorKind::Usage))
}
