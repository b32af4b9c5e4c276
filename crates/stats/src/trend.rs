//! A test of whether figures rise or fall in the order in which they were measured.

use std::{cmp::Ordering, f64::consts::SQRT_2};

use statrs::function::erf::erfc;

use crate::estimate::logs;

/// The smallest number of values for which the normal approximation of the test holds.
const FEWEST: usize = 8;

/// The trend of figures over a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The change from the first figure to the last, on the line that fits best: 0.1 is a tenth
    /// more.
    pub change: f64,
    /// The probability that figures without any trend look at least as ordered as these.
    pub p: f64,
}

/// Returns the trend of positive figures in the order of time, evenly spaced: Theil and Sen's slope
/// of their logarithms, Mann and Kendall's test. Single figures far off do not affect either.
/// Returns `None` for fewer than eight figures, or for one that is not a positive finite number.
///
/// The test takes the figures as independent: it finds a trend on a machine whose speed wanders.
pub fn trend(figures: &[f64]) -> Option<Trend> {
    let logs = logs(figures).filter(|logs| logs.len() >= FEWEST)?;
    let steps = (logs.len() - 1) as f64;
    Some(Trend { change: (theil_sen(&logs) * steps).exp_m1(), p: mann_kendall(&logs) })
}

/// Returns the median of the slopes between all pairs (Theil 1950, Sen 1968).
fn theil_sen(values: &[f64]) -> f64 {
    let slope = |(i, j): (usize, usize)| (values[j] - values[i]) / (j - i) as f64;
    let slopes = || pairs(values.len()).map(slope);
    let count = values.len() * (values.len() - 1) / 2;
    let middle = nth(&slopes, count / 2);
    if count.is_multiple_of(2) {
        f64::midpoint(nth(&slopes, count / 2 - 1), middle)
    } else {
        middle
    }
}

/// The largest number of values held at once; all slopes of a thousand rounds would take megabytes.
const HELD: usize = 1 << 16;
/// The number of parts into which a range is divided.
const PARTS: usize = 1 << 10;

/// Returns the value of this `rank`, counted from 0 in ascending order. Each call of `values`
/// yields all of them: the range that contains the value is narrowed until few remain.
fn nth<I: Iterator<Item = f64>>(values: &impl Fn() -> I, rank: usize) -> f64 {
    let (mut low, mut high) = ends(values());
    loop {
        let within = || values().filter(|value| (low..=high).contains(value));
        let below = values().filter(|value| *value < low).count();
        if low >= high || within().count() <= HELD {
            let mut all: Vec<f64> = within().take(HELD.max(1)).collect();
            let last = all.len() - 1;
            return *all.select_nth_unstable_by((rank - below).min(last), f64::total_cmp).1;
        }
        let part = |value: f64| part(value, low, high);
        let mut counts = vec![0; PARTS];
        within().for_each(|value| counts[part(value)] += 1);
        let mut up_to = below;
        let wanted = counts.iter().position(|count| {
            up_to += count;
            up_to > rank
        });
        let wanted = wanted.expect("the ranks of all values within are counted");
        // The ends are in different parts, so that the range shrinks.
        (low, high) = ends(within().filter(|value| part(*value) == wanted));
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Returns the part of the range that contains the value, counted from 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 up to the number of parts"
)]
fn part(value: f64, low: f64, high: f64) -> usize {
    (((value - low) / (high - low) * PARTS as f64) as usize).min(PARTS - 1)
}

/// Returns the probability that chance orders as many pairs in one direction (Mann 1945, Kendall
/// 1948): the normal approximation, corrected for ties and for continuity.
fn mann_kendall(values: &[f64]) -> f64 {
    let sign = |(i, j): (usize, usize)| match values[j].total_cmp(&values[i]) {
        Ordering::Less => -1.0,
        Ordering::Equal => 0.0,
        Ordering::Greater => 1.0,
    };
    let score: f64 = pairs(values.len()).map(sign).sum();
    let spread = (term(values.len()) - ties(values)).max(0.0).sqrt();
    if spread == 0.0 { 1.0 } else { two_sided_tail((score.abs() - 1.0).max(0.0) / spread) }
}

