//! The store to take for reads and updates together, chosen as `advise` chooses it.

use checks::{Costs, Figures, StoreFigures, Verdict, cases, stores};
use model::{Case, Operation, Plan, Work, record::Record};

use super::{
    and,
    display::{capitalise, factor, faster, inverse, name, opened, times},
    limits::given_up,
};
use crate::words::{self, rounds};

/// The share of reads if both reads and updates were measured: the default of `advise`.
const READS: f64 = 0.95;

/// The sentences about a run, and which store to take.
#[derive(Default)]
pub(super) struct Recommendation {
    pub(super) says: Vec<String>,
    /// `None` if the baseline stays, or nothing is shown yet.
    pub(super) target: Option<usize>,
}

/// The figures of reads and updates in the first cache state of a run.
struct Compared<'a> {
    plan: &'a Plan,
    costs: Costs<'a>,
    /// The rows of each workload.
    work: Vec<&'a [Figures]>,
    stores: Vec<StoreFigures>,
    /// Rounds that have a trial in the record.
    rounds: usize,
}

/// Returns the store to take; `None` if the run has no single one: it measured something else, or
/// its baseline is a reference.
pub(super) fn recommendation(run: &Record, figures: &[Figures]) -> Option<Recommendation> {
    let plan = &run.header.plan;
    let work = measured(plan, figures);
    let compared = Compared {
        plan,
        costs: Costs::new(run, share_of_reads(plan, &work)?),
        work,
        stores: stores(run),
        rounds: rounds(run),
    };
    compared.recommend()
}

/// Returns the share of reads among the operations that were measured; `None` if they have no
/// shares.
fn share_of_reads(plan: &Plan, measured: &[&[Figures]]) -> Option<f64> {
    let is_plain = |work: Work| {
        let operation = work.operation().filter(|_| work.rate().is_none() && work.age().is_none());
        matches!(operation, Some(Operation::Read | Operation::Update))
    };
    if plan.workloads.len() > 1 && !plan.workloads.iter().all(|of| is_plain(of.work)) {
        return None;
    }
    let writes = |rows: &&[Figures]| plan.workloads[rows[0].case.workload].work.writes();
    match measured.iter().map(writes).collect::<Vec<_>>()[..] {
        [writes] => Some(if writes { 0.0 } else { 1.0 }),
        [one, other] => (one != other).then_some(READS),
        _ => None,
    }
}

/// Returns the rows of each workload in which the baseline and another store were measured in the
/// first cache state.
fn measured<'a>(plan: &Plan, figures: &'a [Figures]) -> Vec<&'a [Figures]> {
    let cache = plan.caches.first().copied().unwrap_or_default();
    let rows = |workload| cases(figures).find(|rows| rows[0].case == Case { workload, cache });
    let all = (0..plan.workloads.len()).filter_map(rows);
    let stores = |row: &&Figures| row.rounds > 0 && !plan.is_reference(row.target);
    let is_compared = |rows: &&[Figures]| {
        let has_baseline = rows.iter().any(|row| row.rounds > 0 && row.target == plan.baseline);
        has_baseline && rows.iter().filter(stores).count() > 1
    };
    all.filter(is_compared).collect()
}

