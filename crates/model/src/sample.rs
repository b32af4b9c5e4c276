//! Samples: what a trial measured. Times are whole nanoseconds, sizes whole bytes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgeMeasured, BackupBytes, BackupMeasured, Cache, FileBytes, First, Fragments, Latency,
    LifeMeasured, Measured, OverTime, Paced, Passes, QueueMeasured, Residency, RoleMeasured,
    RowsMeasured, tasks::TaskStep,
};

/// A timed trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The run of the plan that it belongs to, counted from 0.
    #[serde(default)]
    pub run: u32,
    /// The round, counted from 0 over all runs.
    pub round: u32,
    /// The position of this trial within its shuffled round, counted from 0.
    pub position: u32,
    /// The index into the plan's targets.
    pub target: usize,
    /// The index into the plan's workloads.
    pub workload: usize,
    /// The cache state that it was to start in; `before` shows whether it did.
    #[serde(default)]
    pub cache: Cache,
    /// Whether the store was read as it was found, because it is too large to be brought into
    /// memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_found: bool,
    /// The pages and names in memory when the store was opened; `None` if it has no files, or they
    /// were not counted before this round.
    pub before: Option<Residency>,
    /// The same after the trial.
    pub after: Option<Residency>,
    /// The operations of the pass that counts: the steady one if warm, the only one if cold.
    pub operations: u64,
    /// The bytes that the pass read or wrote.
    pub bytes: u64,
    /// The time of opening the store, before its sessions and any clock of a pass; 0 if it was open
    /// already.
    pub open_ns: u64,
    /// The time of the pass, from the first operation until the durability class holds for all of
    /// it.
    pub wall_ns: u64,
    /// The part of `wall_ns` that would not have passed if each worker had had a processor whenever
    /// it could use one. `None` if it is not known, or verdicts do not use it (through a server, or
    /// with more workers than processors).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// The part of `wall_ns` after the last commit, which flushes the remaining writes.
    pub settle_ns: u64,
    /// The time of flushing what was left to the background, after the clock. It is not part of
    /// `wall_ns`.
    pub background_ns: u64,
    /// The cost of this process, the other worker processes and the store's server during the pass.
    pub cost: Cost,
    /// Their input and output; `None` if the system does not report it.
    pub io: Option<Io>,
    /// What the block device under the store did during the pass and the flush after it, for any
    /// process; `None` if that is not known.
    pub device: Option<Device>,
    /// The work of other processes on the machine during the pass.
    pub load: Load,
    /// The memory that this process, the other worker processes and the store's server occupied at
    /// the end of the pass, without the page cache; a page that several share is counted once. If
    /// stores take turns in one process: what opening and reading this one added. `None` if it is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The time in which all workers on several hosts worked, which `wall_ns`, `operations` and
    /// `bytes` are then about. 0 if there was hardly any, and they are about the whole pass. `None`
    /// if all workers are on one host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_ns: Option<u64>,
    /// The part of each worker process on another host, by the index of the process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPart>,
    /// Each worker's part of the pass, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<Worker>,
    /// The engine's own counters over the pass, summed over its sessions; their names contain the
    /// units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, i64>,
    /// The figures that only this experiment has.
    pub measured: Measured,
}

/// The least share of the operations asked for that a target does which keeps up.
const KEEPS_UP: f64 = 0.95;

impl Paced {
    /// Returns whether the target could not keep up.
    pub fn is_saturated(&self) -> bool {
        self.reached < self.asked * KEEPS_UP
    }
}

/// A worker's part of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worker {
    /// The index of its process.
    pub process: u32,
    /// The number of its operations.
    pub operations: u64,
    /// The time from the common start to its last operation.
    pub wall_ns: u64,
    /// The part of it for which it waited for a processor; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
}

/// A worker process on another host: its clock and its latencies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostPart {
    /// The host, as it was asked for.
    pub host: String,
    /// The clock of the process when the trial started.
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
    /// The error bound of `offset_ns`: half of the shortest of several round trips.
    pub uncertainty_ns: u64,
    /// By how much the time of day is ahead there.
    pub time_of_day_ns: i64,
}

