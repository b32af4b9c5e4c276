//! One error type for all crates: a kind that says what a caller can do about it, a sentence
//! for people, and the cause.

use std::fmt;

/// The result of an operation that can fail with storemark's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error: what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input was wrong; nothing was done. Exit code 1.
    Usage,
    /// The engine cannot do what was asked.
    Unsupported,
    /// A key, file or table that should be there is not.
    Missing,
    /// Something is there that would have to be overwritten.
    Exists,
    /// The data is damaged or not of the expected form.
    Corrupt,
    /// A value that was read differs from the one that was written, or read before. Exit code 2.
    Differs,
    /// The operating system or the engine's library failed.
    Failed,
    /// The user asked to stop.
    Interrupted,
    /// The time that the work may take is over.
    Overdue,
    /// The requests that the work may send, or their cost, are spent.
    Overspent,
    /// The user that runs storemark lacks the permission.
    Denied,
}

/// An error with its kind, a sentence and its cause. It is one pointer wide, so that a hot path's
/// `Result` stays small.
pub struct Error(Box<Inner>);

/// The parts of an [`Error`], behind its pointer.
struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind` with the sentence `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), source: None }))
    }

    /// Creates an error about wrong input: the message names what is wrong, where, and what is
    /// accepted.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Creates an error about what the engine cannot do.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Creates an error about damaged data.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Creates an error about a failure of the system underneath.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// Creates an error about a failed system call on `what` (usually a path); its kind follows
    /// from `cause`.
    pub fn io(what: impl fmt::Display, cause: std::io::Error) -> Self {
        let kind = match cause.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::Missing,
            std::io::ErrorKind::AlreadyExists => ErrorKind::Exists,
            std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            _ => ErrorKind::Failed,
        };
        Self(Box::new(Inner { kind, message: what.to_string(), source: Some(Box::new(cause)) }))
    }

    /// Creates the error of work that the user asked to stop.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    /// Creates the error of work that did not finish in its time.
    pub fn overdue() -> Self {
        Self::new(ErrorKind::Overdue, "the time was over before it was done")
    }

    /// Creates the error of work that reached the ceiling of its requests.
    pub fn overspent() -> Self {
        Self::new(
            ErrorKind::Overspent,
            "the requests of --max-requests, or the money of --max-cost, were spent before it was done",
        )
    }

    /// Returns whether work was stopped before it was finished: what it has written is neither
    /// whole nor wrong.
    pub fn is_stopped(&self) -> bool {
        use ErrorKind::{Interrupted, Overdue, Overspent};
        matches!(self.kind(), Interrupted | Overdue | Overspent)
    }

    /// Adds `context` and a colon in front of the sentence.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }

    /// Adds `context` in front of the sentence, unless it starts with `name`: most engines' errors
    /// name the store.
    #[must_use]
    pub fn naming(self, name: &str, context: impl fmt::Display) -> Self {
        if self.0.message.starts_with(name) { self } else { self.context(context) }
    }

    /// Replaces `from` by `to` in the sentence.
    #[must_use]
    pub fn replaced(mut self, from: &str, to: &str) -> Self {
        self.0.message = self.0.message.replace(from, to);
        self
    }

    /// Replaces the kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Returns the kind, which decides what a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
}

/// The sentence, then the cause, on one line.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.source {
            Some(source) => write!(f, ": {}", without_number(&source.to_string())),
            None => Ok(()),
        }
    }
}

/// Returns a system's message without its number: `No such file or directory (os error 2)`.
fn without_number(said: &str) -> &str {
    let is_number = |tail: &str| {
        tail.strip_suffix(')').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    };
    said.rsplit_once(" (os error ")
        .filter(|(_, tail)| is_number(tail))
        .map_or(said, |(message, _)| message)
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

// `Display` already shows the cause, so `source` stays empty: a printer of chains must not show it
// twice.
impl std::error::Error for Error {}
