//! What a trial measured, and what is known of the store it measured. Times are whole
//! nanoseconds, sizes whole bytes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Action, Cache, FileBytes, Fragments, OverTime, Residency, tasks::TaskStep};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// One timed trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Which of the runs that the plan asks for, counted from 0.
    #[serde(default)]
    pub run: u32,
    /// Round, counted from 0 over all runs.
    pub round: u32,
    /// Position of this trial within its shuffled round, counted from 0.
    pub position: u32,
    /// Index into the plan's targets.
    pub target: usize,
    /// Index into the plan's workloads.
    pub workload: usize,
    /// The state it was to start in; whether it did is shown by `before`.
    #[serde(default)]
    pub cache: Cache,
    /// Whether the store was read as it was found: it is too large to be brought into memory.
    #[serde(default, skip_serializing_if = "is_false")]
    pub as_found: bool,
    /// What of the store was in memory when the store was opened; absent: it has no files, or
    /// was not looked at before this round.
    pub before: Option<Residency>,
    /// The same after the trial.
    pub after: Option<Residency>,
    /// Operations of the pass that counts: warm, the steady one; cold, the only one.
    pub operations: u64,
    /// Bytes it read or wrote.
    pub bytes: u64,
    /// Opening the store, before its sessions and any clock of a pass; 0: it was open already.
    pub open_ns: u64,
    /// The pass, from the first operation until the durability class holds for all of it.
    pub wall_ns: u64,
    /// The part of `wall_ns` that would not have passed if each worker had had a processor whenever
    /// it could use one. Absent: not known, or not what is judged (through a server, or with more
    /// workers than processors).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// The part of `wall_ns` after the last commit, which flushes the remaining writes.
    pub settle_ns: u64,
    /// Flushing what was left to the background, after the clock. Not part of `wall_ns`.
    pub background_ns: u64,
    /// What this process, the other worker processes and the store's server spent during the pass.
    pub cost: Cost,
    /// What they asked of the system, if it reports that.
    pub io: Option<Io>,
    /// What the block device under the store did during it and the flush after it, whoever
    /// asked; absent where that is not known.
    pub device: Option<Device>,
    /// What else went on in the machine during it.
    pub load: Load,
    /// Memory that this process, the other worker processes and the store's server occupied at
    /// the end of the pass, the page cache left out; a page that several share is
    /// counted once. Where stores take turns in one process: what opening and reading this one
    /// added. Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Where workers are on several hosts: the time in which all of them worked, which `wall_ns`,
    /// `operations` and `bytes` are about. 0: there was hardly any, and they are about the whole
    /// pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_ns: Option<u64>,
    /// The part of each worker process that another host runs, by the index of the process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPart>,
    /// Each worker's part of the pass, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<Worker>,
    /// The engine's own counters over the pass, summed over its sessions; their
    /// names contain the units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, i64>,
    /// What only this experiment measures.
    pub measured: Measured,
}

/// What the experiments measure that the others do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Measured {
    /// Passes over values.
    Blobs(Passes),
    /// Operations on rows.
    Rows {
        /// What the tables occupy afterwards; absent: they are not in files.
        files: Option<FileBytes>,
    },
    /// Tasks that went through all steps.
    Tasks {
        /// The first pass after opening.
        first: Option<First>,
        /// The latencies of the tasks.
        latency: Latency,
        /// The latency of each kind of step.
        steps: BTreeMap<TaskStep, Latency>,
        /// What the queue occupies afterwards.
        files: FileBytes,
    },
    /// A pass over objects at a storage age.
    Ageing {
        /// The passes.
        #[serde(flatten)]
        passes: Passes,
        /// What the store occupies after a write; absent: it was a read, or the store has no files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<FileBytes>,
        /// How fragmented its files are then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fragments: Option<Fragments>,
    },
    /// A step of a backup.
    Backup {
        /// The part of the time that the store of the catalogue took. All of it in a replay.
        catalogue_ns: u64,
        /// Bytes that the step added to packs.
        added_bytes: u64,
        /// What the catalogue occupies afterwards; absent: it has no files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<FileBytes>,
    },
    /// A step in the life of a store.
    Life {
        /// What the store occupies afterwards, closed; absent: it has no files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<FileBytes>,
        /// What an incremental backup must copy after the changes of a day.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backup: Option<BackupBytes>,
    },
}

/// Bytes of a store's files that an incremental backup must copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupBytes {
    /// One that copies whole files: those that are new, or have another length or time of change.
    pub files: u64,
    /// One that copies blocks of 4 KiB: those that hold other bytes than before.
    pub blocks: u64,
}

