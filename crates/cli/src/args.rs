//! The command line: what the user typed, with nothing looked up.

use std::{ffi::OsString, fmt::Write, path::PathBuf, process::ExitCode};

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, ValueHint, error::ErrorKind};
use engines::registry;
use spec::{AgeSpec, LifeSpec, QueueSpec, RowsSpec};

#[cfg(target_os = "linux")]
use crate::commands::crash::CrashOptions;
use crate::{
    clap_error::one_line,
    commands::{
        advise::AdviseOptions,
        backup::BackupOptions,
        cache::CacheOptions,
        calibrate::CalibrateOptions,
        clean::CleanOptions,
        commits::{CheckCommitsOptions, WriteCommitsOptions},
        conformance::{CheckEngineOptions, ConformanceOptions},
        copy::{CopyOptions, ExportOptions, ImportOptions, InitOptions, VerifyOptions},
        doctor::DoctorOptions,
        engines::EnginesOptions,
        help::{CompletionsOptions, HelpOptions, ManOptions},
        measure::examples,
        records::{CompareOptions, ReportOptions},
        sqlite::SqliteOptions,
        stat::StatOptions,
        study::StudyOptions,
        worker::WorkerOptions,
    },
    exit,
    kvtest::{RunOptions, with_two_dashes},
    output,
};

/// The program's, and the commit that it is built from.
const VERSION: &str = env!("STOREMARK_VERSION");

/// The widest line of help, in columns.
const WIDTH: usize = 100;

const EXAMPLES: &str = "\
Examples:
  storemark run                              files against each engine on generated blobs
  storemark run --data ~/thumbnails          the same with your own files
  storemark advise ~/thumbnails              which store and settings suit them
  storemark copy thumbs.db files:thumbs      move the data to the winner
  storemark help targets                     how stores are named";

/// Measures where small blobs should live - plain files, SQLite or another store - on this
/// machine and with your data, then moves them there.
#[derive(Debug, Parser)]
#[command(
    name = "storemark",
    version = VERSION,
    max_term_width = WIDTH,
    disable_help_subcommand = true
)]
pub(crate) enum Command {
    /// Measure one target, or compare several
    #[command(after_long_help = examples::RUN)]
    Run(Box<RunOptions>),
    /// Find the store and the settings that suit your data: one answer
    Advise(Box<AdviseOptions>),
    /// Compare rows instead of blobs: the published test of SQLite against MySQL
    #[command(after_long_help = examples::ROWS)]
    Rows(Box<RowsSpec>),
    /// Compare queues of tasks: the published test of SQLite against a file for each task
    #[command(after_long_help = examples::QUEUE)]
    Queue(Box<QueueSpec>),
    /// Measure stores whose objects are replaced over and over, as they age
    #[command(after_long_help = examples::AGE)]
    Age(Box<AgeSpec>),
    /// Measure backups whose catalogue is in different stores; keep and restore them
    #[command(after_long_help = examples::BACKUP)]
    Backup(Box<BackupOptions>),
    /// Measure the whole life of stores: list, open cold, back up, grow, delete, reclaim
    #[command(after_long_help = examples::LIFE)]
    Life(Box<LifeSpec>),
    /// Run a published experiment, and compare its figures with those measured here
    Study(StudyOptions),
    /// Print the tables of a record again, or its figures as CSV, Markdown or JSON
    Report(ReportOptions),
    /// Compare two records: what became slower or faster since
    Compare(CompareOptions),
    /// Make a database of random blobs
    Init(InitOptions),
    /// Show what a database holds
    Stat(StatOptions),
    /// Copy a database's blobs into numbered files
    Export(ExportOptions),
    /// Copy a folder into a database
    Import(ImportOptions),
    /// Copy any store into a new one of any kind
    Copy(CopyOptions),
    /// Check that two stores hold the same keys and bytes
    Verify(VerifyOptions),
    /// Remove the tables that killed runs left on a server
    Clean(CleanOptions),
    /// List the engines with their settings, durability classes and limits
    Engines(EnginesOptions),
    /// Compile other builds of SQLite, to be measured with lib=NAME
    Sqlite(SqliteOptions),
    /// Look at this machine: what can be measured on it, how finely, and what disturbs
    Doctor(DoctorOptions),
    /// See which files are in the page cache; fill, empty or lock it
    Cache(Box<CacheOptions>),
    /// Cut the power under stores or a program, by simulation, and check what is left
    #[cfg(target_os = "linux")]
    Crash(Box<CrashOptions>),
    /// Cut the power under stores or a program, by simulation (on Linux only)
    #[cfg(not(target_os = "linux"))]
    #[command(hide = true, disable_help_flag = true)]
    Crash {
        /// What it would take on Linux
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<OsString>,
    },
    /// Check a plugin as storemark's own engines are checked: semantics, durability, damage
    Conformance(ConformanceOptions),
    /// Count false alarms and missed differences of comparisons whose truth is known
    Calibrate(Box<CalibrateOptions>),
    /// Write the completions of a shell to standard output
    Completions(CompletionsOptions),
    /// Write manual pages into a folder, one for each command
    Man(ManOptions),
    /// Explain a command, or how targets, durability classes and sizes are written
    Help(HelpOptions),
    /// Do what another storemark asks for (started by `rows` and `run --processes`)
    #[command(hide = true)]
    Worker(WorkerOptions),
    /// Make some of the checks of an engine (started by `conformance`)
    #[command(hide = true)]
    CheckEngine(CheckEngineOptions),
    /// Remove a scratch folder when standard input ends (started where there is no shell)
    #[command(hide = true)]
    Guard {
        /// The folder
        folder: PathBuf,
    },
    /// Make known commits to a store (started by `crash`)
    #[command(hide = true)]
    WriteCommits(WriteCommitsOptions),
    /// Check what a store holds of known commits (started by `crash`)
    #[command(hide = true)]
    CheckCommits(CheckCommitsOptions),
}

