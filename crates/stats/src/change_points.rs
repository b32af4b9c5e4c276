//! The points at which a series of figures changes for good, and slow changes over all of it.
//!
//! Points are found by E-divisive: the place at which the energy distance between the figures before it and
//! some after it is largest divides a series, then each of its parts, as long as chance seldom divides so
//! clearly (D. S. Matteson and N. A. James, "A nonparametric approach for multiple change point analysis of
//! multivariate data", Journal of the American Statistical Association 109, 2014). Chance is the same
//! figures in other orders.

use std::ops::Range;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::{
    copies::Values,
    estimate::{Estimate, logs, mean, squares, unpaired_ratio},
    trend::{Trend, trend},
};

/// The smallest number of figures that is judged: the orders of fewer are too few.
pub const FEWEST_FIGURES: usize = 8;

/// The smallest number of figures between two points. One or two may be outliers.
const PART: usize = 3;

/// The shares of the level for steps between all figures of a part, for those that are undone later, and for
/// slow changes: the first are most frequent.
const SHARES: [f64; 3] = [0.6, 0.2, 0.2];

/// The smallest number of orders that a test compares with.
const ORDERS: f64 = 999.0;

const SEED: u64 = 20_140_101;

/// A point at which figures change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The index of the first figure after the change.
    pub at: usize,
    /// The figures after it, up to the next step, divided by those before it, with the 95 % interval.
    pub ratio: Estimate,
}

/// What a series of figures shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// The slow change from the first figure to the last, if a line describes the figures better than
    /// steps; there are none then.
    pub creep: Option<Trend>,
}

/// Returns the steps of positive figures in the order of time, or how they creep. Figures that only vary
/// show either with a probability of `level` at most, if each is independent of the others. Returns
/// `None` for fewer than [`FEWEST_FIGURES`], or for one that is not a positive finite number.
pub fn changes(figures: &[f64], level: f64) -> Option<Changes> {
    let logs = logs(figures).filter(|logs| logs.len() >= FEWEST_FIGURES)?;
    let [stays, undone, slow] = SHARES.map(|share| share * level);
    let ends = Series::new(&logs).divided([(Reach::End, stays), (Reach::Any, undone)]);
    let creep = trend(figures).filter(|trend| trend.p <= slow);
    if creep.is_some() && around_line(&logs) < around_means(&logs, &ends) {
        return Some(Changes { steps: Vec::new(), creep });
    }
    let step = |three: &[usize]| {
        let [after, before] = [three[1]..three[2], three[0]..three[1]]
            .map(|part| Values::from(figures[part].to_vec()));
        Some(Step { at: three[1], ratio: unpaired_ratio(&after, &before)? })
    };
    Some(Changes { steps: ends.windows(3).filter_map(step).collect(), creep: None })
}

/// Returns the variance around the mean of each part between two `ends`.
fn around_means(logs: &[f64], ends: &[usize]) -> f64 {
    let parts = ends.windows(2).map(|two| &logs[two[0]..two[1]]);
    let squares: f64 = parts.map(|part| squares(part, mean(part))).sum();
    // The parameters: a place for each step, a mean for each part.
    let fitted = 2 * ends.len() - 3;
    squares / logs.len().saturating_sub(fitted).max(1) as f64
}

/// Returns the variance around the line that fits best (least squares).
fn around_line(logs: &[f64]) -> f64 {
    let places: Vec<f64> = (0..logs.len()).map(|place| place as f64).collect();
    let (middle, level) = (mean(&places), mean(logs));
    let products = places.iter().zip(logs).map(|(place, log)| (place - middle) * (log - level));
    let slope = products.sum::<f64>() / squares(&places, middle);
    let line = places.iter().map(|place| level + slope * (place - middle));
    let squares: f64 = line.zip(logs).map(|(line, log)| (log - line).powi(2)).sum();
    // A line has two parameters.
    squares / (logs.len() - 2) as f64
}

/// The distances between the values of a series.
struct Series {
    count: usize,
    distances: Vec<f64>,
}

/// How far the figures reach that those before a place are compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the end of the part.
    End,
    /// To the end or any place before it: a change that is undone hides in all that follows.
    Any,
}

