//! Prints how often verdicts and intervals are right: the tables of `docs/method.md`.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use simulation::{Noise, Tables};
use storemark_stats::Looks;

const COUNT: u32 = 2_000;
const LOOKS: Looks = Looks::AfterEach { precision: 0.03 };

fn main() {
    for (title, looks, rounds) in [
        ("looking after each of at most 60 rounds", LOOKS, 60),
        ("10 rounds", Looks::Once, 10),
        ("30 rounds", Looks::Once, 30),
    ] {
        for (truths, truth) in [
            ("equal", &[1.0; 4][..]),
            ("mixed", &[1.0, 1.0, 1.05, 0.6]),
            ("edge", &[1.0, 1.0, 1.03, 1.03]),
        ] {
            for sigma in [0.01, 0.025, 0.05] {
                println!("\n| {title}, {truths}, {sigma} | false | covered | judged | rounds |");
                println!("| --- | --- | --- | --- | --- |");
                for (name, noise) in Noise::ALL {
                    let tables = Tables { noise, sigma, truth, looks, rounds, count: COUNT };
                    let found = tables.outcome();
                    let [wrong, covered, judged] =
                        [found.false_tables, found.covered, found.judged]
                            .map(|share| 100.0 * share);
                    println!(
                        "| {name} | {wrong:.1} | {covered:.1} | {judged:.1} | {:.0} |",
                        found.rounds
                    );
                }
            }
        }
    }
}
