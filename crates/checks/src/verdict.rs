//! The verdicts on the ratios of a case, and the targets that need more rounds for one.

use std::{collections::BTreeSet, f64::consts::LN_2};

use model::{
    Case, Judge, Plan, Rounds,
    record::{Ended, Record},
};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, FIRST_LOOK, Judgement, Looks, SAME, Values, is_look};

use crate::{
    extrapolation,
    gate::Gate,
    rounds::may_lack_a_large_value,
    series::{CLIENTS, FEWEST_ROUNDS, Series},
};

/// The verdict on a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The target is the one that the others are compared with.
    Baseline,
    /// The target takes less time.
    Faster,
    /// The target takes more time.
    Slower,
    /// Its time is within ±3 % of the baseline's.
    Same,
    /// No difference and no equality is shown.
    Inconclusive,
    /// It is a limit of the machine, not a place for data: whatever its ratio, it does not win.
    Limit,
    /// It is a limit on other machines; here a store takes less time.
    Reference,
    /// It writes under another durability class: not the same work.
    DurabilityDiffers,
    /// It or the baseline could not keep up with the schedule: latencies grew as long as the pass.
    Saturated,
    /// There are too few rounds.
    TooFewRounds,
    /// No trial started in the cache state that was asked for.
    StateNotReached,
    /// The target or the baseline was not measured.
    NotMeasured,
}

impl From<stats::Verdict> for Verdict {
    fn from(verdict: stats::Verdict) -> Self {
        match verdict {
            stats::Verdict::Faster => Self::Faster,
            stats::Verdict::Slower => Self::Slower,
            stats::Verdict::Same => Self::Same,
            stats::Verdict::Inconclusive => Self::Inconclusive,
        }
    }
}

impl Verdict {
    /// Reports whether more rounds would change the verdict only by chance.
    pub fn is_shown(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Same)
    }

    /// Reports whether there were enough rounds for a verdict.
    pub fn is_judged(self) -> bool {
        self.is_shown() || self == Self::Inconclusive
    }

    /// Returns the verdict of a target that is a limit of the machine.
    pub(crate) fn of_reference(self) -> Self {
        let compared = self.is_judged() || self == Self::DurabilityDiffers;
        if compared { Self::Limit } else { self }
    }

    /// Returns the verdict on a target of two records that is known without the ratio, if so many
    /// `rounds` of each count; `None` if the ratio decides.
    pub fn without_change(old: Series<'_>, new: Series<'_>, rounds: [usize; 2]) -> Option<Self> {
        match rounds {
            [0, _] if without_ratio(old) == Self::StateNotReached => Some(Self::StateNotReached),
            [0, _] | [_, 0] => Some(without_ratio(new)),
            [old_rounds, new_rounds] => unjudged(old, new, old_rounds.min(new_rounds)),
        }
    }
}

/// A verdict with the ratio to the baseline that it is about; `None` for the baseline, and for
/// targets that were not measured.
pub(crate) type Judged = (Verdict, Option<Estimate>);

/// Returns the verdict on a figure of each target of the plan in a case. The interval of a ratio is the
/// one that decides, also if the run looked at it again and again.
pub(crate) fn judgements_on(figure: Judge, record: &Record, case: Case) -> Vec<Judged> {
    let plan = &record.header.plan;
    let baseline = Series::new(record, case, plan.baseline);
    let all = || (0..plan.targets.len()).map(|target| baseline.with_target(target));
    let ratios = |series: Series<'_>| series.figure_ratios_to(figure, baseline);
    let lacks =
        |series: Series<'_>| ratios(series).values.is_empty().then_some(Verdict::NotMeasured);
    let known_for = |series| unjudged_for(series, baseline).or_else(|| lacks(series));
    let known: Vec<_> = all().map(known_for).collect();
    let table = all().zip(&known).map(|(series, known)| match known {
        Some(_) => Values::default(),
        None => ratios(series),
    });
    let extended = |series: Series<'_>, judged: &Judgement| {
        let factor = extrapolation::factor(series, baseline).filter(|_| figure.is_time());
        let judged = factor.map_or(*judged, |factor| judged.extended(factor));
        (judged.verdict.into(), judged.ratio)
    };
    let judged = judge(record, &table.collect::<Vec<_>>(), |target, judged| {
        let series = baseline.with_target(target);
        is_settled(series, figure, extended(series, judged))
    });
    let verdict =
        |((series, known), judged): ((Series<'_>, Option<Verdict>), Judgement)| match known {
            None => extended(series, &judged),
            Some(Verdict::Baseline) => (Verdict::Baseline, None),
            Some(known) if may_lack_a_large_value(record, case) => (known, None),
            // It has no part in the level of the table.
            Some(known) => (known, judge(record, &[ratios(series)], |_, _| false)[0].ratio),
        };
    all().zip(known).zip(judged).map(verdict).collect()
}

