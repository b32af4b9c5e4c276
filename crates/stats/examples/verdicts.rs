//! Prints how often verdicts and intervals are right: the tables of `docs/method-proof.md`.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use simulation::{LOOKS, Noise, Outcome, Tables};
use storemark_stats::Looks;

const COUNT: u32 = 5_000;
const EQUAL: &[f64] = &[1.0; 4];
const MIXED: &[f64] = &[1.0, 1.0, 1.05, 0.6];
const EDGE: &[f64] = &[1.0, 1.0, 1.03, 1.03];

fn main() {
    println!(
        "| noise | equal, 2.5 % | equal, 5 % | mixed, 5 % | edge, 5 % | 30 rounds | 10 rounds |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (name, noise) in Noise::ALL {
        let looking = |sigma, truth| of(noise, sigma, truth, LOOKS, 60);
        let cells = [
            looking(0.025, EQUAL),
            looking(0.05, EQUAL),
            looking(0.05, MIXED),
            looking(0.05, EDGE),
            of(noise, 0.05, EQUAL, Looks::Once, 30),
            of(noise, 0.05, EQUAL, Looks::Once, 10),
        ];
        println!("| {name} |{}", cells.map(right).concat());
    }
    println!("\n| noise, truth | 1 % | 2.5 % | 5 % |\n| --- | --- | --- | --- |");
    for noise in [Noise::ALL[0], Noise::ALL[3], Noise::ALL[4]] {
        for truth in [1.0, 1.02, 1.05, 1.1] {
            let found = |sigma| judged(of(noise.1, sigma, &[truth], LOOKS, 60));
            println!("| {}, {truth} |{}", noise.0, [0.01, 0.025, 0.05].map(found).concat());
        }
    }
}

fn of(noise: Noise, sigma: f64, truth: &[f64], looks: Looks, rounds: usize) -> Outcome {
    Tables { noise, sigma, truth, looks, rounds, count: COUNT }.outcome()
}

/// Tables with a false verdict and intervals that hold the truth, in per cent.
fn right(found: Outcome) -> String {
    format!(" {:.1}, {:.1} |", 100.0 * found.false_tables, 100.0 * found.covered)
}

/// Ratios with a verdict in per cent, and the mean of their rounds.
fn judged(found: Outcome) -> String {
    format!(" {:.0} ({:.0}) |", 100.0 * found.judged, found.rounds)
}
