//! Reporting progress to a person. The lab says what it does; the listener decides how that looks.

use std::time::Duration;

/// A listener to a run, a copy or a check. It is never called between two clock reads.
pub trait Progress: Sync {
    /// Announces a new stage: what it does, and how many steps it has if that is known.
    fn stage(&self, what: &str, steps: Option<u64>);
    /// Reports how many steps of the stage are finished so far.
    fn advance_to(&self, steps: u64);
    /// Reports that rounds are under way: which one, and how much longer they take at most, once
    /// that is known.
    fn rounds(&self, what: &str, left: Option<Duration>) {
        let _ = (what, left);
    }
    /// Shows a message that is worth reading once.
    fn say(&self, what: &str);
    /// Shows a message for users who want to read everything.
    fn detail(&self, what: &str) {
        let _ = what;
    }
}

/// A listener that ignores everything.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn advance_to(&self, _: u64) {}
    fn say(&self, _: &str) {}
}

/// A listener for a run that is a part of something else: it shows how far the run is, and its messages
/// only as details, or not at all.
pub(crate) struct Quiet<'a> {
    pub(crate) progress: &'a dyn Progress,
    /// Whether messages are shown to users who want to read everything.
    pub(crate) details: bool,
}

impl Progress for Quiet<'_> {
    fn stage(&self, what: &str, steps: Option<u64>) {
        self.progress.stage(what, steps);
    }

    fn advance_to(&self, steps: u64) {
        self.progress.advance_to(steps);
    }

    fn rounds(&self, what: &str, left: Option<Duration>) {
        self.progress.rounds(what, left);
    }

    fn say(&self, what: &str) {
        self.detail(what);
    }

    fn detail(&self, what: &str) {
        if self.details {
            self.progress.detail(what);
        }
    }
}

/// Reports how far a stage is, not too often.
pub(crate) fn tick(progress: &dyn Progress, done: u64) {
    if done.is_multiple_of(512) {
        progress.advance_to(done);
    }
}
