//! Plans: everything about a run that is decided before it starts.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cache, Durability, Error, Experiment, Residency, Result, Sample, Settings, Work, units,
    words::words,
};

/// A plan of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The seed of key orders, shuffles and payloads.
    pub seed: u64,
    /// The experiment with its data.
    pub experiment: Experiment,
    /// The targets that are compared.
    pub targets: Vec<PlannedTarget>,
    /// The index into `targets` of the one that the others are compared with.
    pub baseline: usize,
    /// The workloads that each target does.
    pub workloads: Vec<Workload>,
    /// The cache states in which each workload is measured.
    pub caches: Vec<Cache>,
    /// The durability class that was asked for; `None` if each target keeps its own.
    pub durability: Option<Durability>,
    /// The memory that every target may use; `None` if it is not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryLimit>,
    /// The other hosts that worker processes run on, as many on each; empty if all run on this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The rule by which the run stops.
    pub rounds: Rounds,
    /// The study that the run is a step of; `None` if it is no part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyPart>,
}

/// The place of a run in a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StudyPart {
    /// The name of the study.
    pub name: String,
    /// The number of the step, counted from 1.
    pub step: usize,
}

impl StudyPart {
    /// The subcommand that measures a study.
    pub const COMMAND: &str = "study";
}

/// A workload in a cache state: targets are compared case by case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The index into the plan's workloads.
    pub workload: usize,
    /// The cache state that its trials start in.
    pub cache: Cache,
}

impl Plan {
    /// Returns every workload in every cache state, the states of a workload next to each other.
    pub fn cases(&self) -> impl Iterator<Item = Case> {
        let caches = |workload| self.caches.iter().map(move |&cache| Case { workload, cache });
        (0..self.workloads.len()).flat_map(caches)
    }

    /// Returns the subcommand that measures the plan, whose options can change it.
    pub fn command(&self) -> &'static str {
        if self.study.is_some() { StudyPart::COMMAND } else { self.experiment.command() }
    }

    /// Returns whether a trial in the state [`Cache::Limited`] started within the limit; `true` for
    /// other states.
    pub fn holds(&self, sample: &Sample) -> bool {
        let limit = self.memory.filter(|_| sample.cache == Cache::Limited);
        limit.zip(sample.before).is_none_or(|(limit, before)| limit.holds(&before))
    }

    /// Returns whether the memory of the run is limited.
    pub fn is_limited(&self) -> bool {
        self.memory.is_some_and(|memory| memory.limit_bytes.is_some())
    }

    /// Returns whether a target is a limit of the machine that the others are compared with, or a
    /// build that is loaded again. If all targets are, they are compared as stores are, and this
    /// returns `false`.
    pub fn is_reference(&self, target: usize) -> bool {
        let is_reference = self.targets.get(target).is_some_and(|target| target.reference);
        is_reference && self.targets.iter().any(|target| !target.reference)
    }

    /// Returns the target whose build of a library `target` loads from a copy, or whose program it
    /// starts once more, if everything else is equal; `None` if there is none.
    pub fn same_build(&self, target: usize) -> Option<usize> {
        let own = self.targets.get(target)?;
        let mut settings = own.settings.clone();
        let build = |name| Some((name, own.settings.get(name)?.strip_prefix(COPY_OF)?));
        let (name, build) = [LIBRARY, WORKER].into_iter().find_map(build)?;
        settings.set(name, build);
        self.targets.iter().position(|other| {
            let place = |target: &PlannedTarget| (target.location.clone(), target.on.clone());
            other.engine == own.engine && place(other) == place(own) && other.settings == settings
        })
    }

    /// Returns the index of the first workload whose work is such: [`Work::writes`], for example.
    pub fn first_workload(&self, is_such: impl Fn(Work) -> bool) -> Option<usize> {
        self.workloads.iter().position(|workload| is_such(workload.work))
    }

    /// Returns a short name of a workload, unique in the plan.
    pub fn workload_name(&self, workload: usize) -> String {
        let Some(one) = self.workloads.get(workload) else {
            return format!("workload {}", workload + 1);
        };
        if let Some((roles, work)) = self.experiment.roles().zip(one.work.role()) {
            return roles.work_name(work);
        }
        let name = one.work.name();
        if self.workloads.iter().filter(|other| other.work.name() == name).count() == 1 {
            return name;
        }
        match one.work.own_databases() {
            // Several groups of processes do the same.
            Some(_) => format!("{name} by {}", one.processes_name()),
            None => format!("{name} {}", workload + 1),
        }
    }

    /// Returns the name of a case, `read, warm`; `insert` if the experiment has no choice of cache
    /// states.
    pub fn case_name(&self, case: Case) -> String {
        let name = self.workload_name(case.workload);
        let states = self.experiment.summary().is_some();
        if states { format!("{name}, {}", case.cache) } else { name }
    }
}