/// Judges a table as far as its run is: those that a look has not `settled` are looked at for the last time
/// once the time is over.
fn judge(
    record: &Record,
    table: &[Values],
    settled: impl Fn(usize, &Judgement) -> bool,
) -> Vec<Judgement> {
    let looks = looks(&record.header.plan);
    let reason = record.end.as_ref().map(|end| &end.reason);
    // Who stops a run may have seen what it shows.
    if matches!(reason, None | Some(Ended::Interrupted | Ended::Failed(_))) {
        return stats::judge(table, looks);
    }
    stats::judge_at_end(table, looks, settled)
}

/// Returns how often a run judges its ratios. Each of several runs has its share of the time,
/// whatever it shows.
fn looks(plan: &Plan) -> Looks {
    let Rounds { max, runs, fail_above, .. } = plan.rounds;
    if max.is_some() || runs > 1 {
        return Looks::Once;
    }
    // A gate may be undecided however narrow the interval is, and the run looks again.
    let precision = if fail_above.is_some() { 0.0 } else { narrow(plan) };
    Looks::Planned { precision }
}

/// Returns the ratio of the times of a target to those of another one, with the interval that decides.
pub(crate) fn deciding_ratio(series: Series<'_>, other: Series<'_>) -> Option<Estimate> {
    let ratios = series.figure_ratios_to(Judge::Time, other);
    let is_shown = |_, judged: &Judgement| judged.verdict != stats::Verdict::Inconclusive;
    judge(series.record, &[ratios], is_shown)[0].ratio
}

/// Returns the half-width at which an interval is narrow enough, whatever it shows: for a time the
/// precision that was asked for, for a ratio half of that, with which nearly all are faster, slower
/// or the same within the whole.
fn narrow(plan: &Plan) -> f64 {
    let precision = plan.rounds.precision;
    if plan.targets.len() == 1 { precision } else { precision / 2.0 }
}

/// Returns the verdict on a target whose ratio is not judged; `None` if it is.
fn unjudged_for(series: Series<'_>, baseline: Series<'_>) -> Option<Verdict> {
    if series.target == baseline.target && series.is_measured() {
        return Some(Verdict::Baseline);
    }
    match series.rounds_with(baseline) {
        0 => Some(without_ratio(series)),
        rounds => unjudged(baseline, series, rounds),
    }
}

/// Returns the verdict on this many rounds of both that is known without the ratio; `None` if the
/// ratio decides.
fn unjudged(baseline: Series<'_>, series: Series<'_>, rounds: usize) -> Option<Verdict> {
    let classes = series.durability().zip(baseline.durability());
    if series.writes() && classes.is_some_and(|(class, other)| class != other) {
        return Some(Verdict::DurabilityDiffers);
    }
    if baseline.is_saturated() || series.is_saturated() {
        return Some(Verdict::Saturated);
    }
    let too_few =
        rounds < FEWEST_ROUNDS as usize || may_lack_a_large_value(series.record, series.case);
    too_few.then_some(Verdict::TooFewRounds)
}

fn without_ratio(series: Series<'_>) -> Verdict {
    if series.is_tried() && !series.is_measured() {
        Verdict::StateNotReached
    } else {
        Verdict::NotMeasured
    }
}

