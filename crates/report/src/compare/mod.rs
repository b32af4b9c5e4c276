//! Compares two records: what was measured in both, case by case and target by target.
//!
//! They have no rounds in common. So that what the machine did to one of them cancels, each time is
//! divided by that of a control in the same round, and the ratios of the two records are compared; see
//! [`stats::unpaired_ratio`]. What may have caused a change is listed with it: environments that
//! differ, and the findings about either record.

mod pairing;
mod several;
pub(crate) mod tables;
pub(crate) mod unlike;

use std::cmp::Reverse;

use checks::{CasePair, Change, Gate, Verdict, all_findings, figures};
use model::{
    Cache, DatasetSpec, Environment, Error, Plan, Result, Severity, did_you_mean, record::Record,
};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::unlike::record_difference;
use self::{
    pairing::{cases, identities, paired, stores, work},
    unlike::{conditions, data_difference},
};
pub use self::{
    several::{NamedRecords, as_runs},
    tables::{counter_rows, gate_rows},
    unlike::{Unlike, environment_differences, plan_differences},
};
use crate::words;

/// A comparison of two records, or of two sweeps.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Whether both are the same record, in which nothing can have changed.
    pub same: bool,
    /// Label of the target whose time divides the others'; `None` if there is no other target.
    pub control: Option<String>,
    /// Cases that both have, in the order of the new record; those of a sweep run by run.
    pub cases: Vec<ComparedCase>,
    /// The targets and cases that only one record has: first those of the old one, then those of
    /// the new one.
    pub only: [Vec<String>; 2],
    /// How the machines and the software on them differ.
    pub environments: Vec<Unlike>,
    /// How the plans differ in ways that leave them comparable.
    pub plans: Vec<Unlike>,
    /// Findings about either record, the worst first.
    pub findings: Vec<ComparedFinding>,
}

/// A workload in a cache state that both records have.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparedCase {
    /// The option that varies in a sweep, with its value here; empty if nothing varies.
    pub point: String,
    /// The workload's name.
    pub name: String,
    /// The work in words.
    pub workload: String,
    /// The cache state.
    #[schemars(with = "String")]
    pub cache: Cache,
    /// Whether times are divided by those of the control, which may lack this cache state.
    pub controlled: bool,
    /// Targets that both records have.
    #[serde(skip)]
    pub changes: Vec<Change>,
}

/// A finding about one or both of the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct ComparedFinding {
    /// How severe it is.
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
    /// Returns the title of the case: `size=1k, read, warm`.
    pub fn title(&self) -> String {
        let point = if self.point.is_empty() { String::new() } else { format!("{}, ", self.point) };
        format!("{point}{}, {}", self.name, self.cache)
    }
}

impl Comparison {
    /// Judges whether any target takes longer than before by more than `share`: fails if one fails,
    /// and is undecided if one is, or if none is judged.
    pub fn gate(&self, share: f64) -> Gate {
        if self.same {
            return Gate::Pass;
        }
        Gate::joint(self.gated().map(|(_, change)| change.gate(share)))
    }

    /// Returns the changes that a gate judges: targets with times in both records, without the
    /// control. A record compared with itself has none.
    pub fn gated(&self) -> impl Iterator<Item = (&ComparedCase, &Change)> {
        let has_both = |change: &Change| change.old_us.is_some() && change.new_us.is_some();
        let is_gated = move |row: &Change| has_both(row) && row.verdict != Verdict::Baseline;
        self.changes().filter(move |(_, row)| !self.same && is_gated(row))
    }

    /// Returns every change with its case.
    pub fn changes(&self) -> impl Iterator<Item = (&ComparedCase, &Change)> {
        self.cases.iter().flat_map(|case| case.changes.iter().map(move |change| (case, change)))
    }

    /// Lists what the old record has and the new one lacks: targets and cases of its plan, and
    /// times.
    pub fn lost(&self) -> impl Iterator<Item = String> + '_ {
        let no_longer = |change: &Change| change.old_us.is_some() && change.new_us.is_none();
        let times = self.changes().filter(move |(_, change)| no_longer(change));
        let times = times.map(|(case, change)| format!("{}: {}", case.title(), change.target));
        self.only[0].iter().cloned().chain(times)
    }

    /// Reports whether any change has a verdict.
    pub fn is_judged(&self) -> bool {
        self.same || self.changes().any(|(_, row)| row.verdict.is_judged())
    }
}

