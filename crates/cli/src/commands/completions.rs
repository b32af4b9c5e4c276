//! `storemark completions`: what a shell needs to complete storemark's words.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::{exit::Failure, output};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark completions bash > ~/.local/share/bash-completion/completions/storemark
  storemark completions zsh > ~/.zfunc/_storemark          with ~/.zfunc in fpath
  storemark completions fish > ~/.config/fish/completions/storemark.fish";

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell that is to complete
    pub(crate) shell: Shell,
}

pub(crate) fn run(options: &CompletionsOptions, mut all: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut all, "storemark", &mut script);
    Ok(output::print(&String::from_utf8_lossy(&script))?)
}
