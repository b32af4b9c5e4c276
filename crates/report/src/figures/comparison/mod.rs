//! Compares two records: what was measured in both, case by case and target by target.
//!
//! They have no rounds in common, so that nothing cancels what the machine did to one of them; see
//! [`stats::unpaired_ratio`]. What may have caused a change is listed with it: environments that
//! differ, and the findings about either record.

mod findings;
mod pairs;

use model::{
    Batch, Cache, Case, DatasetSpec, Error, Experiment, Plan, Result, record::Record,
    units::show_count,
};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, geometric_mean, unpaired_ratio};

pub use self::findings::ComparedFinding;
use self::pairs::{pairs, without_partner};
use super::plans::{conditions, data_difference};
use crate::{Series, Unlike, Verdict, environment_differences, words};

/// What two records, or two sweeps, have in common, and what not.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Cases that both have, in the order of the new one; those of a sweep run by run.
    pub cases: Vec<ComparedCase>,
    /// What only one has, in words: of the old record, of the new one.
    pub only: [Vec<String>; 2],
    pub environments: Vec<Unlike>,
    /// How the plans differ in ways that leave them comparable.
    pub plans: Vec<Unlike>,
    /// Findings about either record, the worst first.
    pub findings: Vec<ComparedFinding>,
}

/// A workload in a cache state, of both records.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparedCase {
    /// Of a sweep, what varies with its value here; else empty.
    pub point: String,
    /// The workload's name.
    pub name: String,
    /// What it does.
    pub workload: String,
    /// The cache state.
    #[schemars(with = "String")]
    pub cache: Cache,
    /// Targets that both records have.
    #[serde(skip)]
    pub changes: Vec<Change>,
}

/// What became of a target in a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Change {
    /// The target's label.
    pub target: String,
    /// Microseconds per operation in the old record.
    #[serde(rename = "old_us_per_op")]
    pub old_us: Option<Estimate>,
    /// In the new one.
    #[serde(rename = "new_us_per_op")]
    pub new_us: Option<Estimate>,
    /// Time per operation, new over old.
    #[serde(rename = "time_ratio")]
    pub time: Option<Estimate>,
    /// 99th percentile of latencies, new over old.
    #[serde(rename = "p99_ratio")]
    pub p99: Option<Estimate>,
    /// What `time_ratio` says: faster is better.
    pub verdict: Verdict,
}

impl ComparedCase {
    /// `size=1k, read, warm`.
    pub fn title(&self) -> String {
        let point = if self.point.is_empty() { String::new() } else { format!("{}, ", self.point) };
        format!("{point}{}, {}", self.name, self.cache)
    }
}

impl Comparison {
    /// Every target in every case.
    pub fn changes(&self) -> impl Iterator<Item = (&ComparedCase, &Change)> {
        self.cases.iter().flat_map(|case| case.changes.iter().map(move |change| (case, change)))
    }

    /// Those that take more than `times` as long as before: the whole interval is above it.
    pub fn worse_than(&self, times: f64) -> impl Iterator<Item = (&ComparedCase, &Change)> {
        self.changes().filter(move |(_, change)| {
            let above = change.time.is_some_and(|ratio| ratio.low > times);
            change.verdict == Verdict::Slower && above
        })
    }

    /// Those that the old record has a time of, and the new one none.
    pub fn lost(&self) -> impl Iterator<Item = (&ComparedCase, &Change)> {
        self.changes().filter(|(_, change)| change.old_us.is_some() && change.new_us.is_none())
    }

    /// Whether anything of it can be judged.
    pub fn is_judged(&self) -> bool {
        use Verdict::{Faster, NoDifference, Slower};
        self.changes().any(|(_, row)| matches!(row.verdict, Faster | Slower | NoDifference))
    }
}

/// Compares the runs of two files. An error: they worked on other data, or have nothing in common.
pub fn comparison(old: &[Record], new: &[Record]) -> Result<Comparison> {
    let runs = pairs(old, new, words::varied);
    let mut plans: Vec<Unlike> = Vec::new();
    let mut cases = Vec::new();
    let mut only = without_partner(old, new, words::varied);
    for (old, new) in runs {
        let both = [&old.header.plan, &new.header.plan];
        refuse_other_data(both)?;
        add_new(&mut plans, conditions(&both));
        for (whose, lacking) in only.iter_mut().zip(unpaired(both)) {
            add_new(whose, lacking);
        }
        for (before, after) in pairs_of_cases(both) {
            add_new(&mut plans, commits(both, before, after));
            cases.push(compared_case(old, before, new, after));
        }
    }
    cases.retain(|case| !case.changes.is_empty());
    if cases.is_empty() {
        return Err(nothing_in_common(&only));
    }
    let machine =
        |records: &[Record]| records.first().map(|first| first.header.environment.clone());
    let machines = [machine(old), machine(new)];
    Ok(Comparison {
        cases,
        only,
        environments: environment_differences(&machines.iter().flatten().collect::<Vec<_>>()),
        plans,
        findings: findings::findings(old, new),
    })
}

