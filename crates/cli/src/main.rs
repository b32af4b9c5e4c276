//! storemark: measures where small blobs should live on this machine, then moves them there.

mod args;
mod commands;
mod exit;
mod listener;
mod output;
mod targets;

use std::process::ExitCode;

use lab::Stop;

use args::Command;

static STOP: Stop = Stop::new();

fn main() -> ExitCode {
    let arguments = match args::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    // Without a handler a signal would leave scratch stores behind; a second handler is never set.
    if let Err(error) = ctrlc::set_handler(|| STOP.set()) {
        eprintln!("storemark: signals cannot be caught: {error}");
    }
    exit::code(match &arguments.command {
        Command::Run(options) => commands::run::run(options, &STOP),
        Command::Report(options) => commands::report::run(options),
        Command::Init(options) => commands::init::run(options, &STOP),
        Command::Stat(options) => commands::stat::run(options),
        Command::Export(options) => commands::copy::export(options, &STOP),
        Command::Import(options) => commands::copy::import(options, &STOP),
        Command::Copy(options) => commands::copy::run(options, &STOP),
        Command::Verify(options) => commands::verify::run(options, &STOP),
    })
}
