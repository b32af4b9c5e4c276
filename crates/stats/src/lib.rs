//! Numbers in, estimates out. This crate knows nothing of storage.
//!
//! Targets are compared by the times they took in the same round. [`paired_ratio`] turns those
//! times into an [`Estimate`], [`judge`] says what the ratios of a table show and by which intervals, also
//! to a run that looks again and again ([`is_look`]), and [`detectable`] how small a difference rounds can show.
//! [`unpaired_ratio`] compares times of different runs, [`judge_changes`] says what that shows, and
//! [`detectable_change`] how small a change it can show.
//! [`trend`] and [`two_modes`] look for what makes the times of a single target doubtful.
//! `docs/method-proof.md` has the formulas; the examples `verdicts` and `steadiness`
//! (`cargo run -p storemark-stats --release --example verdicts`) show how often it is right.
//! [`knee`] finds up to how many clients one more adds, and [`proportion`] says how far a share that was counted can be trusted.
//!
//! ```
//! use storemark_stats::{Looks, Verdict, judge, paired_ratio};
//!
//! let sqlite = [2.10, 2.14, 2.31, 2.09, 2.12];
//! let files = [4.11, 4.20, 4.49, 4.05, 4.19];
//! let ratio = paired_ratio(&sqlite, &files).expect("times are positive");
//! assert!(ratio.low < 0.511 && ratio.high > 0.511);
//! let ratios: Vec<f64> =
//!     sqlite.iter().zip(files).map(|(time, baseline)| time / baseline).collect();
//! assert_eq!(judge(&[ratios.into()], Looks::Once)[0].verdict, Verdict::Faster);
//! ```

#![warn(missing_docs)]

mod break_even;
mod change_points;
mod copies;
mod correlation;
mod detectable;
mod estimate;
mod looks;
mod modes;
mod proportion;
mod scaling;
mod student;
mod sums;
mod trend;
mod verdict;

pub use break_even::{BreakEven, Crossing, Sized, break_even};
pub use change_points::{Changes, FEWEST_FIGURES, Step, changes};
pub use copies::{Unit, Values};
pub use detectable::{detectable, detectable_change};
pub use estimate::{Estimate, RECORDS_APART, geometric_mean, paired_ratio, unpaired_ratio};
pub use looks::{FIRST_LOOK, is_look};
pub use modes::{Modes, two_modes};
pub use proportion::{proportion, rule_of_three};
pub use scaling::{Knee, knee};
pub use sums::ratios_of_sums;
pub use trend::{Trend, trend};
pub use verdict::{Judgement, Looks, SAME, Verdict, judge, judge_at_end, judge_changes};
