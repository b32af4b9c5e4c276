//! `storemark completions`: what a shell needs to complete storemark's words.

use crate::{
    args::{self, CompletionsOptions},
    exit::Failure,
    output,
};

pub(crate) fn run(options: &CompletionsOptions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut args::visible(), "storemark", &mut script);
    Ok(output::print(&String::from_utf8_lossy(&script))?)
}
