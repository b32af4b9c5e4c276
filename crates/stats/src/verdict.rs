//! What the ratios of a table show.

use crate::{
    copies::Values,
    correlation::FEWEST,
    estimate::{LEVEL, Mean, logs},
    sequential::critical_t,
    student::two_sided_t,
};

/// Share of tables in which a verdict may be false.
const ALPHA: f64 = 0.05;

/// Targets whose times differ by less are the same for whoever chooses between them.
pub const SAME: f64 = 0.03;

/// From this many values on a run looks after each one whether they are enough.
pub const FIRST_LOOK: usize = FEWEST;

/// What the ratio of a target's times to the baseline's shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes less time.
    Faster,
    /// It takes more time.
    Slower,
    /// Its time is within [`SAME`] of the baseline's.
    Same,
    /// None of these is shown.
    Inconclusive,
}

impl Verdict {
    /// What the mean of logarithms shows: "same" if it is, whatever else.
    fn of(mean: f64, same: bool, differs: bool) -> Self {
        match (same, differs) {
            (true, _) => Self::Same,
            (false, false) => Self::Inconclusive,
            (false, true) if mean < 0.0 => Self::Faster,
            (false, true) => Self::Slower,
        }
    }
}

/// How often it is asked whether the values are enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Looks {
    /// Once: how many there are was fixed before.
    Once,
    /// After each, from [`FIRST_LOOK`] on: what is shown ends the run. So does an interval whose
    /// half-width is at most `precision`. It is then judged once, as that does not depend on where the
    /// interval is; so are fewer values when the time is over.
    AfterEach {
        /// 0.03 is ±3 %.
        precision: f64,
    },
}

/// What is to be shown of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Claim {
    Same,
    Differs,
}

/// The logarithms of a ratio.
struct Ratio {
    mean: Mean,
    /// As sure as its rounds are: with more of them there are no more copies.
    rounds: Mean,
    n: usize,
}

impl Ratio {
    fn of(values: &Values) -> Option<Self> {
        let logs = logs(&values.values)?;
        Some(Self { mean: Mean::of_values(values)?, rounds: Mean::of(&logs), n: logs.len() })
    }

    /// Whether it shows the claim at the level `alpha`.
    fn shows(&self, claim: Claim, alpha: f64, looks: Looks) -> bool {
        let distance = self.mean.value.abs();
        let margin = self.margin(claim, alpha, looks);
        match claim {
            Claim::Same => distance + margin < SAME.ln_1p(),
            Claim::Differs => distance > margin,
        }
    }

    fn margin(&self, claim: Claim, alpha: f64, looks: Looks) -> f64 {
        let Looks::AfterEach { precision } = looks else { return self.once(claim, alpha) };
        // Half of the level is for verdicts that end a run, half for those at its end: also of a run
        // too short to be looked at, whose rounds may have in common what so few cannot show.
        let alpha = alpha / 2.0;
        if self.n < FIRST_LOOK || self.student(LEVEL).exp_m1() <= precision {
            return self.once(claim, alpha);
        }
        let critical = critical_t(alpha, self.rounds.independent()) * self.rounds.error();
        self.rounds.limited(critical).max(self.once(claim, alpha))
    }

    /// "The same" takes two one-sided tests.
    fn once(&self, claim: Claim, alpha: f64) -> f64 {
        match claim {
            Claim::Same => self.student(1.0 - 2.0 * alpha),
            Claim::Differs => self.student(1.0 - alpha),
        }
    }

    fn student(&self, level: f64) -> f64 {
        self.mean.margin(|freedom| two_sided_t(level, freedom))
    }
}

/// The verdicts on the ratios of a table, each given by its values in the order in which they were
/// measured. One without values, or with one that is not a positive finite number, is inconclusive
/// and does not count.
///
/// A ratio of 1 and one of [`SAME`] or more exclude each other, so that "there is no difference" and
/// "there is one of [`SAME`]" are each tested at the whole level. The second takes two one-sided
/// tests (D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
/// approach for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics
/// and Biopharmaceutics 15, 1987).
pub fn verdicts(table: &[Values], looks: Looks) -> Vec<Verdict> {
    judged(&table.iter().map(Ratio::of).collect::<Vec<_>>(), looks)
}

