//! Computes the figures of stores that aged.

use itertools::Itertools;
use model::{Arrangement, Cache, Case, FileBytes, Fragments, Sample, record::Record};
use stats::Estimate;

use crate::{figures::Figures, series::Series};

/// The figures of reads in one cache state, or of writes, at every age.
#[derive(Clone, Debug)]
pub struct AgeGroup {
    /// Whether these are the writes.
    pub writes: bool,
    /// Rows by age, then in the order of the targets; only what was measured.
    pub rows: Vec<AgeRow>,
}

/// A target at one age.
#[derive(Clone, Debug)]
pub struct AgeRow {
    /// Storage age; for writes, the age that they lead up to.
    pub age: u32,
    /// The figures of its case.
    pub figures: Figures,
    /// Time divided by that of the same operation at the lowest age, paired by round; `None` at
    /// that age.
    pub over_least: Option<Estimate>,
}

/// The files of a target's store at one age: means over the rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct AgeSpace {
    /// Storage age.
    pub age: u32,
    /// Index of the target in the plan.
    pub target: usize,
    /// Length of its files per live byte.
    pub length_per_byte: Option<f64>,
    /// Bytes that its files occupy on disk, per live byte.
    pub allocated_per_byte: Option<f64>,
    /// Number of files.
    pub files: f64,
    /// Extents of all files on the device; `None` if they are not known.
    pub extents: Option<f64>,
    /// Extents of an object; `None` if they are not known.
    pub per_object: Option<f64>,
    /// Share of the pages of its file that are free; `None` if it is not known.
    pub free: Option<f64>,
}

/// Returns the groups of a record: reads in each cache state of the plan, then writes.
pub fn age_groups(record: &Record, figures: &[Figures]) -> Vec<AgeGroup> {
    let plan = &record.header.plan;
    // Absent: writes.
    let group = |cache: Option<&Cache>| {
        let rows = figures.iter().filter(|row| {
            let writes = plan.workloads[row.case.workload].work.writes();
            writes == cache.is_none() && cache.is_none_or(|cache| row.case.cache == *cache)
        });
        let rows = rows.filter_map(|row| age_row(record, row)).collect();
        AgeGroup { writes: cache.is_none(), rows }
    };
    let groups = plan.caches.iter().map(Some).chain([None]).map(group);
    groups.filter(|group| !group.rows.is_empty()).collect()
}

fn age_row(record: &Record, row: &Figures) -> Option<AgeRow> {
    let workloads = &record.header.plan.workloads;
    let workload = workloads.get(row.case.workload)?;
    let series = Series::new(record, row.case, row.target);
    let least = workloads.iter().position(|other| {
        other.work.age().is_some() && other.work.operation() == workload.work.operation()
    })?;
    let least = Series { case: Case { workload: least, ..row.case }, ..series };
    let other = least.case != row.case;
    let over_least = if other { series.ratio_to(least) } else { None };
    let age = workload.work.age()?;
    series.is_tried().then(|| AgeRow { age, figures: row.clone(), over_least })
}

/// Returns the files of each target at each age, by age and then in the order of the targets; only
/// stores that have files.
pub fn age_spaces(record: &Record) -> Vec<AgeSpace> {
    let plan = &record.header.plan;
    let written = |workload: &usize| plan.workloads[*workload].work.writes();
    let workloads = (0..plan.workloads.len()).filter(written);
    let places = workloads.cartesian_product(0..plan.targets.len());
    places.filter_map(|(workload, target)| space(record, workload, target)).collect()
}

fn space(record: &Record, workload: usize, target: usize) -> Option<AgeSpace> {
    let here = |sample: &&Sample| sample.workload == workload && sample.target == target;
    let known = |sample: &Sample| Some((sample.files()?, *sample.fragments()?));
    let known: Vec<_> = record.samples.iter().filter(here).filter_map(known).collect();
    let per_byte = |bytes: fn(&FileBytes) -> u64| {
        mean(&known, |(files, pieces)| {
            (pieces.bytes > 0).then(|| bytes(files) as f64 / pieces.bytes as f64)
        })
    };
    let pieces = |what: fn(&Fragments) -> Option<f64>| mean(&known, |(_, pieces)| what(pieces));
    Some(AgeSpace {
        age: record.header.plan.workloads[workload].work.age()?,
        target,
        length_per_byte: per_byte(|files| files.apparent),
        allocated_per_byte: per_byte(|files| files.allocated),
        files: pieces(|pieces| Some(pieces.files as f64))?,
        extents: pieces(|pieces| pieces.extents.map(|extents| extents as f64)),
        per_object: pieces(Fragments::per_object),
        free: pieces(|pieces| match pieces.arrangement? {
            Arrangement::Pages { pages, free, .. } if pages > 0 => Some(free as f64 / pages as f64),
            _ => None,
        }),
    })
}

/// Returns the mean of a figure; `None` unless every element has a value, because a mean over some
/// of the rounds would be about other stores.
fn mean<T>(all: &[T], value: impl Fn(&T) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = all.iter().map(value).collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
