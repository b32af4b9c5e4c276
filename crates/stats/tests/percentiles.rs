//! How often verdicts on a percentile of the latencies, paired by round, are right, by simulation with fixed
//! seeds: a round times 400 operations of a target, of which one in fifty stalls.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks and places are positive and small"
)]

mod simulation;

use simulation::{LOOKS, Random};
use storemark_stats::{Judgement, Looks, Values, Verdict, is_look, judge};

const OPERATIONS: usize = 400;
const ROUNDS: usize = 60;
const RUNS: usize = 500;

/// Percentiles of so many rounds, as logarithms.
struct Percentiles(Vec<f64>);

impl Percentiles {
    fn new(random: &mut Random, share: f64) -> Self {
        let mut operation = || {
            let usual = 0.3 * random.normal();
            let stall = if random.happens(0.02) { 1.0 + random.normal().abs() } else { 0.0 };
            usual + stall
        };
        let mut percentile = |_| {
            let mut all: Vec<f64> = (0..OPERATIONS).map(|_| operation()).collect();
            let rank = (share * OPERATIONS as f64).ceil() as usize - 1;
            *all.select_nth_unstable_by(rank, f64::total_cmp).1
        };
        Self((0..4_000).map(&mut percentile).collect())
    }

    /// A round of a target, 1 % more or less whatever its operations.
    fn round(&self, random: &mut Random) -> f64 {
        let place = (random.unit() * self.0.len() as f64) as usize;
        self.0[place] + 0.01 * random.normal()
    }

    /// The verdict at the end of a run in which the percentile is `truth` times the baseline's, and the
    /// rounds of it. With planned `looks`, a verdict ends the run.
    fn run(&self, random: &mut Random, truth: f64, looks: Looks) -> (Judgement, usize) {
        let mut ratios = Values::default();
        for round in 1..=ROUNDS {
            ratios.push(truth * (self.round(random) - self.round(random)).exp(), 0);
            let judged = judge(std::slice::from_ref(&ratios), looks)[0];
            let ends = looks != Looks::Once && is_look(round);
            if round == ROUNDS || ends && judged.verdict != Verdict::Inconclusive {
                return (judged, round);
            }
        }
        unreachable!("the last round ends the run")
    }

    /// The share of runs with a verdict that there is a difference, and of intervals with the truth.
    fn shares(&self, truth: f64, looks: Looks) -> (f64, f64) {
        let mut random = Random::new(3);
        let all: Vec<_> = (0..RUNS).map(|_| self.run(&mut random, truth, looks).0).collect();
        let differs = |of: &&Judgement| matches!(of.verdict, Verdict::Faster | Verdict::Slower);
        let ratio = |of: &Judgement| of.ratio.expect("simulated latencies are positive");
        let covers = |of: &&Judgement| (ratio(of).low..=ratio(of).high).contains(&truth);
        let share = |count: usize| count as f64 / RUNS as f64;
        (share(all.iter().filter(differs).count()), share(all.iter().filter(covers).count()))
    }
}

#[test]
fn equal_percentiles_are_seldom_called_different() {
    let mut random = Random::new(1);
    for share in [0.5, 0.99] {
        let all = Percentiles::new(&mut random, share);
        for looks in [LOOKS, Looks::Once] {
            let (differ, covered) = all.shares(1.0, looks);
            assert!(differ <= 0.05 && covered >= 0.95, "p{share} {looks:?}: {differ} {covered}");
        }
    }
}

/// A median is known far better than a 99th percentile, which a few operations of a round decide.
#[test]
fn a_difference_of_percentiles_is_found() {
    let mut random = Random::new(1);
    for (share, truth) in [(0.5, 1.05), (0.99, 1.5)] {
        let (found, covered) = Percentiles::new(&mut random, share).shares(truth, LOOKS);
        assert!(found >= 0.9 && covered >= 0.95, "p{share} {truth}: {found} {covered}");
    }
}
