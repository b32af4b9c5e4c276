//! The command line: what the user typed, with nothing looked up.

mod age;
mod cache;
mod calibrate;
mod doctor;
mod on;
mod queue;
mod rounds;
mod rows;
mod study;

use std::{ffi::OsString, path::PathBuf, process::ExitCode, time::Duration};

use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};
use model::{Cache, Durability, Error, Mix, Order, Ycsb, units};

pub(crate) use self::{
    age::AgeOptions, cache::CacheOptions, calibrate::CalibrateOptions, doctor::DoctorOptions,
    on::OnOptions, queue::QueueOptions, rounds::RoundsOptions, rows::RowsOptions,
    study::StudyOptions,
};
use crate::{output, plan::Asked};

/// Measures where small blobs should live - plain files, SQLite or another store - on this
/// machine and with your data, then moves them there.
#[derive(Debug, Parser)]
#[command(name = "storemark", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure one target, or compare several
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<Asked>),
    /// Compare rows instead of blobs: the published test of SQLite against MySQL
    #[command(after_help = rows::EXAMPLES)]
    Rows(Box<RowsOptions>),
    /// Compare queues of tasks: the published test of SQLite against a file for each task
    #[command(after_help = queue::EXAMPLES)]
    Queue(Box<QueueOptions>),
    /// Replace objects over and over, and measure what that does to stores: the published test of
    /// files against a database as both age
    #[command(after_help = age::EXAMPLES)]
    Age(Box<AgeOptions>),
    /// Run a published experiment: what was published beside what comes out here
    #[command(after_help = study::EXAMPLES)]
    Study(StudyOptions),
    /// A worker of `rows`, which starts it and speaks to it
    #[command(hide = true)]
    RowsWorker,
    /// Print the tables of a record again
    Report(ReportOptions),
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
    /// List the engines, their settings, what each durability class does in them, and what they lack
    Engines(EnginesOptions),
    /// Look at this machine: what can be measured on it, how finely, and what disturbs
    Doctor(DoctorOptions),
    /// See which files are in the page cache; fill, empty or lock it
    #[command(disable_help_flag = true, after_help = cache::EXAMPLES)]
    Cache(Box<CacheOptions>),
    /// Count false alarms and missed differences of comparisons whose truth is known
    Calibrate(Box<CalibrateOptions>),
    /// Do what another storemark asks for (started by `run --processes`)
    #[command(hide = true)]
    Worker,
}

const RUN_EXAMPLES: &str = "\
Targets:
  a path                     a folder of files, an SQLite database, a pack file
  sqlite:FILE?api=blob       engine, location, settings
  sqlite:?api=blob&mmap=1GiB no location: a scratch store, filled and removed by storemark
  mariadb:  postgres:        private servers, started and removed by storemark
  `storemark engines` lists all engines and their settings

Examples:
  storemark run                                        files against SQLite on made-up blobs
  storemark run test1.db test1.dir --blob-api          two stores of your own, reading
  storemark run test1.db test1.dir --update            updates, on scratch copies
  storemark run --data ~/thumbnails                    your own files, in scratch stores
  storemark run files: sqlite: --mix read=95,update=5 --distribution zipfian
  storemark run files: sqlite: lmdb: --ycsb a,b,c,d,e,f
  storemark run files: sqlite: --read --rate 1k,10k,100k
  storemark run files: sqlite: --update --durability durable --batch 100
  storemark run --size 1k,16k,256k --bytes 64MB        a sweep: where files overtake
  storemark run plan.toml --seed 7                     what a plan or a record asks for, once more

A number that may differ from run to run takes a list (--size 1k,4k --threads 1,2), and so does a
setting of a target (sqlite:?page_size=512,4096).";