/// Compares the runs of two files. `control` names a target that both have, by its label; without
/// it the new record's baseline is the control.
///
/// # Errors
///
/// Fails if the records are about different data, have nothing in common, or do not both have
/// `control`.
pub fn comparison(old: &[Record], new: &[Record], control: Option<&str>) -> Result<Comparison> {
    let (runs, mut only) = paired(old, new, |run| [Some(words::varied(run))]);
    let mut plans: Vec<Unlike> = Vec::new();
    let mut compared = Vec::new();
    let mut divisor = None;
    for (old, new) in runs {
        let both = [&old.header.plan, &new.header.plan];
        add_new(&mut plans, own_data_difference(both)?);
        add_new(&mut plans, conditions(&both));
        let of_each = both.map(cases);
        let listed = both.map(|plan| plan.targets.iter().enumerate().collect::<Vec<_>>());
        let (pairs, lacking_cases) =
            paired(&of_each[0], &of_each[1], |(_, words)| [Some(words.clone())]);
        let (targets, lacking) = paired(&listed[0], &listed[1], |(_, target)| identities(target));
        add_new(&mut plans, stores(&targets));
        let targets: Vec<_> = targets.into_iter().map(|(old, new)| [old.0, new.0]).collect();
        for (whose, lacking) in (0..).zip(lacking_cases).chain((0..).zip(lacking)) {
            add_new(&mut only[whose], lacking);
        }
        let divided = self::control(both[1], &targets, control)?;
        divisor = divisor.or(divided.map(|[_, new]| words::label(both[1], new).to_owned()));
        for ((before, _), (after, _)) in pairs {
            add_new(&mut plans, work(both, *before, *after));
            let [old, new] = [(old, *before), (new, *after)];
            compared.push(compared_case(CasePair::new(old, new, divided), &targets));
        }
    }
    compared.retain(|case| !case.changes.is_empty());
    if compared.is_empty() {
        return Err(nothing_in_common(&only));
    }
    let machines = [old, new].into_iter().filter_map(|records| records.first());
    let machines: Vec<_> = machines.map(|record| &record.header.environment).collect();
    let name = |environment: &Environment| environment.machine.clone().unwrap_or_default();
    let named = Unlike::compare_each("machine", &machines, name);
    Ok(Comparison {
        same: old == new,
        control: divisor,
        cases: compared,
        only,
        environments: named.into_iter().chain(environment_differences(&machines)).collect(),
        plans,
        findings: findings(old, new),
    })
}

/// Returns the indices of the control in both plans; `None` if there is no other target to compare.
/// Fails if `wanted` is not in both records.
fn control(
    plan: &Plan,
    targets: &[[usize; 2]],
    wanted: Option<&str>,
) -> Result<Option<[usize; 2]>> {
    let label = |[_, new]: &[usize; 2]| words::label(plan, *new);
    // The label in the tables, or the target string.
    let is = |label: &str, wanted: &str| label == wanted || wanted.strip_suffix(':') == Some(label);
    let named = |wanted: &str| targets.iter().find(|own| is(label(own), wanted)).copied();
    let Some(wanted) = wanted else {
        let baseline = targets.iter().find(|[_, new]| *new == plan.baseline);
        return Ok(baseline.filter(|_| targets.len() > 1).copied());
    };
    named(wanted).map(Some).ok_or_else(|| {
        let labels = targets.iter().map(label).collect::<Vec<_>>();
        let near = did_you_mean(wanted, labels.iter().map(|label| &**label));
        let labels = labels.join(", ");
        Error::usage(format!(
            "--control {wanted:?}: not in both records{near} (accepted: {labels})"
        ))
    })
}

fn nothing_in_common(only: &[Vec<String>; 2]) -> Error {
    if only.iter().all(Vec::is_empty) {
        return Error::usage("there is nothing to compare: neither record has a trial");
    }
    // What is no run of a sweep has no name.
    let named = |own: &String| if own.is_empty() { "a single run".to_owned() } else { own.clone() };
    let [old, new] =
        only.each_ref().map(|own| own.iter().map(named).collect::<Vec<_>>().join("; "));
    Error::usage(format!("the records have nothing in common: {old} against {new}"))
}

fn add_new<T: PartialEq>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// Returns how the user's own data differ, which may change between records. Fails if the records are about
/// different generated data.
fn own_data_difference(both: [&Plan; 2]) -> Result<Option<Unlike>> {
    let is_own = |plan: &Plan| {
        let blobs = plan.experiment.blobs();
        blobs.is_some_and(|blobs| !matches!(blobs.dataset, DatasetSpec::Generated(_)))
    };
    match data_difference(&both) {
        Some(unlike) if !both.into_iter().all(is_own) => {
            Err(Error::usage(format!("the records are of different plans: {unlike}")))
        }
        unlike => Ok(unlike),
    }
}

fn compared_case(pair: CasePair<'_>, targets: &[[usize; 2]]) -> ComparedCase {
    let (new, after) = pair.new;
    let plan = &new.header.plan;
    ComparedCase {
        point: words::varied(new),
        name: plan.workload_name(after.workload),
        workload: words::workload(&plan.workloads[after.workload]),
        cache: after.cache,
        controlled: pair.control.is_some(),
        changes: pair.changes(targets),
    }
}

/// Returns the findings about both records, the worst first.
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
