//! Compares two records: what was measured in both, case by case and target by target.
//!
//! They have no rounds in common. So that what the machine did to one of them cancels, each time is
//! divided by that of a control in the same round, and the ratios of the two records are compared; see
//! [`stats::unpaired_ratio`]. What may have caused a change is listed with it: environments that
//! differ, and the findings about either record.

mod several;
pub(crate) mod tables;
pub(crate) mod unlike;

use std::{cmp::Reverse, ffi::OsStr, path::Path};

use checks::{Gate, Series, Verdict, all_findings, figures};
use itertools::Itertools;
use model::{
    Cache, Case, DatasetSpec, Error, Plan, PlannedTarget, Result, Severity, record::Record,
    units::show_count,
};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, Judgement, Values, detectable_change, judge_changes, unpaired_ratio};

pub(crate) use self::unlike::record_difference;
use self::unlike::{conditions, data_difference};
pub use self::{
    several::as_runs,
    tables::gate_rows,
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

/// The change of a target in a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Change {
    /// The target's label.
    pub target: String,
    /// Microseconds per operation in the old record.
    #[serde(rename = "old_us_per_op")]
    pub old_us: Option<Estimate>,
    /// Microseconds per operation in the new record.
    #[serde(rename = "new_us_per_op")]
    pub new_us: Option<Estimate>,
    /// Time per operation, divided by the control's if there is one in this case, new over old.
    #[serde(rename = "time_ratio")]
    pub time: Option<Estimate>,
    /// The smallest change of that ratio which these records show with a probability of 90 %: 0.02
    /// is 2 %. Null if there is only one round or run, which shows none.
    #[serde(rename = "detectable_share")]
    pub detectable: Option<f64>,
    /// Whether one of the records is of one run, which does not show how runs differ.
    pub single_run: bool,
    /// 99th percentile of latencies, new over old.
    #[serde(rename = "p99_ratio")]
    pub p99: Option<Estimate>,
    /// The verdict on `time_ratio`: faster is better. The control has the verdict "baseline".
    pub verdict: Verdict,
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

impl Change {
    /// Judges whether the target takes longer than before by more than `share`, with its whole
    /// interval. A single run neither fails nor passes below the smallest change that it can show.
    pub fn gate(&self, share: f64) -> Gate {
        let Some(ratio) = self.time.filter(|_| self.verdict.is_judged()) else {
            return Gate::Undecided;
        };
        let seen = self.detectable.filter(|_| self.single_run).unwrap_or(0.0).max(share);
        match ratio {
            Estimate { low, .. } if low > 1.0 + seen => Gate::Fail,
            Estimate { high, .. } if high <= 1.0 + share && seen <= share => Gate::Pass,
            _ => Gate::Undecided,
        }
    }
}

/// Judges whether any target takes longer than before by more than `share`: fails if one fails, and
/// is undecided if one is, or if none is judged.
impl Comparison {
    /// Judges whether any target takes longer than before by more than `share`: fails if one fails,
    /// and is undecided if one is, or if none is judged.
    pub fn gate(&self, share: f64) -> Gate {
        if self.same {
            return Gate::Pass;
        }
        let rows: Vec<_> = self.gated().map(|(_, change)| change.gate(share)).collect();
        let any = |gate| rows.contains(&gate);
        match (any(Gate::Fail), any(Gate::Undecided) || rows.is_empty()) {
            (true, _) => Gate::Fail,
            (false, true) => Gate::Undecided,
            (false, false) => Gate::Pass,
        }
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
        refuse_other_data(both)?;
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
            compared.push(compared_case(old, new, &targets, divided));
        }
    }
    compared.retain(|case| !case.changes.is_empty());
    if compared.is_empty() {
        return Err(nothing_in_common(&only));
    }
    let machines = [old, new].into_iter().filter_map(|records| records.first());
    let machines: Vec<_> = machines.map(|record| &record.header.environment).collect();
    Ok(Comparison {
        same: old == new,
        control: divisor,
        cases: compared,
        only,
        environments: environment_differences(&machines),
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
        let labels = targets.iter().map(label).collect::<Vec<_>>().join(", ");
        Error::usage(format!("--control {wanted:?}: not in both records (accepted: {labels})"))
    })
}

