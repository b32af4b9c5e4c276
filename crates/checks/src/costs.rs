//! The cost of an operation if reads and updates have shares: the mean of their times, weighed.

use model::{Case, Plan, Work, record::Record};
use stats::{Estimate, SAME};

use crate::{
    series::{FEWEST_ROUNDS, Series},
    verdict::deciding_ratio,
};

/// A candidate whose cost on a sample is further than this from the best's is not the best on all
/// of the data either.
const NEAR: f64 = 1.5;

/// The factor of the cost that a simpler store is worth if no difference is shown.
const CARE: f64 = 1.05;

/// The costs of an operation with each target of a record, in the first cache state of its plan.
#[derive(Clone, Copy)]
pub struct Costs<'a> {
    record: &'a Record,
    /// Share of reads among the operations, 0 to 1; all others are updates.
    reads: f64,
}

/// A target, and its cost divided by that of the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Index into the plan's targets.
    pub target: usize,
    /// Its cost divided by that of the best.
    pub ratio: Estimate,
}

/// The store to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The first target that is level with the best, hardly costs more, and is shown to be ahead of
    /// all before it that are not level. Targets are in the order of their simplicity.
    pub chosen: usize,
    /// The target with the lowest measured cost that can be taken.
    pub best: usize,
    /// The best of the others that can be taken; `None` if there is none.
    pub next: Option<usize>,
    /// A target that is shown to cost less than `chosen` and cannot be taken, because it promises
    /// less.
    pub faster: Option<usize>,
}

/// Why no store can be named yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Undecided {
    /// A verdict needs more rounds.
    TooFewRounds {
        /// Rounds that were measured.
        rounds: usize,
        /// The store that is fastest so far; `None` if that is not known.
        fastest: Option<usize>,
    },
    /// No difference is shown.
    NoDifference {
        /// The store that is fastest so far.
        fastest: usize,
        /// Its cost divided by that of the present store; `None` for the present store.
        ratio: Option<Estimate>,
    },
}

impl Ranked {
    /// Reports whether its cost may as well be that of the best: the interval shows no difference,
    /// or one that is too small to matter.
    pub fn is_level(&self) -> bool {
        self.ratio.low <= 1.0 || self.ratio.high <= 1.0 + SAME
    }
}

impl<'a> Costs<'a> {
    /// Creates the costs of the targets of `record` with this share of reads.
    pub fn new(record: &'a Record, reads: f64) -> Self {
        Self { record, reads }
    }

    /// Returns the trials of a target whose work has a share, with that share.
    fn parts(self, target: usize) -> impl Iterator<Item = (f64, Series<'a>)> {
        let plan = &self.record.header.plan;
        let cache = plan.caches.first().copied().unwrap_or_default();
        let weighed = plan.workloads.iter().enumerate().filter(|(_, of)| is_weighed(plan, of.work));
        weighed.filter_map(move |(workload, of)| {
            let share = if of.work.writes() { 1.0 - self.reads } else { self.reads };
            let series = Series::new(self.record, Case { workload, cache }, target);
            (share > 0.0).then_some((share, series))
        })
    }

    /// Returns the microseconds of an operation; `None` if a part of it was not measured.
    pub fn cost(self, target: usize) -> Option<Estimate> {
        let parts = self.parts(target).map(|(share, series)| Some((share, time(series)?)));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let point: f64 = parts.iter().map(|(share, time)| share * time.point).sum();
        let widths = parts.iter().map(|(share, time)| part(share * time.point / point, time));
        let n = parts.iter().map(|(_, time)| time.n).min()?;
        Some(around(point, widths, n))
    }

    /// Returns the cost of a target divided by that of another one, with the interval that decides. Each
    /// time is compared with the other's of the same round. Asked the other way round, it is the inverse: the
    /// costs by which parts are weighed are always those of the baseline, or of the earlier of the two.
    pub fn ratio(self, target: usize, other: usize) -> Option<Estimate> {
        let baseline = self.record.header.plan.baseline;
        if target == baseline || (other != baseline && target < other) {
            return self.ratio_to(other, target).map(Estimate::inverse);
        }
        self.ratio_to(target, other)
    }

    fn ratio_to(self, target: usize, base: usize) -> Option<Estimate> {
        self.ratio_of(target, base, |part| deciding_ratio(part, part.with_target(base)))
    }

