//! What a process that makes checks prints: a line for each, and one before it.

use conformance::{Checked, Fault};
use model::harmless;

/// The outcome of a check over a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// The settings do not go together with these keys.
    NotOfCase,
    /// It could not be made here, for this reason.
    Unchecked(String),
    /// The engine failed it.
    Failed(String),
}

impl Outcome {
    pub(super) fn new(checked: &Checked) -> Self {
        match checked {
            Ok(()) => Self::Passed,
            Err(fault) if fault.is_unchecked() => Self::Unchecked(said(fault)),
            Err(fault) => Self::Failed(said(fault)),
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotOfCase => "settings that do not go together",
            Self::Unchecked(_) => "not checked",
            Self::Failed(_) => "failed",
        }
    }

    pub(super) fn line(&self) -> String {
        match self {
            Self::Passed => "passed\n".to_owned(),
            Self::NotOfCase => "other\n".to_owned(),
            Self::Unchecked(why) => format!("unchecked {why}\n"),
            Self::Failed(why) => format!("failed {why}\n"),
        }
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, why) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "passed" => Self::Passed,
            "other" => Self::NotOfCase,
            "unchecked" => Self::Unchecked(why.to_owned()),
            "failed" => Self::Failed(why.to_owned()),
            _ => return None,
        })
    }
}

/// How the last line of a process starts that a library ends in a check.
pub(super) const CRASHED: &str = "crashed ";

/// Returns the last line of a process that a library ends in a check.
pub(crate) fn crashed(why: &str) -> String {
    format!("{CRASHED}{}\n", harmless(why))
}

fn said(fault: &Fault) -> String {
    let words = fault.to_string();
    harmless(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_as_it_was_written() {
        let faults = [Fault::new("key 1 is\n absent"), Fault::unchecked("no strace")];
        let of_faults = faults.map(|fault| Outcome::new(&Err(fault)));
        assert_eq!(of_faults[0], Outcome::Failed("key 1 is absent".to_owned()));
        for outcome in of_faults.into_iter().chain([Outcome::new(&Ok(())), Outcome::NotOfCase]) {
            assert_eq!(Outcome::parse(outcome.line().trim_end()), Some(outcome));
        }
        assert_eq!(Outcome::parse("anything"), None);
    }
}