/// Pairs elements of `old` and `new` by the first name that they have in common, in the order of
/// `new`; of several the first with the first, and so on. Returns the pairs, then the first names
/// of the elements that only `old` and only `new` has.
fn paired<'a, T, const N: usize>(
    old: &'a [T],
    new: &'a [T],
    called: impl Fn(&T) -> [Option<String>; N],
) -> (Vec<(&'a T, &'a T)>, [Vec<String>; 2]) {
    let listed = |all: &'a [T]| all.iter().map(|one| (called(one), one)).collect::<Vec<_>>();
    let (mut rest, new) = (listed(old), listed(new));
    let mut partners = vec![None; new.len()];
    for rank in 0..N {
        for (partner, (names, _)) in partners.iter_mut().zip(&new).filter(|(p, _)| p.is_none()) {
            let is_it =
                |(other, _): &([_; N], _)| names[rank].is_some() && other[rank] == names[rank];
            *partner = rest.iter().position(is_it).map(|place| rest.remove(place).1);
        }
    }
    let first = |(names, _): &([Option<String>; N], &T)| names[0].clone().unwrap_or_default();
    let (mut pairs, mut only_new) = (Vec::new(), Vec::new());
    for (one, partner) in new.iter().zip(partners) {
        match partner {
            Some(old) => pairs.push((old, one.1)),
            None => only_new.push(first(one)),
        }
    }
    (pairs, [rest.iter().map(first).collect(), only_new])
}

/// Returns the names by which a target is the same one in both records: its name in the tables; for
/// a store of the user, which may have moved, the name of its file or folder; and its kind. Each is
/// written with the settings and the file system that were asked for.
fn identities(target: &PlannedTarget) -> [Option<String>; 3] {
    let file = Path::new(&target.location).file_name().map(OsStr::to_string_lossy);
    let kind = words::owner(target).map(|_| words::target_as(target, &target.engine));
    let file = kind.as_ref().zip(file).map(|(kind, file)| format!("{kind} {file}"));
    [Some(words::target_as(target, &target.label)), file, kind]
}

/// Compares the places of the user's stores: whether they moved, or only one record measured a
/// copy.
fn stores(pairs: &[(&Numbered<'_>, &Numbered<'_>)]) -> Option<Unlike> {
    let shown = |(_, target): &Numbered<'_>| {
        words::owner(target).map(|owner| format!("{} ({owner})", target.location))
    };
    let both = pairs.iter().map(|(old, new)| [shown(old), shown(new)]);
    let differ: Vec<_> = both.filter(|[old, new]| old != new).collect();
    let listed = |of: usize| differ.iter().filter_map(|both| both[of].clone()).join("; ");
    Unlike::compare("stores", [listed(0), listed(1)])
}

/// A target with its index in the plan.
type Numbered<'a> = (usize, &'a PlannedTarget);

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

/// Fails if the records are about different generated data. The user's own data may change between
/// records.
fn refuse_other_data(both: [&Plan; 2]) -> Result<()> {
    let is_own = |plan: &Plan| {
        let blobs = plan.experiment.blobs();
        blobs.is_some_and(|blobs| !matches!(blobs.dataset, DatasetSpec::Generated(_)))
    };
    match data_difference(&both) {
        Some(unlike) if !both.into_iter().all(is_own) => {
            Err(Error::usage(format!("the records are of different plans: {unlike}")))
        }
        _ => Ok(()),
    }
}

/// Compares the lengths of passes that write: in a longer pass the cost of a commit or a flush is
/// spread over more operations.
fn work(both: [&Plan; 2], before: Case, after: Case) -> Option<Unlike> {
    let of = |plan: &Plan, case: Case| plan.workloads.get(case.workload).copied();
    let (old, new) = (of(both[0], before)?, of(both[1], after)?);
    let counts = [old, new].map(|workload| show_count(workload.count));
    let differ = new
        .work
        .writes()
        .then(|| Unlike::compare(&format!("operations a pass ({})", new.work), counts));
    differ?
}

/// Returns the cases of a plan, each with its name.
fn cases(plan: &Plan) -> Vec<(Case, String)> {
    let of = |case: Case| words::workload(&plan.workloads[case.workload]);
    plan.cases().map(|case| (case, format!("{}, {}", of(case), case.cache))).collect()
}

