//! What the server says, on one line.

use std::error::Error as _;

use model::Error;
use postgres::error::{Severity, SqlState};

/// An error of the server or of the connection to it.
pub(crate) fn told(error: &postgres::Error) -> Error {
    Error::failed(format!("PostgreSQL: {}", text(error)))
}

/// Message, details and advice of the server, or the chain of causes.
pub(super) fn text(error: &postgres::Error) -> String {
    let parts: Vec<_> = match error.as_db_error() {
        Some(said) => [Some(said.message()), said.detail(), said.hint()]
            .into_iter()
            .flatten()
            .map(|part| part.trim_end_matches('.').to_owned())
            .collect(),
        None => std::iter::successors(error.source(), |&cause| cause.source())
            .map(ToString::to_string)
            .collect(),
    };
    let all = if parts.is_empty() { error.to_string() } else { parts.join("; ") };
    all.replace('\n', " | ")
}

/// Whether the connection is gone with it.
pub(super) fn lost(error: &postgres::Error) -> bool {
    match error.as_db_error() {
        Some(said) => {
            matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
        }
        None => true,
    }
}

/// Whether a server is there that takes no connection yet.
pub(super) fn not_yet(error: &postgres::Error) -> bool {
    match error.code() {
        Some(code) => *code == SqlState::CANNOT_CONNECT_NOW,
        None => true,
    }
}