impl Compared<'_> {
    fn recommend(&self) -> Option<Recommendation> {
        let baseline = self.plan.baseline;
        if self.plan.targets.len() < 2 || self.plan.is_reference(baseline) {
            return None;
        }
        let is_other_store =
            |target: &usize| *target != baseline && !self.plan.is_reference(*target);
        let stores = (0..self.plan.targets.len()).filter(is_other_store);
        let (judged, others): (Vec<_>, Vec<_>) = stores.partition(|target| self.is_judged(*target));
        let verdicts = || others.iter().flat_map(|target| self.verdicts(*target));
        if judged.is_empty() {
            let few = verdicts().any(|verdict| verdict == Verdict::TooFewRounds);
            return few.then(|| self.too_few());
        }
        let wanted = |target: usize| target == baseline || self.can_be_taken(target);
        let choice = self.costs.choice(Some(baseline), wanted)?;
        if choice.chosen == baseline {
            let kept = Some(self.kept(choice.best, wanted));
            let says = [kept, self.not_measured()].into_iter().flatten().collect();
            return Some(Recommendation { says, target: None });
        }
        let chosen = choice.chosen;
        let sentences = [
            Some(self.gains(chosen)),
            self.limits(chosen),
            choice.faster.and_then(|other| self.faster_still(chosen, other)),
            self.faster_variant(chosen),
            self.weight(),
            self.not_measured(),
        ];
        let says = sentences.into_iter().flatten().collect();
        Some(Recommendation { says, target: Some(chosen) })
    }

    fn verdicts(&self, target: usize) -> impl Iterator<Item = Verdict> {
        let rows = self.work.iter().flat_map(|rows| rows.iter());
        rows.filter(move |row| row.target == target).map(|row| row.verdict)
    }

    /// Reports whether every case of the target has a verdict.
    fn is_judged(&self, target: usize) -> bool {
        self.verdicts(target).all(Verdict::is_judged)
    }

    /// Reports whether the target was judged and has another engine than the baseline. A target
    /// with the baseline's engine and other settings can be taken only if no other engine is
    /// compared.
    fn can_be_taken(&self, target: usize) -> bool {
        self.is_judged(target) && !self.is_variant(target)
    }

    /// Reports whether the target has the baseline's engine with other settings, and other engines
    /// are compared.
    fn is_variant(&self, target: usize) -> bool {
        let engine = |target: usize| &self.plan.targets[target].engine;
        let own = engine(self.plan.baseline);
        let stores = (0..self.plan.targets.len()).filter(|of| !self.plan.is_reference(*of));
        let others = stores.filter(|other| engine(*other) != own).count();
        engine(target) == own && target != self.plan.baseline && others > 0
    }

    /// Returns the recommendation if there are too few rounds for an answer.
    fn too_few(&self) -> Recommendation {
        let least = self.plan.rounds.min.max(checks::FEWEST_ROUNDS);
        let wanted = |target: usize| !self.is_variant(target);
        let looks = self.costs.choice(None, wanted).filter(|_| self.rounds > 1);
        let looks = looks.map(|choice| format!(" Fastest so far: {}.", self.name(choice.best)));
        // A case that came last may have fewer rounds than the others.
        let rounds = match self.costs.fewest_rounds() {
            0 => self.rounds,
            fewest => fewest.min(self.rounds),
        };
        let says = format!(
            "No answer yet: {rounds} of the {least} rounds that it needs ran.{}",
            looks.unwrap_or_default()
        );
        Recommendation { says: vec![says], target: None }
    }

    /// Returns the sentence for a baseline that stays: nothing is faster, or no difference is
    /// shown.
    fn kept(&self, best: usize, wanted: impl Fn(usize) -> bool) -> String {
        let baseline = self.plan.baseline;
        let own = capitalise(&self.name(baseline));
        let ratio = self.costs.ratio(best, baseline).filter(|_| best != baseline);
        match ratio {
            _ if self.costs.is_best(baseline, wanted) => {
                format!("{own}: nothing that was compared is more than 3 % faster.")
            }
            ratio => {
                let by = ratio.map(|ratio| faster(&ratio, &self.name(baseline)));
                let by = by.map_or_else(String::new, |by| format!(", {by}"));
                let best = self.name(best);
                format!("No answer yet: no difference is shown. Fastest so far: {best}{by}.")
            }
        }
    }

    /// Describes what the chosen store gains: `SQLite, opened with api=blob: reads 3.7× faster than
    /// plain files, updates 5.1× faster, takes 8 % less space.`
    fn gains(&self, chosen: usize) -> String {
        let mut than = format!(" than {}", self.name(self.plan.baseline));
        let mut parts = Vec::new();
        for rows in &self.work {
            let Some(row) = rows.iter().find(|row| row.target == chosen) else { continue };
            let verb = match self.plan.workloads[row.case.workload].work.operation() {
                Some(Operation::Read) => "reads".to_owned(),
                Some(Operation::Update) => "updates".to_owned(),
                _ => self.plan.workload_name(row.case.workload),
            };
            parts.push(match row.verdict {
                Verdict::Same => format!("{verb} as fast (±3 %)"),
                Verdict::Faster | Verdict::Slower => {
                    let by = words::verdict(row.verdict, row.ratio.as_ref());
                    format!("{verb} {by}{}", std::mem::take(&mut than))
                }
                _ => format!("{verb}: no difference shown"),
            });
        }
        parts.extend(self.space(chosen));
        format!("{}: {}.", capitalise(&self.opened(chosen)), parts.join(", "))
    }

    /// Compares the space with that of the baseline: `takes 8 % less space`; `None` if it differs
    /// by at most 3 %.
    fn space(&self, chosen: usize) -> Option<String> {
        let of = |target: usize| self.stores.get(target)?.on_disk_per_byte;
        let ratio = of(chosen)? / of(self.plan.baseline)?;
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match ratio {
            r if r < 0.97 => Some(format!("takes {} less space", percent(1.0 - r))),
            r if r <= 1.03 => None,
            r if r < 1.5 => Some(format!("takes {} more space", percent(r - 1.0))),
            r => Some(format!("takes {}× the space", factor(r))),
        }
    }

    /// Describes what a program gives up with the chosen store and has with the baseline; `None` if
    /// it gives up nothing.
    fn limits(&self, chosen: usize) -> Option<String> {
        let given_up = self.given_up(chosen, self.plan.baseline);
        (!given_up.is_empty()).then(|| format!("It gives up: {}.", and(&given_up)))
    }

    /// Lists what a program gives up with `one` and has with `other`.
    fn given_up(&self, one: usize, other: usize) -> Vec<String> {
        given_up(&self.plan.targets[one], &self.plan.targets[other])
    }

    /// Describes a store that is faster but gives up more: `redb is 1.3× faster still (1.2 to
    /// 1.4×), if you can give up …`.
    fn faster_still(&self, chosen: usize, other: usize) -> Option<String> {
        let [by, interval] = times(&inverse(&self.costs.ratio(other, chosen)?));
        let given_up = self.given_up(other, chosen);
        let given_up = and(&given_up);
        let name = self.name(other);
        Some(format!("{name} is {by} faster still ({interval}), if you can give up {given_up}."))
    }

    /// Describes the fastest variant of the baseline's engine; `None` if none is faster than the
    /// chosen store.
    fn faster_variant(&self, chosen: usize) -> Option<String> {
        let variants = (0..self.plan.targets.len()).filter(|target| self.is_variant(*target));
        let variants = variants.filter(|target| self.is_judged(*target));
        let ratios =
            variants.filter_map(|target| Some((target, self.costs.ratio(target, chosen)?)));
        let shown = ratios.filter(|(_, ratio)| ratio.high < 1.0);
        let (target, ratio) = shown.min_by(|one, other| one.1.point.total_cmp(&other.1.point))?;
        Some(format!("{}: {}.", capitalise(&self.opened(target)), faster(&ratio, "that")))
    }

    /// Lists the workloads that have no figure yet, and so did not count; `None` if all have one.
    fn not_measured(&self) -> Option<String> {
        let is_measured =
            |workload: &usize| self.work.iter().any(|rows| rows[0].case.workload == *workload);
        let lacking = (0..self.plan.workloads.len()).filter(|workload| !is_measured(workload));
        let names: Vec<_> = lacking.map(|of| self.plan.workload_name(of)).collect();
        (!names.is_empty()).then(|| format!("Not measured yet: {}.", and(&names)))
    }

    /// Describes the shares by which the store was chosen; `None` if it is a single workload.
    fn weight(&self) -> Option<String> {
        let both = self.work.len() > 1;
        both.then(|| {
            "Chosen for 95 % reads and 5 % updates; storemark advise --reads N weighs others."
                .to_owned()
        })
    }

    fn name(&self, target: usize) -> String {
        name(self.plan, target)
    }

    /// Returns the name of a target with the settings that a program needs to open it.
    fn opened(&self, target: usize) -> String {
        opened(self.plan, target)
    }
}
