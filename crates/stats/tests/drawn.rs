//! How often the interval contains the ratio over all keys, where each round reads a part of them and only
//! some of all keys are drawn, by simulation with a fixed seed.

mod simulation;

use simulation::Random;
use storemark_stats::{Values, ratios_of_sums};

/// Keys in the store.
const KEYS: usize = 6_000;
/// Standard deviation of what a round adds to a target's time, on the logarithm.
const NOISE: f64 = 0.02;
/// Intervals of each case.
const RUNS: u32 = 300;

/// The sizes of all values in bytes.
type Sizes = fn(&mut Random) -> f64;

fn equal(_: &mut Random) -> f64 {
    10_000.0
}

/// Most of some kilobytes, some of up to 10 MB.
fn log_normal(random: &mut Random) -> f64 {
    (9.0 + 1.5 * random.normal()).exp().min(1e7)
}

/// What a read of a value takes in two stores: files are slow to open, a database copies slowly. How a
/// value happens to be placed changes either.
fn costs(size: f64, random: &mut Random) -> (f64, f64) {
    let placed = |random: &mut Random| (0.2 * random.normal()).exp();
    let (one, other) = (placed(random), placed(random));
    ((3.0 + size / 9_000.0) * one, (1.0 + size / 4_000.0) * other)
}

/// How keys are shared out among parts.
#[derive(Clone, Copy, PartialEq)]
enum Choice {
    /// By size: each part has one of each row of neighbours.
    Stratified,
    /// At random, as where the sizes of most keys are not known.
    Random,
}

/// All keys in so many parts.
fn parts(sizes: &[f64], count: usize, choice: Choice, random: &mut Random) -> Vec<Vec<usize>> {
    let mut keys: Vec<usize> = (0..KEYS).collect();
    random.shuffle(&mut keys);
    if choice == Choice::Stratified {
        keys.sort_by(|one, other| sizes[*one].total_cmp(&sizes[*other]));
    }
    let mut parts = vec![Vec::new(); count];
    for row in keys.chunks_mut(count) {
        random.shuffle(row);
        row.iter().zip(&mut parts).for_each(|(key, part)| part.push(*key));
    }
    parts
}

/// Share of intervals that contain the truth if `drawn` of `count` parts of all keys are read in `rounds`.
fn covered(sizes: Sizes, choice: Choice, (drawn, count): (usize, usize), rounds: usize) -> f64 {
    let mut random = Random::new(11);
    let mut covered = 0;
    for _ in 0..RUNS {
        let sizes: Vec<f64> = (0..KEYS).map(|_| sizes(&mut random)).collect();
        let costs: Vec<_> = sizes.iter().map(|size| costs(*size, &mut random)).collect();
        let sum = |keys: &mut dyn Iterator<Item = usize>| {
            keys.fold((0.0, 0.0), |sum, key| (sum.0 + costs[key].0, sum.1 + costs[key].1))
        };
        let (one, other) = sum(&mut (0..KEYS));
        let parts = parts(&sizes, count, choice, &mut random);
        let mut noise = || (NOISE * random.normal()).exp();
        let time = |round: usize| {
            let part = &parts[round % drawn];
            let (one, other) = sum(&mut part.iter().copied());
            let operations = part.len() as f64;
            (one / operations * noise(), other / operations * noise())
        };
        let times: Vec<_> = (0..rounds).map(time).collect();
        let mut values = Values::default();
        let ratios = ratios_of_sums(&times).expect("times are positive");
        for (round, ratio) in ratios.into_iter().enumerate() {
            values.push(ratio, if drawn < count { (round % drawn) as u64 } else { 0 });
        }
        let ratio = values.mean().expect("times are positive");
        covered += u32::from((ratio.low..=ratio.high).contains(&(one / other)));
    }
    f64::from(covered) / f64::from(RUNS)
}

fn check(choice: Choice, cases: &[((usize, usize), usize)]) {
    for (sizes, name) in [(equal as Sizes, "equal"), (log_normal, "log-normal")] {
        for (parts, rounds) in cases {
            let share = covered(sizes, choice, *parts, *rounds);
            assert!(share >= 0.92, "{name}, {rounds} rounds of {parts:?} parts: {share}");
        }
    }
}

#[test]
fn parts_of_all_keys_show_the_ratio_over_all() {
    check(Choice::Stratified, &[((4, 4), 16), ((40, 40), 16), ((40, 40), 60)]);
}

#[test]
fn a_few_parts_show_the_ratio_over_all() {
    check(Choice::Stratified, &[((10, 100), 16), ((10, 100), 40), ((6, 60), 60)]);
}

#[test]
fn keys_that_are_drawn_at_random_show_the_ratio_over_all() {
    check(Choice::Random, &[((10, 30), 10), ((10, 30), 40), ((16, 60), 60)]);
}

/// Without the parts as groups, rounds that read the same keys again would seem to show more keys.
#[test]
fn keys_that_come_again_are_no_new_keys() {
    let mut random = Random::new(3);
    let parts: Vec<f64> = (0..6).map(|_| (0.1 * random.normal()).exp()).collect();
    let mut values = Values::default();
    for round in 0..60 {
        values.push(parts[round % 6], (round % 6) as u64);
    }
    let alone = Values::from(parts).mean().unwrap();
    assert!(values.mean().unwrap().half_width() >= alone.half_width() * 0.99);
}