/// Options of `run`; those of kvtest keep their names.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunOptions {
    /// What to measure; none: files, SQLite and pack on a dataset made for it. One may be a plan
    /// file or a record, to be measured as it says
    pub(crate) targets: Vec<OsString>,

    /// Take keys and bytes from the files below DIR (read only)
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub(crate) data: Option<PathBuf>,
    /// Blobs in a made-up dataset
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) keys: Option<u64>,
    /// As many blobs as fit into so many bytes together
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, conflicts_with = "keys", help_heading = "Data")]
    pub(crate) bytes: Option<u64>,
    /// Their middle size in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) size: Option<u64>,
    /// How far sizes vary to either side
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) variance: Option<u64>,
    /// Make values that compress to this share of their size, 0.01 to 1, for filling and for updates
    #[arg(long, value_name = "SHARE", value_parser = units::parse_percent, help_heading = "Data")]
    pub(crate) compressible: Option<u8>,
    /// Largest integer key to touch
    #[arg(long, value_name = "KEY", value_parser = units::parse_integer, allow_hyphen_values = true, help_heading = "Data")]
    pub(crate) max_id: Option<i64>,

    /// Measure reading (the default for stores of your own)
    #[arg(long, help_heading = "Workload")]
    pub(crate) read: bool,
    /// Measure overwriting each blob by random bytes of its size, on a scratch copy
    #[arg(long, help_heading = "Workload")]
    pub(crate) update: bool,
    /// Mix operations, each drawn by its share in percent, as in read=95,update=5: of read, update,
    /// insert, delete, scan (1 to 100 values in key order) and rmw (read, then update)
    #[arg(long, conflicts_with_all = ["read", "update"], help_heading = "Workload")]
    pub(crate) mix: Option<Mix>,
    /// Mixes of the Yahoo! Cloud Serving Benchmark, a to f, on values of 1,000 bytes (its records
    /// have 10 fields of 100; here a record is one value); several letters are a workload each
    #[arg(
        long,
        value_name = "LETTERS",
        value_delimiter = ',',
        conflicts_with_all = ["read", "update", "mix", "asc", "desc", "random", "distribution"],
        help_heading = "Workload"
    )]
    pub(crate) ycsb: Vec<Ycsb>,
    /// Draw keys with replacement: uniform, zipfian (=0.99), latest, or hotspot (=20/80, 20 % of the
    /// keys get 80 % of the operations); default for a mix: uniform
    #[arg(
        long,
        value_name = "LAW",
        conflicts_with_all = ["asc", "desc", "random"],
        help_heading = "Workload"
    )]
    pub(crate) distribution: Option<Order>,
    /// Begin so many operations a second, on schedule, however long each takes; latencies count from
    /// when one was to begin; several rates are a workload each
    #[arg(
        long,
        value_name = "N/s",
        value_delimiter = ',',
        value_parser = units::parse_rate,
        help_heading = "Workload"
    )]
    pub(crate) rate: Vec<f64>,
    /// What is in memory when a trial begins: warm, data-cold (no pages), cold (no pages and no
    /// names; needs root, drops the caches of the whole machine); several are shown one after the other
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ',',
        default_value = "warm",
        help_heading = "Workload"
    )]
    pub(crate) cache: Vec<Cache>,
    /// Operations of a pass; default: every key once
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Workload")]
    pub(crate) count: Option<u64>,
    /// Touch keys in ascending order
    #[arg(long, conflicts_with_all = ["desc", "random", "mix"], help_heading = "Workload")]
    pub(crate) asc: bool,
    /// Touch keys in descending order
    #[arg(long, conflicts_with_all = ["random", "mix"], help_heading = "Workload")]
    pub(crate) desc: bool,
    /// Draw keys at random with replacement; default: a random permutation of all
    #[arg(long, help_heading = "Workload")]
    pub(crate) random: bool,
    /// Begin at this integer key (with --asc or --desc)
    #[arg(long, value_name = "KEY", value_parser = units::parse_integer, allow_hyphen_values = true, help_heading = "Workload")]
    pub(crate) start: Option<i64>,
    /// Operations per commit; default: all; of a mix or a --rate: 1
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Workload")]
    pub(crate) batch: Option<u64>,
    /// Each operation in a transaction of its own (--batch 1)
    #[arg(long, conflicts_with = "batch", help_heading = "Workload")]
    pub(crate) multitrans: bool,
    /// Set each engine up for this class: none, consistent or durable
    #[arg(long, value_name = "CLASS", help_heading = "Workload")]
    pub(crate) durability: Option<Durability>,
    /// Workers of each process, each with a session of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = up_to(1024), help_heading = "Workload")]
    pub(crate) threads: u32,
    /// Worker processes, each with so many threads; only for stores that several can have open
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = up_to(1024), help_heading = "Workload")]
    pub(crate) processes: u32,

    /// Memory for each target alike: half of it for the engine's own cache, if it has one, and as
    /// root on Linux a limit on everything, the page cache included
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, conflicts_with = "cache_size", help_heading = "Workload")]
    pub(crate) memory: Option<u64>,

    /// SQLite: use blob handles instead of SQL statements
    #[arg(long, help_heading = "Settings for all targets that have them")]
    pub(crate) blob_api: bool,
    /// SQLite: page cache in pages (negative: in KiB)
    #[arg(long, value_name = "N", value_parser = units::parse_integer, value_delimiter = ',', allow_hyphen_values = true, help_heading = "Settings for all targets that have them")]
    pub(crate) cache_size: Vec<i64>,
    /// SQLite: page size, a power of two from 512 to 65536
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, value_delimiter = ',', help_heading = "Settings for all targets that have them")]
    pub(crate) page_size: Vec<u64>,
    /// SQLite: map as much as N bytes of the database
    #[arg(long, value_name = "N", value_parser = units::parse_size, value_delimiter = ',', help_heading = "Settings for all targets that have them")]
    pub(crate) mmap: Vec<u64>,
    /// SQLite: journal mode
    #[arg(
        long,
        value_name = "MODE",
        value_delimiter = ',',
        help_heading = "Settings for all targets that have them"
    )]
    pub(crate) jmode: Vec<String>,
    /// SQLite: leave out the checkpoint of a WAL
    #[arg(long, help_heading = "Settings for all targets that have them")]
    pub(crate) nocheckpoint: bool,
    /// SQLite: synchronous off
    #[arg(long, help_heading = "Settings for all targets that have them")]
    pub(crate) nosync: bool,
    /// Files: fsync each file after it was written in place
    #[arg(long, help_heading = "Settings for all targets that have them")]
    pub(crate) fsync: bool,

    /// What the others are compared with: a target as written, or its number; default: the first
    #[arg(long, value_name = "TARGET", help_heading = "Run")]
    pub(crate) baseline: Option<String>,
    /// Run exactly N rounds, however long they take
    #[arg(long, value_name = "N", value_parser = up_to(u32::MAX), help_heading = "Run")]
    pub(crate) rounds: Option<u32>,
    /// Take the first value of each list, then the second of each, instead of every combination
    #[arg(long, help_heading = "Run")]
    pub(crate) zip: bool,
    /// Time for the whole run, shared out among those of a sweep; at least five rounds are run
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "45s", help_heading = "Run")]
    pub(crate) time: Duration,
    /// Drives everything random; default: a new one each time, printed
    #[arg(long, value_name = "N", value_parser = units::parse_size, help_heading = "Run")]
    pub(crate) seed: Option<u64>,
    /// Where scratch stores go; default: beside the store they stand for
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub(crate) scratch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) on: OnOptions,
    /// Update your own stores instead of scratch copies: their contents are overwritten
    #[arg(long, requires = "update", help_heading = "Run")]
    pub(crate) in_place: bool,
    /// Run the engine's own integrity check afterwards
    #[arg(long, help_heading = "Run")]
    pub(crate) integrity_check: bool,

    /// Write the record to FILE (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with charts to FILE, for a browser
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Write what was asked for to FILE, as a plan that measures it again
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) save_plan: Option<PathBuf>,
    /// Show what would be measured, and what it takes, and measure nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    /// Go on with what takes a day, or more room than there seems to be
    #[arg(long, help_heading = "Output")]
    pub(crate) yes: bool,
    /// Write the latencies into folder DIR, a file for each target and kind of operation, as
    /// HdrHistogram's listing of percentiles
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) export_hdr: Option<PathBuf>,
    /// Show what explains the differences: processor time, faults, calls, bytes from and to devices
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
    /// Show the engines' own counters and the process's input and output
    #[arg(long, help_heading = "Output")]
    pub(crate) stats: bool,
    /// Exit with 3 when there is a finding above a note
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    /// Show all findings
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// No progress
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The record (- for standard input); several of one plan, from different machines or days, make
    /// one page
    #[arg(required = true, value_name = "RECORD")]
    pub(crate) records: Vec<PathBuf>,
    /// Write a page with charts to FILE, for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the latencies into folder DIR, a file for each target and kind of operation, as
    /// HdrHistogram's listing of percentiles
    #[arg(long, value_name = "DIR")]
    pub(crate) export_hdr: Option<PathBuf>,
    /// Show what explains the differences: processor time, faults, calls, bytes from and to devices
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show all findings
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EnginesOptions {
    /// Explain this one
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// The database to make
    pub(crate) database: PathBuf,
    /// Number of blobs
    #[arg(long, value_name = "N", value_parser = units::parse_size, default_value = "1000")]
    pub(crate) count: u64,
    /// Their middle size in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "10000")]
    pub(crate) size: u64,
    /// How far sizes vary to either side
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "0")]
    pub(crate) variance: u64,
    /// Page size: a power of two from 512 to 65536
    #[arg(long, value_name = "BYTES", default_value = "4096")]
    pub(crate) pagesize: String,
    /// Makes the same bytes again; default: a new one each time, printed
    #[arg(long, value_name = "N", value_parser = units::parse_size)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct StatOptions {
    /// The database to look at
    pub(crate) database: PathBuf,
    /// Rewrite it first, without free pages
    #[arg(long)]
    pub(crate) vacuum: bool,
}

