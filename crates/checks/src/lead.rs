//! The target that is ahead in a case, and the rounds that a verdict still needs. Limits of the
//! machine are never ahead.

use model::{Case, Plan, record::Record};
use stats::{Estimate, SAME};

use crate::{
    figures::{Figures, cases},
    rounds::whole_rounds,
    series::FEWEST_ROUNDS,
    verdict::Verdict,
};

/// The leading target of a case, and how the others compare with it.
pub struct Lead<'a> {
    /// The record.
    pub run: &'a Record,
    /// The workload and the cache state.
    pub case: Case,
    /// The target that is ahead.
    pub ahead: Ahead,
    /// The time of the target ahead divided by the baseline's; `None` if the baseline is ahead or
    /// nothing is shown.
    pub ratio: Option<Estimate>,
    /// The target that follows the baseline, or whose difference from it is not shown yet.
    pub next: Option<(usize, Estimate)>,
    /// The targets that are not clearly slower than the one ahead.
    pub level: Vec<usize>,
    rows: &'a [Figures],
}

/// Which target is ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ahead {
    /// This target is faster than the baseline.
    Target(usize),
    /// The baseline is ahead.
    Baseline,
    /// The baseline is a limit of the machine, and this target comes closest to it.
    Nearest(usize),
    /// All targets are within ±3 % of the baseline, or slower.
    Same,
    /// No difference is shown yet.
    Open,
    /// No target is judged, for the reason in this verdict.
    Unknown(Verdict),
}

/// Returns the lead of each case that was measured.
pub fn leads<'a>(run: &'a Record, figures: &'a [Figures]) -> impl Iterator<Item = Lead<'a>> {
    let measured = cases(figures).filter(|rows| rows.iter().any(|row| row.rounds > 0));
    measured.map(move |rows| Lead::new(run, rows))
}

/// Reports whether a target has the baseline's engine with other settings, and other engines are
/// compared: then the baseline alone is compared with them.
pub(crate) fn is_variant(plan: &Plan, target: usize) -> bool {
    let engine = |target: usize| plan.targets.get(target).map(|target| &target.engine);
    let own = engine(plan.baseline);
    let mut stores = (0..plan.targets.len()).filter(|of| !plan.is_reference(*of));
    engine(target) == own && target != plan.baseline && stores.any(|other| engine(other) != own)
}

impl<'a> Lead<'a> {
    fn new(run: &'a Record, rows: &'a [Figures]) -> Self {
        let plan = &run.header.plan;
        let case = rows[0].case;
        let contenders: Vec<_> = rows
            .iter()
            .filter(|row| !plan.is_reference(row.target) && !is_variant(plan, row.target))
            .collect();
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
        let level = level(&contenders, ahead, ratio.as_ref());
        Self { run, case, ahead, ratio, next, level, rows }
    }

    /// Returns the microseconds of an operation of a target; `None` if it was not measured.
    pub fn us(&self, target: usize) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.target == target)?;
        Some(row.us_per_op.as_ref()?.point)
    }

    /// Returns the figures of stores without a verdict that may still be ahead.
    fn unsettled(&self) -> impl Iterator<Item = &Figures> {
        let plan = &self.run.header.plan;
        let open = |verdict| matches!(verdict, Verdict::Inconclusive | Verdict::TooFewRounds);
        let rows = self.rows.iter().filter(move |row| open(row.verdict) && self.may_lead(row));
        rows.filter(move |row| !plan.is_reference(row.target))
    }

    /// Returns the stores whose verdict depends on where their copies are on the disk, which more
    /// time does not change.
    pub fn undecided_copies(&self) -> impl Iterator<Item = usize> {
        self.unsettled().filter(|row| depends_on_copies(row)).map(|row| row.target)
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
fn level(contenders: &[&Figures], ahead: Ahead, ahead_ratio: Option<&Estimate>) -> Vec<usize> {
    let is_level = |row: &&&Figures| match (ahead, ahead_ratio, row.ratio) {
        (Ahead::Target(target), Some(of_ahead), Some(ratio)) => {
            row.target != target && row.verdict.is_judged() && ratio.low <= of_ahead.high
        }
        (Ahead::Same, ..) => row.verdict == Verdict::Same,
        _ => false,
    };
    contenders.iter().filter(is_level).map(|row| row.target).collect()
}

/// Returns the verdict that says why no target is judged.
fn why(contenders: &[&Figures]) -> Verdict {
    let reasons = [
        Verdict::Saturated,
        Verdict::TooFewRounds,
        Verdict::StateNotReached,
        Verdict::DurabilityDiffers,
    ];
    let is_any = |verdict: &Verdict| contenders.iter().any(|row| row.verdict == *verdict);
    reasons.into_iter().find(is_any).unwrap_or(Verdict::NotMeasured)
}

/// Returns the factor by which the rounds of all cases have to grow until each has a verdict, if
/// the intervals narrow as they did; `None` if every case has one.
pub fn rounds_factor(leads: &[Lead<'_>]) -> Option<f64> {
    let factors = leads.iter().flat_map(|lead| {
        let most = whole_rounds(lead.run) as f64;
        let narrows = lead.unsettled().filter(|row| !depends_on_copies(row));
        narrows.map(move |row| rounds_needed(row) / row_rounds(row).min(most))
    });
    factors.reduce(f64::max).filter(|factor| factor.is_finite())
}

fn depends_on_copies(row: &Figures) -> bool {
    row.copies_decide && row.verdict == Verdict::Inconclusive
}

fn row_rounds(row: &Figures) -> f64 {
    row.rounds.max(1) as f64
}

/// Returns after how many rounds the interval is narrow enough to be on one side of 1, or within ±3
/// % of it: its width shrinks with the square root of their number.
fn rounds_needed(row: &Figures) -> f64 {
    let least = f64::from(FEWEST_ROUNDS) + 1.0;
    let of = |Estimate { point, low, high, .. }: Estimate| {
        let (away, half) = (point.ln().abs(), (high / low).ln() / 2.0);
        let width = away.max(SAME - away).max(SAME / 2.0);
        row_rounds(row) * (half / width).powi(2)
    };
    // Fewer rounds show a width by chance.
    let judged = row.ratio.filter(|_| row.verdict == Verdict::Inconclusive);
    judged.map_or(least, of).max(row_rounds(row) * 1.5).max(least)
}
