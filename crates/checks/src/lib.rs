//! Estimates and verdicts of a record, and the findings that make them doubtful.
//!
//! [`before()`], [`trial()`] and [`after()`] find while a run goes on, [`rows()`], [`queue()`] and
//! [`age()`] once it is over; [`derived()`] finds what only the whole record shows, and [`remarks()`]
//! gathers all findings of it.

mod after;
mod age;
mod arithmetic;
mod before;
mod figures;
mod filesystems;
pub mod histogram;
mod judgement;
mod machine;
mod memory;
mod over_time;
mod queue;
mod reads;
mod remarks;
mod rows;
mod servers;
mod state;
mod steadiness;
#[cfg(test)]
pub(crate) mod tests;
mod trial;
mod updates;

pub use after::after;
pub use age::age;
pub use arithmetic::of_sample as contradictions_of;
pub use before::before;
pub use figures::{
    CpuTime, Figures, Percentiles, Schedule, figures, is_usable, p99s, percentiles, ratio_between,
    ratio_between_cases, ratios, times, usable_samples,
};
pub use filesystems::{flush_too_fast, unusual};
pub use judgement::{FEWEST_ROUNDS, Judgement, Place};
pub use machine::{governor, virtual_machine};
pub use over_time::{Chores, Point, Stall, Timeline, timelines};
pub use queue::queue;
pub use remarks::{Remark, advice, derived, remarks, remarks_of_all};
pub use rows::rows;
pub use trial::{sample, trial};

/// Longest latency that a histogram holds: an hour.
pub const LONGEST_NS: u64 = 3_600_000_000_000;