/// What all commands have in common that make a store.
#[derive(Clone, Debug, Args)]
pub(crate) struct CopyFlags {
    /// Replace a store that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Go on with what was interrupted
    #[arg(long)]
    pub(crate) resume: bool,
    /// Where a source that reading would change is copied to be read; default: beside it
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// The database
    pub(crate) database: PathBuf,
    /// The folder to make
    pub(crate) directory: PathBuf,
    /// A hierarchy of folders with no more than 100 entries each
    #[arg(long)]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The folder, or any other target
    pub(crate) from: OsString,
    /// The database to make
    pub(crate) database: PathBuf,
    /// Its page size: a power of two from 512 to 65536
    #[arg(long, value_name = "BYTES")]
    pub(crate) pagesize: Option<String>,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CopyOptions {
    /// The store to copy, only read
    pub(crate) from: OsString,
    /// The store to make: a target with an engine, such as sqlite:new.db or files:new?layout=tree
    pub(crate) to: OsString,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// One store
    pub(crate) a: OsString,
    /// The other
    pub(crate) b: OsString,
    /// Where a store that reading would change is copied to be read; default: beside it
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options that kvtest also takes with a single dash.
const KVTEST_OPTIONS: [&str; 24] = [
    "asc",
    "blob-api",
    "cache-size",
    "count",
    "desc",
    "fsync",
    "integrity-check",
    "jmode",
    "max-id",
    "mmap",
    "multitrans",
    "nocheckpoint",
    "nosync",
    "pagesize",
    "random",
    "size",
    "start",
    "stats",
    "tree",
    "update",
    "vacuum",
    "variance",
    "help",
    "version",
];

/// Reads a whole number from 1 to `most`.
fn up_to(most: u32) -> impl Fn(&str) -> Result<u32, Error> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| {
            let bounds = match most {
                u32::MAX => "1 or more".to_owned(),
                most => format!("1 to {most}"),
            };
            Error::usage(format!("accepted is a whole number, {bounds}"))
        })
    }
}

