//! Looks at the rounds of a run while they go on: when, and how much of the level each may take.
//!
//! A run whose verdicts may end it is judged again and again, and so is wrong more often than one that is
//! judged once. So its looks are planned, further apart as rounds become many, and share the level, as in
//! the group-sequential tests of clinical trials (K. K. G. Lan and D. L. `DeMets`, "Discrete sequential
//! boundaries for clinical trials", Biometrika 70, 1983). The parts are simply added up (Bonferroni), so
//! that this is right whatever the rounds of two looks have in common.

/// The number of rounds at which a run looks for the first time.
pub const FIRST_LOOK: usize = 6;

/// The part of the level that a look takes of what those before it have left. A larger one shows clear
/// differences sooner and small ones later; by simulation.
const PART: f64 = 0.15;

/// Reports whether a look at `n` rounds is planned: at 6, 8, 12, 16, 24, 32, 48 … rounds.
pub fn is_look(n: usize) -> bool {
    n >= FIRST_LOOK && matches!(n >> n.trailing_zeros(), 1 | 3)
}

/// Returns the part of the level that is left after the looks at up to `n` rounds.
pub(crate) fn part_left(n: usize) -> f64 {
    let looks = (FIRST_LOOK..=n).filter(|n| is_look(*n)).count();
    (0..looks).fold(1.0, |left, _| left * (1.0 - PART))
}

/// Returns the part of the level that the look at `n` rounds takes, or the next one if none is planned.
pub(crate) fn part_of_look(n: usize) -> f64 {
    PART * part_left(if is_look(n) { n - 1 } else { n })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_twice_as_far_apart_at_twice_the_rounds() {
        let planned: Vec<_> = (0..200).filter(|n| is_look(*n)).collect();
        assert_eq!(planned, [6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]);
    }

    #[test]
    fn all_looks_and_the_last_one_take_the_whole_level() {
        for last in [1, 6, 7, 60, 1000] {
            let looks: f64 = (0..=last).filter(|n| is_look(*n)).map(part_of_look).sum();
            assert!((looks + part_left(last) - 1.0).abs() < 1e-12, "{last}");
        }
    }

    #[test]
    fn rounds_between_two_looks_have_what_the_next_one_takes() {
        assert!((part_of_look(9) - part_of_look(12)).abs() < 1e-12);
        assert!((part_of_look(3) - PART).abs() < 1e-12);
    }
}
