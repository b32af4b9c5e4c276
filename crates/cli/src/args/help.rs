//! What the user typed after `help`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct HelpOptions {
    /// A command, or one of: targets, durability, sizes; none: all commands
    pub(crate) topic: Option<String>,
}

/// What is no command and worth a page.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Topic {
    /// Target strings: engines, forms, settings.
    Targets,
    /// Durability classes, and the settings that give them.
    Durability,
    /// How sizes, counts and times are written.
    Sizes,
}