/// The same of a table of changes, each given by the values of the new record and by those of the
/// old one: as many as were measured, and judged once.
pub fn change_verdicts(table: &[[Values; 2]]) -> Vec<Verdict> {
    let ratio = |[new, old]: &[Values; 2]| {
        let mean = Mean::difference(new, old)?;
        Some(Ratio { mean, rounds: mean, n: new.values.len() })
    };
    judged(&table.iter().map(ratio).collect::<Vec<_>>(), Looks::Once)
}

fn judged(ratios: &[Option<Ratio>], looks: Looks) -> Vec<Verdict> {
    let shown = |claim| {
        holm(ratios.iter().flatten().count(), |alpha| {
            let shows = |ratio: &Ratio| ratio.shows(claim, alpha, looks);
            ratios.iter().map(|ratio| ratio.as_ref().is_some_and(shows)).collect()
        })
    };
    let shown = shown(Claim::Same).into_iter().zip(shown(Claim::Differs));
    let verdict = |(ratio, (same, differs)): (&Option<Ratio>, _)| {
        Verdict::of(ratio.as_ref().map_or(0.0, |ratio| ratio.mean.value), same, differs)
    };
    ratios.iter().zip(shown).map(verdict).collect()
}

/// Which of so many hypotheses are shown: each that is leaves its part of the level to the others (S.
/// Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6, 1979).
fn holm(all: usize, shown_at: impl Fn(f64) -> Vec<bool>) -> Vec<bool> {
    let mut before = 0;
    loop {
        let shown = shown_at(ALPHA / (all - before).max(1) as f64);
        let count = shown.iter().filter(|shown| **shown).count();
        if count == before {
            return shown;
        }
        before = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: Looks = Looks::AfterEach { precision: 0.03 };

    /// Twenty ratios around `middle` that alternate by `spread` either way.
    fn ratios(middle: f64, spread: f64) -> Vec<f64> {
        (0..20).map(|i| middle * (spread * f64::from(i % 2 * 2 - 1)).exp()).collect()
    }

    fn one(ratios: &[f64]) -> [Verdict; 2] {
        [Looks::Once, EACH].map(|looks| verdicts(&[ratios.to_vec().into()], looks)[0])
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
        assert_eq!(one(&ratios(1.05, 0.08)[..11]), [Verdict::Inconclusive; 2]);
        assert_eq!(one(&ratios(1.05, 0.05)[..10]), [Verdict::Slower; 2], "too few to look often");
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

    /// Holm's own procedure, by p-values: of 0.01, 0.04, 0.03 and 0.005 at 5 % only the first and
    /// the last are rejected, as 0.03 is above 0.05 / 2.
    #[test]
    fn agrees_with_a_worked_example_of_holm() {
        let p = [0.01, 0.04, 0.03, 0.005];
        let rejected = holm(4, |level| p.iter().map(|p| *p <= level).collect());
        assert_eq!(rejected, [true, false, false, true]);
    }

    #[test]
    fn nothing_measured_shows_nothing() {
        assert_eq!(verdicts(&[], EACH), []);
        let table = [vec![], vec![1.0], vec![1.0, f64::NAN]].map(Values::from);
        assert_eq!(verdicts(&table, EACH), [Verdict::Inconclusive; 3]);
    }

    #[test]
    fn values_that_are_all_equal_leave_no_doubt() {
        assert_eq!(one(&[1.0; 12]), [Verdict::Same; 2]);
        assert_eq!(one(&[1.5; 12]), [Verdict::Slower; 2]);
    }

    #[test]
    fn changes_are_judged_by_two_groups() {
        let [fast, slow] = [1.0, 1.1].map(|middle| ratios(middle, 0.01));
        let [fast, slow] = [fast, slow].map(Values::from);
        let table = [[slow.clone(), fast.clone()], [fast.clone(), slow], [fast.clone(), fast]];
        assert_eq!(change_verdicts(&table), [Verdict::Slower, Verdict::Faster, Verdict::Same]);
        assert_eq!(
            change_verdicts(&[[vec![2.0].into(), vec![1.0, 1.1].into()]]),
            [Verdict::Inconclusive]
        );
    }
}