fn nothing_in_common(only: &[Vec<String>; 2]) -> Error {
    let [old, new] = only.each_ref().map(|own| own.join("; "));
    if old.is_empty() && new.is_empty() {
        return Error::usage("there is nothing to compare: neither record has a trial");
    }
    Error::usage(format!("the records have nothing in common: {old} against {new}"))
}

fn add_new<T: PartialEq>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// The user's own data may grow from one record to the next; generated data is asked for.
fn refuse_other_data(both: [&Plan; 2]) -> Result<()> {
    let is_own = |plan: &Plan| match &plan.experiment {
        Experiment::Blobs { dataset, .. } => !matches!(dataset, DatasetSpec::Generated(_)),
        _ => false,
    };
    match data_difference(&both) {
        Some(unlike) if !both.into_iter().all(is_own) => {
            Err(Error::usage(format!("the records are of different plans: {unlike}")))
        }
        _ => Ok(()),
    }
}

/// Where a pass is one commit and passes differ in length, its cost falls on more operations.
fn commits(both: [&Plan; 2], before: Case, after: Case) -> Option<Unlike> {
    let of = |plan: &Plan, case: Case| plan.workloads.get(case.workload).copied();
    let (old, new) = (of(both[0], before)?, of(both[1], after)?);
    let spread = new.batch == Batch::All && new.work.writes();
    let counts = [old, new].map(|workload| show_count(workload.count));
    spread.then(|| Unlike::of(&format!("operations a commit ({})", new.work), counts))?
}

fn cases(plan: &Plan) -> Vec<(Case, String)> {
    let of = |case: &Case| plan.workloads.get(case.workload).map(words::workload);
    plan.cases()
        .map(|case| (case, format!("{}, {}", of(&case).unwrap_or_default(), case.cache)))
        .collect()
}

fn pairs_of_cases(both: [&Plan; 2]) -> Vec<(Case, Case)> {
    let [old, new] = both.map(cases);
    pairs(&old, &new, |(_, words)| words.clone())
        .into_iter()
        .map(|(old, new)| (old.0, new.0))
        .collect()
}

/// Cases and targets that one of them lacks.
fn unpaired(both: [&Plan; 2]) -> [Vec<String>; 2] {
    let [old, new] = both.map(cases);
    let [mut before, mut after] = without_partner(&old, &new, |(_, words)| words.clone());
    let [old, new] = both.map(|plan| &plan.targets);
    let [targets, others] = without_partner(old, new, words::target);
    before.extend(targets);
    after.extend(others);
    [before, after]
}

fn compared_case(old: &Record, before: Case, new: &Record, after: Case) -> ComparedCase {
    let plan = &new.header.plan;
    let targets =
        [old, new].map(|record| record.header.plan.targets.iter().enumerate().collect::<Vec<_>>());
    let both = pairs(&targets[0], &targets[1], |(_, target)| words::target(target));
    let changes = both.into_iter().filter_map(|((was, _), (is, target))| {
        let old = Series { record: old, case: before, target: *was };
        let new = Series { record: new, case: after, target: *is };
        let tried = [old, new].iter().any(Series::is_tried);
        tried.then(|| change(old, new, &target.label))
    });
    ComparedCase {
        point: words::varied(new),
        name: words::workload_name(plan, after.workload),
        workload: plan.workloads.get(after.workload).map(words::workload).unwrap_or_default(),
        cache: after.cache,
        changes: changes.collect(),
    }
}

fn change(old: Series<'_>, new: Series<'_>, label: &str) -> Change {
    let [before, after] = [old, new].map(|series| series.times().into_values().collect::<Vec<_>>());
    let [p99_before, p99_after] = [old, new].map(Series::p99s);
    let time = unpaired_ratio(&after, &before);
    Change {
        target: label.to_owned(),
        old_us: geometric_mean(&before),
        new_us: geometric_mean(&after),
        time,
        p99: unpaired_ratio(&p99_after, &p99_before),
        verdict: Verdict::of_change(old, new, time.as_ref()),
    }
}
