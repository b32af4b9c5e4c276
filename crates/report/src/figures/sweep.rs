//! Computes what only the runs of a sweep together show: the break-even, and the best page size.

use std::collections::BTreeMap;

use itertools::Itertools;
use model::{Case, DatasetSpec, Experiment, PlannedTarget, record::Record};
use stats::{BreakEven, Estimate, Sized, break_even};

use crate::{Figures, Series, Verdict, figures, words};

/// Where a target and the baseline are even, over the sizes of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetBreakEven {
    pub case: Case,
    /// What else varies, with its values here.
    pub others: BTreeMap<String, String>,
    pub target: String,
    /// The smallest and the largest size that both were measured at.
    pub sizes: [u64; 2],
    /// Where its time over the baseline's crosses 1.
    pub found: BreakEven,
}

/// The baseline's time over that of stores that differ in their page size only.
#[derive(Clone, Debug, PartialEq)]
pub struct PageMatrix {
    pub case: Case,
    /// What else varies, with its values here.
    pub others: BTreeMap<String, String>,
    /// Its engine, and the settings that all of them have.
    pub family: String,
    pub sizes: Vec<u64>,
    /// Page sizes with a ratio for each size; absent: not measured.
    pub rows: Vec<(u64, Vec<Option<Estimate>>)>,
}

impl PageMatrix {
    /// The row that is the fastest in a column.
    pub fn best(&self, column: usize) -> Option<usize> {
        let point = |row: usize| Some((row, (*self.rows[row].1.get(column)?)?.point));
        let known = (0..self.rows.len()).filter_map(point);
        known.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(row, _)| row)
    }
}

/// Options that shape the data: with them only the size of the blobs counts.
const OF_SIZE: [&str; 4] = ["size", "keys", "bytes", "variance"];

/// What varies besides the size of the blobs.
pub(crate) fn others(record: &Record) -> BTreeMap<String, String> {
    let mut varied = words::values(record).clone();
    varied.retain(|name, _| !OF_SIZE.contains(&name.as_str()));
    varied
}

/// The middle size of generated blobs.
pub(crate) fn size(record: &Record) -> Option<u64> {
    match record.header.plan.experiment {
        Experiment::Blobs { dataset: DatasetSpec::Generated(data), .. } => Some(data.size),
        _ => None,
    }
}

/// A run with its figures.
struct Run<'a> {
    record: &'a Record,
    size: u64,
    figures: Vec<Figures>,
}

impl Run<'_> {
    /// The figures of a target in a case, if it does the same work as the baseline.
    fn row(&self, case: Case, target: &PlannedTarget) -> Option<&Figures> {
        let place = self.record.header.plan.targets.iter().position(|t| t.label == target.label)?;
        let row = self.figures.iter().find(|row| row.case == case && row.target == place)?;
        let apart = [Verdict::DurabilityDiffers, Verdict::Limit, Verdict::Reference];
        (!apart.contains(&row.verdict)).then_some(row)
    }
}

/// Runs that differ in the size of their blobs only, the smallest first.
fn by_size(runs: &[Record]) -> Vec<Vec<Run<'_>>> {
    let run = |record| Some(Run { record, size: size(record)?, figures: figures(record) });
    let mut groups: BTreeMap<_, Vec<Run<'_>>> = BTreeMap::new();
    for run in runs.iter().filter_map(run).sorted_by_key(|run| run.size) {
        groups.entry(others(run.record)).or_default().push(run);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// A row for each target but the baseline in each case, where the size of the blobs varies and at
/// least two sizes were measured in two rounds.
pub fn break_evens(runs: &[Record]) -> Vec<TargetBreakEven> {
    let mut all = Vec::new();
    for group in by_size(runs) {
        let plan = &group[0].record.header.plan;
        let others = plan.targets.iter().enumerate().filter(|(place, _)| *place != plan.baseline);
        let places = plan.cases().cartesian_product(others);
        all.extend(places.filter_map(|(case, (_, target))| even(&group, case, target)));
    }
    all
}

fn even(group: &[Run<'_>], case: Case, target: &PlannedTarget) -> Option<TargetBreakEven> {
    let point = |run: &Run<'_>| {
        let series = Series::new(run.record, case, run.row(case, target)?.target);
        let ratios = series.ratios_to(series.baseline());
        (ratios.values.len() > 1).then_some((run.size, Sized { size: run.size as f64, ratios }))
    };
    let (sizes, curve): (Vec<_>, Vec<_>) = group.iter().filter_map(point).unzip();
    Some(TargetBreakEven {
        case,
        others: others(group[0].record),
        target: target.label.clone(),
        sizes: [*sizes.first()?, *sizes.last()?],
        found: break_even(&curve)?,
    })
}

/// A matrix for each case and each family of at least two targets that differ in their page size
/// only, where the size of the blobs varies as well.
pub fn page_matrices(runs: &[Record]) -> Vec<PageMatrix> {
    let mut all = Vec::new();
    for group in by_size(runs) {
        let plan = &group[0].record.header.plan;
        let mut families: BTreeMap<String, Family<'_>> = BTreeMap::new();
        for target in &plan.targets {
            if let Some(pages) = target.settings.parse("page_size") {
                families.entry(family(target)).or_default().insert(pages, target);
            }
        }
        families.retain(|_, targets| targets.len() > 1);
        let places = plan.cases().cartesian_product(&families);
        all.extend(places.map(|(case, (name, family))| matrix(&group, case, name, family)));
    }
    all
}

/// Targets by their page sizes.
type Family<'a> = BTreeMap<u64, &'a PlannedTarget>;

fn matrix(group: &[Run<'_>], case: Case, name: &str, family: &Family<'_>) -> PageMatrix {
    let ratio = |run: &Run<'_>, target: &PlannedTarget| run.row(case, target)?.ratio.map(turned);
    let row = |(pages, target): (&u64, &&PlannedTarget)| {
        (*pages, group.iter().map(|run| ratio(run, target)).collect())
    };
    PageMatrix {
        case,
        others: others(group[0].record),
        family: name.to_owned(),
        sizes: group.iter().map(|run| run.size).collect(),
        rows: family.iter().map(row).collect(),
    }
}

/// What all targets of a family have in common: `sqlite api=blob`.
fn family(target: &PlannedTarget) -> String {
    let others = target.settings.0.iter().filter(|(name, _)| *name != "page_size");
    let others = others.map(|(name, value)| format!("{name}={value}"));
    [target.engine.clone()].into_iter().chain(others).join(" ")
}

/// `1 / ratio`, with its interval.
fn turned(ratio: Estimate) -> Estimate {
    Estimate { point: 1.0 / ratio.point, low: 1.0 / ratio.high, high: 1.0 / ratio.low, n: ratio.n }
}
