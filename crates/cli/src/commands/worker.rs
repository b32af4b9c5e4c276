//! `storemark worker`: one of the processes that a measuring command starts.

use std::{ffi::OsString, io, path::PathBuf};

use engines::{Slowed, registry};
use lab::{Finders, ProgramFacts, Stop};
use model::{Blobs, Error, Result, Settings};

use crate::exit::Failure;

/// The variable with the words, separated by spaces, that start this program where the system cannot: an
/// emulator with its options.
const LAUNCHER: &str = "STOREMARK_LAUNCHER";

/// Returns the program and the arguments that start a worker.
pub(super) fn command() -> Result<Vec<OsString>> {
    let launcher = std::env::var(LAUNCHER).unwrap_or_default();
    let words = launcher.split_whitespace().map(OsString::from);
    Ok(words.chain([program()?.into(), "worker".into()]).collect())
}

/// Returns the path of this program.
pub(super) fn program() -> Result<PathBuf> {
    let program = std::env::current_exe();
    program.and_then(|path| path.canonicalize()).map_err(|e| Error::io("this program", e))
}

/// Returns what this program consists of: its version, and the engines that open stores by themselves.
fn facts() -> ProgramFacts {
    let engines = registry::all_blobs().filter(|engine| engine.declaration().servers.is_none());
    let named =
        |engine: &dyn Blobs| (engine.name().to_owned(), engine.library(&Settings::default()));
    let version = env!("STOREMARK_VERSION").to_owned();
    ProgramFacts { version, engines: engines.map(named).collect() }
}

/// Serves requests from standard input until it ends.
pub(crate) fn run(stop: &'static Stop) -> Result<(), Failure> {
    let find = Finders { blobs: Slowed::find, rows: registry::rows, program: facts };
    Ok(lab::serve(find, io::stdin(), io::stdout(), stop)?)
}
