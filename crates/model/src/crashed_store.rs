//! A store under which the power was cut.

use serde::Serialize;

use crate::{CrashModel, CrashResult, Durability, ModelResult};

/// A store and a durability class, with what a power cut left of its commits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrashedStore {
    /// The target as the user wrote it, or the engine.
    pub target: String,
    /// The class that its settings give, as read back from it.
    pub durability: Durability,
    /// Whether it was created and flushed before the recording started.
    pub established: bool,
    /// Whether a server does its work, which each check of a state starts.
    pub server: bool,
    /// What was recorded, and the states.
    #[serde(flatten)]
    pub result: CrashResult,
}

impl CrashedStore {
    /// Returns the results of the models of real file systems, or those of `strict`.
    pub fn models(&self, strict: bool) -> impl Iterator<Item = &ModelResult> {
        let is_strict = |row: &&ModelResult| row.model == CrashModel::Strict;
        self.result.models.iter().filter(move |row| is_strict(row) == strict)
    }

    /// Returns whether a state broke what its class promises, in a model that decides.
    pub fn is_broken(&self) -> bool {
        self.durability > Durability::None && !self.result.holds()
    }

    /// Counts the states of these models, and those that kept the promise of the class.
    pub fn kept(&self, strict: bool) -> (u64, u64) {
        let add = |(states, kept), row: &ModelResult| (states + row.states, kept + row.kept);
        self.models(strict).fold((0, 0), add)
    }
}