/// The number of operations per commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Batch {
    /// The whole pass is one batch.
    All,
    /// A batch has this many operations; the last batch of a pass may be shorter.
    Of(u64),
}

impl Batch {
    /// Returns the batch of a program that sets nothing: all reads see one state of the store, and
    /// each write is a commit of its own.
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
    /// The work of a trial; its variant is that of the plan's experiment.
    pub work: Work,
    /// The number of operations in a pass; past the number of keys the order starts again.
    pub count: u64,
    /// The operations of a slice if stores take turns; `None` if each makes whole passes, one after
    /// the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<u64>,
    /// The number of parts that the keys are divided into, of which each round touches the next
    /// one; `None` if each round touches all keys, or as many as `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// The operations per commit.
    pub batch: Batch,
    /// The workers of each process, each with a session; all divide the keys among themselves.
    pub threads: u32,
    /// The number of worker processes.
    pub processes: u32,
}

impl Workload {
    /// Creates the workload of one worker that works in one batch.
    pub fn alone(work: impl Into<Work>, count: u64) -> Self {
        let (slice, parts, batch) = (None, None, Batch::All);
        Self { work: work.into(), count, slice, parts, batch, threads: 1, processes: 1 }
    }

    /// Returns the workers of all processes together.
    pub fn workers(&self) -> u32 {
        self.processes.saturating_mul(self.threads)
    }

    /// Returns a name of the processes: `1 process`, `4 processes, a database each`, `4 processes
    /// on one database`.
    pub fn processes_name(&self) -> String {
        match (self.processes, self.work.own_databases()) {
            (1, _) => "1 process".to_owned(),
            (n, Some(true)) => format!("{n} processes, a database each"),
            (n, _) => format!("{n} processes on one database"),
        }
    }
}

/// A target of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTarget {
    /// The name in tables: unique within the plan, short enough to read.
    pub label: String,
    /// The name of the engine.
    pub engine: String,
    /// The name of its stores in a sentence: `plain files`, `SQLite`; empty if it is the engine's
    /// name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The ending of a new store's name; `None` if a path is not enough to create one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<String>,
    /// The location of the store: a path as the user wrote it, or a server's address without the
    /// password; empty for a scratch store on disk.
    pub location: String,
    /// The settings asked for, by the target string, options and the durability class.
    pub settings: Settings,
    /// The names of those among `settings` that only the durability class asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_class: Vec<String>,
    /// The owner of the store that is measured.
    pub owner: Owner,
    /// The name of the file system that its scratch stores were placed on, which no other has;
    /// `None` if no choice was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Whether it is a limit of the machine (`pack`, `memory`, `null`), or loads a copy of a
    /// library: others are compared with it, and it is no place for data.
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
/// The setting that names another storemark program, in whose workers the engine works.
pub const WORKER: &str = "worker";
/// The start of the value of [`LIBRARY`] if a copy of that build is loaded, and of [`WORKER`] if the
/// program is compared with itself.
pub const COPY_OF: &str = "copy:";