/// The cost of this process and of others that work for it. A figure that the system does not report
/// is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// The processor time in user mode.
    pub user_ns: u64,
    /// The processor time in kernel mode.
    pub system_ns: u64,
    /// The page faults served from memory.
    pub minor_faults: Option<u64>,
    /// The page faults that waited for a device.
    pub major_faults: Option<u64>,
    /// The context switches because a thread waited.
    pub voluntary_switches: Option<u64>,
    /// The context switches because a thread's time slice was over.
    pub involuntary_switches: Option<u64>,
    /// The calls that flush to the device: fsync, fdatasync and msync. `None` if a server's flushes
    /// would be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
}

/// The input and output of this process and others that work for it (Linux: `/proc/PID/io`, Windows:
/// `GetProcessIoCounters`, macOS: `proc_pid_rusage`). By default nothing was read or written, from and to a
/// device neither. A figure is `None` if the system does not report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Io {
    /// The calls that read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_calls: Option<u64>,
    /// The bytes that these calls returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// The calls that wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_calls: Option<u64>,
    /// The bytes that these calls wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// The bytes fetched from a device for this process, also by readahead and through mappings.
    pub device_read_bytes: Option<u64>,
    /// The bytes that it had the system write to a device: pages that it changed, each time after they
    /// were written. `None` if the system does not report them, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_written_bytes: Option<u64>,
}

impl Io {
    /// No input and no output.
    pub const NONE: Self = Self {
        read_calls: Some(0),
        read_bytes: Some(0),
        write_calls: Some(0),
        written_bytes: Some(0),
        device_read_bytes: Some(0),
        device_written_bytes: Some(0),
    };
}

impl Default for Io {
    fn default() -> Self {
        Self::NONE
    }
}

/// The bytes moved by a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// The bytes read.
    pub read_bytes: u64,
    /// The bytes written.
    pub written_bytes: u64,
}

/// The work of other processes on the machine during a pass. A figure that the system does not
/// report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// The processor time of other processes over the time of the pass (1.0: one processor fully).
    /// The system counts in steps of 10 ms, which the figure may be off by in either direction,
    /// below zero too: figures of short passes are right on average only.
    pub other_cpus: Option<f64>,
    /// The share of all processor time that the hypervisor took (steal).
    pub steal: Option<f64>,
    /// The share of the time in which some task waited for a processor (PSI).
    pub cpu_pressure: Option<f64>,
    /// The share of the time in which some task waited for input or output.
    pub io_pressure: Option<f64>,
    /// The share of the time in which some task waited for memory.
    pub memory_pressure: Option<f64>,
    /// The bytes swapped in and out.
    pub swapped_bytes: Option<u64>,
    /// The number of times that processors throttled themselves.
    pub throttled: Option<u64>,
    /// The frequency of the fastest processor at the end, in MHz.
    pub mhz: Option<f64>,
}

impl Sample {
    /// Returns the passes over values; `None` for experiments without values.
    pub fn passes(&self) -> Option<&Passes> {
        match &self.measured {
            Measured::Blobs(passes)
            | Measured::Age(AgeMeasured { passes, .. })
            | Measured::Roles(RoleMeasured { passes, .. }) => Some(passes),
            _ => None,
        }
    }

    /// Returns the passes over values for changes; `None` for experiments without values.
    pub fn passes_mut(&mut self) -> Option<&mut Passes> {
        match &mut self.measured {
            Measured::Blobs(passes)
            | Measured::Age(AgeMeasured { passes, .. })
            | Measured::Roles(RoleMeasured { passes, .. }) => Some(passes),
            _ => None,
        }
    }

    /// Returns the figures of tasks; `None` for other experiments.
    pub fn queue(&self) -> Option<&QueueMeasured> {
        if let Measured::Queue(queue) = &self.measured { Some(queue) } else { None }
    }

    /// Returns the latencies of the operations; `None` if none was timed one by one.
    pub fn latency(&self) -> Option<&Latency> {
        let of_tasks = self.queue().map(|queue| &queue.latency);
        of_tasks.or_else(|| Some(&self.passes()?.latency))
    }

