//! Doubts about a result: each a value of its own kind, with a sentence that says what to do.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Durability,
    units::{show_count, show_size, three_digits},
};

/// A doubt, and what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What is doubted.
    #[serde(flatten)]
    pub doubt: Doubt,
    /// Label of the target it is about; absent: the whole run.
    pub target: Option<String>,
    /// Index into the plan's workloads; absent: all.
    pub workload: Option<usize>,
    /// Round it showed in; absent: not bound to one.
    pub round: Option<u32>,
}

impl Finding {
    /// A doubt about the whole run.
    pub fn run(doubt: Doubt) -> Self {
        Self { doubt, target: None, workload: None, round: None }
    }

    /// A doubt about a target.
    pub fn target(doubt: Doubt, label: &str) -> Self {
        Self { target: Some(label.to_owned()), ..Self::run(doubt) }
    }

    /// The same finding, about one workload only.
    #[must_use]
    pub fn in_workload(mut self, workload: usize) -> Self {
        self.workload = Some(workload);
        self
    }

    /// The same finding, seen in one round.
    #[must_use]
    pub fn in_round(mut self, round: u32) -> Self {
        self.round = Some(round);
        self
    }
}

/// How much a finding weighs, lightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know; the figures stand.
    Note,
    /// The figures may mislead.
    Warning,
    /// The figures are not what they seem.
    Wrong,
}

/// What can be doubtful about a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "finding")]
#[non_exhaustive]
pub enum Doubt {
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
        /// Processors' worth of time, in the worst trial.
        cpus: f64,
        /// Trials with more than a tenth of a processor.
        trials: u32,
    },
    /// The hypervisor took time during trials.
    Steal {
        /// Share of all processor time, in the worst trial.
        share: f64,
        /// Trials with more than one percent.
        trials: u32,
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
}

impl Doubt {
    /// How much it weighs.
    pub fn severity(&self) -> Severity {
        match self {
            Self::DebugBuild
            | Self::SettingNotInEffect { .. }
            | Self::DurabilityDiffers { .. }
            | Self::Arithmetic { .. } => Severity::Wrong,
            Self::UnusualFilesystem { .. }
            | Self::OtherLoad { .. }
            | Self::Steal { .. }
            | Self::TooFewRounds { .. }
            | Self::ToolShare { .. }
            | Self::FitsCpuCache { .. }
            | Self::FlushedOnClose { .. }
            | Self::MemorySmall { .. } => Severity::Warning,
            Self::KeysNotCovered { touched, keys } if touched * 2 < *keys => Severity::Warning,
            Self::KeysNotCovered { .. }
            | Self::TooNoisy { .. }
            | Self::BytesDiffer { .. }
            | Self::OrderOfInsertion
            | Self::LeftToBackground { .. }
            | Self::LoadUnknown => Severity::Note,
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What is doubtful, then what to do.
impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DebugBuild => f.write_str(
                "storemark was built without optimisation: no figure counts; build with --release",
            ),
            Self::KeysNotCovered { touched, keys } => write!(
                f,
                "a pass touches {} of {} keys, so caches hold more of the data than they would; leave out --count and --max-id to touch all",
                show_count(*touched),
                show_count(*keys)
            ),
            Self::SettingNotInEffect { name, asked, effect } => write!(
                f,
                "{name}={asked} was asked for, {name}={effect} is in effect; the figures are for the latter"
            ),
            Self::DurabilityDiffers { class, baseline } => write!(
                f,
                "durability is {class}, the baseline's {baseline}: not the same work; --durability {} sets both alike",
                class.max(baseline)
            ),
            Self::FitsCpuCache { bytes, cache } => write!(
                f,
                "the data ({}) fits into the processor's cache ({}); measure with more of it",
                show_size(*bytes),
                show_size(*cache)
            ),
            Self::UnusualFilesystem { kind, mount } => write!(
                f,
                "the stores are on {kind} ({mount}), not on a disk's own file system; --scratch DIR puts them elsewhere"
            ),
            Self::OtherLoad { cpus, trials } => write!(
                f,
                "other processes used up to {} processors during {}; stop them and run again",
                three_digits(*cpus),
                counted(*trials, "trial")
            ),
            Self::Steal { share, trials } => write!(
                f,
                "the hypervisor took up to {} of the processors' time during {}; run again at a quieter time",
                percent(*share),
                counted(*trials, "trial")
            ),
            Self::TooNoisy { half_width, precision } => write!(
                f,
                "the interval is up to ±{}, wider than the ±{} aimed for; give it more --time or a quieter machine",
                percent(*half_width),
                percent(*precision)
            ),
            Self::TooFewRounds { rounds, min } => write!(
                f,
                "{} run; fewer than {min} cannot carry a verdict; give it more --time or --rounds",
                counted(*rounds, "round")
            ),
            Self::ToolShare { share } => write!(
                f,
                "storemark's own loop is up to {} of the measured time; the engine is faster than this shows",
                percent(*share)
            ),
            Self::Arithmetic { what } => {
                write!(f, "the figures contradict each other: {what}; do not use them, and report this")
            }
            Self::BytesDiffer { key } => write!(
                f,
                "the bytes are not the baseline's (first at key {key}), keys and lengths are; `storemark verify` names all"
            ),
            Self::OrderOfInsertion => f.write_str(
                "keys are touched in the order they were inserted in; the default order is a random permutation",
            ),
            Self::LeftToBackground { share } => write!(
                f,
                "flushing what was left to the background took up to another {} of the measured time, which is not counted; --durability durable counts it",
                percent(*share)
            ),
            Self::FlushedOnClose { kind } => write!(
                f,
                "{kind} writes a file out when it is closed after it was truncated, or when it is renamed over another (auto_da_alloc): the time holds what other stores leave to the background; write=overwrite does not truncate"
            ),
            Self::MemorySmall { bytes, available } => write!(
                f,
                "the stores ({}) are larger than the free memory ({}): reads come from the device in part; use a smaller --count",
                show_size(*bytes),
                show_size(*available)
            ),
            Self::LoadUnknown => f.write_str(
                "this system does not tell what else ran during the trials; see that nothing does",
            ),
        }
    }
}
