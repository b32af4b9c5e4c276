//! storemark: measures where small blobs should live on this machine, then moves them there.

mod args;
mod clap_error;
mod command_line;
mod commands;
mod exit;
mod files;
mod images;
mod kvtest;
mod listener;
mod mishaps;
mod output;
mod plan;
mod program;
mod replies;
mod store_place;
mod targets;

use std::process::ExitCode;

use lab::Stop;
use spec::RunSpec;

use args::Command;
use exit::Failure;

static STOP: Stop = Stop::new();

/// Handles a signal. The first one asks to stop and clean up. A second one, if something does not
/// react, ends the process at once; what it leaves is removed by the next run.
fn on_signal() {
    if STOP.is_set() {
        output::clear_line();
        std::process::exit(exit::INTERRUPTED.into());
    }
    STOP.set();
    engines::end_waits();
}

fn main() -> ExitCode {
    let arguments = command_line::take();
    if let Err(error) = mishaps::prepare() {
        output::say(&error.to_string());
    }
    let command = match args::parse(arguments.iter().cloned()) {
        Ok(command) => command,
        Err(code) => return code,
    };
    mishaps::end_with_a_line(match command {
        Command::Worker(_) => Some(lab::failure),
        Command::CheckEngine(_) => Some(commands::conformance::crashed),
        _ => None,
    });
    // A command that only reads, or does one thing after the other, may be ended by any signal at once.
    // `cache` listens for itself where it has something to clean up.
    let cleans_up = !matches!(
        command,
        Command::Report(_)
            | Command::Compare(_)
            | Command::Stat(_)
            | Command::Cache(_)
            | Command::Clean(_)
    );
    if cleans_up && let Err(error) = host::on_interrupt(on_signal) {
        output::say(&error.to_string());
    }
    if let Ok(guard) = program::starting("guard") {
        host::guard_with(guard);
    }
    let done = mishaps::caught(|| run(command));
    let code = exit::code(done);
    images::unmount();
    code
}

fn run(command: Command) -> Result<(), Failure> {
    let measure = |spec| commands::measure::run(spec, &STOP);
    match command {
        Command::Run(options) => measure(options.into_spec()?),
        Command::Rows(spec) => measure(RunSpec::Rows(spec)),
        Command::Queue(spec) => measure(RunSpec::Queue(spec)),
        Command::Age(spec) => measure(RunSpec::Age(spec)),
        Command::Life(spec) => measure(RunSpec::Life(spec)),
        Command::Backup(options) => commands::backup::run(*options, &STOP),
        Command::Advise(options) => commands::advise::run(&options, &STOP),
        Command::Study(options) => commands::study::run(&options, &STOP),
        Command::Report(options) => commands::records::report(&options),
        Command::Compare(options) => commands::records::compare(&options),
        Command::Init(options) => commands::copy::init(&options, &STOP),
        Command::Stat(options) => commands::stat::run(&options, &STOP),
        Command::Clean(options) => commands::clean::run(&options),
        Command::Export(options) => commands::copy::export(&options, &STOP),
        Command::Import(options) => commands::copy::import(&options, &STOP),
        Command::Copy(options) => commands::copy::copy(&options, &STOP),
        Command::Verify(options) => commands::copy::verify(&options, &STOP),
        Command::Engines(options) => commands::engines::run(&options),
        Command::Sqlite(options) => commands::sqlite::run(&options, &STOP),
        Command::Doctor(options) => commands::doctor::run(&options, &STOP),
        #[cfg(target_os = "linux")]
        Command::Crash(options) => commands::crash::run(&options, &STOP),
        #[cfg(not(target_os = "linux"))]
        Command::Crash { .. } => {
            let os = std::env::consts::OS;
            let why = format!(
                "crash: {os} has no file system in user space that it could record with; run it on Linux"
            );
            Err(model::Error::unsupported(why).into())
        }
        Command::Cache(options) => commands::cache::run(&options),
        Command::Conformance(options) => commands::conformance::run(&options, &STOP),
        Command::CheckEngine(options) => commands::conformance::check_engine(&options),
        Command::Calibrate(options) => commands::calibrate::run(&options, &STOP),
        Command::Completions(options) => commands::help::completions(&options, args::visible()),
        Command::Man(options) => commands::help::man(&options, args::visible()),
        Command::Help(options) => commands::help::help(&options, args::visible()),
        Command::Worker(options) => commands::worker::run(&options, &STOP),
        Command::Guard { folder } => {
            host::guard(&folder, std::io::stdin());
            Ok(())
        }
        Command::WriteCommits(options) => commands::commits::write(&options),
        Command::CheckCommits(options) => commands::commits::check(&options),
    }
}
