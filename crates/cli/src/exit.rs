//! Exit codes, here and in `docs/scripts.md`: 0 done, 1 wrong input and nothing done, 2 failed
//! part-way, 3 a check said no, 130 ended by a signal (128 + SIGINT, as shells report it).

use std::process::ExitCode;

use model::{Error, ErrorKind};

use crate::{images, output};

/// The reason why a command failed.
pub(crate) enum Failure {
    /// An error, before or during the work.
    Error(Error),
    /// An error after the work started: what was done is kept.
    PartWay(Error),
    /// The reason was printed; this is the exit code.
    Printed(u8),
}

impl Failure {
    /// A check failed, and what failed was printed.
    pub(crate) const GATE: Self = Self::Printed(3);

    /// Converts an error into one after the work started.
    pub(crate) fn part_way(self) -> Self {
        if let Self::Error(error) = self { Self::PartWay(error) } else { self }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The exit code of a command that a signal ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// Returns the exit code of `result`, and prints its error in one line.
pub(crate) fn code(result: Result<(), Failure>) -> ExitCode {
    let (error, part_way) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Printed(code)) => return ExitCode::from(code),
        Err(Failure::PartWay(error)) => (images::named(error), true),
        Err(Failure::Error(error)) => (images::named(error), false),
    };
    output::say(&error.to_string());
    ExitCode::from(match error.kind() {
        ErrorKind::Interrupted => INTERRUPTED,
        ErrorKind::Failed | ErrorKind::Overdue | ErrorKind::Overspent | ErrorKind::Differs => 2,
        _ if part_way => 2,
        _ => 1,
    })
}
