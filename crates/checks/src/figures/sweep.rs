//! Computes what only the runs of a sweep together show: the break-even, and the best page size.

use std::collections::BTreeMap;

use itertools::Itertools;
use model::{Case, DatasetSpec, PlannedTarget, record::Record};
use stats::{BreakEven, Estimate, Sized, break_even};

use super::{Figures, figures};
use crate::{series::Series, verdict::Verdict};

/// The sizes of a sweep at which a target and the baseline take the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetBreakEven {
    /// The workload and the cache state.
    pub case: Case,
    /// The other options that vary, with their values here.
    pub others: BTreeMap<String, String>,
    /// Label of the target.
    pub target: String,
    /// The smallest and the largest size at which both were measured.
    pub sizes: [u64; 2],
    /// The sizes at which its time divided by the baseline's crosses 1.
    pub found: BreakEven,
    /// Whether each size has the rounds that a verdict needs.
    pub is_judged: bool,
}

/// The baseline's time divided by that of stores that differ only in their page size.
#[derive(Clone, Debug, PartialEq)]
pub struct PageMatrix {
    /// The workload and the cache state.
    pub case: Case,
    /// The other options that vary, with their values here.
    pub others: BTreeMap<String, String>,
    /// The engine, and the settings that all of the stores have.
    pub family: String,
    /// The sizes of the blobs, one for each column.
    pub sizes: Vec<u64>,
    /// Page sizes with a ratio for each size of blobs; `None` if it was not measured.
    pub rows: Vec<(u64, Vec<Option<Estimate>>)>,
}

impl PageMatrix {
    /// Returns the fastest row of a column; `None` if nothing was measured in it.
    pub fn best(&self, column: usize) -> Option<usize> {
        let point = |row: usize| Some((row, (*self.rows[row].1.get(column)?)?.point));
        let known = (0..self.rows.len()).filter_map(point);
        known.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(row, _)| row)
    }
}

/// The option that is the size of the blobs, and those that may follow it: each size has its own number of
/// keys, for example.
const SIZE: &str = "size";
const MAY_FOLLOW: [&str; 3] = ["keys", "bytes", "variance"];

/// The options of a sweep that vary besides the size of the blobs.
pub struct OtherOptions {
    /// The options that vary with the size alone, and the size.
    following: Vec<&'static str>,
}

impl OtherOptions {
    /// Finds the options that have one value at each size.
    pub fn new<'r>(runs: impl IntoIterator<Item = &'r Record>) -> Self {
        let runs: Vec<_> = runs.into_iter().collect();
        let follows = |name: &&str| {
            let mut values = BTreeMap::new();
            runs.iter().all(|run| {
                let value = run.header.varied().get(*name);
                *values.entry(blob_size(run)).or_insert(value) == value
            })
        };
        let following = MAY_FOLLOW.into_iter().filter(follows);
        Self { following: following.chain([SIZE]).collect() }
    }

    /// Returns the options with their values in a run.
    pub fn values(&self, run: &Record) -> BTreeMap<String, String> {
        let mut varied = run.header.varied().clone();
        varied.retain(|name, _| !self.following.contains(&name.as_str()));
        varied
    }
}

/// Returns the middle size of generated blobs; `None` if the run has no such data.
pub fn blob_size(record: &Record) -> Option<u64> {
    match record.header.plan.experiment.blobs()?.dataset {
        DatasetSpec::Generated(data) => Some(data.size),
        _ => None,
    }
}

struct SizedRun<'a> {
    record: &'a Record,
    size: u64,
    figures: Vec<Figures>,
}

impl SizedRun<'_> {
    /// Returns the figures of a target in a case; `None` if it was not measured or does not do the
    /// same work as the baseline.
    fn row(&self, case: Case, target: &PlannedTarget) -> Option<&Figures> {
        let place = self.record.header.plan.targets.iter().position(|t| t.label == target.label)?;
        let row = self.figures.iter().find(|row| row.case == case && row.target == place)?;
        let apart = [Verdict::DurabilityDiffers, Verdict::Limit, Verdict::Reference];
        (!apart.contains(&row.verdict)).then_some(row)
    }
}

