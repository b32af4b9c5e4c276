//! The verdicts on the ratios of a table.

use crate::{
    copies::Values,
    estimate::{Estimate, Mean},
    looks::{is_look, part_left, part_of_look},
    student::two_sided_t,
};

/// The share of tables in which a verdict may be false.
const ALPHA: f64 = 0.05;

/// The difference, as a share of the time, below which targets are the same for a user who chooses
/// between them.
pub const SAME: f64 = 0.03;

/// The verdict on the ratio of a target's times to the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes less time.
    Faster,
    /// It takes more time.
    Slower,
    /// Its time is within [`SAME`] of the baseline's.
    Same,
    /// No difference and no equality is shown.
    Inconclusive,
}

impl Verdict {
    /// Returns what an interval shows: "the same" if it does, whatever else.
    fn of_interval(&Estimate { low, high, .. }: &Estimate) -> Self {
        match () {
            () if low > 1.0 - SAME && high < 1.0 + SAME => Self::Same,
            () if high < 1.0 => Self::Faster,
            () if low > 1.0 => Self::Slower,
            () => Self::Inconclusive,
        }
    }
}

/// How often a run checks whether the values are enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Looks {
    /// Once: how many there are was fixed before.
    Once,
    /// Again and again, when a look is planned ([`is_look`]): what it shows ends the run. So does a mean
    /// that is known within `precision`, whenever that is: it is then judged for the last time, as that
    /// hardly depends on what is shown.
    Planned {
        /// 0.03 is ±3 %.
        precision: f64,
    },
}

/// A ratio, its interval, and what that interval shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict that the interval shows.
    pub verdict: Verdict,
    /// The ratio with the interval that decides; `None` without values.
    pub ratio: Option<Estimate>,
    /// 0.95, or more where several ratios of a table share the level: before looks take their parts of it.
    pub level: f64,
}

impl Judgement {
    /// Extends the interval to that of a ratio that may be `factor` times as large elsewhere.
    #[must_use]
    pub fn extended(self, factor: f64) -> Self {
        let ratio = self.ratio.map(|ratio| Estimate {
            low: ratio.low * factor.min(1.0),
            high: ratio.high * factor.max(1.0),
            ..ratio
        });
        let verdict = ratio.as_ref().map_or(self.verdict, Verdict::of_interval);
        Self { verdict, ratio, ..self }
    }
}

struct Ratio {
    mean: Mean,
    n: usize,
    /// Nobody looks at it after this.
    is_last: bool,
}

impl Ratio {
    fn from_values(values: &Values) -> Option<Self> {
        Some(Self { mean: Mean::for_verdict(values)?, n: values.values.len(), is_last: false })
    }

    /// Returns half of the width that decides at the level `alpha`, on the logarithm.
    fn margin(&self, alpha: f64, looks: Looks) -> f64 {
        let Looks::Planned { precision } = looks else { return self.student(1.0 - alpha) };
        let is_last = self.is_last || self.mean.is_within(precision);
        let part = if is_last { part_left(self.n) } else { part_of_look(self.n) };
        self.student(1.0 - part * alpha)
    }

    /// Returns half of the width of Student's interval.
    fn student(&self, level: f64) -> f64 {
        self.mean.margin(|freedom| two_sided_t(level, freedom))
    }
}

/// Judges the ratios of a table, each given by its values in the order in which they were measured.
/// One without values, or with one that is not a positive finite number, is inconclusive and does
/// not count.
///
/// The interval decides: it is the same if the interval is within [`SAME`] of 1, and different if 1
/// is not in it. So "the same" takes two one-sided tests at half of the level each (D. J. Schuirmann,
/// "A comparison of the two one-sided tests procedure and the power approach for assessing the
/// equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15,
/// 1987).
///
/// Between two planned looks an interval is that of the next one, to be shown: only a planned look may end a
/// run.
pub fn judge(table: &[Values], looks: Looks) -> Vec<Judgement> {
    judge_ratios(&ratios(table), |ratio, alpha| ratio.margin(alpha, looks))
}