/// A place that divides a part of a series.
#[derive(Clone, Copy)]
struct Division {
    at: usize,
    /// How clearly, comparable between parts of different lengths.
    clear: f64,
}

impl Series {
    fn new(values: &[f64]) -> Self {
        let to_all = |one: &f64| values.iter().map(|other| (one - other).abs()).collect::<Vec<_>>();
        Self { count: values.len(), distances: values.iter().flat_map(to_all).collect() }
    }

    fn distance(&self, one: usize, other: usize) -> f64 {
        self.distances[one * self.count + other]
    }

    /// Divides the series where it changes, by each test at its level. Returns its start, the points and its
    /// end.
    fn divided(&self, tests: [(Reach, f64); 2]) -> Vec<usize> {
        let mut ends = vec![0, self.count];
        let mut random = SplitMix64::seed_from_u64(SEED);
        let order: Vec<usize> = (0..self.count).collect();
        let mut next = |ends: &[usize]| {
            tests.iter().find_map(|(reach, level)| {
                let found = self.clearest(*reach, &order, ends)?;
                let clear = (*reach, found.clear);
                self.is_beyond_chance(clear, ends, *level, &mut random).then_some(found.at)
            })
        };
        while let Some(at) = next(&ends) {
            ends.push(at);
            ends.sort_unstable();
        }
        ends
    }

    /// Reports whether at most a share of `level` of the orders of each part divide as clearly.
    fn is_beyond_chance(
        &self,
        (reach, clear): (Reach, f64),
        ends: &[usize],
        level: f64,
        random: &mut SplitMix64,
    ) -> bool {
        // So many that the smallest share that they can show is a tenth of the level.
        let orders = (10.0 / level).max(ORDERS).ceil();
        let most = level * (orders + 1.0) - 1.0;
        let mut order: Vec<usize> = (0..self.count).collect();
        let (mut tried, mut as_clear) = (0.0, 0.0);
        while tried < orders && as_clear <= most {
            ends.windows(2).for_each(|two| shuffle(&mut order[two[0]..two[1]], random));
            let found = self.clearest(reach, &order, ends);
            // All orders of equal values are as clear, but for rounding.
            as_clear += f64::from(found.is_some_and(|found| found.clear >= clear - 1e-12));
            tried += 1.0;
        }
        as_clear <= most
    }

    /// Returns the place that divides any part most clearly, with values in this order; `None` if all
    /// parts are too short.
    fn clearest(&self, reach: Reach, order: &[usize], ends: &[usize]) -> Option<Division> {
        let parts =
            ends.windows(2).filter_map(|two| self.clearest_in(reach, order, two[0]..two[1]));
        parts.reduce(|one, other| if other.clear > one.clear { other } else { one })
    }

    /// Returns the place that divides a part most clearly: the values from the start of the part up to it from
    /// those after it.
    fn clearest_in(&self, reach: Reach, order: &[usize], part: Range<usize>) -> Option<Division> {
        let all = &order[part.clone()];
        // For each value the sums of its distances to the first values.
        let sums = |one: &usize| {
            let mut sum = 0.0;
            let distance = |other: &usize| {
                let before = sum;
                sum += self.distance(*one, *other);
                before
            };
            all.iter().map(distance).collect::<Vec<f64>>()
        };
        let sums: Vec<Vec<f64>> = all.iter().map(sums).collect();
        let mut before = (0..PART.min(all.len())).map(|one| sums[one][one]).sum::<f64>();
        let mut best: Option<Division> = None;
        for at in PART..(all.len() + 1).saturating_sub(PART) {
            // Sums of distances within the values after it, and between both groups.
            let (mut after, mut between) = (0.0, 0.0);
            for (end, sums) in sums.iter().enumerate().skip(at) {
                after += sums[end] - sums[at];
                between += sums[at];
                let count = end + 1 - at;
                if count < PART || reach == Reach::End && end + 1 < all.len() {
                    continue;
                }
                let clear = energy([at, count], [before, after], between);
                if best.is_none_or(|best| clear > best.clear) {
                    best = Some(Division { at: part.start + at, clear });
                }
            }
            before += sums[at][at];
        }
        best
    }
}