    /// Returns the cost of a target divided by that of another one, from the `ratios` of its parts. To first
    /// order the logarithm of the cost is the sum of the logarithms of its parts, weighed by their parts of
    /// the cost, so their intervals add up as squares.
    pub(crate) fn ratio_of(
        self,
        target: usize,
        other: usize,
        ratios: impl Fn(Series<'a>) -> Option<Estimate>,
    ) -> Option<Estimate> {
        let whole = self.cost(other)?.point;
        let parts = self.parts(target).map(|(share, series)| {
            let (ratio, base) = (ratios(series)?, time(series.with_target(other))?);
            Some((share * base.point / whole, ratio, base))
        });
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let point: f64 = parts.iter().map(|(share, ratio, _)| share * ratio.point).sum();
        let widths = parts.iter().flat_map(|(share, ratio, base)| {
            let own = share * ratio.point / point;
            [part(own, ratio), part(own - share, base)]
        });
        let n = parts.iter().map(|(_, ratio, _)| ratio.n).min()?;
        Some(around(point, widths, n))
    }

    /// Returns the measured targets, the lowest cost first, without limits of the machine, which
    /// are no places for data.
    pub fn ranking(self) -> Vec<Ranked> {
        self.ranking_of(|_| true)
    }

    /// Returns that ranking of the targets that are `wanted`.
    fn ranking_of(self, wanted: impl Fn(usize) -> bool) -> Vec<Ranked> {
        let plan = &self.record.header.plan;
        let stores = (0..plan.targets.len()).filter(|target| !plan.targets[*target].reference);
        let stores = stores.filter(|target| wanted(*target));
        let all: Vec<_> = stores.filter(|target| self.cost(*target).is_some()).collect();
        let anchor = all.iter().copied().find(|target| *target == plan.baseline);
        let Some(anchor) = anchor.or_else(|| all.first().copied()) else { return Vec::new() };
        let to = |target, other| Some(Ranked { target, ratio: self.ratio(target, other)? });
        let by_point = |one: &Ranked, other: &Ranked| one.ratio.point.total_cmp(&other.ratio.point);
        let best = all.iter().filter_map(|target| to(*target, anchor)).min_by(by_point);
        let Some(Ranked { target: best, .. }) = best else { return Vec::new() };
        let mut ranking: Vec<_> = all.iter().filter_map(|target| to(*target, best)).collect();
        // The best one is first even if its ratio to another one is above 1 where rounds are missing.
        ranking.sort_by(|one, other| {
            (other.target == best).cmp(&(one.target == best)).then(by_point(one, other))
        });
        ranking
    }

    /// Reports whether all measured targets have enough rounds for a verdict.
    pub fn is_judged(self) -> bool {
        self.fewest_rounds() >= FEWEST_ROUNDS as usize
    }

    /// Returns the number of rounds that every measured target has.
    pub fn fewest_rounds(self) -> usize {
        self.ranking().iter().map(|ranked| ranked.ratio.n).min().unwrap_or(0)
    }

    /// Reports whether it is shown that no target that can be taken costs less than `now` by more
    /// than matters.
    pub fn is_best(self, now: usize, wanted: impl Fn(usize) -> bool) -> bool {
        let others = self.ranking_of(wanted).into_iter().filter(|other| other.target != now);
        let mut ratios = others.filter_map(|other| self.ratio(other.target, now));
        ratios.all(|ratio| is_no_gain(&ratio))
    }

    /// Returns the factor by which the number of rounds has to grow until it is known whether
    /// `target` costs less than `now`: the width of an interval shrinks with the square root of
    /// their number.
    pub fn rounds_needed(self, target: usize, now: usize) -> f64 {
        let fewest = f64::from(FEWEST_ROUNDS) + 1.0;
        let least = (fewest / (self.fewest_rounds().max(1) as f64)).max(1.5);
        let needed = self.ratio(target, now).map_or(0.0, |ratio| {
            let (away, half) = (ratio.point.ln().abs(), (ratio.high / ratio.low).ln() / 2.0);
            (half / away.max(SAME / 2.0)).powi(2)
        });
        if needed.is_finite() { needed.max(least) } else { least }
    }

    /// Chooses the store to take if `now` is in use; `None` if nothing was measured. A store that
    /// loses commits if its process is killed does not replace one that does not. `wanted` is false
    /// for targets that cannot be taken.
    pub fn choice(self, now: Option<usize>, wanted: impl Fn(usize) -> bool) -> Option<Choice> {
        let targets = &self.record.header.plan.targets;
        let lost = |target: usize| targets[target].lost_if_killed && self.writes();
        let weak_now = now.is_some_and(lost);
        let promises = |target: usize| weak_now || !lost(target);
        let mut ranking = self.ranking_of(|target| wanted(target) && promises(target));
        if ranking.is_empty() {
            ranking = self.ranking_of(&wanted);
        }
        let best = ranking.first()?.target;
        // The present store stays until another one is shown to be better.
        let is_near = |of: &Ranked| Some(of.target) == now || of.ratio.point <= CARE;
        let level = ranking.iter().filter(|ranked| ranked.is_level() && is_near(ranked));
        let shown = level.filter(|ranked| self.is_ahead_of_plainer(ranked.target, &ranking));
        let chosen = shown.map(|ranked| ranked.target).min().unwrap_or(best);
        let next = ranking.iter().map(|ranked| ranked.target).find(|target| *target != chosen);
        let all = self.ranking_of(&wanted).into_iter().map(|ranked| ranked.target);
        let shown =
            |other: &usize| self.ratio(*other, chosen).is_some_and(|ratio| ratio.high < 1.0);
        let faster = all.filter(|other| !promises(*other)).find(shown);
        Some(Choice { chosen, best, next, faster })
    }

    /// Reports whether updates have a share.
    fn writes(self) -> bool {
        let plan = &self.record.header.plan;
        self.reads < 1.0 && plan.workloads.iter().any(|of| of.work.writes())
    }

    /// Reports whether a target is shown to be ahead of the simpler ones before it that are behind
    /// the best. A wide interval makes a target level with the best, but is no reason to move the
    /// data to it.
    fn is_ahead_of_plainer(self, target: usize, ranking: &[Ranked]) -> bool {
        let mut behind = ranking.iter().filter(|other| other.target < target && !other.is_level());
        behind.all(|other| self.ratio(target, other.target).is_some_and(|ratio| ratio.high < 1.0))
    }

    /// Returns the targets that stay for the decision, in the order of the plan: those that are
    /// level with the best, at least two and at most `most`; the best of each other engine that a
    /// sample may have wronged; and the best of another engine if all are of one.
    pub fn finalists(self, most: usize) -> Vec<usize> {
        let ranking = self.ranking();
        let stays = |(place, ranked): &(usize, &Ranked)| *place < 2 || ranked.is_level();
        let kept = ranking.iter().enumerate().filter(stays).take(most);
        let mut kept: Vec<_> = kept.map(|(_, ranked)| ranked.target).collect();
        let engine = |target: usize| &self.record.header.plan.targets[target].engine;
        for ranked in &ranking {
            let is_other = kept.iter().all(|of| engine(*of) != engine(ranked.target));
            let is_alone = kept.iter().all(|of| engine(*of) == engine(kept[0]));
            if is_other && (is_alone || ranked.ratio.low <= NEAR) {
                kept.push(ranked.target);
            }
        }
        // The one that is taken if the best promises less.
        let best = self.choice(None, |_| true).map(|choice| choice.best);
        kept.extend(best.filter(|best| !kept.contains(best)));
        kept.sort_unstable();
        kept
    }

    /// Returns the share of reads at which two targets cost the same; `None` if one costs less at
    /// every share.
    pub fn even_share(self, one: usize, other: usize) -> Option<f64> {
        let both = Self { reads: 0.5, ..self };
        let more = |writes: bool| {
            let (_, series) = both.parts(one).find(|(_, series)| series.writes() == writes)?;
            Some(time(series)?.point - time(series.with_target(other))?.point)
        };
        let (reading, updating) = (more(false)?, more(true)?);
        let share = updating / (updating - reading);
        (reading * updating < 0.0).then_some(share)
    }
}

/// Reports whether a store with this ratio to the one in use is shown not to cost less by more than
/// matters.
pub(crate) fn is_no_gain(ratio: &Estimate) -> bool {
    ratio.low >= 1.0 / (1.0 + SAME)
}

/// Reports whether work counts for the cost of an operation: of roles only what each takes next to
/// the others.
pub(crate) fn is_weighed(plan: &Plan, work: Work) -> bool {
    let several = plan.experiment.roles().is_some_and(|data| data.roles.len() > 1);
    work.role().is_none_or(|role| role.together == several && role.meanwhile.is_none())
}

fn time(series: Series<'_>) -> Option<Estimate> {
    series.unit_times().mean()
}

/// Returns what `share` of a logarithm adds to the half-width of a sum.
fn part(share: f64, of: &Estimate) -> f64 {
    // A single round has no interval, which does not matter without a share.
    if share == 0.0 { 0.0 } else { share * (of.high / of.low).ln() / 2.0 }
}

fn around(point: f64, widths: impl Iterator<Item = f64>, n: usize) -> Estimate {
    let width = widths.map(|width| width.powi(2)).sum::<f64>().sqrt();
    Estimate { point, low: point * (-width).exp(), high: point * width.exp(), n }
}