/// Reads the command line. What clap has to say instead was said: the exit code is left.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Arguments, ExitCode> {
    parsed(arguments.map(with_two_dashes)).map_err(|error| {
        if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        {
            output::say(&one_line(&error));
            return ExitCode::from(1);
        }
        let code = u8::from(error.use_stderr());
        // A closed pipe is no reason to fail.
        let _ = error.print();
        ExitCode::from(code)
    })
}

/// Reads a command line that the program made itself, or a file of it.
pub(crate) fn understand(words: Vec<OsString>) -> Result<Command, Error> {
    let parsed = parsed(words);
    parsed.map(|arguments| arguments.command).map_err(|error| Error::usage(one_line(&error)))
}

/// A negative number is the value of the option before it, which then says what it accepts.
fn parsed(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command().mut_subcommands(|command| {
        command.mut_args(|arg| {
            let takes_value = arg.get_long().is_some() && arg.get_action().takes_values();
            if takes_value { arg.allow_negative_numbers(true) } else { arg }
        })
    });
    let mut matches = command.try_get_matches_from_mut(words)?;
    let arguments = Arguments::from_arg_matches_mut(&mut matches);
    arguments.map_err(|error| error.format(&mut command))
}

fn with_two_dashes(argument: OsString) -> OsString {
    match argument.to_str().and_then(|text| text.strip_prefix('-')) {
        Some(name) if KVTEST_OPTIONS.contains(&name) => format!("--{name}").into(),
        _ => argument,
    }
}

/// clap's message without its usage block, with the nearest match if it found one.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let values = text
        .lines()
        .skip(1)
        .take_while(|line| !line.trim().is_empty() && !line.starts_with("Usage"))
        .map(str::trim);
    let mut line = values.fold(first, |line, more| format!("{line} {more}"));
    let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    for near in suggested.into_iter().filter_map(|kind| error.get(kind)) {
        let near = match near {
            ContextValue::String(near) => near.clone(),
            ContextValue::Strings(all) => all.join(", "),
            _ => continue,
        };
        line = format!("{line}; did you mean {near}?");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Arguments {
        parse(line.split(' ').map(OsString::from)).unwrap()
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn kvtest_options_work_with_one_dash_and_read_its_numbers() {
        let Command::Init(options) =
            parsed("storemark init x.db -count 100k --size 10KiB -variance 0x10").command
        else {
            panic!("not init")
        };
        assert_eq!((options.count, options.size, options.variance), (100_000, 10_240, 16));
    }

    #[test]
    fn a_slip_is_answered_in_one_line() {
        let error = Arguments::try_parse_from(["storemark", "run", "--updat"]).unwrap_err();
        let line = one_line(&error);
        assert!(line.contains("did you mean --update?"), "{line}");
        assert!(!line.contains('\n'));
    }
}
