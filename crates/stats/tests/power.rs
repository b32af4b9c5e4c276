//! Whether a difference that is said to be detectable is shown as often as promised, by
//! simulation with a fixed seed: 8,000 ratios, where the standard error of 90 % is 0.34 points.

mod simulation;

use simulation::{Experiment, Machine, Random, Rule};
use storemark_stats::{Estimate, detectable, paired_ratio};

const SIGMA: f64 = 0.03;

/// A target against itself, long enough for its spread to be that of the machine.
fn long_run() -> Estimate {
    let mut random = Random::new(2);
    let mut times = vec![Vec::new(); 2];
    let mut weather = Machine::steady(SIGMA).start(1);
    for _ in 0..50_000 {
        weather.round(&mut random, 1.0, &mut times);
    }
    paired_ratio(&times[1], &times[0]).expect("made-up times are positive")
}

fn shown(truth: f64, rounds: usize) -> f64 {
    let machine = Machine::steady(SIGMA);
    let experiment =
        Experiment { machine, rule: Rule::Fixed, cap: rounds, ratios: 1, truth, runs: 8_000 };
    experiment.outcome().differences()
}

#[test]
fn a_detectable_difference_is_shown_nine_times_in_ten() {
    let ratio = long_run();
    for rounds in [5, 8, 20, 100] {
        let share = detectable(&ratio, rounds);
        for truth in [1.0 + share, 1.0 / (1.0 + share)] {
            let power = shown(truth, rounds);
            assert!((0.885..=0.915).contains(&power), "{rounds} rounds: {power}");
        }
    }
}

#[test]
fn half_of_it_is_mostly_missed() {
    let half = detectable(&long_run(), 20) / 2.0;
    assert!(shown(1.0 + half, 20) < 0.5);
}
