//! A figure and how far it can be trusted. All means and ratios are those of logarithms, with the
//! t-interval on them.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{
    copies::{Unit, Values, between},
    correlation::{ASSUMED, FEWEST, independent, largest, of_correlated},
    student::two_sided_t,
};

/// The share of intervals that cover the truth.
pub(crate) const LEVEL: f64 = 0.95;

/// A figure with its interval: of 95 %, or of a ratio that is judged the one that decides, which is
/// never narrower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Interval")]
pub struct Estimate {
    /// The figure.
    pub point: f64,
    /// Lower end; null: of a single round nothing is known.
    // It is 0 then.
    #[serde(serialize_with = "end")]
    #[schemars(with = "Option<f64>")]
    pub low: f64,
    /// Upper end; null: of a single round nothing is known.
    // It is infinite then.
    #[serde(serialize_with = "end")]
    #[schemars(with = "Option<f64>")]
    pub high: f64,
    /// Rounds it rests on; of several runs, the runs.
    #[serde(rename = "rounds")]
    pub n: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn end<S: Serializer>(end: &f64, to: S) -> Result<S::Ok, S::Error> {
    Some(*end).filter(|end| *end > 0.0 && end.is_finite()).serialize(to)
}

impl Estimate {
    /// Converts the estimate to another unit: `change` must keep the order of values.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let [point, low, high] = [self.point, self.low, self.high].map(change);
        Self { point, low, high, ..self }
    }

    /// Returns the inverse of a ratio.
    #[must_use]
    pub fn inverse(self) -> Self {
        let [point, low, high] = [self.point, self.high, self.low].map(f64::recip);
        Self { point, low, high, ..self }
    }

    /// Reports whether the interval shows anything: that of one value does not, nor that of two or
    /// three whose ends are a factor of thousands apart.
    pub fn has_width(&self) -> bool {
        self.n > 1 && self.high < 1000.0 * self.low
    }

    /// Returns the largest relative distance of an end from the point: 0.03 is ±3 %. Infinite for
    /// fewer than two values.
    pub fn half_width(&self) -> f64 {
        if self.n < 2 {
            return f64::INFINITY;
        }
        (self.high / self.point - 1.0).max(1.0 - self.low / self.point)
    }
}

/// Returns the geometric mean of positive figures. Returns `None` for no values, or for one that is
/// not a positive finite number. A single value has the interval from 0 to infinity.
///
/// From twelve values on, the interval takes their correlation into account: values are in the
/// order in which they were measured. Drift makes it wide, but not that of a [`paired_ratio`].
pub fn geometric_mean(values: &[f64]) -> Option<Estimate> {
    Some(Mean::from_logs(&logs(values)?).estimate(values.len()))
}

impl Values {
    /// Returns the [`geometric_mean`] of the values. If copies differ by more than chance, the
    /// interval holds for other copies of the same data.
    pub fn mean(&self) -> Option<Estimate> {
        Some(Mean::of_values(self)?.estimate(self.values.len()))
    }

    /// Reports whether the mean is known within a relative half-width: 0.03 is ±3 %. Fewer rounds of a run
    /// than show how they are correlated are taken as correlated.
    pub fn are_within(&self, half_width: f64) -> bool {
        Mean::for_verdict(self).is_some_and(|mean| mean.is_within(half_width))
    }

    /// Reports whether the interval of the mean is as wide as copies differ: more rounds of the
    /// same copies do not narrow it.
    pub fn copies_decide(&self) -> bool {
        logs(&self.values).is_some_and(|logs| wider(&logs, self, &Mean::from_logs(&logs)).is_some())
    }
}

