//! What can be doubtful about a result, and how much that weighs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Severity;
use crate::{Cache, Durability};

/// What can be doubtful about a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "finding")]
#[non_exhaustive]
pub enum FindingKind {
    /// storemark itself was built without optimisation.
    DebugBuild,
    /// A pass touches fewer keys than the dataset has.
    KeysNotCovered {
        /// Distinct keys a pass touches, or can touch.
        touched: u64,
        /// Keys in the dataset.
        keys: u64,
    },
    /// A setting that was asked for did not take effect.
    SettingNotInEffect {
        /// Its name.
        name: String,
        /// What was asked for.
        asked: String,
        /// What the engine reports.
        effect: String,
    },
    /// Targets that are compared promise different things after a power cut.
    DurabilityDiffers {
        /// Class of this target.
        class: Durability,
        /// Class of the baseline.
        baseline: Durability,
    },
    /// All data fits into the processor's cache.
    FitsCpuCache {
        /// Bytes of the dataset.
        bytes: u64,
        /// Size of the last-level cache.
        cache: u64,
    },
    /// The stores are not on a disk's own file system.
    UnusualFilesystem {
        /// Its type: `tmpfs`, `overlay`, …
        kind: String,
        /// Where it is mounted.
        mount: String,
    },
    /// Other processes used the machine during trials.
    OtherLoad {
        /// Processors' worth of time.
        cpus: f64,
    },
    /// The hypervisor took time during trials.
    Steal {
        /// Share of all processor time.
        share: f64,
    },
    /// The interval is wider than asked for.
    TooNoisy {
        /// Half width of the interval as a share of the figure.
        half_width: f64,
        /// What was asked for.
        precision: f64,
    },
    /// Too few rounds for an interval that can be trusted.
    TooFewRounds {
        /// Rounds that were run.
        rounds: u32,
        /// Rounds it takes.
        min: u32,
    },
    /// The tool's own loop is a good part of what was measured.
    ToolShare {
        /// Share of the wall time.
        share: f64,
    },
    /// The record's own figures contradict each other.
    Arithmetic {
        /// Which, and how.
        what: String,
    },
    /// Same keys and lengths, other bytes than the baseline's.
    BytesDiffer {
        /// The first key whose bytes differ.
        key: String,
    },
    /// A fixed order that may equal the order of insertion.
    OrderOfInsertion,
    /// Work was left to the background when the clock stopped.
    LeftToBackground {
        /// Time it took afterwards, as a share of the measured time.
        share: f64,
    },
    /// The file system writes whole files out as they are closed.
    FlushedOnClose {
        /// Its type.
        kind: String,
    },
    /// The machine has less free memory than the stores are large.
    MemorySmall {
        /// Bytes of all stores.
        bytes: u64,
        /// Bytes available at the start.
        available: u64,
    },
    /// This system does not tell what else ran on it.
    LoadUnknown,
    /// A trial began in another cache state than it was to.
    StateNotReached {
        /// What was to be reached.
        cache: Cache,
        /// Share of the store's pages that were in the page cache.
        resident: f64,
        /// Share of its names that were in the dentry cache, where that matters.
        names: Option<f64>,
    },
    /// A warm trial read from a device: its pages were dropped meanwhile.
    StateFetched {
        /// Bytes from the device for each byte of the values.
        fetched: f64,
    },
    /// A cold trial read less from a device than it delivered.
    StateNotFetched {
        /// What it was to be.
        cache: Cache,
        /// Bytes from the device for each byte of the values.
        fetched: f64,
    },
    /// Pages left the cache while a warm trial ran.
    StateLost {
        /// Share of the store's pages that were still in the page cache afterwards.
        resident: f64,
    },
    /// The system does not tell what the cache held.
    StateUnproven {
        /// Why not.
        why: String,
    },
    /// A cache state that was asked for cannot be reached, so nothing was measured in it.
    StateUnreachable {
        /// Which.
        cache: Cache,
        /// Why not, and what is missing.
        why: String,
    },
    /// It has no files, or none that can be reached, so it is never cold.
    AlwaysWarm,
    /// Reads were measured with all data in memory only.
    OnlyWarm,
    /// The device under the stores is cached itself.
    CachedTwice {
        /// The device: a loop device without direct I/O.
        device: String,
    },
    /// A file system stands in a file of another one.
    LoopDevice {
        /// Its type.
        kind: String,
        /// The loop device.
        device: String,
        /// Whether it goes past the page cache.
        direct: bool,
    },
    /// The host of this virtual machine may cache what this machine's device delivers.
    HostMayCache {
        /// Kind of virtual machine.
        machine: String,
    },
    /// An update wrote bytes that were already there, which some engines skip.
    SameBytes {
        /// Share of the values looked at.
        share: f64,
    },
    /// The data can be compressed and the file system does so.
    Compressible {
        /// The file system.
        kind: String,
        /// Size of a deflated sample over its size.
        ratio: f64,
    },
    /// Memory was written to or read from swap during a trial.
    Swapped {
        /// Bytes in both directions.
        bytes: u64,
    },
    /// The processor's frequency governor does not ask for full speed.
    Governor {
        /// Its name.
        governor: String,
    },
    /// The processor throttled itself during a trial.
    Throttled {
        /// Times it did.
        times: u64,
    },
    /// The processor ran at different frequencies in different trials.
    FrequencyVaries {
        /// Least, in MHz.
        low_mhz: f64,
        /// Greatest, in MHz.
        high_mhz: f64,
    },
    /// Tasks waited for a resource during a trial (pressure stall information).
    Pressure {
        /// `cpu`, `io` or `memory`.
        resource: String,
        /// Share of the trial in which some task waited.
        share: f64,
    },
    /// Times rose or fell over the rounds.
    Drift {
        /// From the first round to the last: 0.1 is a tenth slower.
        change: f64,
    },
    /// Times fall into two groups.
    TwoModes {
        /// Time of the slower group over that of the faster.
        ratio: f64,
    },
    /// Single operations that took far longer than usual filled much of the passes with a clock.
    Stalled {
        /// Share of the passes.
        share: f64,
        /// What went on meanwhile for the most part; absent: nobody told.
        cause: Option<String>,
    },
    /// The clock is too coarse for single operations this short.
    ClockCoarse {
        /// Median latency.
        p50_ns: u64,
        /// Two reads of the clock, back to back.
        clock_ns: u64,
    },
    /// A latency was longer than the histogram can hold.
    LatencySaturated {
        /// What it can hold.
        longest_ns: u64,
    },
    /// Targets that are compared may use different amounts of memory for caches of their own.
    MemoryDiffers {
        /// Bytes this target may use.
        bytes: u64,
        /// Bytes the baseline may use.
        baseline: u64,
    },
    /// The memory could not be limited, so that only the engines' own caches are equal.
    MemoryNotLimited {
        /// Why not.
        why: String,
    },
    /// A target's cache was set in its target string, and not by `--memory` as the others'.
    CacheKept,
    /// A flush to the device was faster than a device can be.
    FlushTooFast {
        /// Median.
        p50_ns: u64,
        /// Where the file system is mounted.
        mount: String,
    },
    /// Each read stands in a batch of its own.
    ReadsAlone,
    /// A server, compared with libraries: each operation is a message over a socket and back.
    OverSocket,
    /// A server that was there already: what it takes of the machine is not known.
    ServerUnseen,
    /// All updates of a pass stand in one batch, so that the cost of a commit hardly shows.
    OneCommit {
        /// Updates of a pass.
        operations: u64,
        /// The best that a target promises after the commit.
        class: Durability,
    },
    /// What is written stays in a log, and the work of moving it is never done.
    NoCheckpoint,
    /// A target did not keep up with the schedule.
    Saturated {
        /// Operations a second that were to begin.
        asked: f64,
        /// Operations a second that were done.
        reached: f64,
    },
    /// What was to be compared cannot be used here.
    NotUsable {
        /// Why, and what would help.
        why: String,
    },
    /// A trial failed, and its target was left out from there on.
    TrialFailed {
        /// How.
        why: String,
    },
    /// A server was asked to put rows off, and did not.
    NotDelayed {
        /// Rows that it put off.
        delayed: u64,
        /// Rows that it was given.
        rows: u64,
    },
    /// The file system does not tell in how many pieces files lie.
    ExtentsUnknown {
        /// Its type.
        kind: String,
    },
    /// A target measured against itself came out faster or slower.
    NotEven {
        /// Ratio of its times.
        ratio: f64,
    },
}

