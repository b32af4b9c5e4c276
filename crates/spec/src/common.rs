//! Options that several experiments share.

use std::{path::Path, time::Duration};

use model::{Cache, Counter, Inconclusive, Judge, Rounds};

use crate::{
    options::options,
    value::{GivenValue, Name, Percentage, Size, Text, Time, UpTo, given_value},
};

options! {
    /// How long to measure, and where.
    pub struct Running under "Run" {
        /// What the others are compared with: a target as written, or its number; default: the
        /// first
        baseline: Option<GivenValue<Text>> = "TARGET",
        /// Run exactly N rounds, however long they take
        rounds: Vec<GivenValue<UpTo<{ u32::MAX }>>> = "N",
        /// Time for the whole command, shared among the runs of a sweep: what does not fit is
        /// printed before it starts; default: 30s for run, 1m for the others
        time: Option<GivenValue<Time>> = "TIME",
        /// Drives everything random; default: a new one each time, printed
        seed: Vec<GivenValue<Size>> = "N",
        /// Folder for scratch stores and images; default: the current one (run: for a copy of a
        /// store, the folder of the store)
        scratch: Option<Name> = "DIR",
    }

    /// Where a command that measures several runs has its scratch stores, and what its random numbers
    /// come from.
    pub struct ScratchAndSeed under "Run" {
        /// Folder for scratch stores; default: the current one (advise: that of the data)
        scratch: Option<Name> = "DIR",
        /// Drives everything random; default: a new one each time, printed
        seed: Option<GivenValue<Size>> = "N",
    }

    /// The cache states of commands that measure a cold start by default.
    pub struct ColdStart under "Workload" {
        /// What is in memory when a store is opened to be read: data-cold (no pages), warm, cold (no
        /// pages and no names; needs root, drops the caches of the whole machine); default: data-cold
        cache: Vec<GivenValue<Cache>> = "STATE",
    }

    /// What to print and write.
    pub struct Output under "Output" {
        /// Write the record to FILE (- for standard output)
        json: Option<Name> = "FILE",
        ..page: PageOption,
        ..details: ExplainOption,
        ..gate: GateOptions,
        ..talk: Talk,
    }

    /// A page with charts.
    pub struct PageOption {
        /// Write a page with charts to FILE, for a browser
        html: Option<Name> = "FILE",
    }

    /// What explains the figures.
    #[derive(Copy, Eq)]
    pub struct ExplainOption {
        /// Show what explains the differences: processor time, faults, calls, bytes from and to
        /// devices
        explain: bool,
    }

    /// The latencies for other programs.
    pub struct HdrOption {
        /// Write the latencies into folder DIR, a file for each target and kind of operation, as
        /// HdrHistogram's listing of percentiles
        export_hdr: Option<Name> = "DIR",
    }

    /// A limit that decides the exit code.
    pub struct GateOptions under "Output" {
        /// Exit with 3 if any time is more than this share above that of the baseline (compare: above
        /// the old one), by its whole interval
        fail_above: Option<GivenValue<Percentage>> = "PERCENT",
        /// Exit with 3 if an operation has more of these than the baseline's (compare: than before), in
        /// each round: flushes, reads, writes, calls (all three), faults, bytes (read and written),
        /// device-bytes; or if rounds differ in that. Without --fail-above, --time and --rounds, run
        /// makes three rounds
        fail_on: Vec<GivenValue<Counter>> = "COUNTERS",
        /// What --fail-above does when an interval contains the limit: fail (default), pass
        inconclusive: Option<GivenValue<Inconclusive>> = "HOW" [requires = "fail_above"],
    }

    /// The figure of a verdict, for commands that time operations one by one.
    pub struct JudgeOption under "Output" {
        /// Judge a percentile of the latencies as well, paired by round, and let --fail-above judge it
        /// instead of the time: p50, p99
        judge: Option<GivenValue<Judge>> = "FIGURE",
    }

    /// How much a command says on standard error. Results are the same.
    #[derive(Copy, Eq)]
    pub struct Talk {
        /// Print each step on standard error (what is prepared, files, settings as read back), and
        /// show all findings
        verbose: bool [short, help_heading = "Output"],
        /// Print results and errors only: no progress, and nothing that --verbose adds on the way
        quiet: bool [short, help_heading = "Output"],
    }

    /// The file systems that scratch stores are placed on.
    pub struct Placing under "Run" {
        /// Measure each target on each of these file systems: folders, or ext4, xfs, btrfs for a
        /// throw-away image in the scratch folder (Linux, root; ./ext4 is a folder of that name);
        /// plain for the scratch folder, scanned for it with a scanner in the way, which reads each
        /// file before it is opened, clamav for it with ClamAV in the way (Linux, root)
        on: Vec<GivenValue<Text>> = "WHERE",
        /// Size of each image; default: 1GiB
        image_size: Vec<GivenValue<Size>> = "SIZE",
    }
}

impl Running {
    /// Returns when to stop: after exactly the number of rounds that was asked for, or after as
    /// many as are needed and fit into the time.
    pub fn rounds(&self, time: Duration) -> Rounds {
        let seconds = time.as_secs_f64();
        given_value(&self.rounds)
            .map_or_else(|| Rounds::within(seconds), |rounds| Rounds::exactly(rounds, seconds))
    }

    /// Returns the folder that scratch stores are in, if nothing else decides.
    pub fn scratch(&self) -> &Path {
        self.scratch.as_ref().map_or(Path::new("."), Name::path)
    }
}

impl ColdStart {
    /// Returns the cache states, each once.
    pub fn caches(&self) -> Vec<Cache> {
        caches(&self.cache, Cache::DataCold)
    }
}

impl Placing {
    /// Returns the size of an image in bytes.
    pub fn image_size(&self) -> u64 {
        given_value(&self.image_size).unwrap_or(1 << 30)
    }
}

/// Returns each of the states once, in the order written, or `default` if there are none.
pub(crate) fn caches(written: &[GivenValue<Cache>], default: Cache) -> Vec<Cache> {
    let mut caches = Vec::new();
    for cache in written.iter().map(GivenValue::value) {
        if !caches.contains(&cache) {
            caches.push(cache);
        }
    }
    if caches.is_empty() { vec![default] } else { caches }
}