/// The commands by what a user wants; those without a heading are only in the long help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "advise", "life"]),
    ("Repeat a published experiment", &["study", "rows", "queue", "age", "backup"]),
    ("Understand", &["report", "compare", "doctor", "crash", "engines", "cache", "stat"]),
    ("Move and check data", &["copy", "verify", "import", "export"]),
    ("Help", &["help"]),
    ("", &["init", "sqlite", "clean", "calibrate", "conformance", "completions", "man"]),
];

/// The form of the help of the program, around its commands.
const TEMPLATE: &str = "{about}\n\nUsage: storemark <COMMAND>{after-help}\n\nOptions:\n{options}";

/// Lists the commands of `all` under their headings; `rare` ones too, or a line about them.
fn groups(all: &clap::Command, rare: bool) -> String {
    let about = |name: &&str| {
        let about = all.find_subcommand(name).and_then(clap::Command::get_about);
        format!("  {name:<12} {}", about.map(ToString::to_string).unwrap_or_default())
    };
    let shown = GROUPS.iter().filter(|(heading, _)| rare || !heading.is_empty());
    let group = |(heading, names): &(&str, &[&str])| {
        let heading = if heading.is_empty() { "Rarely needed" } else { heading };
        let lines: Vec<_> = names.iter().map(about).collect();
        format!("\n{heading}:\n{}", lines.join("\n"))
    };
    let more =
        if rare { "" } else { "\n\nRarely needed commands, with examples: storemark --help" };
    shown.map(group).collect::<Vec<_>>().join("\n").trim_start().to_owned() + more
}

/// The options of `run` that are enough for most runs: `-h` shows these, `--help` all.
const BRIEF: &str = "\
    targets data keys size read update mix ycsb cache batch durability threads memory time json \
    html dry_run verbose quiet";

/// The arguments without a name whose values are words of storemark.
const WORDS: &str = "name shell topic";

fn is_among(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}

/// Reads the command line. An error is the exit code: what clap says instead was printed.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, ExitCode> {
    parsed(arguments.map(with_two_dashes)).map_err(|error| {
        if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        {
            output::say(&one_line(&error));
            return ExitCode::from(1);
        }
        match output::written(error.print()) {
            Ok(()) => ExitCode::from(u8::from(error.use_stderr())),
            Err(failed) => exit::code(Err(failed.into())),
        }
    })
}

/// Returns the command with the subcommands that people type, without those that only storemark
/// starts.
pub(crate) fn visible() -> clap::Command {
    let all = command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let about = all.get_about().cloned().unwrap_or_default();
    clap::Command::new("storemark")
        .version(VERSION)
        .about(about)
        .after_help(groups(&all, false))
        .after_long_help(groups(&all, true) + "\n\n" + EXAMPLES)
        .help_template(TEMPLATE)
        .disable_help_subcommand(true)
        .max_term_width(WIDTH)
        .subcommands(shown)
}

