//! A plan: everything about a run that was decided before it began.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cache, Durability, Error, Experiment, Residency, Result, Sample, Settings, Work, units,
};

/// What will run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Drives key orders, shuffles and payloads.
    pub seed: u64,
    /// What is measured, with which data.
    pub experiment: Experiment,
    /// What is compared.
    pub targets: Vec<PlannedTarget>,
    /// Index into `targets` of the one the others are compared with.
    pub baseline: usize,
    /// What is done with each of them.
    pub workloads: Vec<Workload>,
    /// The cache states in which each of them is measured.
    pub caches: Vec<Cache>,
    /// The durability class asked for; none asked: each target is as it is set.
    pub durability: Option<Durability>,
    /// What memory every target may use; absent: as it is set, and all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryLimit>,
    /// The other hosts that worker processes run on, as many on each; none: all run on this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// When to stop.
    pub rounds: Rounds,
    /// The study that it is a step of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyPart>,
}

/// A step of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StudyPart {
    /// Name of the study.
    pub name: String,
    /// The step, counted from 1.
    pub step: usize,
}

impl StudyPart {
    /// The subcommand that measures it.
    pub const COMMAND: &str = "study";
}

/// One workload in one cache state: what targets are compared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Index into the plan's workloads.
    pub workload: usize,
    /// The state that its trials begin in.
    pub cache: Cache,
}

impl Plan {
    /// Every workload in every cache state, the states of a workload side by side.
    pub fn cases(&self) -> impl Iterator<Item = Case> {
        let caches = |workload| self.caches.iter().map(move |&cache| Case { workload, cache });
        (0..self.workloads.len()).flat_map(caches)
    }

    /// The subcommand that measures it, whose options can change it.
    pub fn command(&self) -> &'static str {
        if self.study.is_some() { StudyPart::COMMAND } else { self.experiment.command() }
    }

    /// Whether a trial in the state [`Cache::Limited`] began within the limit; others do.
    pub fn holds(&self, sample: &Sample) -> bool {
        let limit = self.memory.filter(|_| sample.cache == Cache::Limited);
        limit.zip(sample.before).is_none_or(|(limit, before)| limit.holds(&before))
    }

    /// Whether the memory of the run is limited.
    pub fn is_limited(&self) -> bool {
        self.memory.is_some_and(|memory| memory.limit_bytes.is_some())
    }

    /// Whether a target is a limit of the machine that the others are held against, or a build that is
    /// loaded again. If all targets are, they are compared as stores are.
    pub fn is_reference(&self, target: usize) -> bool {
        let is_reference = self.targets.get(target).is_some_and(|target| target.reference);
        is_reference && self.targets.iter().any(|target| !target.reference)
    }

    /// The target whose build of a library `target` loads from a copy: nothing else differs.
    pub fn same_build(&self, target: usize) -> Option<usize> {
        let own = self.targets.get(target)?;
        let mut settings = own.settings.clone();
        settings.set(LIBRARY, own.settings.get(LIBRARY)?.strip_prefix(COPY_OF)?);
        self.targets.iter().position(|other| {
            let place = |target: &PlannedTarget| (target.location.clone(), target.on.clone());
            other.engine == own.engine && place(other) == place(own) && other.settings == settings
        })
    }

    /// Index of the first workload whose work is such: [`Work::writes`], say.
    pub fn first(&self, is_such: impl Fn(Work) -> bool) -> Option<usize> {
        self.workloads.iter().position(|workload| is_such(workload.work))
    }
}

/// Operations per commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Batch {
    /// The whole pass is one batch.
    All,
    /// This many operations; the last batch of a pass may be shorter.
    Of(u64),
}

impl Batch {
    /// What a program does that sets nothing: all reads see one state of the store, and each write is a
    /// commit of its own.
    pub fn usual(writes: bool) -> Self {
        if writes { Self::Of(1) } else { Self::All }
    }
}

/// Reads `all`, or a number that is 1 or more.
impl FromStr for Batch {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "all" {
            return Ok(Self::All);
        }
        let operations = units::parse_size(text).map_err(|error| {
            Error::usage(format!("{error}; or all: the whole pass is one commit"))
        })?;
        Ok(Self::Of(operations))
    }
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all operations"),
            Self::Of(1) => f.write_str("1 operation"),
            Self::Of(n) => write!(f, "{n} operations"),
        }
    }
}

