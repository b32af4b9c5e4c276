//! How often change points are found where there are none, and where there are some, by simulation with
//! fixed seeds.

mod simulation;

use simulation::{Noise, Random, Source};
use storemark_stats::{Changes, changes};

/// A share of 5 % has a standard error of 1.5 points.
const SERIES: usize = 200;

/// What is found in series of `count` figures with a spread of 2 %, whose level at each place is `level`.
fn found(noise: Noise, count: usize, level: impl Fn(usize) -> f64) -> Vec<Changes> {
    let mut random = Random::new(5);
    let mut one = || {
        let mut source = Source::new(noise, true);
        let mut figure = |at| level(at) * (0.02 * source.next(&mut random, false)).exp();
        let figures: Vec<f64> = (0..count).map(&mut figure).collect();
        changes(&figures, 0.05).expect("figures are positive")
    };
    (0..SERIES).map(|_| one()).collect()
}

fn share(all: &[Changes], holds: impl Fn(&Changes) -> bool) -> f64 {
    all.iter().filter(|changes| holds(changes)).count() as f64 / all.len() as f64
}

fn changed(changes: &Changes) -> bool {
    !changes.steps.is_empty() || changes.creep.is_some()
}

#[test]
fn figures_that_only_vary_seldom_change() {
    for noise in [Noise::Normal, Noise::LogNormal, Noise::HeavyTails] {
        for count in [8, 12, 24] {
            let wrong = share(&found(noise, count, |_| 1.0), changed);
            assert!(wrong <= 0.07, "{noise:?} {count}: {wrong}");
        }
    }
}

/// In the middle of the series, and when five records have it.
#[test]
fn a_step_of_a_twentieth_is_found_where_it_is() {
    for (noise, count, at) in
        [(Noise::Normal, 20, 10), (Noise::Normal, 30, 25), (Noise::HeavyTails, 30, 15)]
    {
        let all = found(noise, count, |place| if place < at { 1.0 } else { 1.05 });
        let near = |changes: &Changes| changes.steps.iter().any(|step| step.at.abs_diff(at) <= 2);
        let [found, right] = [share(&all, changed), share(&all, near)];
        let several = share(&all, |changes| changes.steps.len() > 1);
        let shown = (found, right, several);
        assert!(
            found >= 0.9 && right >= 0.85 && several <= 0.06,
            "{noise:?} {count} {at}: {shown:?}"
        );
    }
}

#[test]
fn what_grows_by_a_hundredth_a_week_is_found() {
    let grows = |week: usize| 1.01_f64.powf(week as f64);
    let [quarter, half] = [13, 26].map(|weeks| found(Noise::Normal, weeks, grows));
    assert!(share(&quarter, changed) >= 0.95, "{}", share(&quarter, changed));
    assert!(share(&half, changed) >= 0.999, "{}", share(&half, changed));
    let is_creep = |changes: &Changes| changes.creep.is_some();
    assert!(share(&half, is_creep) >= 0.8, "{}", share(&half, is_creep));
}

/// A known limit: records that follow each other closely look like steps.
#[test]
fn records_that_are_correlated_look_like_steps() {
    let wrong = share(&found(Noise::Correlated(0.6), 24, |_| 1.0), changed);
    assert!(wrong > 0.1, "{wrong}");
}
