//! One error type for all crates: a kind that says what a caller can do about it, a sentence
//! for people, and the cause.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of an operation that can fail with storemark's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error: what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// Another session held the store for longer than this one may wait.
    Busy,
}

/// An error with its kind, its place, a sentence and its cause. It is one pointer wide, so that a hot
/// path's `Result` stays small.
pub struct Error(Box<Inner>);

/// The parts of an [`Error`], behind its pointer, in the order in which they are shown.
struct Inner {
    kind: ErrorKind,
    /// What was being done; empty if nothing was added.
    context: String,
    /// The target, store or file that it is about; empty if it is not known.
    place: String,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind` with the sentence `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (context, place) = Default::default();
        Self(Box::new(Inner { kind, context, place, message: message.into(), source: None }))
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

    /// Creates an error about a failed system call on `what` (usually a path), which is its place; its
    /// kind follows from `cause`.
    pub fn io(what: impl fmt::Display, cause: std::io::Error) -> Self {
        let kind = match cause.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::Missing,
            std::io::ErrorKind::AlreadyExists => ErrorKind::Exists,
            std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            std::io::ErrorKind::NotADirectory => ErrorKind::Usage,
            _ => ErrorKind::Failed,
        };
        let mut error = Self::new(kind, "").at(what);
        error.0.source = Some(Box::new(cause));
        error
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

    /// Adds `context` in front.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.0.context = join([&context.to_string(), &self.0.context]);
        self
    }

    /// Makes `place` the target, store or file that it is about, in front of all that it has so far.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        let Inner { context, place: inner, message, .. } = &*self.0;
        self.0.message = join([context, inner, message]);
        self.0.context.clear();
        self.0.place = place.to_string();
        self
    }

    /// Returns what it says, with its cause, without its place.
    pub fn said(&self) -> String {
        let Inner { message, source, .. } = &*self.0;
        let cause = source.as_ref().map(ToString::to_string).unwrap_or_default();
        join([message, without_number(&cause)])
    }

    /// Replaces what it says by what `words` returns for that; its place stays.
    #[must_use]
    pub fn reworded(mut self, words: impl FnOnce(&str) -> String) -> Self {
        self.0.message = words(&self.said());
        self.0.source = None;
        self
    }

    /// Returns the target, store or file that it is about; empty if it is not known.
    pub fn location(&self) -> &str {
        &self.0.place
    }

    /// Makes `place` the place, unless its own one starts with it: most engines' errors are at the
    /// store.
    #[must_use]
    pub fn within(self, place: &str) -> Self {
        if self.0.place.starts_with(place) { self } else { self.at(place) }
    }

    /// Moves a place that starts with `from` to `to`, as the copy of a store to the store.
    #[must_use]
    pub fn moved(mut self, from: &str, to: &str) -> Self {
        if let Some(rest) = self.0.place.strip_prefix(from) {
            self.0.place = format!("{to}{rest}");
        }
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

/// Joins the parts that are not empty with colons.
fn join<const N: usize>(parts: [&str; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
}

/// The parts on one line: context, place, sentence, cause.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { context, place, .. } = &*self.0;
        f.write_str(&join([context, place, &self.said()]))
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
