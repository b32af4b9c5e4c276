//! What the user typed after `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell that is to complete
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// The folder to write them into; made if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
