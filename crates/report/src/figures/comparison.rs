//! Compares two records: what was measured in both, case by case and target by target.
//!
//! They have no rounds in common, so that nothing cancels what the machine did to one of them; see
//! [`stats::unpaired_ratio`]. What may have caused a change is listed with it: environments that
//! differ, and the findings about either record.

use std::cmp::Reverse;

use model::{
    Batch, Cache, Case, DatasetSpec, Error, Experiment, Plan, PlannedTarget, Result, Severity,
    record::Record, units::show_count,
};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, geometric_mean, unpaired_ratio};

use super::unlike::{conditions, data_difference};
use crate::{Series, Unlike, Verdict, all_findings, environment_differences, figures, words};

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

/// A finding about one or both of the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct ComparedFinding {
    /// How much it weighs.
    #[serde(rename = "weight")]
    pub severity: Severity,
    /// `old`, `new` or `both`.
    #[serde(rename = "record")]
    pub whose: &'static str,
    /// The finding in words.
    #[serde(rename = "text")]
    pub sentence: String,
}

impl ComparedCase {
    /// `size=1k, read, warm`.
    pub fn title(&self) -> String {
        let point = if self.point.is_empty() { String::new() } else { format!("{}, ", self.point) };
        format!("{point}{}, {}", self.name, self.cache)
    }
}

impl Comparison {
    pub fn changes(&self) -> impl Iterator<Item = (&ComparedCase, &Change)> {
        self.cases.iter().flat_map(|case| case.changes.iter().map(move |change| (case, change)))
    }

    /// Those that the old record has a time of, and the new one none.
    pub fn lost(&self) -> impl Iterator<Item = (&ComparedCase, &Change)> {
        self.changes().filter(|(_, change)| change.old_us.is_some() && change.new_us.is_none())
    }

    /// Whether anything of it can be judged.
    pub fn is_judged(&self) -> bool {
        self.changes().any(|(_, row)| row.verdict.is_judged())
    }
}

/// Compares the runs of two files. An error: they worked on other data, or have nothing in common.
pub fn comparison(old: &[Record], new: &[Record]) -> Result<Comparison> {
    let (runs, mut only) = paired(old, new, words::varied);
    let mut plans: Vec<Unlike> = Vec::new();
    let mut compared = Vec::new();
    for (old, new) in runs {
        let both = [&old.header.plan, &new.header.plan];
        refuse_other_data(both)?;
        add_new(&mut plans, conditions(&both));
        let of_each = both.map(cases);
        let listed = both.map(|plan| plan.targets.iter().enumerate().collect::<Vec<_>>());
        let (pairs, lacking_cases) = paired(&of_each[0], &of_each[1], |(_, words)| words.clone());
        let name = |(_, target): &(usize, &PlannedTarget)| words::target(target);
        let (targets, lacking) = paired(&listed[0], &listed[1], name);
        let targets: Vec<_> = targets.into_iter().map(|(old, new)| [old.0, new.0]).collect();
        for (whose, lacking) in (0..).zip(lacking_cases).chain((0..).zip(lacking)) {
            add_new(&mut only[whose], lacking);
        }
        for ((before, _), (after, _)) in pairs {
            add_new(&mut plans, commits(both, *before, *after));
            compared.push(compared_case((old, *before), (new, *after), &targets));
        }
    }
    compared.retain(|case| !case.changes.is_empty());
    if compared.is_empty() {
        return Err(nothing_in_common(&only));
    }
    let machines = [old, new].into_iter().filter_map(|records| records.first());
    let machines: Vec<_> = machines.map(|record| &record.header.environment).collect();
    Ok(Comparison {
        cases: compared,
        only,
        environments: environment_differences(&machines),
        plans,
        findings: findings(old, new),
    })
}

/// Elements of `old` and `new` with the same name, in the order of `new`; of several the first with
/// the first, and so on. Next, the names of what is in `old` only, and in `new` only.
fn paired<'a, T>(
    old: &'a [T],
    new: &'a [T],
    name: impl Fn(&T) -> String,
) -> (Vec<(&'a T, &'a T)>, [Vec<String>; 2]) {
    let mut rest: Vec<_> = old.iter().map(|one| (name(one), one)).collect();
    let (mut pairs, mut only_new) = (Vec::new(), Vec::new());
    for one in new {
        let name = name(one);
        match rest.iter().position(|(other, _)| *other == name) {
            Some(place) => pairs.push((rest.remove(place).1, one)),
            None => only_new.push(name),
        }
    }
    (pairs, [rest.into_iter().map(|(name, _)| name).collect(), only_new])
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

/// Each with what it is called.
fn cases(plan: &Plan) -> Vec<(Case, String)> {
    let of = |case: Case| words::workload(&plan.workloads[case.workload]);
    plan.cases().map(|case| (case, format!("{}, {}", of(case), case.cache))).collect()
}

fn compared_case(
    (old, before): (&Record, Case),
    (new, after): (&Record, Case),
    targets: &[[usize; 2]],
) -> ComparedCase {
    let plan = &new.header.plan;
    let changes = targets.iter().filter_map(|[was, is]| {
        let old = Series { record: old, case: before, target: *was };
        let new = Series { record: new, case: after, target: *is };
        let tried = [old, new].iter().any(Series::is_tried);
        tried.then(|| change(old, new, &plan.targets[*is].label))
    });
    ComparedCase {
        point: words::varied(new),
        name: words::workload_name(plan, after.workload),
        workload: words::workload(&plan.workloads[after.workload]),
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

/// All of both, the worst first.
fn findings(old: &[Record], new: &[Record]) -> Vec<ComparedFinding> {
    let mut all: Vec<ComparedFinding> = Vec::new();
    for (runs, whose) in [(old, "old"), (new, "new")] {
        let Some(first) = runs.first() else { continue };
        let figures: Vec<_> = runs.iter().map(figures).collect();
        for merged in all_findings(runs, &figures) {
            let sentence = words::finding(&first.header.plan, &merged);
            let known = all.iter_mut().filter(|other| other.whose != whose);
            match known.into_iter().find(|other| other.sentence == sentence) {
                Some(other) => other.whose = "both",
                None => {
                    all.push(ComparedFinding { severity: merged.kind.severity(), whose, sentence });
                }
            }
        }
    }
    all.sort_by_key(|finding| Reverse(finding.severity));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_again_pairs_in_order() {
        let (old, new) = (["a1", "b1", "a2"], ["a3", "c1", "a4", "a5"]);
        let letter = |one: &&str| one[..1].to_owned();
        let (pairs, only) = paired(&old, &new, letter);
        assert_eq!(pairs, [(&"a1", &"a3"), (&"a2", &"a4")]);
        assert_eq!(only, [vec!["b"], vec!["c", "a"]]);
    }
}
