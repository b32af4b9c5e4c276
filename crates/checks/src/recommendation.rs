//! The store to take for reads and updates together, chosen as `advise` chooses it.

use model::{Case, Operation, Plan, Work, record::Record};
use stats::Estimate;

use crate::{
    costs::{Costs, Undecided, is_no_gain},
    figures::{Figures, cases, stores::stores},
    lead::is_variant,
    rounds::whole_rounds,
    series::Series,
    verdict::Verdict,
};

/// The share of reads if both reads and updates were measured: the default of `advise`.
const READS: f64 = 0.95;

/// A ratio of spaces that is further from 1 is named.
const SPACE: f64 = 0.03;

/// The store to take, and what that rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// The store.
    pub choice: Recommended,
    /// Share of reads by which it was chosen; `None` if one workload was compared.
    pub reads: Option<f64>,
    /// The workloads that have no figure yet, and so did not count.
    pub not_measured: Vec<usize>,
}

/// Which store to take.
#[derive(Clone, Debug, PartialEq)]
pub enum Recommended {
    /// None yet.
    Undecided(Undecided),
    /// The baseline: nothing is faster by more than 3 %.
    Keep,
    /// Another store.
    Take(Taken),
}

/// A store that is to be taken instead of the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Index of the target in the plan.
    pub target: usize,
    /// The verdict on each workload, with the ratio to the baseline.
    pub gains: Vec<(usize, Verdict, Option<Estimate>)>,
    /// Its space divided by the baseline's; `None` if it is not known, or about the same.
    pub space: Option<f64>,
    /// A store that is faster and gives up more, with its cost divided by that of this one.
    pub faster: Option<(usize, Estimate)>,
    /// The fastest variant of the baseline's engine, if it is faster, with its cost divided by that
    /// of this one.
    pub variant: Option<(usize, Estimate)>,
}

/// The figures of reads and updates in the first cache state of a run.
struct Compared<'a> {
    record: &'a Record,
    plan: &'a Plan,
    costs: Costs<'a>,
    /// The rows of each workload.
    work: Vec<&'a [Figures]>,
}

/// Returns the store to take; `None` if the run has no single one: it measured something else, or
/// its baseline is a reference.
pub fn recommendation(record: &Record, figures: &[Figures]) -> Option<Recommendation> {
    let plan = &record.header.plan;
    let work = measured(plan, figures);
    let reads = share_of_reads(plan, &work)?;
    let compared = Compared { record, plan, costs: Costs::new(record, reads), work };
    let choice = compared.choice()?;
    let is_measured =
        |workload: &usize| compared.work.iter().any(|rows| rows[0].case.workload == *workload);
    Some(Recommendation {
        choice,
        reads: (compared.work.len() > 1).then_some(reads),
        not_measured: (0..plan.workloads.len()).filter(|of| !is_measured(of)).collect(),
    })
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
    fn choice(&self) -> Option<Recommended> {
        let baseline = self.plan.baseline;
        if self.plan.targets.len() < 2 || self.plan.is_reference(baseline) {
            return None;
        }
        let is_other_store =
            |target: &usize| *target != baseline && !self.plan.is_reference(*target);
        let stores = (0..self.plan.targets.len()).filter(is_other_store);
        let (judged, others): (Vec<_>, Vec<_>) = stores.partition(|target| self.is_judged(*target));
        if judged.is_empty() {
            let mut verdicts = others.iter().flat_map(|target| self.verdicts(*target));
            let few = verdicts.any(|verdict| verdict == Verdict::TooFewRounds);
            return few.then(|| Recommended::Undecided(self.too_few_rounds()));
        }
        // A variant of the baseline can be taken only if no other engine is compared.
        let wanted = |target: usize| {
            target == baseline || self.is_judged(target) && !is_variant(self.plan, target)
        };
        let choice = self.costs.choice(Some(baseline), wanted)?;
        let is_lower = self.ratio(choice.chosen).is_some_and(|ratio| ratio.high < 1.0);
        // By more than is called the same.
        let is_shown =
            is_lower && self.verdicts(choice.chosen).any(|verdict| verdict == Verdict::Faster);
        if choice.chosen != baseline && is_shown {
            return Some(Recommended::Take(self.taken(choice.chosen, choice.faster)));
        }
        let mut others = judged.iter().filter(|target| wanted(**target));
        if others.all(|target| self.ratio(*target).is_some_and(|ratio| is_no_gain(&ratio))) {
            return Some(Recommended::Keep);
        }
        let fastest = choice.best;
        let ratio = self.ratio(fastest).filter(|_| fastest != baseline);
        Some(Recommended::Undecided(Undecided::NoDifference { fastest, ratio }))
    }

    /// Returns the cost of a store divided by the baseline's, with the interval that its verdicts rest on.
    fn ratio(&self, target: usize) -> Option<Estimate> {
        let ratio = |rows: &[Figures]| rows.iter().find(|row| row.target == target)?.ratio;
        if let [rows] = self.work[..] {
            return ratio(rows);
        }
        let of_part =
            |part: Series<'_>| ratio(self.work.iter().find(|rows| rows[0].case == part.case)?);
        self.costs.ratio_of(target, self.plan.baseline, of_part)
    }

    fn verdicts(&self, target: usize) -> impl Iterator<Item = Verdict> {
        let rows = self.work.iter().flat_map(|rows| rows.iter());
        rows.filter(move |row| row.target == target).map(|row| row.verdict)
    }

    /// Reports whether every case of the target has a verdict.
    fn is_judged(&self, target: usize) -> bool {
        self.verdicts(target).all(Verdict::is_judged)
    }

    fn too_few_rounds(&self) -> Undecided {
        let all = whole_rounds(self.record);
        let choice = self.costs.choice(None, |target| !is_variant(self.plan, target));
        // A case that came last may have fewer rounds than the others. Of several runs, these are counted.
        let rounds = match self.costs.fewest_rounds() {
            fewest if fewest > 0 && self.plan.rounds.runs == 1 => fewest.min(all),
            _ => all,
        };
        let fastest = choice.filter(|_| all > 1).map(|choice| choice.best);
        Undecided::TooFewRounds { rounds, fastest }
    }

    fn taken(&self, target: usize, faster: Option<usize>) -> Taken {
        let row = |rows: &&[Figures]| {
            let row = rows.iter().find(|row| row.target == target)?;
            Some((row.case.workload, row.verdict, row.ratio))
        };
        let stores = stores(self.record);
        let space = |target: usize| stores.get(target)?.on_disk_per_byte;
        let ratio = space(target).zip(space(self.plan.baseline)).map(|(own, base)| own / base);
        let cost = |other: usize| Some((other, self.costs.ratio(other, target)?));
        let variants = (0..self.plan.targets.len()).filter(|of| is_variant(self.plan, *of));
        let shown = variants.filter(|of| self.is_judged(*of)).filter_map(cost);
        let shown = shown.filter(|(_, ratio)| ratio.high < 1.0);
        Taken {
            target,
            gains: self.work.iter().filter_map(row).collect(),
            space: ratio.filter(|ratio| !(1.0 - SPACE..=1.0 + SPACE).contains(ratio)),
            faster: faster.and_then(cost),
            variant: shown.min_by(|one, other| one.1.point.total_cmp(&other.1.point)),
        }
    }
}