/// Judges the ratios of a run whose time is over. Those that no planned look has `settled` are looked at for
/// the last time, at the part of the level that is left: when the time is over does not depend on what they
/// show.
pub fn judge_at_end(
    table: &[Values],
    looks: Looks,
    settled: impl Fn(usize, &Judgement) -> bool,
) -> Vec<Judgement> {
    let mut ratios = ratios(table);
    for (at, judgement) in judge(table, looks).iter().enumerate() {
        if let Some(ratio) = ratios[at].as_mut() {
            ratio.is_last = !(is_look(ratio.n) && settled(at, judgement));
        }
    }
    judge_ratios(&ratios, |ratio, alpha| ratio.margin(alpha, looks))
}

fn ratios(table: &[Values]) -> Vec<Option<Ratio>> {
    table.iter().map(Ratio::from_values).collect()
}

/// Judges a table of changes, each given by the values of the new record and by those of the old
/// one: as many as were measured, and judged once. The interval of a change from or to a single record
/// contains what two records of one program differ by ([`RECORDS_APART`](crate::RECORDS_APART)).
pub fn judge_changes(table: &[[Values; 2]]) -> Vec<Judgement> {
    let ratio = |[new, old]: &[Values; 2]| {
        let [above, below] = [Mean::for_verdict(new)?, Mean::for_verdict(old)?];
        let mean = above.plus(1.0, &below, -1.0).between_records([new, old]);
        let n = new.values.len().min(old.values.len());
        Some(Ratio { mean, n, is_last: true })
    };
    let ratios: Vec<_> = table.iter().map(ratio).collect();
    judge_ratios(&ratios, |ratio, alpha| ratio.student(1.0 - alpha))
}

/// Judges ratios by half of the width of each at a level.
fn judge_ratios(ratios: &[Option<Ratio>], margin: impl Fn(&Ratio, f64) -> f64) -> Vec<Judgement> {
    let intervals_at = |alpha| {
        let interval = |ratio: &Ratio| ratio.mean.around(margin(ratio, alpha), ratio.n);
        ratios.iter().map(|ratio| ratio.as_ref().map(interval)).collect::<Vec<_>>()
    };
    let alpha = shared_level(ratios.iter().flatten().count(), |alpha| {
        intervals_at(alpha).iter().flatten().filter(|interval| is_apart(interval)).count()
    });
    let judgement = |ratio: Option<Estimate>| {
        let verdict = ratio.as_ref().map_or(Verdict::Inconclusive, Verdict::of_interval);
        Judgement { verdict, ratio, level: 1.0 - alpha }
    };
    intervals_at(alpha).into_iter().map(judgement).collect()
}

/// Reports whether the whole interval is further from 1 than the range called the same. Whatever
/// the level, such a ratio can no longer be called the same, nor can its direction become another
/// one.
fn is_apart(interval: &Estimate) -> bool {
    interval.low > 1.0 + SAME || interval.high < 1.0 - SAME
}