/// Returns the targets that need more rounds in a case. The baseline is left out, unless it is
/// alone or its rate is compared with other runs. What a gate does not judge needs them only as long as
/// something that it judges does, if it judges anything. A target that failed may be among them.
pub fn unsettled(record: &Record, case: Case) -> Vec<usize> {
    let plan = &record.header.plan;
    let alone = plan.targets.len() == 1 || is_of_clients(record);
    let is_store = |target: &usize| !plan.is_reference(*target);
    let mut others = (0..plan.targets.len()).filter(|target| *target != plan.baseline);
    let gate_judges = plan.rounds.fail_above.is_some() && others.any(|target| is_store(&target));
    let is_gated = |target: &usize| !gate_judges || is_store(target);
    let mut open = BTreeSet::new();
    for figure in wanted(plan) {
        let all = judgements_on(figure, record, case).into_iter().enumerate();
        let others = all.filter(|(target, _)| alone || *target != plan.baseline);
        let needs = |(target, judged): (usize, Judged)| {
            needs_rounds(Series::new(record, case, target), figure, judged).then_some(target)
        };
        open.extend(others.filter_map(needs));
    }
    if open.iter().any(is_gated) { open.into_iter().collect() } else { Vec::new() }
}

/// Returns the figures on which verdicts are wanted. A gate is about one.
fn wanted(plan: &Plan) -> Vec<Judge> {
    match plan.rounds {
        Rounds { judge, fail_above, .. } if fail_above.is_some() || judge.is_time() => vec![judge],
        Rounds { judge, .. } => vec![Judge::Time, judge],
    }
}

fn needs_rounds(series: Series<'_>, figure: Judge, judged: Judged) -> bool {
    let (verdict, _) = judged;
    let record = series.record;
    let figures = asked(series, figure);
    let rounds = figures.values.len();
    if rounds == 0 {
        // A target that is not tried in the first round of its case never is, and one that was never in
        // its state will hardly be.
        let tried = series.trials().count();
        let mut targets = 0..record.header.plan.targets.len();
        let is_started = targets.any(|target| series.with_target(target).is_tried());
        return !is_started || (1..FIRST_LOOK).contains(&tried);
    }
    let is_looked_at = match looks(&record.header.plan) {
        Looks::Planned { precision } => {
            is_look(rounds) || !verdict.is_judged() || figures.are_within(precision)
        }
        Looks::Once => true,
    };
    rounds < FIRST_LOOK
        || verdict == Verdict::TooFewRounds
        || !is_looked_at
        || !is_settled(series, figure, judged)
        || !is_rate_known(series)
}

/// Reports whether the record is the run of a sweep over the number of clients: efficiency and knee
/// compare its rates with those of other runs, which no ratio within a run shows.
fn is_of_clients(record: &Record) -> bool {
    record.header.point.as_ref().is_some_and(|point| point.varied.contains_key(CLIENTS))
}

/// Reports whether the rate of a target is known as precisely as was asked for, if it is compared
/// with other runs.
fn is_rate_known(series: Series<'_>) -> bool {
    let precision = series.record.header.plan.rounds.precision;
    !is_of_clients(series.record) || series.rate_times().are_within(precision)
}

/// Returns what a run is to know precisely: the ratio of a figure, or for the baseline or a single target the
/// figure itself, of each round.
fn asked(series: Series<'_>, figure: Judge) -> Values {
    let plan = &series.record.header.plan;
    if plan.targets.len() == 1 || series.target == plan.baseline {
        return series.unit_figures(figure);
    }
    series.figure_ratios_to(figure, series.baseline())
}

/// Reports whether an interval says how much faster or slower: its ends differ by no more than twofold, or
/// than the ratio differs from 1.
fn says_how_much(ratio: &Estimate) -> bool {
    (ratio.high / ratio.low).ln() <= LN_2.max(ratio.point.ln().abs())
}

/// Reports whether a verdict is shown that says how much, or none ever will be, or the figure is known
/// precisely. A verdict is not enough if more precision was asked for than the range called the same. A gate
/// needs neither: it is settled once the ratio is known to be within its limit or above it.
pub(crate) fn is_settled(series: Series<'_>, figure: Judge, (verdict, ratio): Judged) -> bool {
    let plan = &series.record.header.plan;
    let limit = plan.rounds.fail_above.filter(|_| figure == plan.rounds.judge);
    if let (Some(share), Some(ratio), true) = (limit, ratio, verdict.is_judged()) {
        return Gate::judge(&ratio, share) != Gate::Undecided;
    }
    let shown = (verdict.is_shown() || verdict == Verdict::Baseline && plan.targets.len() > 1)
        && plan.rounds.precision >= SAME
        && ratio.as_ref().is_none_or(says_how_much);
    let is_precise = || asked(series, figure).are_within(narrow(plan));
    shown || verdict == Verdict::Saturated || is_precise()
}
