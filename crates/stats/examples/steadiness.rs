//! Prints how often drift and two modes are seen where there are none, and where there are: the
//! tables of "Drift and two modes" in `docs/method-proof.md`.

#[path = "../tests/series/mod.rs"]
mod series;

use series::{Runs, Shape};

const COUNT: usize = 40_000;
const ROUNDS: [usize; 6] = [8, 10, 12, 20, 30, 60];

fn main() {
    head("drift");
    for growth in [1.0, 1.05, 1.1, 1.2] {
        row(&format!("normal, growing to × {growth}"), Shape::Normal, growth, Runs::drifting);
    }
    head("two modes");
    for (name, shape) in Shape::ONE_PEAK {
        row(name, shape, 1.0, Runs::with_modes);
    }
    row("normal, growing to × 1.5", Shape::Normal, 1.5, Runs::with_modes);
    for (apart, upper) in [(4.0, 0.5), (6.0, 0.5), (8.0, 0.5), (12.0, 0.5), (12.0, 0.3)] {
        let shape = Shape::Two { apart, upper };
        let name = format!("two peaks, {apart} apart, {:.0} % in the upper", upper * 100.0);
        row(&name, shape, 1.0, Runs::with_modes);
    }
}

fn head(title: &str) {
    let rounds = ROUNDS.map(|rounds| format!(" {rounds} |")).concat();
    println!("\n| {title} |{rounds}\n| --- |{}", " --- |".repeat(ROUNDS.len()));
}

/// Shares in per cent.
fn row(name: &str, shape: Shape, growth: f64, counted: fn(Runs) -> f64) {
    let cells = ROUNDS.map(|rounds| {
        let runs = Runs { shape, rounds, growth, count: COUNT };
        format!(" {:.2} |", 100.0 * counted(runs))
    });
    println!("| {name} |{}", cells.concat());
}
