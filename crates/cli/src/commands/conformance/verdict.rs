//! What the engine did in a check, over all cases, and what is printed of it.

use conformance::Check;
use model::Settings;

use super::line::Outcome;
use crate::targets::FoundTarget;

/// What the engine did in one check.
pub(super) struct Verdict {
    pub(super) check: &'static Check,
    failure: Option<Failure>,
    /// Why nothing was checked in a case.
    unchecked: Option<String>,
}

/// The first failure.
struct Failure {
    /// What was found, with its case.
    why: String,
    /// What the library printed in it.
    printed: String,
    /// The number of other cases that failed.
    others: usize,
}

impl Verdict {
    pub(super) fn new(check: &'static Check) -> Self {
        Self { check, failure: None, unchecked: None }
    }

    pub(super) fn is_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Adds the outcome of the case called `name`, in which the library printed this.
    pub(super) fn add(&mut self, name: &str, outcome: Outcome, printed: String) {
        match (outcome, &mut self.failure) {
            (Outcome::Passed | Outcome::NotOfCase, _) => {}
            (Outcome::Unchecked(why), _) => self.unchecked = Some(why),
            (Outcome::Failed(_), Some(first)) => first.others += 1,
            (Outcome::Failed(why), None) => {
                self.failure = Some(Failure { why: format!("{name}: {why}"), printed, others: 0 });
            }
        }
    }

    /// Returns the lines for a check that was not passed.
    fn lines(&self) -> Option<String> {
        let sentence = self.check.sentence();
        match (&self.failure, &self.unchecked) {
            (Some(failure), _) => Some(format!("fails: {sentence}\n{}", failure.lines())),
            (None, Some(why)) => Some(format!("not checked: {sentence}\n  {why}\n")),
            (None, None) => None,
        }
    }
}

/// The most lines that are shown of what a library printed: its last ones.
const PRINTED: usize = 20;

impl Failure {
    fn lines(&self) -> String {
        let others = match self.others {
            0 => String::new(),
            1 => " (and in 1 other case)".to_owned(),
            others => format!(" (and in {others} other cases)"),
        };
        let lines: Vec<_> = self.printed.lines().collect();
        let last = &lines[lines.len().saturating_sub(PRINTED)..];
        let printed: Vec<_> = last.iter().map(|line| format!("  | {line}\n")).collect();
        format!("  {}{others}\n{}", self.why, printed.concat())
    }
}

/// Returns what is printed: what failed, what was not checked, and how many checks passed.
pub(super) fn page(target: &FoundTarget, verdicts: &[Verdict]) -> String {
    let library = target.engine.library(&Settings::default());
    let library = library.map_or_else(String::new, |of| format!(" ({} {})", of.name, of.version));
    let lines: Vec<_> = verdicts.iter().filter_map(Verdict::lines).collect();
    let (all, passed) = (verdicts.len(), verdicts.len() - lines.len());
    format!("{}{library}\n{}{passed} of {all} checks passed\n", target.text, lines.concat())
}
