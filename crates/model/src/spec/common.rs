//! Options that several experiments share.

use std::{path::Path, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value::{Name, Size, Text, Time, UpTo, Written, one};
use crate::{Cache, Rounds};

/// Fewer rounds carry no verdict.
pub const MIN_ROUNDS: u32 = 5;
/// Rounds go on until every interval is within this share of its figure.
const PRECISION: f64 = 0.03;

/// How long to measure, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Run"))]
pub struct Running {
    /// What the others are compared with: a target as written, or its number; default: the first
    /// (rows, without targets: SQLite as it is set)
    #[cfg_attr(feature = "clap", arg(long, value_name = "TARGET"))]
    pub baseline: Option<Written<Text>>,
    /// Run exactly N rounds, however long they take
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub rounds: Vec<Written<UpTo<{ u32::MAX }>>>,
    /// Time for the whole run, shared among the runs of a sweep; at least five rounds are run;
    /// default: 45s for run, 1m for the others
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub time: Option<Written<Time>>,
    /// Drives everything random; default: a new one each time, printed
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub seed: Vec<Written<Size>>,
    /// Folder for scratch stores and images; default: the current one (run: for a copy of a store,
    /// the folder of the store)
    #[cfg_attr(feature = "clap", arg(long, value_name = "DIR"))]
    pub scratch: Option<Name>,
}

impl Running {
    /// When to stop: after exactly so many rounds, or as many as are needed and fit into the time.
    pub fn rounds(&self, time: Duration) -> Rounds {
        let exactly = one(&self.rounds);
        Rounds {
            min: exactly.unwrap_or(MIN_ROUNDS),
            max: exactly,
            precision: PRECISION,
            seconds: self.time(time).as_secs_f64(),
        }
    }

    /// The time for the whole run.
    pub fn time(&self, default: Duration) -> Duration {
        one(&self.time).unwrap_or(default)
    }

    /// The folder that scratch stores are in, if nothing else decides.
    pub fn scratch(&self) -> &Path {
        self.scratch.as_ref().map_or(Path::new("."), Name::path)
    }
}

/// What to print and write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Output"))]
pub struct Output {
    /// Write the record to FILE (- for standard output)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub json: Option<Name>,
    /// Write a page with charts to FILE, for a browser
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub html: Option<Name>,
    /// Show what explains the differences: processor time, faults, calls, bytes from and to devices
    #[cfg_attr(feature = "clap", arg(long))]
    pub explain: bool,
    /// How much is said on the way.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub talk: Talk,
}

/// How much a command says on standard error. Results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Talk {
    /// Print each step on standard error (what is prepared, files, settings as read back), and show
    /// all findings
    #[cfg_attr(feature = "clap", arg(long, short, help_heading = "Output"))]
    pub verbose: bool,
    /// Print results and errors only: no progress, and nothing that --verbose adds on the way
    #[cfg_attr(feature = "clap", arg(long, short, help_heading = "Output"))]
    pub quiet: bool,
}

/// The file systems that scratch stores are placed on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Run"))]
pub struct Placing {
    /// Measure each target on each of these file systems: folders, or ext4, xfs, btrfs for a
    /// throw-away image in the scratch folder (Linux, root; ./ext4 is a folder of that name)
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHERE"))]
    pub on: Vec<Written<Text>>,
    /// Size of each image; default: 1GiB
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE"))]
    pub image_size: Vec<Written<Size>>,
}

impl Placing {
    /// Bytes of an image.
    pub fn image_size(&self) -> u64 {
        one(&self.image_size).unwrap_or(1 << 30)
    }
}

/// Each of the states once, in the order written, `default` if there are none.
pub(super) fn caches(written: &[Written<Cache>], default: Cache) -> Vec<Cache> {
    let mut caches = Vec::new();
    for cache in written.iter().map(Written::value) {
        if !caches.contains(&cache) {
            caches.push(cache);
        }
    }
    if caches.is_empty() { vec![default] } else { caches }
}
