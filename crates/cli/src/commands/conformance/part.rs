//! `storemark check-engine`: makes checks over one case, or a part of one that has a process of its own.

use std::{
    io::{self, Read, Write},
    path::Path,
    process::Command,
    thread,
};

use clap::Args;
use conformance::{Case, Part, StoreFolder};
use model::{Error, ErrorKind, Facet, KeyKind, Result, Settings, TypedTarget};

use super::line::Outcome;
use crate::{commands::worker, exit::Failure, program, replies::replies};

#[derive(Debug, Args)]
pub(crate) struct CheckEngineOptions {
    /// The engine's full name
    engine: String,
    /// The kind of keys
    keys: String,
    /// The settings, with `?` before them
    settings: String,
    /// Those of the settings that all cases have
    base: String,
    /// The checks
    #[arg(long, value_delimiter = ',')]
    checks: Vec<String>,
    /// The part that is run instead, with the path of its store
    #[arg(long, num_args = 2)]
    part: Option<Vec<String>>,
}

/// Returns the command that starts this program with a case.
pub(super) fn command(case: &Case) -> Result<Command> {
    let words = program::starting("check-engine")?;
    let (first, others) = words.split_first().expect("the program is one of the words");
    let mut command = Command::new(first);
    let [settings, base] = [&case.settings, &case.base].map(|settings| format!("?{settings}"));
    let name = case.engine.full_name();
    command.args(others).args([&*name, case.keys.as_str(), &settings, &base]);
    Ok(command)
}

impl CheckEngineOptions {
    fn case(&self) -> Result<Case> {
        let engine = worker::engine(&self.engine)?;
        let keys = KeyKind::ALL.into_iter().find(|keys| keys.as_str() == self.keys);
        let keys = keys.ok_or_else(|| Error::usage("no such kind of keys"))?;
        let read = |text: &str| {
            let typed = TypedTarget::parse(format!("engine:{text}"));
            let pairs = typed.settings.iter().map(|(name, value)| (&**name, &**value));
            Settings::check(engine.settings(Facet::Blobs), pairs)
        };
        Ok(Case::new(engine, keys, read(&self.settings)?).over(&read(&self.base)?))
    }
}

/// Makes the checks, and writes their outcomes.
pub(crate) fn check_engine(options: &CheckEngineOptions) -> Result<(), Failure> {
    let case = options.case()?;
    if let Some([word, path]) = options.part.as_deref() {
        let part = Part::parse(word).ok_or_else(|| Error::usage("no such part"))?;
        let failed = |fault: conformance::Fault| Error::failed(fault.to_string());
        return Ok(conformance::run_part(part, &case, path.as_ref()).map_err(failed)?);
    }
    // Whoever started this process ends it by the end of its input.
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(2);
    });
    let start = |part: Part, case: &Case, path: &Path| {
        let mut command = command(case).unwrap_or_else(|_| Command::new("storemark"));
        command.arg("--part").arg(part.word()).arg(path);
        command
    };
    let fits = fits(&case)?;
    let mut output = replies();
    for name in &options.checks {
        let check = conformance::check(name).ok_or_else(|| Error::usage("no such check"))?;
        let outcome =
            if fits { Outcome::new(&check.run(&case, &start)) } else { Outcome::NotOfCase };
        // What was printed in it is there before its line.
        engines::flush_printed();
        output.write_all(outcome.line().as_bytes()).map_err(|e| Error::io("standard output", e))?;
    }
    Ok(())
}

/// Returns whether the engine has stores of this case at all: settings may not go together, or with the kind
/// of keys.
fn fits(case: &Case) -> Result<bool> {
    let place = StoreFolder::new().map_err(|error| Error::io("a folder for the checks", error))?;
    let created = case.create(&place.path);
    Ok(!created.is_err_and(|error| error.kind() == ErrorKind::Usage))
}
