//! Computes the figures of the life of stores.

use model::{Sample, life::LifeStep, record::Record};

use crate::figures::{Figures, per};

/// The figures of a step on one target's store, in one cache state.
#[derive(Clone, Debug)]
pub struct LifeFigures {
    /// The step.
    pub step: LifeStep,
    /// The figures of its case.
    pub figures: Figures,
    /// Operations of the step; times are divided by their number.
    pub operations: u64,
}

/// The size of a store and of its backups: means over the rounds, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeSpace {
    /// Index of the target in the plan.
    pub target: usize,
    /// Bytes on disk after the store was filled.
    pub filled: f64,
    /// Bytes that a backup of whole files copies after a day of changes.
    pub backup_files: Option<f64>,
    /// Bytes that a backup of blocks of 4 KiB copies after a day of changes.
    pub backup_blocks: Option<f64>,
    /// Size after all days of changes, divided by that after filling.
    pub growth: Option<f64>,
    /// Share of the store that deleting half of the values gave back.
    pub half_back: Option<f64>,
    /// Share of the store that deleting half and reclaiming gave back; `None` if the engine cannot
    /// reclaim.
    pub reclaimed: Option<f64>,
    /// Bytes on disk after all values were deleted.
    pub emptied: Option<f64>,
}

/// Returns the figures by step, then in the order of the targets; only what was tried.
pub fn life_figures(record: &Record, figures: &[Figures]) -> Vec<LifeFigures> {
    let row = |row: &Figures| {
        let workload = record.header.plan.workloads.get(row.case.workload)?;
        let step = workload.work.life()?;
        let own =
            |sample: &&Sample| (sample.target, sample.workload) == (row.target, row.case.workload);
        let operations = record.samples.iter().find(own).map(|sample| sample.operations);
        let tried = row.rounds > 0;
        tried.then(|| LifeFigures {
            step,
            figures: row.clone(),
            operations: operations.unwrap_or(workload.count),
        })
    };
    figures.iter().filter_map(row).collect()
}

/// Returns the sizes of each target whose store has files.
pub fn life_spaces(record: &Record) -> Vec<LifeSpace> {
    (0..record.header.plan.targets.len()).filter_map(|target| space(record, target)).collect()
}

fn space(record: &Record, target: usize) -> Option<LifeSpace> {
    let mean = |step: LifeStep, of: fn(&Sample) -> Option<u64>| {
        let workloads = &record.header.plan.workloads;
        let own = |sample: &&Sample| {
            let work = workloads.get(sample.workload).map(|workload| workload.work);
            sample.target == target && work == Some(step.into())
        };
        per(&record.samples.iter().filter(own).collect::<Vec<_>>(), |_| 1, of)
    };
    let files = |step| mean(step, |sample| Some(sample.files()?.allocated));
    let filled = files(LifeStep::Stat)?;
    // A run of one day has no month; another one may have ended before it.
    let month = LifeStep::Month.into();
    let has_month = record.header.plan.workloads.iter().any(|workload| workload.work == month);
    let changed = files(if has_month { LifeStep::Month } else { LifeStep::Day });
    let back = |step| Some(1.0 - files(step)? / changed.filter(|bytes| *bytes > 0.0)?);
    Some(LifeSpace {
        target,
        filled,
        backup_files: mean(LifeStep::Day, |sample| Some(sample.backup_bytes()?.files)),
        backup_blocks: mean(LifeStep::Day, |sample| Some(sample.backup_bytes()?.blocks)),
        growth: changed.filter(|_| filled > 0.0).map(|changed| changed / filled),
        half_back: back(LifeStep::Half),
        reclaimed: back(LifeStep::Reclaim),
        emptied: files(LifeStep::Rest),
    })
}
