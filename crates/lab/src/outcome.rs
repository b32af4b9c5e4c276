//! How a comparison ended.

use std::time::Duration;

use model::record::Ended;

/// What the record does not tell.
pub struct Outcome {
    /// Why no further round was run.
    pub ended: Ended,
    /// How long the rounds took.
    pub measuring: Duration,
    /// Labels of the targets that failed, in a trial or before; each is a finding too.
    pub failed: Vec<String>,
    /// What each store's engine complains of, by target, where a check was asked for.
    pub integrity: Vec<(String, Vec<String>)>,
}
