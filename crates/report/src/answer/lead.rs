//! The target that is ahead in a case. Limits of the machine never are.

use checks::{Figures, Verdict, cases};
use model::{Case, Plan, record::Record};
use stats::Estimate;

use crate::words;

/// The leading target of a case, and how the others compare with it.
pub(super) struct Lead<'a> {
    pub(super) run: &'a Record,
    /// The case and what varies in this run: `read, warm, size=4k`.
    pub(super) place: String,
    pub(super) ahead: Ahead,
    /// The time of the target ahead divided by the baseline's; `None` if the baseline is ahead or
    /// nothing is shown.
    pub(super) ratio: Option<Estimate>,
    /// The target that follows the baseline, or whose difference from it is not shown yet.
    pub(super) next: Option<(usize, Estimate)>,
    /// The targets that are not clearly slower than the one ahead.
    pub(super) level: Vec<usize>,
    rows: &'a [Figures],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ahead {
    Target(usize),
    Baseline,
    /// The baseline is a limit of the machine, and this target comes closest to it.
    Nearest(usize),
    /// All targets are within ±3 % of the baseline, or slower.
    Same,
    /// No difference is shown yet.
    Open,
    /// No target has a verdict, for this reason.
    Unknown(&'static str),
}

/// Returns the lead of each case that was measured.
pub(super) fn leads<'a>(run: &'a Record, figures: &'a [Figures]) -> impl Iterator<Item = Lead<'a>> {
    let measured = cases(figures).filter(|rows| rows.iter().any(|row| row.rounds > 0));
    measured.map(move |rows| Lead::new(run, rows))
}

/// Reports whether a target may be ahead. A limit of the machine may not; of the targets with the
/// baseline's engine only the baseline may, if other engines are compared.
fn is_contender(plan: &Plan, target: usize) -> bool {
    let engine = |target: usize| &plan.targets[target].engine;
    let stores = || (0..plan.targets.len()).filter(|of| !plan.is_reference(*of));
    let own = plan.targets.get(plan.baseline).map(|baseline| &baseline.engine);
    let others = stores().any(|other| Some(engine(other)) != own);
    let is_variant = target != plan.baseline && Some(engine(target)) == own && others;
    !plan.is_reference(target) && !is_variant
}

/// Returns a case and what varies in this run in words.
pub(super) fn describe_case(run: &Record, case: Case) -> String {
    let about = [run.header.plan.case_name(case), words::varied(run)];
    words::joined(about, ", ").unwrap_or_default()
}

impl<'a> Lead<'a> {
    fn new(run: &'a Record, rows: &'a [Figures]) -> Self {
        let plan = &run.header.plan;
        let case = rows[0].case;
        let contenders: Vec<_> = rows.iter().filter(|row| is_contender(plan, row.target)).collect();
        let nearest = |wanted: &dyn Fn(Verdict) -> bool| {
            let such = contenders.iter().filter(|row| wanted(row.verdict));
            let ratios = such.filter_map(|row| Some((row.target, row.ratio?)));
            ratios.min_by(|one, other| one.1.point.total_cmp(&other.1.point))
        };
        let faster = nearest(&|verdict| verdict == Verdict::Faster);
        let open = nearest(&|verdict| verdict == Verdict::Inconclusive);
        let slower = nearest(&|verdict| verdict == Verdict::Slower);
        let same = contenders.iter().any(|row| row.verdict == Verdict::Same);
        let judged = nearest(&Verdict::is_judged);
        let of_limit = plan.is_reference(plan.baseline);
        let (ahead, next) = match (faster, open, slower) {
            _ if of_limit && judged.is_some() => (judged.map(|(of, _)| Ahead::Nearest(of)), None),
            (Some((target, _)), ..) => (Some(Ahead::Target(target)), None),
            (None, Some(open), _) => (Some(Ahead::Open), Some(open)),
            _ if same => (Some(Ahead::Same), None),
            (None, None, slower) => (slower.map(|_| Ahead::Baseline), slower),
        };
        let ahead = ahead.unwrap_or_else(|| Ahead::Unknown(why(&contenders)));
        let ratio = if of_limit { judged } else { faster }.map(|(_, ratio)| ratio);
        let place = describe_case(run, case);
        let level = level(&contenders, ahead, ratio.as_ref());
        Self { run, place, ahead, ratio, next, level, rows }
    }

    /// Returns the microseconds of an operation of a target; `None` if it was not measured.
    pub(super) fn us(&self, target: usize) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.target == target)?;
        Some(row.us_per_op.as_ref()?.point)
    }

    /// Returns the figures of stores without a verdict that may still be ahead.
    pub(super) fn unsettled(&self) -> impl Iterator<Item = &Figures> {
        let plan = &self.run.header.plan;
        let open = |verdict| matches!(verdict, Verdict::Inconclusive | Verdict::TooFewRounds);
        let rows = self.rows.iter().filter(move |row| open(row.verdict) && self.may_lead(row));
        rows.filter(move |row| !plan.is_reference(row.target))
    }

    /// Reports whether the interval of `row` reaches that of the target ahead.
    fn may_lead(&self, row: &Figures) -> bool {
        match (self.ahead, self.ratio, row.ratio) {
            (Ahead::Target(_), Some(first), Some(ratio)) => ratio.low <= first.high,
            _ => true,
        }
    }
}

/// Returns the targets whose interval overlaps that of the target ahead, or, if all are the same as
/// the baseline, those that are.
fn level(contenders: &[&Figures], ahead: Ahead, first: Option<&Estimate>) -> Vec<usize> {
    let is_level = |row: &&&Figures| match (ahead, first, row.ratio) {
        (Ahead::Target(target), Some(first), Some(ratio)) => {
            row.target != target && row.verdict.is_judged() && ratio.low <= first.high
        }
        (Ahead::Same, ..) => row.verdict == Verdict::Same,
        _ => false,
    };
    contenders.iter().filter(is_level).map(|row| row.target).collect()
}

pub(super) const TOO_FEW: &str = "too few rounds";

fn why(contenders: &[&Figures]) -> &'static str {
    let any = |verdict| contenders.iter().any(|row| row.verdict == verdict);
    match () {
        () if any(Verdict::Saturated) => "a store could not keep up with the rate",
        () if any(Verdict::TooFewRounds) => TOO_FEW,
        () if any(Verdict::StateNotReached) => "the cache state was not reached",
        () if any(Verdict::DurabilityDiffers) => "durability differs from that of the baseline",
        () => "only one was measured",
    }
}