/// Returns `numerator / denominator`, paired by round: what a round did to both cancels. Returns
/// `None` if the lengths differ, if there are no values, or if one is not a positive finite number.
pub fn paired_ratio(numerator: &[f64], denominator: &[f64]) -> Option<Estimate> {
    if numerator.len() != denominator.len() {
        return None;
    }
    // Not the logarithm of the quotient: two negative times have a positive one.
    let pairs = logs(numerator)?.into_iter().zip(logs(denominator)?);
    let logs: Vec<f64> = pairs.map(|(above, below)| above - below).collect();
    Some(Mean::from_logs(&logs).estimate(logs.len()))
}

/// Returns the geometric mean of `numerator` divided by that of `denominator`, each of rounds of
/// its own. Returns `None` for no values, or for one that is not a positive finite number. The
/// number of rounds is that of the shorter one; a single round shows nothing about its spread.
///
/// What a round does to both does not cancel here: [`paired_ratio`] is better if it is possible.
pub fn unpaired_ratio(numerator: &Values, denominator: &Values) -> Option<Estimate> {
    let difference = Mean::difference(numerator, denominator)?;
    Some(difference.estimate(numerator.values.len().min(denominator.values.len())))
}

/// Returns the logarithms of figures. Returns `None` for no figures, or for one that is not a
/// positive finite number: its logarithm is not finite.
pub(crate) fn logs(figures: &[f64]) -> Option<Vec<f64>> {
    let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    (!logs.is_empty() && logs.iter().all(|log| log.is_finite())).then_some(logs)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the sum of the squared distances from `mean`.
pub(crate) fn squares(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// How much a record's ratio to a control differs from that of another record of the same program, which
/// was measured minutes before or after, beyond what the runs of both show: a standard deviation, on the
/// logarithm. Thirty records of four runs differed by 1.4 %, of which their runs show 0.5 %
/// (`docs/method-proof.md`).
pub const RECORDS_APART: f64 = 0.013;

/// How much the runs of these records differed. A record of one run does not show it.
const RUNS_APART: f64 = 0.01;

/// The degrees of freedom of [`RECORDS_APART`].
const RECORDS_FREEDOM: f64 = 29.0;

/// Returns the variance between records of which the values of one show nothing.
fn unseen_variance(values: &Values) -> f64 {
    match values.unit {
        Unit::Record => 0.0,
        Unit::Run => RECORDS_APART.powi(2),
        Unit::Round => RECORDS_APART.powi(2) + RUNS_APART.powi(2),
    }
}

/// The mean of logarithms, and how sure it is.
#[derive(Clone, Copy)]
pub(crate) struct Mean {
    pub(crate) value: f64,
    /// The variance of the mean itself; infinite for a single value.
    variance: f64,
    /// Degrees of freedom of the variance.
    freedom: f64,
    /// Both for the largest correlation that so many values are taken to have, which limit the margin: a
    /// dozen hardly shows its own, and what corrects that overstates it. `None` for fewer.
    at_largest: Option<(f64, f64)>,
}

/// Returns the variance of the mean that copies show and its degrees of freedom, if it is above
/// that of `rounds`.
fn wider(logs: &[f64], values: &Values, rounds: &Mean) -> Option<(f64, f64)> {
    let copies = between(logs, &values.copies, rounds.value);
    copies.filter(|(variance, _)| *variance > rounds.variance)
}

impl Mean {
    /// Returns the mean of the logarithms of figures; `None` for figures without logarithms. If
    /// copies differ more than rounds of one do, it is only as sure as their number allows.
    pub(crate) fn of_values(values: &Values) -> Option<Self> {
        let logs = logs(&values.values)?;
        Some(Self::from_logs(&logs).or_of_copies(&logs, values))
    }

    /// Returns the mean as copies show it if they differ more.
    fn or_of_copies(self, logs: &[f64], values: &Values) -> Self {
        match wider(logs, values, &self) {
            Some((variance, freedom)) => Self { variance, freedom, at_largest: None, ..self },
            None => self,
        }
    }

    pub(crate) fn from_logs(logs: &[f64]) -> Self {
        let (n, value) = (logs.len(), mean(logs));
        let squares = squares(logs, value);
        if n < 2 {
            return Self { value, variance: f64::INFINITY, freedom: 0.0, at_largest: None };
        }
        let (independent, spread) = (independent(logs, value, squares), squares / (n as f64 - 1.0));
        let at_largest = (n >= FEWEST).then(|| {
            let (share, freedom) = of_correlated(n, largest(n));
            (share * spread, freedom)
        });
        Self { value, variance: spread / independent, freedom: independent - 1.0, at_largest }
    }

    /// Returns the mean for a verdict: fewer rounds of a run than show how they are correlated are taken as
    /// correlated.
    pub(crate) fn for_verdict(values: &Values) -> Option<Self> {
        let logs = logs(&values.values)?;
        let mut rounds = Self::from_logs(&logs);
        if values.unit == Unit::Round && (2..FEWEST).contains(&logs.len()) {
            let (share, freedom) = of_correlated(logs.len(), ASSUMED);
            let spread = rounds.deviation(logs.len()).powi(2);
            rounds = Self { variance: share * spread, freedom, ..rounds };
        }
        Some(rounds.or_of_copies(&logs, values))
    }

    /// Returns the logarithm of `numerator` divided by `denominator`, each of rounds of its own.
    pub(crate) fn difference(numerator: &Values, denominator: &Values) -> Option<Self> {
        let (above, below) = (Self::of_values(numerator)?, Self::of_values(denominator)?);
        Some(above.plus(1.0, &below, -1.0))
    }

    /// Returns how many independent logarithms would give a mean as sure.
    pub(crate) fn independent(&self) -> f64 {
        self.freedom + 1.0
    }

    /// Replaces the degrees of freedom.
    pub(crate) fn with_freedom(self, freedom: f64) -> Self {
        Self { freedom, ..self }
    }

    /// Returns the standard deviation of the `n` logarithms themselves.
    pub(crate) fn deviation(&self, n: usize) -> f64 {
        (self.variance * self.independent().min(n as f64)).sqrt()
    }

    /// Returns the standard error.
    pub(crate) fn error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Returns `own` times this plus `others` times `other`. The degrees of freedom are Welch's (B.
    /// L. Welch, "The generalization of 'Student's' problem when several different population
    /// variances are involved", Biometrika 34, 1947).
    pub(crate) fn plus(&self, own: f64, other: &Self, others: f64) -> Self {
        let variances = [own.powi(2) * self.variance, others.powi(2) * other.variance];
        let variance: f64 = variances.iter().sum();
        let part = |of: usize, freedom: f64| (variances[of] / variance).powi(2) / freedom;
        Self {
            value: own * self.value + others * other.value,
            variance,
            freedom: 1.0 / (part(0, self.freedom) + part(1, other.freedom)),
            at_largest: None,
        }
    }

    /// Adds what differs between records to the mean of a change between two `sides`. Several records of a
    /// side show it themselves.
    pub(crate) fn between_records(&self, sides: [&Values; 2]) -> Self {
        let (variance, freedom) = (sides.map(unseen_variance).iter().sum(), RECORDS_FREEDOM);
        if variance == 0.0 {
            return *self;
        }
        self.plus(1.0, &Self { value: 0.0, variance, freedom, at_largest: None }, 1.0)
    }

    /// Returns half of the interval's width, with `t` of the whole degrees of freedom.
    pub(crate) fn margin(&self, mut t: impl FnMut(usize) -> f64) -> f64 {
        if self.variance == 0.0 || !self.variance.is_finite() {
            return self.variance;
        }
        let mut margin = |(variance, freedom): (f64, f64)| t(whole(freedom)) * variance.sqrt();
        let largest = self.at_largest.map_or(f64::INFINITY, &mut margin);
        margin((self.variance, self.freedom)).min(largest)
    }

    /// Reports whether no end of the 95 % interval is further away than this.
    pub(crate) fn is_within(&self, half_width: f64) -> bool {
        self.margin(|freedom| two_sided_t(LEVEL, freedom)).exp_m1() <= half_width
    }

    fn estimate(&self, n: usize) -> Estimate {
        self.around(self.margin(|freedom| two_sided_t(LEVEL, freedom)), n)
    }

    /// Returns the mean of `n` values with an interval of this half-width on the logarithm.
    pub(crate) fn around(&self, margin: f64, n: usize) -> Estimate {
        let [low, point, high] = [-margin, 0.0, margin].map(|by| (self.value + by).exp());
        Estimate { point, low, high, n }
    }
}

/// Degrees of freedom of which quantiles are taken: fewer are on the safe side.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "degrees of freedom are between 1 and the number of rounds"
)]
pub(crate) fn whole(freedom: f64) -> usize {
    // They may have lost a little to rounding.
    (freedom + 1e-9).max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_width(low: f64, high: f64, n: usize) -> f64 {
        Estimate { point: 2.0, low, high, n }.half_width()
    }

    #[test]
    fn the_farther_end_counts() {
        assert!((half_width(1.9, 2.2, 5) - 0.1).abs() < 1e-12);
        assert!((half_width(1.6, 2.2, 5) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_width() {
        assert!(half_width(2.0, 2.0, 1).is_infinite());
    }

    /// Student's sleep data (Biometrika 6, 1908, after Cushny and Peebles): hours gained by ten
    /// patients with either drug, taken here as logarithms.
    const FIRST: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SECOND: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    fn gains() -> Vec<f64> {
        FIRST.iter().zip(SECOND).map(|(first, second)| first - second).collect()
    }

    fn close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 5e-8
    }

    /// R prints this interval for `t.test(paired = TRUE)` on its copy of the data, `sleep`.
    #[test]
    fn agrees_with_students_sleep_data() {
        let Estimate { point, low, high, n } = Mean::from_logs(&gains()).estimate(10);
        assert!(close(point.ln(), -1.58) && n == 10);
        assert!(close(low.ln(), -2.459_885_8), "{low}");
        assert!(close(high.ln(), -0.700_114_2), "{high}");
    }

    /// Of forty values in which the first half is below the rest, as many tell no more than a few.
    #[test]
    fn values_that_follow_each_other_make_a_wide_interval() {
        let steps: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i / 20)).collect();
        let turns: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i % 2)).collect();
        let [steps, turns] = [steps, turns].map(|times| geometric_mean(&times).unwrap());
        assert!((steps.point - turns.point).abs() < 1e-12);
        assert!(steps.half_width() > 2.5 * turns.half_width(), "{steps:?} {turns:?}");
    }

    #[test]
    fn equal_values_have_no_width() {
        let estimate = geometric_mean(&[0.5; 4]).expect("values are positive");
        assert!(estimate.half_width().abs() < 1e-15);
    }

    #[test]
    fn powers_of_ten() {
        let mean = geometric_mean(&[1.0, 10.0, 100.0]).expect("values are positive");
        assert!((mean.point - 10.0).abs() < 1e-12);
        assert!((mean.low * mean.high - 100.0).abs() < 1e-9, "even on the log scale");
        assert_eq!(mean.n, 3);
    }

    #[test]
    fn one_value_says_nothing_of_its_spread() {
        let mean = geometric_mean(&[5.0]).expect("the value is positive");
        assert!((mean.point - 5.0).abs() < 1e-12);
        assert_eq!((mean.low, mean.high, mean.n), (0.0, f64::INFINITY, 1));
    }

    #[test]
    fn what_has_no_logarithm_has_no_mean() {
        assert_eq!(geometric_mean(&[]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(geometric_mean(&[1.0, wrong]), None, "{wrong}");
        }
    }

    const A: [f64; 5] = [1.9, 2.2, 2.0, 2.5, 2.1];
    const B: [f64; 5] = [4.1, 4.0, 4.4, 4.7, 3.9];

    fn paired(numerator: &[f64], denominator: &[f64]) -> Estimate {
        paired_ratio(numerator, denominator).expect("values are positive")
    }

    fn assert_close(left: Estimate, right: Estimate) {
        for (left, right) in
            [(left.point, right.point), (left.low, right.low), (left.high, right.high)]
        {
            assert!((left / right - 1.0).abs() < 1e-12, "{left} is not {right}");
        }
    }

    #[test]
    fn turning_a_paired_ratio_turns_its_interval() {
        let there = paired(&A, &B);
        let Estimate { point, low, high, n } = paired(&B, &A);
        assert_close(there, Estimate { point: 1.0 / point, low: 1.0 / high, high: 1.0 / low, n });
    }

    #[test]
    fn what_a_round_does_to_both_cancels() {
        let drift = [1.0, 1.1, 1.4, 7.0, 0.3];
        let slowed = |times: &[f64]| -> Vec<f64> {
            times.iter().zip(drift).map(|(time, factor)| time * factor).collect()
        };
        assert_close(paired(&A, &B), paired(&slowed(&A), &slowed(&B)));
    }

    #[test]
    fn what_cannot_be_paired_has_no_ratio() {
        assert_eq!(paired_ratio(&A, &B[1..]), None);
        assert_eq!(paired_ratio(&[], &[]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(paired_ratio(&[1.0, wrong], &[1.0, 1.0]), None, "{wrong}");
            assert_eq!(paired_ratio(&[1.0, 1.0], &[1.0, wrong]), None, "{wrong}");
            assert_eq!(paired_ratio(&[1.0, wrong], &[1.0, wrong]), None, "{wrong} twice");
        }
    }

    fn values(values: &[f64]) -> Values {
        values.to_vec().into()
    }

    fn unpaired(numerator: &[f64], denominator: &[f64]) -> Estimate {
        unpaired_ratio(&values(numerator), &values(denominator)).expect("values are positive")
    }

    /// R prints t = -1.8608 and df = 17.776 for `t.test(extra ~ group, data = sleep)`.
    #[test]
    fn two_groups_agree_with_students_sleep_data() {
        let [first, second] = [FIRST, SECOND].map(|logs| logs.map(f64::exp));
        let found = unpaired(&first, &second);
        assert!((found.point.ln() + 1.58).abs() < 1e-9);
        let error = 1.58 / 1.8608;
        let margin = (found.high / found.point).ln();
        assert!((margin / (two_sided_t(LEVEL, 17) * error) - 1.0).abs() < 1e-4, "{margin}");
    }

    #[test]
    fn turning_an_unpaired_ratio_turns_its_interval() {
        let (a, b) = ([1.9, 2.2, 2.0, 2.5, 2.1], [4.1, 4.0, 4.4]);
        let (there, back) = (unpaired(&a, &b), unpaired(&b, &a));
        assert!((there.low * back.high - 1.0).abs() < 1e-12);
        assert!((there.high * back.low - 1.0).abs() < 1e-12);
        assert_eq!((there.n, back.n), (3, 3));
    }

    #[test]
    fn a_single_round_says_nothing_of_its_spread() {
        let found = unpaired(&[2.0], &[1.0, 1.1, 0.9]);
        assert_eq!((found.low, found.high, found.n), (0.0, f64::INFINITY, 1));
    }

    #[test]
    fn equal_groups_have_no_width() {
        let found = unpaired(&[2.0; 5], &[1.0; 6]);
        assert!(found.half_width().abs() < 1e-12 && (found.point - 2.0).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_logarithm_has_no_ratio() {
        assert_eq!(unpaired_ratio(&values(&[]), &values(&[1.0])), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(unpaired_ratio(&values(&[1.0, wrong]), &values(&[1.0])), None, "{wrong}");
            assert_eq!(unpaired_ratio(&values(&[1.0]), &values(&[wrong, 1.0])), None, "{wrong}");
        }
    }
}