fn command() -> clap::Command {
    let all = Command::command().help_template(TEMPLATE);
    let (brief, long) = (groups(&all, false), groups(&all, true) + "\n\n" + EXAMPLES);
    // `mut_subcommand` would move it to the end.
    all.after_help(brief).after_long_help(long).mut_subcommands(|command| {
        let is_run = command.get_name() == "run";
        command.mut_args(|arg| {
            let rare = is_run && !is_among(BRIEF, arg.get_id().as_str());
            hinted(with_lists(arg)).hide_short_help(rare)
        })
    })
}

/// Lets an option of several values take them with commas between. A negative number is the value
/// of the option before it, which then reports what it accepts.
fn with_lists(arg: clap::Arg) -> clap::Arg {
    if arg.get_long().is_none() || !arg.get_action().takes_values() {
        return arg;
    }
    let arg = arg.allow_negative_numbers(true);
    // `cache` takes patterns, in which a comma is a comma; the values of a setting have their own, and so
    // have the names of cases.
    let is_list = matches!(arg.get_action(), ArgAction::Append)
        && arg.get_short().is_none()
        && !["set", "case"].contains(&arg.get_id().as_str());
    if is_list { arg.value_delimiter(',') } else { arg }
}

/// Sets what a shell completes the argument with: a path if its value is one.
fn hinted(arg: clap::Arg) -> clap::Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let hint = match name.unwrap_or_default().as_str() {
        "FILE" => ValueHint::FilePath,
        "DIR" => ValueHint::DirPath,
        "RECORD" | "PATH" | "DATABASE" | "OLD" | "NEW" => ValueHint::AnyPath,
        // Targets, which may be paths.
        _ if arg.is_positional() && !is_among(WORDS, arg.get_id().as_str()) => ValueHint::AnyPath,
        _ => return arg,
    };
    arg.value_hint(hint)
}

fn parsed(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Command, clap::Error> {
    let mut command = command().long_version(long_version());
    let mut matches = command.try_get_matches_from_mut(words)?;
    Command::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Returns what `--version` prints: the versions of the engines that are part of this program, a
/// line each, and the names of those that are not.
fn long_version() -> String {
    let mut text = VERSION.to_owned();
    // Writing to a string does not fail.
    for library in registry::linked() {
        let _ = write!(text, "\n{} {}", library.name, library.version);
    }
    let servers: Vec<_> = registry::servers().collect();
    if !servers.is_empty() {
        let servers = servers.join(", ");
        let _ = write!(
            text,
            "\nnot in this program: {servers} (the system's servers: storemark engines)"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Command {
        parse(line.split(' ').map(OsString::from)).unwrap()
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Command::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_and_lines_are_short() {
        let all = command();
        let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
        for command in shown {
            let name = command.get_name();
            let groups = GROUPS.iter().flat_map(|(_, names)| names.iter());
            assert_eq!(groups.filter(|other| **other == name).count(), 1, "{name}");
        }
        for line in groups(&all, true).lines() {
            assert!(line.chars().count() <= WIDTH && !line.trim_end().ends_with("  "), "{line}");
        }
    }

    #[test]
    fn options_of_the_short_help_exist() {
        let command = Command::command();
        let run = command.find_subcommand("run").unwrap();
        for name in BRIEF.split(' ') {
            assert!(run.get_arguments().any(|arg| arg.get_id() == name), "{name}");
        }
    }

    /// Shells take quotes and redirections for themselves.
    #[test]
    fn every_example_is_understood() {
        let all = command();
        for command in all.get_subcommands().filter(|command| !command.is_hide_set()) {
            let after = command.get_after_long_help().unwrap().to_string();
            let (_, examples) = after.split_once("Examples:\n").unwrap();
            for line in examples.lines().take_while(|line| line.starts_with("  ")) {
                let line = line.trim().trim_start_matches("sudo ");
                let typed = line.split("  ").next().unwrap().split(" > ").next().unwrap();
                assert_eq!(typed.split(' ').nth(1), Some(command.get_name()), "{line}");
                parsed(typed);
            }
        }
    }

    #[test]
    fn kvtest_options_work_with_one_dash_and_read_its_numbers() {
        let Command::Init(options) =
            parsed("storemark init x.db -count 100k --size 10KiB -variance 0x10")
        else {
            panic!("not init")
        };
        assert_eq!((options.count, options.size, options.variance), (100_000, 10_240, 16));
    }
}
