//! The form in which a report is printed.

use clap::Args;

/// One at most; none: tables for a terminal.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct FormOptions {
    /// Print every trial as comma-separated values, a row each
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Print estimates and verdicts as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
