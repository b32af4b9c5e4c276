//! Other processes, in which a part of a check runs.

use std::{path::Path, process::Command};

use crate::case::Case;

/// A part of a check that runs in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Writes until it is killed.
    Writer,
    /// Makes updates, which are traced.
    Updater,
}

/// A function that returns the command that starts a process which [runs](crate::run_part) a part over a case,
/// with a store at a path.
pub type Start<'a> = &'a dyn Fn(Part, &Case, &Path) -> Command;

impl Part {
    /// Returns the word for it on a command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Updater => "updater",
        }
    }

    /// Returns the part for a word; `None` if there is none.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Writer, Self::Updater].into_iter().find(|part| part.word() == word)
    }
}
