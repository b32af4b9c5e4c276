//! `storemark engines`: what can be measured with this build on this machine.

use engines::registry;

use crate::{args::EnginesOptions, exit::Failure, output};

pub(crate) fn run(options: &EnginesOptions) -> Result<(), Failure> {
    let style = output::style(true, false);
    let text = match &options.name {
        None => report::engines(registry::all_blobs(), &style) + &left_out(),
        Some(name) => report::engine(registry::blobs(name.trim_end_matches(':'))?, &style),
    };
    Ok(output::print(&text)?)
}

/// A line on the engines that other builds have.
fn left_out() -> String {
    match registry::left_out().collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        names => format!("\nNot part of this build (cargo features): {}\n", names.join(" ")),
    }
}
