//! Telling a person how far things are. The lab says what it does; who listens decides how it
//! looks.

/// Listens to a run, a copy or a check. Never called between two clock reads.
pub trait Progress: Sync {
    /// A new stage begins: what it does, and how many steps it has if that is known.
    fn stage(&self, what: &str, steps: Option<u64>);
    /// Steps of the stage that are done, all told.
    fn done(&self, steps: u64);
    /// Something worth reading once.
    fn say(&self, what: &str);
}

/// Listens to nothing.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn done(&self, _: u64) {}
    fn say(&self, _: &str) {}
}
