//! How often the intervals contain the truth, by simulation with a fixed seed. Each share is
//! taken over 8,000 ratios, where the standard error of one of 95 % is 0.24 points.

mod simulation;

use std::ops::RangeInclusive;

use simulation::{Drift, Experiment, Machine, Noise, Rule, Stalls};

/// What is asked of every interval but those named as exceptions below.
const GOOD: RangeInclusive<f64> = 0.93..=0.97;

/// Without stopping nothing is lost: t is taken at 96.5 %.
const GOOD_IF_FIXED: RangeInclusive<f64> = 0.955..=0.97;

/// Stopping costs up to 1.4 points; the rest, to 94 %, is chance.
const GOOD_IF_STOPPED: RangeInclusive<f64> = 0.94..=0.97;

/// False differences: 5 %, and three standard errors for chance.
const FEW: RangeInclusive<f64> = 0.01..=0.0573;

const SIGMA: f64 = 0.03;

fn stopped(machine: Machine) -> Experiment {
    Experiment { machine, rule: Rule::Storemark, cap: 30, ratios: 1, truth: 0.8, runs: 8_000 }
}

fn fixed(machine: Machine, rounds: usize) -> Experiment {
    Experiment { rule: Rule::Fixed, cap: rounds, ..stopped(machine) }
}

fn four_ratios(sigma: f64) -> Experiment {
    Experiment { ratios: 4, runs: 2_000, ..stopped(Machine::steady(sigma)) }
}

#[track_caller]
fn assert_good(experiment: Experiment) {
    let good = match experiment.rule {
        Rule::Fixed => GOOD_IF_FIXED,
        Rule::Storemark | Rule::Plain => GOOD_IF_STOPPED,
    };
    let coverage = experiment.outcome().coverage();
    assert!(good.contains(&coverage), "{coverage}");
}

#[track_caller]
fn assert_few_differences(experiment: Experiment) {
    let differences = Experiment { truth: 1.0, ..experiment }.outcome().differences();
    assert!(FEW.contains(&differences), "{differences}");
}

#[track_caller]
fn assert_good_however_it_ends(machine: Machine) {
    assert_good(stopped(machine));
    assert_good(fixed(machine, 10));
}

fn disturbed(drift: Drift, stalls: Stalls) -> Machine {
    Machine { drift, stalls, ..Machine::steady(SIGMA) }
}

#[test]
fn fixed_rounds() {
    for rounds in [5, 8, 20, 50] {
        assert_good(fixed(Machine::steady(SIGMA), rounds));
    }
}

#[test]
fn normal_times() {
    for rounds in [5, 20] {
        let noise = Noise::Normal(0.1);
        assert_good(fixed(Machine { noise, ..Machine::steady(0.0) }, rounds));
    }
}

#[test]
fn stopped_by_precision() {
    for sigma in [0.002, 0.01, 0.02, 0.03, 0.05] {
        assert_good(stopped(Machine::steady(sigma)));
    }
}

#[test]
fn stopped_by_precision_or_budget() {
    for (sigma, cap) in [(0.025, 10), (0.2, 10), (0.07, 30), (0.2, 30), (0.07, 100)] {
        assert_good(Experiment { cap, ..stopped(Machine::steady(sigma)) });
    }
}

#[test]
fn several_ratios_at_once() {
    for sigma in [0.002, 0.02, 0.05] {
        assert_good(four_ratios(sigma));
    }
}

#[test]
fn stopping_early_without_the_correction_is_not_good() {
    let experiment = Experiment { rule: Rule::Plain, ..stopped(Machine::steady(0.07)) };
    let coverage = experiment.outcome().coverage();
    assert!(coverage < 0.93, "{coverage}");
}

#[test]
fn shared_drift() {
    for drift in [Drift::Linear(0.5), Drift::Walk(0.1)] {
        assert_good_however_it_ends(disturbed(drift, Stalls::None));
    }
}

#[test]
fn drift_within_shuffled_rounds() {
    assert_good_however_it_ends(disturbed(Drift::LinearWithin(0.5), Stalls::None));
}

/// A known limit: without noise the five ratios agree whenever the five orders do, which happens
/// once in 16 times: about 94 % are covered, at a higher level too.
#[test]
fn drift_within_rounds_of_a_machine_without_noise() {
    let machine = Machine { drift: Drift::LinearWithin(0.5), ..Machine::steady(0.002) };
    for experiment in [stopped(machine), fixed(machine, 5)] {
        let coverage = experiment.outcome().coverage();
        assert!(GOOD.contains(&coverage), "{coverage}");
    }
    assert_good(fixed(machine, 10));
}

#[test]
fn shared_stalls() {
    assert_good_however_it_ends(disturbed(Drift::None, Stalls::Shared(0.1, 3.0)));
}

/// A known limit on the safe side: they widen the interval more than they move its middle.
#[test]
fn unshared_stalls_are_covered_too_often() {
    for stalls in [Stalls::Unshared(0.1, 1.2), Stalls::Unshared(0.05, 3.0)] {
        let machine = disturbed(Drift::None, stalls);
        assert_good(stopped(machine));
        let coverage = fixed(machine, 10).outcome().coverage();
        assert!(coverage > *GOOD.end(), "{coverage}");
    }
}

/// A known limit: rounds without a stall cannot show that there are stalls.
#[test]
fn rare_stalls_of_one_target_are_missed() {
    let stalls = Stalls::OneSided(0.05, 3.0);
    let coverage = stopped(disturbed(Drift::None, stalls)).outcome().coverage();
    assert!(coverage < 0.8, "{coverage}");
}

#[test]
fn a_target_against_itself_comes_out_even() {
    for sigma in [0.002, 0.01, 0.02, 0.03, 0.05, 0.07, 0.2] {
        assert_few_differences(stopped(Machine::steady(sigma)));
        assert_few_differences(four_ratios(sigma));
    }
}

#[test]
fn a_target_against_itself_comes_out_even_on_a_disturbed_machine() {
    for drift in [Drift::Linear(0.5), Drift::Walk(0.1), Drift::LinearWithin(0.5)] {
        assert_few_differences(stopped(disturbed(drift, Stalls::None)));
    }
    let unshared = [Stalls::Unshared(0.1, 1.2), Stalls::Unshared(0.05, 3.0)];
    for stalls in unshared.into_iter().chain([Stalls::Shared(0.1, 3.0)]) {
        assert_few_differences(stopped(disturbed(Drift::None, stalls)));
    }
}

#[test]
fn a_difference_of_a_tenth_is_shown() {
    let experiment = Experiment { truth: 0.9, ..stopped(Machine::steady(SIGMA)) };
    let differences = experiment.outcome().differences();
    assert!(differences > 0.99, "{differences}");
}
