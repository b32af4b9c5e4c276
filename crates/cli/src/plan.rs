//! The plan file or record among the targets: it is read, and what was typed is laid over it.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use engines::registry;
use model::{Error, ErrorKind, Plan, Result, TypedTarget, record::Header};
use spec::{Name, PlanFile, Rewrite, RunSpec};

use crate::{files, kvtest};

/// The largest plan file in bytes.
const LONGEST: u64 = 1 << 20;

/// The kind of a word among the targets that is no target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plan,
    Record,
}

/// The plan or the record named among the targets, over which the typed options are laid.
#[derive(Default)]
pub(crate) struct Origin {
    pub(crate) file: Option<PlanFile>,
    /// The plan of a record of one run; `None` for a sweep.
    pub(crate) recorded: Option<Plan>,
}

/// Interprets the typed options, with the plan or the record among them. The result has a seed, so
/// that it can be repeated.
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
    /// Puts the place in the plan file before an error that is about it.
    pub(crate) fn blame(&self, error: Error, spec: &RunSpec) -> Error {
        match &self.file {
            Some(file) if error.kind() == ErrorKind::Usage => file.blame(error, spec),
            _ => error,
        }
    }
}

/// Returns a seed from the clock: runs differ unless a seed is given. It is printed and recorded.
pub(crate) fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // Nine digits are easy to type again.
    now.map_or(1, |since| u64::from(since.subsec_nanos()))
}

/// Returns what the plan or record among the targets asks for, with all other typed options laid
/// over it.
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

/// Returns what `word` names; `None` for a target. A store that exists is a target whatever its
/// name; a record is recognised by its first line, and both by their extensions.
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
    let bare = word.to_str().is_some_and(|words| TypedTarget::parse(words).engine.is_none());
    by_name.filter(|_| bare && !path.exists())
}

/// Returns what knows options of a command by older names.
fn rewrite(command: &str) -> Rewrite<'static> {
    if command == "run" { &kvtest::rewrite } else { &|_, _| None }
}

fn plan(path: &Path, command: &str) -> Result<PlanFile> {
    let name = path.display().to_string();
    let mut text = String::new();
    match open(path)?.take(LONGEST + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > LONGEST => {
            Err(Error::usage("a plan has at most 1 MiB").at(&name))
        }
        Ok(_) => PlanFile::parse(command, &name, &text, rewrite(command)),
        Err(error) => Err(Error::io(name, error).with_kind(ErrorKind::Usage)),
    }
}

/// Returns what the record was asked for, and its plan if it is the only one.
fn record(path: &Path, command: &str) -> Result<(RunSpec, Option<Plan>)> {
    let name = path.display();
    // Some amounts are known only once a run has begun, and are in lines of their own.
    let (mut records, _) =
        report::read(BufReader::new(open(path)?)).map_err(|e| e.context(&name))?;
    let Header { spec, plan, point, .. } = records.swap_remove(0).header;
    let Some(spec) = spec else {
        return Err(Error::usage("this record does not have what was asked for").at(&name));
    };
    match &*spec.command {
        own if own == command => {
            let spec = RunSpec::from_given(&spec, rewrite(command)).map_err(|e| e.context(name))?;
            Ok((spec, point.is_none().then_some(plan)))
        }
        own => Err(Error::usage(format!(
            "this record is of storemark {own}; use storemark {own} {name}"
        ))
        .at(&name)),
    }
}

fn open(path: &Path) -> Result<File> {
    if !path.exists() {
        return Err(files::missing(path, "plan or record"));
    }
    File::open(path).map_err(|e| Error::io(path.display(), e).with_kind(ErrorKind::Usage))
}