/// Returns the level for each of `all` ratios. Those that are apart at a level leave their part of it
/// to the others (S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
/// Journal of Statistics 6, 1979).
fn shared_level(all: usize, apart_at: impl Fn(f64) -> usize) -> f64 {
    let mut before = 0;
    loop {
        let alpha = ALPHA / (all - before).max(1) as f64;
        let apart = apart_at(alpha);
        if apart <= before {
            return alpha;
        }
        before = apart;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::copies::Unit;

    const PLANNED: Looks = Looks::Planned { precision: 0.03 };

    /// Twenty ratios around `middle` that alternate by `spread` either way.
    fn ratios(middle: f64, spread: f64) -> Vec<f64> {
        (0..20).map(|i| middle * (spread * f64::from(i % 2 * 2 - 1)).exp()).collect()
    }

    fn verdicts(table: &[Values], looks: Looks) -> Vec<Verdict> {
        judge(table, looks).into_iter().map(|judgement| judgement.verdict).collect()
    }

    fn one(ratios: &[f64]) -> [Verdict; 2] {
        [Looks::Once, PLANNED].map(|looks| verdicts(&[ratios.to_vec().into()], looks)[0])
    }

    #[test]
    fn a_ratio_is_smaller_larger_or_close_to_one() {
        assert_eq!(one(&ratios(0.9, 0.02)), [Verdict::Faster; 2]);
        assert_eq!(one(&ratios(1.1, 0.02)), [Verdict::Slower; 2]);
        assert_eq!(one(&ratios(1.01, 0.005)), [Verdict::Same; 2]);
        assert_eq!(one(&ratios(1.05, 0.3)), [Verdict::Inconclusive; 2]);
    }

    #[test]
    fn looking_often_demands_more() {
        assert_eq!(one(&ratios(1.05, 0.08)), [Verdict::Slower, Verdict::Inconclusive]);
        assert_eq!(one(&ratios(1.15, 0.05)[..10]), [Verdict::Slower, Verdict::Inconclusive]);
        assert_eq!(one(&ratios(1.3, 0.05)[..8]), [Verdict::Slower; 2]);
    }

    #[test]
    fn what_others_show_leaves_its_part_of_the_level() {
        let doubtful = Values::from(ratios(1.05, 0.09));
        let among = |other: Vec<f64>| {
            let other = Values::from(other);
            let table = [doubtful.clone(), other.clone(), other.clone(), other];
            verdicts(&table, Looks::Once)[0]
        };
        assert_eq!(verdicts(std::slice::from_ref(&doubtful), Looks::Once), [Verdict::Slower]);
        assert_eq!(among(ratios(1.05, 0.4)), Verdict::Inconclusive);
        assert_eq!(among(ratios(2.0, 0.01)), Verdict::Slower);
        assert_eq!(among(Vec::new()), Verdict::Slower, "what was not measured does not count");
    }

    /// Four ratios, of which two are apart at a quarter of the level, and a third at a half.
    #[test]
    fn the_level_is_that_of_those_that_are_not_apart() {
        let reached = [0.01, 0.04, 0.02, 0.005];
        let apart_at = |alpha: f64| reached.iter().filter(|of| **of <= alpha).count();
        assert!((shared_level(4, apart_at) - ALPHA).abs() < 1e-12);
        assert!((shared_level(4, |_| 0) - ALPHA / 4.0).abs() < 1e-12);
        assert!((shared_level(0, |_| 0) - ALPHA).abs() < 1e-12);
    }

    #[test]
    fn nothing_measured_shows_nothing() {
        assert_eq!(verdicts(&[], PLANNED), []);
        let table = [vec![], vec![1.0], vec![1.0, f64::NAN]].map(Values::from);
        assert_eq!(verdicts(&table, PLANNED), [Verdict::Inconclusive; 3]);
    }

    #[test]
    fn values_that_are_all_equal_leave_no_doubt() {
        assert_eq!(one(&[1.0; 12]), [Verdict::Same; 2]);
        assert_eq!(one(&[1.5; 12]), [Verdict::Slower; 2]);
    }

    #[test]
    fn the_last_look_has_what_planned_ones_have_left() {
        let table = [ratios(1.17, 0.05)[..8].to_vec().into()];
        let at_end = |settled| judge_at_end(&table, PLANNED, |_, _| settled)[0].verdict;
        assert_eq!([at_end(true), at_end(false)], [Verdict::Inconclusive, Verdict::Slower]);
    }

    #[test]
    fn changes_are_judged_by_two_groups() {
        let [fast, slow] = [1.0, 1.1].map(|middle| ratios(middle, 0.01));
        let records = |values| Values { values, unit: Unit::Record, ..Values::default() };
        let [fast, slow] = [fast, slow].map(records);
        let pairs = [[&slow, &fast], [&fast, &slow], [&fast, &fast]];
        let table = pairs.map(|pair| pair.map(Values::clone));
        let shown = |table: &[[Values; 2]]| {
            judge_changes(table).into_iter().map(|of| of.verdict).collect::<Vec<_>>()
        };
        assert_eq!(shown(&table), [Verdict::Slower, Verdict::Faster, Verdict::Same]);
        let single = [[vec![2.0].into(), vec![1.0, 1.1].into()]];
        assert_eq!(shown(&single), [Verdict::Inconclusive]);
    }
}
