//! The smallest difference that rounds can show.

use crate::{
    copies::Values,
    correlation::{ASSUMED, FEWEST, of_correlated},
    estimate::{LEVEL, Mean, logs, whole},
    student::two_sided_t,
};

/// The standard normal quantile at 0.9.
const Z_POWER: f64 = 1.281_552;

/// Returns the smallest difference that `rounds` rounds as noisy as those of `ratios` show with a
/// probability of 90 %, as a share: 0.02 is a target that takes 2 % more time. Infinite for fewer
/// than two rounds, which show nothing.
///
/// A difference is shown if the interval excludes 1, that is if t exceeds its quantile. With a true
/// difference t follows the noncentral distribution; Abramowitz and Stegun 26.7.10 gives the
/// noncentrality at which it does so often enough.
pub fn detectable(ratios: &[f64], rounds: usize) -> f64 {
    let logs = logs(ratios).filter(|logs| logs.len() > 1 && rounds > 1);
    let Some(logs) = logs else { return f64::INFINITY };
    let mean = Mean::from_logs(&logs);
    if rounds < FEWEST {
        let (share, freedom) = of_correlated(rounds, ASSUMED);
        return shown(LEVEL, freedom, mean.deviation(logs.len()) * share.sqrt());
    }
    // So many times as many values, correlated in the same way.
    let times = rounds as f64 / logs.len() as f64;
    let freedom = (mean.independent() * times - 1.0).round().max(1.0);
    shown(LEVEL, freedom, mean.error() / times.sqrt())
}

/// Returns the smallest change between two groups of rounds or runs as noisy as these that an
/// interval of this `level` ([`judge_changes`](crate::judge_changes)) shows with a probability of
/// 90 % or a little more, as a share. Infinite if either has fewer than two.
pub fn detectable_change(new: &Values, old: &Values, level: f64) -> f64 {
    let mean = |of: &Values| Mean::for_verdict(of).filter(|_| of.values.len() > 1);
    let Some((above, below)) = mean(new).zip(mean(old)) else { return f64::INFINITY };
    // Welch's degrees of freedom vary from one sample to the next, and are no fewer than these.
    let freedom = above.independent().min(below.independent()) - 1.0;
    let change = above.plus(1.0, &below, -1.0).with_freedom(freedom.max(1.0));
    let change = change.between_records([new, old]);
    shown(level, change.independent() - 1.0, change.error())
}

/// Returns the difference that a mean with this standard error shows with a probability of 90 %.
fn shown(level: f64, freedom: f64, error: f64) -> f64 {
    let t = two_sided_t(level, whole(freedom));
    let central = t * (1.0 - 1.0 / (4.0 * freedom));
    let spread = Z_POWER * (1.0 + t * t / (2.0 * freedom)).sqrt();
    ((central + spread) * error).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copies::Unit;

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
    fn two_groups_show_less_than_one_of_as_many_pairs() {
        let (new, old) = ([1.0, 1.02, 0.98, 1.01, 0.99], [1.0, 0.98, 1.02, 0.99, 1.01]);
        let of = |values: &[f64]| Values::from(values.to_vec());
        let several = |values: &[f64]| Values { unit: Unit::Record, ..of(values) };
        let share = detectable_change(&several(&new), &several(&old), LEVEL);
        assert!(share < 2.0 * detectable(&new, 5), "{share}");
        assert!(detectable_change(&of(&new), &of(&old), LEVEL) > share, "of single runs");
        assert!(detectable_change(&of(&[1.0]), &of(&old), LEVEL).is_infinite());
        let record =
            |value: f64| Values { values: vec![value; 3], unit: Unit::Record, ..Values::default() };
        assert!(detectable_change(&record(2.0), &record(1.0), LEVEL).abs() < 1e-12);
    }

    #[test]
    fn one_round_shows_nothing() {
        assert!(detectable(&[1.0], 10).is_infinite());
        assert!(detectable(&[1.0, 1.1], 1).is_infinite());
    }
}
