//! How much a command says on the way.

use clap::Args;

/// What every command has that works for long. Both are about standard error and about how much
/// is told: results are the same.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Talk {
    /// Tell each step on standard error (what is prepared, files, settings as read back), and show
    /// all findings
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// No progress and nothing on the way, also of what --verbose tells: results and errors only
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