/// Puts items into a random order (Fisher and Yates).
fn shuffle<T>(items: &mut [T], random: &mut SplitMix64) {
    for last in (1..items.len()).rev() {
        let pick = random.next_u64() % (last as u64 + 1);
        items.swap(last, usize::try_from(pick).expect("an index is at most `last`"));
    }
}

/// Returns the energy distance of two groups, scaled by their sizes: from the sums of the distances within
/// each and between both.
fn energy([m, n]: [usize; 2], within: [f64; 2], between: f64) -> f64 {
    let [m, n] = [m, n].map(|count| count as f64);
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let apart = 2.0 * between / (m * n) - within[0] / pairs(m) - within[1] / pairs(n);
    m * n / (m + n) * apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(figures: &[f64]) -> Vec<usize> {
        let found = changes(figures, 0.05).expect("figures are positive");
        assert_eq!(found.creep, None, "{figures:?}");
        found.steps.iter().map(|step| step.at).collect()
    }

    /// The two series of the tests of Hunter, which became Apache Otava (`tests/series_test.py`), with the
    /// points that it finds: 6 and 4.
    #[test]
    fn agrees_with_hunter() {
        let one = [1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55];
        let other = [2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78];
        assert_eq!([steps(&one), steps(&other)], [[6], [4]]);
    }

    /// The flow of the Nile at Aswan from 1871 to 1970, in 10⁸ m³ (G. W. Cobb, "The problem of the Nile:
    /// conditional solution to a changepoint problem", Biometrika 65, 1978): it fell after 1898.
    #[test]
    fn finds_the_change_of_the_nile() {
        let flow = [
            1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020,
            960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840,
            874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120,
            1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845,
            944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
            744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919,
            718, 714, 740,
        ];
        let figures: Vec<f64> = flow.iter().map(|flow| f64::from(*flow)).collect();
        assert_eq!(steps(&figures), [28]);
    }

    /// Two groups of three: between them 9 distances of 10, within each 3 of 0.
    #[test]
    fn the_energy_of_two_groups_is_that_by_hand() {
        assert!((energy([3, 3], [0.0, 0.0], 90.0) - 1.5 * 20.0).abs() < 1e-12);
        let division = Series::new(&[0.0, 0.0, 0.0, 10.0, 10.0, 10.0]);
        let order: Vec<usize> = (0..6).collect();
        let found = division.clearest(Reach::End, &order, &[0, 6]).expect("there are two parts");
        assert!(found.at == 3 && (found.clear - 30.0).abs() < 1e-12);
    }

    #[test]
    fn a_step_has_its_size_and_steps_are_in_order() {
        let noise = [0.99, 1.01, 1.0, 0.995, 1.005, 1.0, 0.99, 1.01, 1.0, 0.995];
        let levels = [1.0, 1.1, 1.0];
        let figures: Vec<f64> =
            levels.iter().flat_map(|level| noise.map(|noise| level * noise)).collect();
        let found = changes(&figures, 0.05).expect("figures are positive");
        assert_eq!(found.steps.iter().map(|step| step.at).collect::<Vec<_>>(), [10, 20]);
        let [up, down] = [0, 1].map(|number| found.steps[number].ratio);
        assert!(up.low < 1.1 && 1.1 < up.high && up.low > 1.08, "{up:?}");
        assert!((up.point * down.point - 1.0).abs() < 1e-9);
    }

    #[test]
    fn slow_growth_is_no_step() {
        let noise = [0.99, 1.01, 1.0, 0.995, 1.005];
        let grown = |week: usize| 1.01_f64.powf(week as f64) * noise[week % 5];
        let found = changes(&(0..20).map(grown).collect::<Vec<_>>(), 0.05);
        let found = found.expect("figures are positive");
        let creep = found.creep.expect("figures grow");
        assert!(found.steps.is_empty() && (creep.change - 0.2).abs() < 0.03, "{creep:?}");
    }

    #[test]
    fn equal_figures_do_not_change_and_few_are_not_judged() {
        assert_eq!(changes(&[2.0; 20], 0.05), Some(Changes::default()));
        assert_eq!(changes(&[2.0; FEWEST_FIGURES - 1], 0.05), None);
        assert_eq!(changes(&[[1.0; 10].as_slice(), &[0.0]].concat(), 0.05), None);
    }
}
