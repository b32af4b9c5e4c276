//! Exit codes: 0 done, 1 wrong input and nothing done, 2 failed part-way, 3 a check said no.

use std::process::ExitCode;

use model::{Error, ErrorKind};

use crate::output;

/// Why a command did not end well.
pub(crate) enum Failure {
    /// An error, before or during the work.
    Error(Error),
    /// The work had begun: what was done is kept.
    PartWay(Error),
    /// A check failed; what failed was printed.
    Gate,
    /// Why was printed; the exit code.
    #[cfg(unix)]
    Printed(u8),
}

impl Failure {
    /// The same, once something was done.
    pub(crate) fn part_way(self) -> Self {
        match self {
            Self::Error(error) => Self::PartWay(error),
            other => other,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The exit code of `result`; an error is said in one line.
pub(crate) fn code(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Gate) => ExitCode::from(3),
        #[cfg(unix)]
        Err(Failure::Printed(code)) => ExitCode::from(code),
        Err(Failure::PartWay(error)) => said(&error, 2),
        Err(Failure::Error(error)) => {
            let code = match error.kind() {
                ErrorKind::Failed | ErrorKind::Interrupted => 2,
                _ => 1,
            };
            said(&error, code)
        }
    }
}

fn said(error: &Error, code: u8) -> ExitCode {
    output::say(&error.to_string());
    ExitCode::from(code)
}