    /// Returns the latencies of the operations for changes; `None` if none was timed one by one.
    pub fn latency_mut(&mut self) -> Option<&mut Latency> {
        match &mut self.measured {
            Measured::Queue(queue) => Some(&mut queue.latency),
            Measured::Blobs(passes)
            | Measured::Age(AgeMeasured { passes, .. })
            | Measured::Roles(RoleMeasured { passes, .. }) => Some(&mut passes.latency),
            _ => None,
        }
    }

    /// Returns the latency of each kind of step; `None` for experiments without tasks.
    pub fn steps(&self) -> Option<&BTreeMap<TaskStep, Latency>> {
        self.queue().map(|queue| &queue.steps)
    }

    /// Returns the figures of a role; `None` for other experiments.
    pub fn role(&self) -> Option<&RoleMeasured> {
        if let Measured::Roles(role) = &self.measured { Some(role) } else { None }
    }

    /// Returns the figures of a step of a backup; `None` for other experiments.
    pub fn backup(&self) -> Option<&BackupMeasured> {
        if let Measured::Backup(backup) = &self.measured { Some(backup) } else { None }
    }

    /// Returns the bytes that an incremental backup must copy afterwards; `None` if they were not
    /// measured.
    pub fn backup_bytes(&self) -> Option<BackupBytes> {
        if let Measured::Life(life) = &self.measured { life.backup } else { None }
    }

    /// Returns how fragmented the store's files are afterwards; `None` if that is not known.
    pub fn fragments(&self) -> Option<&Fragments> {
        if let Measured::Age(age) = &self.measured { age.fragments.as_ref() } else { None }
    }

    /// Returns the first pass after opening; `None` if no steady one follows it.
    pub fn first_pass(&self) -> Option<First> {
        let of_tasks = self.queue().map(|queue| queue.first);
        of_tasks.unwrap_or_else(|| self.passes()?.first)
    }

    /// Returns the bytes of the store afterwards; `None` if trials do not create a store each, or
    /// it has no files.
    pub fn files(&self) -> Option<FileBytes> {
        match &self.measured {
            Measured::Blobs(_) | Measured::Roles(_) => None,
            Measured::Rows(RowsMeasured { files })
            | Measured::Age(AgeMeasured { files, .. })
            | Measured::Backup(BackupMeasured { files, .. })
            | Measured::Life(LifeMeasured { files, .. }) => *files,
            Measured::Queue(QueueMeasured { files, .. }) => Some(*files),
        }
    }

    /// Returns the pass over time; `None` if it was not measured or took no longer than a slice.
    pub fn over_time(&self) -> Option<&OverTime> {
        self.passes()?.over_time.as_ref()
    }

    /// Returns how the pass kept its schedule; `None` if it had none.
    pub fn paced(&self) -> Option<&Paced> {
        self.passes()?.paced.as_ref()
    }

    /// Returns the time of the pass that verdicts use: without waiting for a processor, as far as
    /// that is known.
    pub fn judged_ns(&self) -> u64 {
        self.wall_ns.saturating_sub(self.waited_ns.unwrap_or(0))
    }

    /// Returns this pass as the first one after opening.
    pub fn as_first(&self) -> First {
        First { operations: self.operations, ns: self.judged_ns() }
    }

    /// Returns the nanoseconds an operation that targets are compared by: the time of the pass over
    /// its operations. On a schedule, where all targets' passes take the same time, it is the mean
    /// latency, as it is for roles.
    pub fn ns_per_operation(&self) -> f64 {
        if let Some(role) = self.role() {
            return role.worked_ns as f64 / self.operations as f64;
        }
        match self.paced().and(self.latency()) {
            None => self.judged_ns() as f64 / self.operations as f64,
            Some(latency) => latency.sum_ns as f64 / latency.operations as f64,
        }
    }
}

impl Device {
    /// Returns what the device moved between an earlier state of its counters and this one.
    #[must_use]
    pub fn since(self, then: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(then.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(then.written_bytes),
        }
    }
}