impl FindingKind {
    /// How much it weighs.
    pub fn severity(&self) -> Severity {
        match self {
            Self::DebugBuild
            | Self::SettingNotInEffect { .. }
            | Self::DurabilityDiffers { .. }
            | Self::Arithmetic { .. }
            | Self::StateNotReached { .. }
            | Self::StateFetched { .. }
            | Self::StateNotFetched { .. }
            | Self::TrialFailed { .. }
            | Self::LatencySaturated { .. } => Severity::Wrong,
            Self::UnusualFilesystem { .. }
            | Self::OtherLoad { .. }
            | Self::Steal { .. }
            | Self::TooFewRounds { .. }
            | Self::ToolShare { .. }
            | Self::FitsCpuCache { .. }
            | Self::FlushedOnClose { .. }
            | Self::MemorySmall { .. }
            | Self::StateLost { .. }
            | Self::StateUnproven { .. }
            | Self::StateUnreachable { .. }
            | Self::CachedTwice { .. }
            | Self::LoopDevice { .. }
            | Self::SameBytes { .. }
            | Self::Compressible { .. }
            | Self::Swapped { .. }
            | Self::Governor { .. }
            | Self::Throttled { .. }
            | Self::Pressure { .. }
            | Self::TwoModes { .. }
            | Self::MemoryDiffers { .. }
            | Self::MemoryNotLimited { .. }
            | Self::CacheKept
            | Self::FlushTooFast { .. }
            | Self::NoCheckpoint
            | Self::Saturated { .. }
            | Self::NotUsable { .. }
            | Self::NotDelayed { .. }
            | Self::ExtentsUnknown { .. }
            | Self::NotEven { .. } => Severity::Warning,
            Self::KeysNotCovered { touched, keys } if touched * 2 < *keys => Severity::Warning,
            Self::OneCommit { class, .. } if *class > Durability::None => Severity::Warning,
            Self::KeysNotCovered { .. }
            | Self::TooNoisy { .. }
            | Self::BytesDiffer { .. }
            | Self::OrderOfInsertion
            | Self::LeftToBackground { .. }
            | Self::LoadUnknown
            | Self::AlwaysWarm
            | Self::OnlyWarm
            | Self::HostMayCache { .. }
            | Self::FrequencyVaries { .. }
            | Self::Drift { .. }
            | Self::Stalled { .. }
            | Self::ClockCoarse { .. }
            | Self::ReadsAlone
            | Self::OverSocket
            | Self::ServerUnseen
            | Self::OneCommit { .. } => Severity::Note,
        }
    }
}