/// What passes over values gave besides the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passes {
    /// The first pass after opening, if a steady one follows it: the rest of the sample is then
    /// about the steady one. In a cold state the first pass is the only one.
    pub first: Option<First>,
    /// The latencies of its operations.
    pub latency: Latency,
    /// Where stores took turns: operations of a slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<u64>,
    /// Where copies of a scratch store take turns, too: which one was read, from 0 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<u32>,
    /// Where each round touches a part of the keys: which one, from 0 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u64>,
    /// Whether only keys of the first half of a sample were touched: what all of the data shows is
    /// extrapolated from the two sizes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub half: bool,
    /// Share of the store's own cache that was filled before the first pass; absent: all, or nothing had
    /// to be filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_filled: Option<f64>,
    /// The same over time; absent: it took no longer than a slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// How it kept its schedule, if it had one: latencies count from when an operation was due then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<Paced>,
}

impl Default for Measured {
    fn default() -> Self {
        Self::Blobs(Passes::default())
    }
}

/// How a pass kept its schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Paced {
    /// Operations a second that were to begin.
    pub asked: f64,
    /// Operations a second that were done.
    pub reached: f64,
    /// Median of how late operations began.
    pub lag_p50_ns: u64,
    /// 99th percentile of that.
    pub lag_p99_ns: u64,
    /// All of that: a histogram as [`Latency::histogram`].
    pub lag: String,
}

/// Least share of the operations asked for that a target does which keeps up.
const KEEPS_UP: f64 = 0.95;

impl Paced {
    /// Whether the target could not keep up.
    pub fn is_saturated(&self) -> bool {
        self.reached < self.asked * KEEPS_UP
    }
}

/// One worker's part of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worker {
    /// Index of its process.
    pub process: u32,
    /// Its operations.
    pub operations: u64,
    /// From the common start to its last operation.
    pub wall_ns: u64,
    /// The part of it for which it waited for a processor; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
}

/// What is known of a worker process on another host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostPart {
    /// The host, as it was asked for.
    pub host: String,
    /// Its clock when the trial started.
    #[serde(flatten)]
    pub clock: HostClock,
    /// The latencies of its operations: a histogram as [`Latency::histogram`].
    pub histogram: String,
}

/// The clock of another host, compared with the one of the host that asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostClock {
    /// By how much the clock that times operations is ahead there; starts are corrected for it.
    pub offset_ns: i64,
    /// How much that may be off by: half of the shortest of several round trips.
    pub uncertainty_ns: u64,
    /// By how much the time of day is ahead there.
    pub time_of_day_ns: i64,
}

/// The first pass after opening a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct First {
    /// Its operations: at most one on each key.
    pub operations: u64,
    /// Its time without waiting for a processor, as far as that is known.
    pub ns: u64,
}

/// What this process and others that work for it spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Processor time in user mode.
    pub user_ns: u64,
    /// In kernel mode.
    pub system_ns: u64,
    /// Page faults served from memory.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a device.
    pub major_faults: Option<u64>,
    /// Context switches because a thread waited.
    pub voluntary_switches: Option<u64>,
    /// Context switches because its time was over.
    pub involuntary_switches: Option<u64>,
}

/// Input and output of this process and others that work for it (Linux: `/proc/PID/io`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Io {
    /// Calls that read.
    pub read_calls: u64,
    /// Bytes that they delivered.
    pub read_bytes: u64,
    /// Calls that wrote.
    pub write_calls: u64,
    /// Bytes that they took.
    pub written_bytes: u64,
    /// Bytes fetched from a device for this process, read ahead and mapped ones too.
    pub device_read_bytes: u64,
}

/// Bytes moved by a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Read.
    pub read_bytes: u64,
    /// Written.
    pub written_bytes: u64,
}

/// What others did on the machine during a pass, as far as the system reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Processors' worth of time that other processes used (1.0: one of them fully). The system
    /// counts in steps of 10 ms, which the figure may be off by in either direction, below zero too:
    /// those of short passes are right on average only.
    pub other_cpus: Option<f64>,
    /// Share of all processor time stolen by the hypervisor.
    pub steal: Option<f64>,
    /// Share of the time in which some task waited for a processor (PSI).
    pub cpu_pressure: Option<f64>,
    /// For input or output.
    pub io_pressure: Option<f64>,
    /// For memory.
    pub memory_pressure: Option<f64>,
    /// Bytes swapped in and out.
    pub swapped_bytes: Option<u64>,
    /// Times that processors throttled themselves.
    pub throttled: Option<u64>,
    /// Frequency of the fastest processor at the end, in MHz.
    pub mhz: Option<f64>,
}

/// The latencies of the operations of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Operations. The last of a batch includes the commit.
    pub operations: u64,
    /// Those that were timed one by one: of short operations a few, each standing for those around
    /// it, and all that took far longer.
    pub timed: u64,
    /// The pass, without what is flushed after its last operation.
    pub wall_ns: u64,
    /// Sum of all latencies, exact; with several workers more than `wall_ns`. Where not all were
    /// timed, the time of all operations together.
    pub sum_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Largest, as the histogram holds it (within 0.1 %).
    pub max_ns: u64,
    /// All latencies: an HDR histogram, V2 with DEFLATE, in base64.
    pub histogram: String,
    /// Of a mix, the latencies of each kind of operation: histograms that add up to that one, but for
    /// long operations that were not timed, of which the kind is not known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<Action, String>,
}

