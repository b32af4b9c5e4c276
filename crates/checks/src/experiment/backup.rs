//! Computes the figures of the steps of a backup.

use model::{Sample, backup::BackupStep, record::Record};

use crate::{
    figures::{Figures, per, sum},
    series::Series,
};

/// The figures of a step with one target's catalogue: means over the rounds.
#[derive(Clone, Debug)]
pub struct BackupFigures {
    /// The step of the backup.
    pub step: BackupStep,
    /// The figures of its case.
    pub figures: Figures,
    /// Files of the folder; times are divided by their number.
    pub files: u64,
    /// Share of the time that the store of the catalogue took; `None` if no trial was warm.
    pub catalogue: Option<f64>,
    /// Bytes written to the device; `None` if not known.
    pub written_bytes: Option<f64>,
    /// Bytes read from the device; `None` if not known.
    pub read_bytes: Option<f64>,
    /// Bytes that were added to packs.
    pub added_bytes: Option<f64>,
    /// Bytes that the catalogue occupies afterwards; `None` if it has no files.
    pub catalogue_bytes: Option<f64>,
}

/// Returns the figures of each step, then in the order of the targets; only what was tried.
pub fn backup_figures(record: &Record, figures: &[Figures]) -> Vec<BackupFigures> {
    figures.iter().filter_map(|figures| row(record, figures)).collect()
}

fn row(record: &Record, figures: &Figures) -> Option<BackupFigures> {
    let workload = record.header.plan.workloads.get(figures.case.workload)?;
    let step = workload.work.backup()?;
    let series = Series::new(record, figures.case, figures.target);
    let samples: Vec<_> = series.samples().collect();
    let share = || {
        sum(&samples, |s| s.backup().map_or(0, |step| step.catalogue_ns))
            / sum(&samples, |s| s.wall_ns)
    };
    let mean = |part: fn(&Sample) -> Option<u64>| per(&samples, |_| 1, part);
    series.is_tried().then(|| BackupFigures {
        step,
        figures: figures.clone(),
        files: samples.first().map_or(workload.count, |sample| sample.operations),
        catalogue: (!samples.is_empty()).then(share),
        written_bytes: mean(|s| Some(s.device?.written_bytes)),
        read_bytes: mean(|s| Some(s.device?.read_bytes)),
        added_bytes: mean(|s| Some(s.backup()?.added_bytes)),
        catalogue_bytes: mean(|s| Some(s.files()?.allocated)),
    })
}
