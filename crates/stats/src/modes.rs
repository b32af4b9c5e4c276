//! A test of whether figures fall into two groups.

use crate::estimate::{logs, mean, squares};

/// The smallest number of values: with fewer, any two clusters may be chance.
const FEWEST: usize = 10;

/// The smallest part of the values that is a group, one in this many: single figures far off are no
/// group.
const SMALLEST_GROUP: usize = 5;

/// The two groups of a series of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Geometric mean of the lower group.
    pub low: f64,
    /// Geometric mean of the upper group.
    pub high: f64,
}

impl Modes {
    /// Returns the upper mean divided by the lower one.
    pub fn ratio(&self) -> f64 {
        self.high / self.low
    }
}

/// Returns the two groups into which positive figures clearly fall: on logarithms, the split
/// between values that leaves the lowest spread within both groups (Fisher 1958), if the spread
/// between them is too large for one group (Engelman and Hartigan 1969). Returns `None` otherwise,
/// and for fewer than ten figures or one that is not a positive finite number.
pub fn two_modes(figures: &[f64]) -> Option<Modes> {
    let mut logs = logs(figures).filter(|logs| logs.len() >= FEWEST)?;
    logs.sort_unstable_by(f64::total_cmp);
    let least = logs.len().div_ceil(SMALLEST_GROUP);
    let splits = (least..=logs.len() - least).map(|at| Split::new(&logs, at));
    let best = splits.min_by(|one, other| one.within.total_cmp(&other.within))?;
    let clear = best.between > too_large_by_chance(logs.len()) * best.within;
    clear.then(|| Modes { low: best.low.exp(), high: best.high.exp() })
}

/// Returns how many times the spread within the groups the spread between them may be in a sample
/// of one group. The halves of an even spread have 3; the addition for few values is fitted to
/// simulations, so that samples of one group are seldom beyond it, as a run may have thirty such
/// series. See "Drift and two modes" in `docs/method-proof.md`.
fn too_large_by_chance(n: usize) -> f64 {
    3.5 + 110.0 / (n as f64 - 6.0)
}

/// A split of sorted values into two parts: the means of both, and sums of squares.
struct Split {
    low: f64,
    high: f64,
    within: f64,
    between: f64,
}

impl Split {
    fn new(sorted: &[f64], at: usize) -> Self {
        let (below, above) = sorted.split_at(at);
        let (low, high) = (mean(below), mean(above));
        let weight = below.len() as f64 * above.len() as f64 / sorted.len() as f64;
        Self {
            low,
            high,
            within: squares(below, low) + squares(above, high),
            between: weight * (high - low).powi(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(groups: &[(usize, f64)]) -> Vec<f64> {
        groups.iter().flat_map(|&(count, figure)| std::iter::repeat_n(figure, count)).collect()
    }

    #[test]
    fn two_groups_are_found_with_their_figures() {
        let mut both = figures(&[(7, 2.0), (5, 3.0)]);
        both.reverse();
        both[2] *= 1.001;
        let modes = two_modes(&both).expect("there are two groups");
        assert!((modes.low - 2.0).abs() < 1e-9, "{modes:?}");
        assert!((modes.ratio() - 1.5).abs() < 1e-3, "{modes:?}");
    }

    #[test]
    fn a_few_far_off_are_no_group() {
        assert_eq!(two_modes(&figures(&[(18, 2.0), (2, 3.0)])), None);
        assert!(two_modes(&figures(&[(16, 2.0), (4, 3.0)])).is_some());
    }

    #[test]
    fn evenly_spread_figures_are_one_group() {
        let even: Vec<f64> = (0..40).map(|i| f64::from(i).exp2()).collect();
        assert_eq!(two_modes(&even), None);
    }

    #[test]
    fn equal_figures_are_one_group() {
        assert_eq!(two_modes(&[3.0; 12]), None);
        assert_eq!(two_modes(&[0.1; 60]), None);
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        assert_eq!(two_modes(&figures(&[(5, 2.0), (4, 3.0)])), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(two_modes(&figures(&[(6, 2.0), (6, 3.0), (1, wrong)])), None, "{wrong}");
        }
    }
}