fn compared_case(
    (old, before): (&Record, Case),
    (new, after): (&Record, Case),
    targets: &[[usize; 2]],
    control: Option<[usize; 2]>,
) -> ComparedCase {
    let plan = &new.header.plan;
    let series =
        |[was, is]: [usize; 2]| [Series::new(old, before, was), Series::new(new, after, is)];
    let control = control.filter(|places| series(*places).iter().all(|own| own.is_measured()));
    let tried = targets.iter().filter(|places| series(**places).iter().any(Series::is_tried));
    let rows: Vec<_> = tried
        .map(|places| Both {
            series: series(*places),
            control: control.filter(|own| own != places),
        })
        .collect();
    let values: Vec<_> = rows.iter().map(Both::values).collect();
    let changes = rows.iter().zip(&values).zip(judged(&rows, &values, control));
    ComparedCase {
        point: words::varied(new),
        name: plan.workload_name(after.workload),
        workload: words::workload(&plan.workloads[after.workload]),
        cache: after.cache,
        controlled: control.is_some(),
        changes: changes.map(|((row, values), judged)| row.change(values, judged)).collect(),
    }
}

/// Returns the verdict on each row of a case with the interval that decides it. A row whose verdict
/// is known without its ratio does not count in the joint confidence level.
fn judged(
    rows: &[Both<'_>],
    values: &[[Values; 2]],
    control: Option<[usize; 2]>,
) -> Vec<(Verdict, Judgement)> {
    let is_control = |row: &Both<'_>| control.is_some_and(|[_, is]| row.series[1].target == is);
    let known =
        |row: &Both<'_>| if is_control(row) { Some(Verdict::Baseline) } else { row.unjudged() };
    let known: Vec<_> = rows.iter().map(known).collect();
    let table = known.iter().zip(values).map(|(known, [old, new])| match known {
        Some(_) => Default::default(),
        None => [new.clone(), old.clone()],
    });
    let judged = judge_changes(&table.collect::<Vec<_>>());
    let verdict =
        |((known, [old, new]), judged): ((Option<Verdict>, &[Values; 2]), Judgement)| match known {
            None => (judged.verdict.into(), judged),
            Some(known) => (known, judge_changes(&[[new.clone(), old.clone()]])[0]),
        };
    known.into_iter().zip(values).zip(judged).map(verdict).collect()
}

/// A target in the old record and in the new one.
struct Both<'a> {
    series: [Series<'a>; 2],
    /// The indices of the control in both plans; `None` if the target is compared by its times
    /// alone.
    control: Option<[usize; 2]>,
}

impl Both<'_> {
    /// Returns the compared values of the old and the new record, one for each round or run.
    fn values(&self) -> [Values; 2] {
        let times = |(series, control): (Series<'_>, Option<usize>)| match control {
            Some(control) => series.ratios_to(series.with_target(control)),
            None => series.unit_times(),
        };
        self.divided().map(times)
    }

    /// Returns each series with its control.
    fn divided(&self) -> [(Series<'_>, Option<usize>); 2] {
        let [old, new] = self.series;
        [(old, self.control.map(|[was, _]| was)), (new, self.control.map(|[_, is]| is))]
    }

    /// Returns the verdict that is known without the ratio, as if there are too few rounds; `None`
    /// if the ratio decides.
    fn unjudged(&self) -> Option<Verdict> {
        let [old, new] = self.series;
        let rounds = self.divided().map(|(series, control)| {
            series.rounds_with(control.map_or(series, |control| series.with_target(control)))
        });
        Verdict::without_change(old, new, rounds)
    }

    fn change(&self, [old, new]: &[Values; 2], (verdict, judged): (Verdict, Judgement)) -> Change {
        let [old_us, new_us] = self.series.map(|series| series.unit_times().mean());
        let [p99_before, p99_after] = self.series.map(Series::unit_p99s);
        let detectable = detectable_change(new, old, judged.level);
        let [_, after] = self.series;
        Change {
            target: words::label(&after.record.header.plan, after.target).to_owned(),
            old_us,
            new_us,
            time: judged.ratio,
            // Ten times as long would show at a glance.
            detectable: (detectable < 10.0).then_some(detectable),
            single_run: self.series.iter().any(|own| own.record.header.plan.rounds.runs == 1),
            p99: unpaired_ratio(&p99_after, &p99_before),
            verdict,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_again_pairs_in_order() {
        let (old, new) = (["a1", "b1", "a2"], ["a3", "c1", "a4", "a5"]);
        let letter = |one: &&str| [Some(one[..1].to_owned())];
        let (pairs, only) = paired(&old, &new, letter);
        assert_eq!(pairs, [(&"a1", &"a3"), (&"a2", &"a4")]);
        assert_eq!(only, [vec!["b"], vec!["c", "a"]]);
    }
}
