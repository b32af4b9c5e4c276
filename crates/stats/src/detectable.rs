//! How small a difference rounds can show.

use crate::{
    estimate::{LEVEL, Mean, logs, whole},
    student::two_sided_t,
};

/// The standard normal quantile at 0.9.
const Z_POWER: f64 = 1.281_552;

/// The smallest difference that `rounds` rounds as noisy as those of `ratios` show with a
/// probability of 90 %, as a share: 0.02 is a target that takes 2 % more time. Infinite where
/// fewer than two rounds show nothing.
///
/// A difference is shown when the interval excludes 1, that is when t exceeds its quantile. With a
/// true difference t follows the noncentral distribution; Abramowitz and Stegun 26.7.10 gives the
/// noncentrality at which it does so often enough.
pub fn detectable(ratios: &[f64], rounds: usize) -> f64 {
    let logs = logs(ratios).filter(|logs| logs.len() > 1 && rounds > 1);
    let Some(logs) = logs else { return f64::INFINITY };
    let mean = Mean::of(&logs);
    // So many times as many values, correlated in the same way.
    let times = rounds as f64 / logs.len() as f64;
    let freedom = (mean.independent() * times - 1.0).round().max(1.0);
    let t = two_sided_t(LEVEL, whole(freedom));
    let central = t * (1.0 - 1.0 / (4.0 * freedom));
    let spread = Z_POWER * (1.0 + t * t / (2.0 * freedom)).sqrt();
    ((central + spread) * mean.error() / times.sqrt()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rounds_show_less() {
        let shares = [2, 5, 20, 80].map(|rounds| detectable(&[1.0, 1.1, 0.9, 1.05], rounds));
        assert!(shares.is_sorted_by(|more, less| more > less), "{shares:?}");
    }

    #[test]
    fn rounds_that_follow_each_other_show_less() {
        let turns = [[1.0, 1.1]; 10].concat();
        let steps = [[1.0; 10], [1.1; 10]].concat();
        assert!(detectable(&steps, 20) > 2.0 * detectable(&turns, 20));
    }

    #[test]
    fn one_round_shows_nothing() {
        assert!(detectable(&[1.0], 10).is_infinite());
        assert!(detectable(&[1.0, 1.1], 1).is_infinite());
    }
}
