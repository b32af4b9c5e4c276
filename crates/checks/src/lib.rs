//! Estimates and verdicts of a record, and the findings that weaken them.
//!
//! Findings come from three places: [`of_stores()`] finds what plan, machine and stores show,
//! [`of_sample()`] what a trial shows, and [`of_record()`] what only all samples show together.
//! [`all_findings()`] merges all that a record holds.
#![warn(missing_docs)]

mod advice;
mod arithmetic;
mod calibration;
mod costs;
mod extrapolation;
mod figures;
/// Latency histograms as text.
pub mod histogram;
mod merged;
mod record;
mod sample;
mod series;
mod sizes;
mod slices;
mod stores;
#[cfg(test)]
mod tests;
mod timeline;
mod verdict;

pub use advice::{Advice, Candidate, LeftOut, Outcome, Threshold};
pub use arithmetic::contradictions;
pub use calibration::{
    CALIBRATION_FORMAT, Calibration, CalibrationLine, Form, Gate, KnownRatio, KnownRun, LeftOutRun,
    SlowDown, Tally, wrong_rates,
};
pub use costs::{Choice, Costs, Ranked};
pub use figures::{Figures, Percentiles, Schedule, figures, per, percentiles, sum};
pub use merged::{MergedFinding, all_findings, suggestions};
pub use record::of_record;
pub use sample::{LONGEST_NS, of_sample};
pub use series::{CLIENTS, FEWEST_ROUNDS, Series, facts, is_usable};
pub use stores::{of_machine, of_stores};
pub use timeline::{BackgroundTotal, Point, Stall, Timeline, timelines};
pub use verdict::{Verdict, unsettled};
