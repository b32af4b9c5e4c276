//! Numbers in, estimates out. This crate knows nothing of storage.
//!
//! Targets are compared by the times they took in the same round. [`paired_ratio`] turns those
//! times into an [`Estimate`], [`verdict`] says whether it shows a difference, and [`Stopping`]
//! says when enough rounds have run. `docs/method.md` explains why it is done this way;
//! `cargo run -p storemark-stats --release --example coverage` shows how often it is right.
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

mod estimate;
mod interval;
mod mean;
mod ratio;
mod stopping;
mod student;
mod verdict;

pub use estimate::Estimate;
pub use mean::geometric_mean;
pub use ratio::paired_ratio;
pub use stopping::Stopping;
pub use verdict::{Verdict, verdict};