/// The owner of a store that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// storemark created the store from the dataset and removes it afterwards.
    Scratch,
    /// The user's own store is only read.
    User,
    /// The store is a scratch copy of the user's own files.
    Copy,
    /// The user's own store is written to because `--in-place` was given.
    InPlace,
}

/// The memory that every target may use, equal for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryLimit {
    /// The bytes that were asked for.
    pub bytes: u64,
    /// The part of `bytes` that each engine's own cache gets, its sessions together.
    pub cache_bytes: u64,
    /// The limit on all memory that the workers and a store's server take up, the page cache of
    /// their files included, as read back from the system; `None` if it could not be set.
    pub limit_bytes: Option<u64>,
    /// The size of a page, the unit of [`Residency`].
    pub page_bytes: u64,
}

impl MemoryLimit {
    /// Returns whether the pages of a store that are in memory fit under the limit: more are
    /// charged to another process.
    pub fn holds(&self, before: &Residency) -> bool {
        let resident = before.resident.saturating_mul(self.page_bytes);
        self.limit_bytes.is_none_or(|limit| resident <= limit)
    }
}

/// The rounds of a run, and when it stops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rounds {
    /// The least number of rounds in each run.
    pub min: u32,
    /// The greatest number of rounds; `None` if only the time limits it.
    pub max: Option<u32>,
    /// The half width of an interval at which the run stops, as a share of the time (0.03: ±3 %) if
    /// there is one target. With several targets the run stops once every ratio has a verdict or an
    /// interval within half of it.
    pub precision: f64,
    /// The time for the whole run in seconds, preparation included.
    pub seconds: f64,
    /// How often all of it is run, each time in fresh processes; rounds are numbered on.
    #[serde(default = "once")]
    pub runs: u32,
    /// The share of the baseline's time that a target may take in addition (0.05: 5 %), if a gate
    /// judges the run. It stops once every ratio is known to be within the limit or above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<f64>,
    /// The figure that a verdict is wanted on, besides the time, and that the gate is about.
    #[serde(default, skip_serializing_if = "Judge::is_time")]
    pub judge: Judge,
}

impl Rounds {
    /// The least number of rounds that a verdict needs.
    pub const FOR_A_VERDICT: u32 = 5;

    /// Returns the rounds that are needed and fit into so many seconds: five or more, until what is
    /// measured is known within 3 %.
    pub const fn within(seconds: f64) -> Self {
        let (min, precision) = (Self::FOR_A_VERDICT, 0.03);
        let judge = Judge::Time;
        Self { min, max: None, precision, seconds, runs: 1, fail_above: None, judge }
    }

    /// Returns exactly `rounds` rounds, which should end within so many seconds.
    pub const fn exactly(rounds: u32, seconds: f64) -> Self {
        Self { min: rounds, max: Some(rounds), ..Self::within(seconds) }
    }

    /// Returns the least number of rounds of all runs together.
    pub fn min_total(&self) -> u32 {
        self.min.saturating_mul(self.runs)
    }
}

words! {
    /// A figure of a trial that verdicts are about.
    #[derive(Default)]
    pub enum Judge as "figure to judge" {
        /// The time of an operation.
        #[default]
        Time = "time",
        /// The median of the latencies.
        P50 = "p50",
        /// The 99th percentile of the latencies.
        P99 = "p99",
    }
}

impl Judge {
    /// Returns whether it is the time, on which there is always a verdict.
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }
}

words! {
    /// What to do when a host is lost during a run.
    pub enum LostHost as "answer to a lost host" {
        /// The run ends.
        Stop = "stop",
        /// It goes on with the hosts that are left.
        GoOn = "go-on",
    }
}

words! {
    /// The effect of a gate that is undecided, as an interval contains its limit.
    pub enum Inconclusive as "effect of an undecided gate" {
        /// The command ends as if the gate had failed.
        Fail = "fail",
        /// The command ends as if the gate had passed.
        Pass = "pass",
    }
}

/// Returns the number of runs in plans that were written before it was recorded.
const fn once() -> u32 {
    1
}
