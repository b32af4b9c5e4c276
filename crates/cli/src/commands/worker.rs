//! `storemark worker`: one of the processes that `run --processes` starts.

use std::{
    io,
    process::{Command, Stdio},
};

use engines::registry;
use lab::Stop;

use crate::exit::Failure;

/// Does what comes on standard input until that ends.
pub(crate) fn run(stop: &'static Stop) -> Result<(), Failure> {
    Ok(lab::serve(registry::blobs, io::stdin(), io::stdout(), stop)?)
}

/// How to start one.
pub(crate) fn program() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("worker").stderr(Stdio::inherit());
    Ok(command)
}
