//! Numbers in, estimates out. This crate knows nothing of storage.
//!
//! Targets are compared by the times they took in the same round. [`paired_ratio`] turns those
//! times into an [`Estimate`], [`verdict`] says whether it shows a difference, and [`Stopping`]
//! says when enough rounds have run, [`detectable`] how small a difference they can show.
//! [`unpaired_ratio`] compares times of different runs.
//! [`trend`] and [`two_modes`] look for what makes the times of a single target doubtful.
//! `docs/method.md` explains why it is done this way; the examples `coverage` and `steadiness`
//! (`cargo run -p storemark-stats --release --example coverage`) show how often it is right.
//! [`proportion`] says how far a share that was counted can be trusted.
//!
//! ```
//! use storemark_stats::{Verdict, paired_ratio, verdict};
//!
//! let sqlite = [2.10, 2.14, 2.31, 2.09, 2.12];
//! let files = [4.11, 4.20, 4.49, 4.05, 4.19];
//! let ratio = paired_ratio(&sqlite, &files).expect("times are positive");
//! assert!(ratio.low < 0.511 && ratio.high > 0.511);
//! assert_eq!(verdict(&ratio), Verdict::Faster);
//! ```

#![warn(missing_docs)]

mod break_even;
mod estimate;
mod modes;
mod proportion;
mod rounds;
mod student;
mod trend;
mod verdict;

pub use break_even::{BreakEven, Crossing, Sized, break_even};
pub use estimate::{Estimate, geometric_mean, paired_ratio, unpaired_ratio};
pub use modes::{Modes, two_modes};
pub use proportion::proportion;
pub use rounds::{Stopping, detectable};
pub use trend::{Trend, trend};
pub use verdict::{Verdict, verdict};