/// Runs that differ only in the size of their blobs, the smallest first, and what they have in common.
type SizeGroup<'a> = (BTreeMap<String, String>, Vec<SizedRun<'a>>);

/// Groups runs that differ only in the size of their blobs, as far as several do.
fn by_size(runs: &[Record]) -> impl Iterator<Item = SizeGroup<'_>> {
    let run =
        |record| Some(SizedRun { record, size: blob_size(record)?, figures: figures(record) });
    let others = OtherOptions::new(runs);
    let mut groups: BTreeMap<_, Vec<SizedRun<'_>>> = BTreeMap::new();
    for run in runs.iter().filter_map(run).sorted_by_key(|run| run.size) {
        groups.entry(others.values(run.record)).or_default().push(run);
    }
    groups.into_iter().filter(|(_, group)| group.len() > 1)
}

/// Returns a row for each target except the baseline in each case, if the size of the blobs varies
/// and at least two sizes were measured in two rounds.
pub fn break_evens(runs: &[Record]) -> Vec<TargetBreakEven> {
    let mut all = Vec::new();
    for group in by_size(runs) {
        let plan = &group.1[0].record.header.plan;
        let others = plan.targets.iter().enumerate().filter(|(place, _)| *place != plan.baseline);
        let places = plan.cases().cartesian_product(others);
        all.extend(places.filter_map(|(case, (_, target))| even(&group, case, target)));
    }
    all
}

fn even(
    (others, group): &SizeGroup<'_>,
    case: Case,
    target: &PlannedTarget,
) -> Option<TargetBreakEven> {
    let point = |run: &SizedRun<'_>| {
        let series = Series::new(run.record, case, run.row(case, target)?.target);
        let ratios = series.ratios_to(series.baseline());
        (ratios.values.len() > 1).then_some((run.size, Sized { size: run.size as f64, ratios }))
    };
    let (sizes, curve): (Vec<_>, Vec<_>) = group.iter().filter_map(point).unzip();
    let mut rows = group.iter().filter_map(|run| run.row(case, target));
    Some(TargetBreakEven {
        case,
        others: others.clone(),
        target: target.label.clone(),
        sizes: [*sizes.first()?, *sizes.last()?],
        found: break_even(&curve)?,
        is_judged: rows.all(|row| row.verdict != Verdict::TooFewRounds),
    })
}

/// Returns a matrix for each case and each family of at least two targets that differ only in their
/// page size, if the size of the blobs varies as well.
pub fn page_matrices(runs: &[Record]) -> Vec<PageMatrix> {
    let mut all = Vec::new();
    for group in by_size(runs) {
        let plan = &group.1[0].record.header.plan;
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

/// The targets of a family by their page sizes.
type Family<'a> = BTreeMap<u64, &'a PlannedTarget>;

fn matrix(
    (others, group): &SizeGroup<'_>,
    case: Case,
    name: &str,
    family: &Family<'_>,
) -> PageMatrix {
    let ratio = |run: &SizedRun<'_>, target: &PlannedTarget| {
        run.row(case, target)?.ratio.map(Estimate::inverse)
    };
    let row = |(pages, target): (&u64, &&PlannedTarget)| {
        (*pages, group.iter().map(|run| ratio(run, target)).collect())
    };
    PageMatrix {
        case,
        others: others.clone(),
        family: name.to_owned(),
        sizes: group.iter().map(|run| run.size).collect(),
        rows: family.iter().map(row).collect(),
    }
}

/// Returns what all targets of a family have in common: `sqlite api=blob`.
fn family(target: &PlannedTarget) -> String {
    let others = target.settings.0.iter().filter(|(name, _)| *name != "page_size");
    let others = others.map(|(name, value)| format!("{name}={value}"));
    [target.engine.clone()].into_iter().chain(others).join(" ")
}
