//! Whether a difference that is said to be detectable is shown as often as promised, by
//! simulation with a fixed seed: 8,000 ratios, where the standard error of 90 % is 0.34 points.

mod simulation;

use simulation::{Machine, Noise, Random};
use storemark_stats::{Looks, Verdict, detectable, judge};

const SIGMA: f64 = 0.03;
const RUNS: usize = 8_000;

fn ratios(random: &mut Random, rounds: usize, truth: f64) -> Vec<f64> {
    let mut machine = Machine::new(Noise::Normal, SIGMA, 1);
    let ratio = |times: Vec<f64>| truth * times[1] / times[0];
    (0..rounds).map(|_| ratio(machine.round(random))).collect()
}

/// A target against itself, long enough for its spread to be that of the machine.
fn long_run() -> Vec<f64> {
    ratios(&mut Random::new(2), 50_000, 1.0)
}

/// Share of runs of so few rounds that each counts in full, which show a difference.
fn shown(truth: f64, rounds: usize) -> f64 {
    let mut random = Random::new(1);
    let mut differs = || {
        let table = [ratios(&mut random, rounds, truth).into()];
        matches!(judge(&table, Looks::Once)[0].verdict, Verdict::Faster | Verdict::Slower)
    };
    (0..RUNS).filter(|_| differs()).count() as f64 / RUNS as f64
}

#[test]
fn a_detectable_difference_is_shown_nine_times_in_ten() {
    let ratios = long_run();
    for rounds in [5, 8, 11] {
        let share = detectable(&ratios, rounds);
        for truth in [1.0 + share, 1.0 / (1.0 + share)] {
            let power = shown(truth, rounds);
            assert!(power >= 0.885, "{rounds} rounds: {power}");
        }
    }
}

#[test]
fn half_of_it_is_mostly_missed() {
    let half = detectable(&long_run(), 11) / 2.0;
    assert!(shown(1.0 + half, 11) < 0.5);
}
