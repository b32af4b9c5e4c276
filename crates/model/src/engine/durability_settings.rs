//! How an engine keeps a durability class.

use crate::Durability;

/// The way in which an engine keeps a durability class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurabilitySettings {
    /// The class.
    pub class: Durability,
    /// The settings for the class.
    pub settings: &'static [(&'static str, &'static str)],
    /// The calls that the engine makes with the settings, when it makes them, and what a power cut
    /// leaves, in words for people.
    pub how: &'static str,
    /// Whether commits are lost if the process that made them is killed, without a power cut.
    pub lost_if_killed: bool,
    /// Whether commits are lost if the server that does the work is killed, without a power cut.
    pub lost_if_server_killed: bool,
}

impl DurabilitySettings {
    /// Returns the same for an engine that keeps commits in the memory of its process.
    #[must_use]
    pub const fn lost_if_killed(self) -> Self {
        Self { lost_if_killed: true, ..self }
    }

    /// Returns the same for a server that keeps commits in its memory.
    #[must_use]
    pub const fn lost_if_server_killed(self) -> Self {
        Self { lost_if_server_killed: true, ..self }
    }
}

impl Durability {
    /// Describes how an engine keeps this class: with `settings`, in the way that `how` describes.
    pub const fn kept_by(
        self,
        settings: &'static [(&'static str, &'static str)],
        how: &'static str,
    ) -> DurabilitySettings {
        DurabilitySettings {
            class: self,
            settings,
            how,
            lost_if_killed: false,
            lost_if_server_killed: false,
        }
    }
}