impl Sample {
    /// The passes over values; absent for experiments without values.
    pub fn passes(&self) -> Option<&Passes> {
        match &self.measured {
            Measured::Blobs(passes) | Measured::Ageing { passes, .. } => Some(passes),
            Measured::Rows { .. }
            | Measured::Tasks { .. }
            | Measured::Backup { .. }
            | Measured::Life { .. } => None,
        }
    }

    /// The same to change.
    pub fn passes_mut(&mut self) -> Option<&mut Passes> {
        match &mut self.measured {
            Measured::Blobs(passes) | Measured::Ageing { passes, .. } => Some(passes),
            Measured::Rows { .. }
            | Measured::Tasks { .. }
            | Measured::Backup { .. }
            | Measured::Life { .. } => None,
        }
    }

    /// The latencies of the operations; absent: none was timed one by one.
    pub fn latency(&self) -> Option<&Latency> {
        match &self.measured {
            Measured::Tasks { latency, .. } => Some(latency),
            _ => self.passes().map(|passes| &passes.latency),
        }
    }

    /// The same to change.
    pub fn latency_mut(&mut self) -> Option<&mut Latency> {
        match &mut self.measured {
            Measured::Blobs(Passes { latency, .. })
            | Measured::Ageing { passes: Passes { latency, .. }, .. }
            | Measured::Tasks { latency, .. } => Some(latency),
            Measured::Rows { .. } | Measured::Backup { .. } | Measured::Life { .. } => None,
        }
    }

    /// The latency of each kind of step; absent for experiments without tasks.
    pub fn steps(&self) -> Option<&BTreeMap<TaskStep, Latency>> {
        if let Measured::Tasks { steps, .. } = &self.measured { Some(steps) } else { None }
    }

    /// Nanoseconds that the catalogue of a backup took, and bytes added to packs; absent for other
    /// experiments.
    pub fn backup(&self) -> Option<(u64, u64)> {
        match self.measured {
            Measured::Backup { catalogue_ns, added_bytes, .. } => Some((catalogue_ns, added_bytes)),
            _ => None,
        }
    }

    /// What an incremental backup must copy afterwards; absent: that was not looked at.
    pub fn backup_bytes(&self) -> Option<BackupBytes> {
        if let Measured::Life { backup, .. } = self.measured { backup } else { None }
    }

    /// How fragmented the store's files are afterwards; absent: not known.
    pub fn fragments(&self) -> Option<&Fragments> {
        let Measured::Ageing { fragments, .. } = &self.measured else { return None };
        fragments.as_ref()
    }

    /// The first pass after opening, if a steady one follows it.
    pub fn first(&self) -> Option<First> {
        match &self.measured {
            Measured::Tasks { first, .. } => *first,
            _ => self.passes()?.first,
        }
    }

    /// The pass over time.
    pub fn over_time(&self) -> Option<&OverTime> {
        self.passes()?.over_time.as_ref()
    }

    /// How the pass kept its schedule.
    pub fn paced(&self) -> Option<&Paced> {
        self.passes()?.paced.as_ref()
    }

    /// What the store occupies afterwards, if each trial makes its own.
    pub fn files(&self) -> Option<FileBytes> {
        match &self.measured {
            Measured::Blobs(_) => None,
            Measured::Rows { files }
            | Measured::Ageing { files, .. }
            | Measured::Backup { files, .. }
            | Measured::Life { files, .. } => *files,
            Measured::Tasks { files, .. } => Some(*files),
        }
    }

    /// The time of the pass that verdicts use: without waiting for a processor, as far as that is
    /// known.
    pub fn judged_ns(&self) -> u64 {
        self.wall_ns.saturating_sub(self.waited_ns.unwrap_or(0))
    }

    /// This pass, as the first one after opening.
    pub fn as_first(&self) -> First {
        First { operations: self.operations, ns: self.judged_ns() }
    }

    /// Nanoseconds an operation, which targets are compared by: the pass over its operations; on a
    /// schedule, which all targets' passes take as long as, the mean latency.
    pub fn ns_per_operation(&self) -> f64 {
        match self.paced().and(self.latency()) {
            None => self.judged_ns() as f64 / self.operations as f64,
            Some(latency) => latency.sum_ns as f64 / latency.operations as f64,
        }
    }
}

impl Device {
    /// What it moved between an earlier state of its counters and this one.
    #[must_use]
    pub fn since(self, then: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(then.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(then.written_bytes),
        }
    }
}