/// Returns by how much groups of equal values reduce the variance of the score.
fn ties(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|group| term(group.len())).sum()
}

/// Returns the variance of the score of `n` values without ties: `n (n - 1) (2n + 5) / 18`.
fn term(n: usize) -> f64 {
    let n = n as f64;
    n * (n - 1.0) * (2.0 * n + 5.0) / 18.0
}

/// Returns every pair of indices, the smaller one first.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

/// Returns the probability that a standard normal variable is farther from zero than `z`, on either
/// side.
fn two_sided_tail(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p_of(values: &[f64]) -> f64 {
        trend(values).expect("values are positive").p
    }

    /// One pair of eight is out of order: 27 - 1 = 26, of variance 8 · 7 · 21 / 18 = 65.33.
    #[test]
    fn agrees_with_a_score_by_hand() {
        let p = p_of(&[1.0, 2.0, 4.0, 3.0, 5.0, 6.0, 7.0, 8.0]);
        assert!((p - two_sided_tail(25.0 / 65.333_333_f64.sqrt())).abs() < 1e-6, "{p}");
    }

    /// Three equal values take 3 · 2 · 11 / 18 from the variance, and their pairs from the score.
    #[test]
    fn ties_take_from_score_and_variance() {
        let p = p_of(&[1.0, 2.0, 2.0, 2.0, 5.0, 6.0, 7.0, 8.0]);
        let variance = 65.333_333_f64 - 66.0 / 18.0;
        assert!((p - two_sided_tail(24.0 / variance.sqrt())).abs() < 1e-6, "{p}");
    }

    #[test]
    fn a_steady_growth_is_its_own_slope() {
        let growing: Vec<f64> = (0..9).map(|i| 2.0 * 1.1_f64.powf(f64::from(i) / 8.0)).collect();
        let there = trend(&growing).expect("figures are positive");
        assert!((there.change - 0.1).abs() < 1e-12 && there.p < 0.001, "{there:?}");
        let back: Vec<f64> = growing.into_iter().rev().collect();
        let back = trend(&back).expect("figures are positive");
        assert!((back.change - (1.0 / 1.1 - 1.0)).abs() < 1e-12, "{back:?}");
        assert!((back.p - there.p).abs() < 1e-12);
    }

    #[test]
    fn one_figure_far_off_moves_nothing() {
        let mut figures = vec![1.0; 12];
        figures[11] = 1e9;
        let trend = trend(&figures).expect("figures are positive");
        assert!(trend.change.abs() < 1e-12 && trend.p > 0.01, "{trend:?}");
    }

    #[test]
    fn equal_figures_have_no_trend() {
        assert_eq!(trend(&[3.0; 9]), Some(Trend { change: 0.0, p: 1.0 }));
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        assert_eq!(trend(&[1.0; 7]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut figures = [1.0; 9];
            figures[4] = wrong;
            assert_eq!(trend(&figures), None, "{wrong}");
        }
    }

    #[test]
    fn of_very_many_values_the_one_at_a_rank_is_found() {
        let values: Vec<f64> = (0..70_001_u32)
            .map(|n| match n % 7 {
                0 => 0.0,
                1 => f64::from(n) * 1e6,
                _ => f64::from(n.wrapping_mul(2_654_435_761) >> 8) / 1e7 - 0.5,
            })
            .collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        for rank in [0, 1, 20_000, 35_000, 50_000, 69_999, 70_000] {
            let found = nth(&|| values.iter().copied(), rank);
            assert!(found.total_cmp(&sorted[rank]).is_eq(), "{rank}: {found} {}", sorted[rank]);
        }
        assert!(nth(&|| std::iter::repeat_n(2.5, 70_001), 69_000).total_cmp(&2.5).is_eq());
    }

    /// Quantiles from the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.1 and 1.3.6.7.2
    /// (last line).
    #[test]
    fn agrees_with_known_quantiles() {
        for (z, tails) in
            [(0.0, 1.0), (1.0, 0.317_311), (1.959_964, 0.05), (2.575_829, 0.01), (3.290_527, 0.001)]
        {
            for z in [z, -z] {
                let p = two_sided_tail(z);
                assert!((p - tails).abs() < 5e-7, "{z}: {p} is not {tails}");
            }
        }
    }
}
