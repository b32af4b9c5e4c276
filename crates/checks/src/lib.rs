//! All figures of a record, the verdicts on them, and the findings that weaken them.
//!
//! [`figures()`] has those of every target in every case; `figures` and `experiment` have those of
//! one question or one experiment, [`studies`] what was published.
//! Findings come from three places: [`of_stores()`] finds what plan, machine and stores show,
//! [`of_sample()`] what a trial shows, and [`of_record()`] what only all samples show together.
//! [`all_findings()`] merges all that a record holds.
#![warn(missing_docs)]

mod advice;
mod arithmetic;
mod calibration;
mod change;
mod costs;
mod counters;
mod decision;
mod experiment;
mod extrapolation;
mod figures;
mod gate;
mod gated;
/// Latency histograms as text.
pub mod histogram;
mod history;
mod lead;
mod merged;
mod recommendation;
mod record;
mod rounds;
mod sample;
mod series;
mod sharing;
mod sizes;
mod slices;
mod stores;
/// The published experiments.
pub mod studies;
#[cfg(test)]
mod tests;
mod timeline;
mod verdict;

pub use advice::{
    Advice, Candidate, LeftOut, Outcome, Sharing, SharingSetting, SharingWay, Threshold,
};
pub use arithmetic::contradictions;
pub use calibration::{
    CALIBRATION_FORMAT, Calibration, CalibrationLine, Form, KnownRatio, KnownRun, LeftOutRun,
    SlowDown, Tally, wrong_rates,
};
pub use change::{CasePair, Change};
pub use costs::{Choice, Costs, Ranked, Undecided};
pub use counters::{CountedTarget, CounterChange, counted_targets, repeated_counters};
pub use decision::{CandidateFigures, Decision, Excess};
pub use experiment::{
    age::{AgeGroup, AgeRow, AgeSpace, age_groups, age_spaces},
    backup::{BackupFigures, backup_figures},
    life::{LifeFigures, LifeSpace, life_figures, life_spaces},
    queue::{TaskFigures, task_figures},
    roles::{
        MaintenanceFigures, RoleFigures, RoleGrowth, RoleWaits, maintained_role_figures,
        maintenance_figures, role_figures, role_growths,
    },
    rows::{RowCell, RowFigures, RowGroup, row_groups, without_style},
};
pub use figures::{
    Figures, JudgedFigure, Percentiles, Schedule, cases,
    explained::{Aspect, Difference, Explained, differences, explained},
    figures,
    hosts::{HostFigures, host_figures},
    latencies::{Latencies, latencies},
    per, percentiles,
    power_cuts::power_cut_figures,
    requests::{RequestFigures, requests, sample_requests},
    scaling::{Scaling, ScalingPoint, scalings},
    stalls::{StalledRounds, stalled_rounds},
    stores::{StoreFigures, stores},
    study::{Against, Here, StudyFigure, ratio_claim, study_figures},
    sum,
    sweep::{OtherOptions, PageMatrix, TargetBreakEven, blob_size, break_evens, page_matrices},
    workers::{Rates, Waits, rates, waits},
};
pub use gate::Gate;
pub use gated::{GatedTarget, gated_targets};
pub use history::{HistoryPlace, history_changes};
pub use lead::{Ahead, Lead, leads, rounds_factor};
pub use merged::{MergedFinding, all_findings, suggestions};
pub use recommendation::{Recommendation, Recommended, Taken, recommendation};
pub use record::of_record;
pub use rounds::{is_cut_off, keys_touched, lacks_state, usable_rounds, whole_rounds};
pub use sample::{LONGEST_NS, of_sample};
pub use series::{CLIENTS, FEWEST_ROUNDS, Series, facts, is_usable};
pub use sharing::{SharingFigures, WayFigures, sharing_figures};
pub use stores::{of_machine, of_stores};
pub use timeline::{BackgroundTotal, Passes, Point, Stall, Timeline, timelines};
pub use verdict::{Verdict, unsettled};
