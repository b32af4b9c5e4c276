//! `storemark engines`: what can be measured with this build on this machine.

use clap::Args;
use engines::registry;
use report::pages;

use crate::{exit::Failure, output};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark engines                          all that this build has
  storemark engines sqlite                   one, with each setting and what it accepts")]
pub(crate) struct EnginesOptions {
    /// Explain this one
    pub(crate) name: Option<String>,
}

pub(crate) fn run(options: &EnginesOptions) -> Result<(), Failure> {
    let text = match &options.name {
        None => output::page(&pages::engines(registry::all_blobs())) + &left_out(),
        Some(name) => output::page(&pages::engine(registry::blobs(name.trim_end_matches(':'))?)),
    };
    Ok(output::print(&text)?)
}

/// Returns a line on the engines that only other builds have.
fn left_out() -> String {
    match registry::left_out().collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        names => format!("\nNot part of this build (cargo features): {}\n", names.join(" ")),
    }
}