/// A workload, the same for every target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// What is done; of the experiment of the plan.
    pub work: Work,
    /// Operations in a pass; past the number of keys the order starts again.
    pub count: u64,
    /// Where stores take turns: the operations of a slice of their passes. Absent: each makes whole
    /// passes, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<u64>,
    /// Into how many parts the keys are divided, of which each round touches the next one; absent:
    /// each round touches all keys, or as many as `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Operations per commit.
    pub batch: Batch,
    /// Workers of each process, a session each; all share the keys out among themselves.
    pub threads: u32,
    /// Processes.
    pub processes: u32,
}

impl Workload {
    /// Of one worker, in one batch.
    pub fn alone(work: Work, count: u64) -> Self {
        let (slice, parts, batch) = (None, None, Batch::All);
        Self { work, count, slice, parts, batch, threads: 1, processes: 1 }
    }

    /// Workers of all processes together.
    pub fn workers(&self) -> u32 {
        self.processes.saturating_mul(self.threads)
    }
}

/// One target of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTarget {
    /// Its name in tables: unique within the plan, short enough to read.
    pub label: String,
    /// The engine's name.
    pub engine: String,
    /// What its stores are called in a sentence: `plain files`, `SQLite`; empty: as the engine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// How the name of a new store ends; absent: a path is not enough to make one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<String>,
    /// Where the store is: a path as the user wrote it, or a server's address without the password;
    /// empty for a scratch store on disk.
    pub location: String,
    /// Settings asked for, by the target string, options and the durability class.
    pub settings: Settings,
    /// Names of those among `settings` that only the durability class asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_class: Vec<String>,
    /// Whose store is measured.
    pub owner: Owner,
    /// The file system that its scratch stores were placed on, by a name that no other has;
    /// absent: no choice was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Whether it is a limit of the machine (`pack`, `memory`, `null`), or loads a copy of a library: it is
    /// compared with, and no place for data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// Whether it loses commits if its process is killed, without a power cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost_if_killed: bool,
    /// Whether only one process at a time can have its store open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_process: bool,
}

/// The setting that names another build of an engine's library.
pub const LIBRARY: &str = "lib";
/// What the value of [`LIBRARY`] starts with if a copy of that build is loaded.
pub const COPY_OF: &str = "copy:";

/// Whose store is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// Made by storemark from the dataset, removed afterwards.
    Scratch,
    /// The user's own, only read.
    User,
    /// A scratch copy of the user's own files.
    Copy,
    /// The user's own, written to because `--in-place` was given.
    InPlace,
}

/// Equal memory for all targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryLimit {
    /// What was asked for.
    pub bytes: u64,
    /// The part of it that each engine's own cache gets, its sessions together.
    pub cache_bytes: u64,
    /// The limit on all memory that the workers and a store's server take up, the page cache of
    /// their files included, as read back from the system; absent: it could not be set.
    pub limit_bytes: Option<u64>,
    /// Size of a page, which [`Residency`] is counted in.
    pub page_bytes: u64,
}

impl MemoryLimit {
    /// Whether the pages of a store that are in memory could be there under the limit: more are
    /// charged to somebody else.
    pub fn holds(&self, before: &Residency) -> bool {
        let resident = before.resident.saturating_mul(self.page_bytes);
        self.limit_bytes.is_none_or(|limit| resident <= limit)
    }
}

/// When a run stops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rounds {
    /// At least this many in each run.
    pub min: u32,
    /// At most this many; absent: as many as the time allows.
    pub max: Option<u32>,
    /// A target alone: stop once its interval is within this share of its time (0.03: ±3 %). Several:
    /// once every ratio has a verdict or an interval within half of it.
    pub precision: f64,
    /// Time for the whole run in seconds, what it makes ready included.
    pub seconds: f64,
    /// How often all of it is run, each time in fresh processes; rounds are numbered on.
    #[serde(default = "once")]
    pub runs: u32,
}

const fn once() -> u32 {
    1
}
