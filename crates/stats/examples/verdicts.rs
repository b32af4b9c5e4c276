//! Prints how often verdicts and intervals are right: the tables of `docs/method.md`.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use simulation::{Noise, Tables};
use storemark_stats::Looks;

const COUNT: u32 = 1_000;
const LOOKS: Looks = Looks::AfterEach { precision: 0.015 };

fn main() {
    for rounds in [30, 60, 120] {
        for (truths, truth) in [
            ("equal", &[1.0; 4][..]),
            ("mixed", &[1.0, 1.0, 1.05, 0.6]),
            ("one5", &[1.05]),
            ("one2", &[1.02]),
            ("edge", &[1.0, 1.0, 1.03, 1.03]),
        ] {
            for sigma in [0.01, 0.025, 0.05] {
                for (name, noise) in Noise::ALL {
                    let tables = Tables { noise, sigma, truth, looks: LOOKS, rounds, count: COUNT };
                    let found = tables.outcome();
                    let [wrong, covered, judged] =
                        [found.false_tables, found.covered, found.judged]
                            .map(|share| 100.0 * share);
                    println!(
                        "{rounds} {truths} {sigma} | {name} | {wrong:.1} | {covered:.1} | {judged:.1} | {:.0} |",
                        found.rounds
                    );
                }
            }
        }
    }
}
