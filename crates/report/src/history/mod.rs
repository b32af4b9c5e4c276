//! The history of records: where the time of a target changed for good, and where it creeps.
//!
//! Only records of one machine, data and conditions are compared. In each, the time of a target is divided
//! by that of a control in the same rounds, so that what the machine does to both cancels.

mod build;
mod chart;
mod tables;

use model::Cache;
use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

pub use self::build::history;
pub(crate) use self::{
    chart::charts,
    tables::{counts, found, table},
};

/// What the records of a folder show.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The groups of records that are compared, the largest first.
    pub groups: Vec<HistoryGroup>,
}

/// Records of one machine, data and conditions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HistoryGroup {
    /// The machine.
    pub machine: String,
    /// The data and the conditions.
    pub data: String,
    /// The records in the order of time.
    pub records: Vec<HistoryRecord>,
    /// Every target in every case.
    pub lines: Vec<HistoryLine>,
}

/// A record of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HistoryRecord {
    /// The name of its file.
    pub file: String,
    /// Seconds since 1970 when it began.
    pub started: u64,
}

/// A target in a case over all records that have it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HistoryLine {
    /// The options that vary in a sweep, with their values here; empty if nothing varies.
    pub point: String,
    /// The workload's name.
    pub name: String,
    /// The cache state.
    #[schemars(with = "String")]
    pub cache: Cache,
    /// The target's label.
    pub target: String,
    /// The target whose time divides its own; null if the figure is the time, in microseconds an
    /// operation.
    pub control: Option<String>,
    /// The figure of each record that has it.
    pub points: Vec<HistoryPoint>,
    /// What the figures show.
    pub verdict: HistoryVerdict,
    /// Where they change for good.
    pub steps: Vec<HistoryStep>,
    /// The change from the first record to the last as a share, if the figures change slowly: 0.1 is a
    /// tenth more. Null if they do not.
    pub creep: Option<f64>,
}

/// The figure of a record.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// Index of the record in the group.
    pub record: usize,
    /// The figure, with the 95 % interval of its rounds.
    pub figure: Estimate,
}

/// What the figures of a line show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryVerdict {
    /// They only vary.
    Steady,
    /// They change at some records.
    Steps,
    /// They change slowly.
    Creeps,
    /// The target is the control of others.
    Control,
    /// There are too few records.
    TooFewRecords,
}

/// A change for good.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HistoryStep {
    /// Index in the group of the first record after it.
    pub record: usize,
    /// The figures after it, up to the next step, divided by those before it.
    pub ratio: Estimate,
    /// How that record's machine and software differ from those of the record before it.
    pub differs: Vec<String>,
}

impl HistoryLine {
    /// Returns its name: `size=1k, read, warm: sqlite`.
    pub fn title(&self) -> String {
        format!("{}: {}", self.case(), self.target)
    }

    /// Returns its case: `size=1k, read, warm`.
    pub(crate) fn case(&self) -> String {
        let point = if self.point.is_empty() { String::new() } else { format!("{}, ", self.point) };
        format!("{point}{}, {}", self.name, self.cache)
    }

    /// Returns the mean of the figures before the first change, and after the last.
    pub(crate) fn ends(&self) -> Option<[f64; 2]> {
        let figures: Vec<f64> = self.points.iter().map(|point| point.figure.point).collect();
        let mean = |some: &[f64]| Some(stats::geometric_mean(some)?.point);
        if let Some(change) = self.creep {
            let (middle, half) = (mean(&figures)?, (1.0 + change).sqrt());
            return Some([middle / half, middle * half]);
        }
        let place = |step: &HistoryStep| self.points.iter().position(|p| p.record == step.record);
        let first = self.steps.first().and_then(place).unwrap_or(figures.len());
        let last = self.steps.last().and_then(place).unwrap_or(0);
        Some([mean(&figures[..first])?, mean(&figures[last..])?])
    }
}
