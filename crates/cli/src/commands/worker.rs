//! `storemark worker`: one of the processes that a measuring command starts.

use std::{ffi::OsString, io};

use engines::{Slowed, registry};
use lab::{Finders, Stop};
use model::{Error, Result};

use crate::exit::Failure;

/// Returns the program and the arguments that start a worker.
pub(super) fn command() -> Result<Vec<OsString>> {
    let program = std::env::current_exe().map_err(|e| Error::io("this program", e))?;
    Ok(vec![program.into(), "worker".into()])
}

/// Serves requests from standard input until it ends.
pub(crate) fn run(stop: &'static Stop) -> Result<(), Failure> {
    let find = Finders { blobs: Slowed::find, rows: registry::rows };
    Ok(lab::serve(find, io::stdin(), io::stdout(), stop)?)
}
