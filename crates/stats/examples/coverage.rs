//! Prints how often the intervals contain the truth: the tables of `docs/method.md`.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use simulation::{Drift, Experiment, Machine, Noise, Rule, Stalls};

const RUNS: usize = 40_000;
const SIGMAS: [f64; 12] =
    [0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.07, 0.1, 0.2];

fn main() {
    stopped_by_rule();
    fixed_rounds();
    disturbed();
}

fn experiment(machine: Machine) -> Experiment {
    Experiment { machine, rule: Rule::Storemark, cap: 30, ratios: 1, truth: 1.0, runs: RUNS }
}

/// Coverage in per cent, and rounds at the mean.
fn cell(experiment: Experiment) -> String {
    let outcome = experiment.outcome();
    format!(" {:.1} ({:.0}) |", 100.0 * outcome.coverage(), outcome.mean_rounds())
}

fn stopped_by_rule() {
    println!(
        "| sigma | plain, at most 30 | at most 10 | at most 30 | at most 100 | four ratios, 30 |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for sigma in SIGMAS {
        let base = experiment(Machine::steady(sigma));
        let columns = [
            Experiment { rule: Rule::Plain, ..base },
            Experiment { cap: 10, ..base },
            base,
            Experiment { cap: 100, ..base },
            Experiment { ratios: 4, runs: RUNS / 4, ..base },
        ];
        println!("| {sigma} |{}", columns.map(cell).concat());
    }
}

fn fixed_rounds() {
    println!("\n| rounds | log-normal, 5 % | normal, 10 % |");
    println!("| --- | --- | --- |");
    for cap in [5, 8, 12, 20, 50] {
        let normal = Machine { noise: Noise::Normal(0.1), ..Machine::steady(0.0) };
        let columns = [Machine::steady(0.05 * 2.0_f64.sqrt()), normal]
            .map(|machine| cell(Experiment { rule: Rule::Fixed, cap, ..experiment(machine) }));
        println!("| {cap} |{}", columns.concat());
    }
}

fn disturbed() {
    println!("\n| machine | stopped by rule | 5 rounds | 10 rounds | 30 rounds |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, machine) in disturbances() {
        let base = experiment(machine);
        let fixed = |cap| Experiment { rule: Rule::Fixed, cap, ..base };
        let columns = [base, fixed(5), fixed(10), fixed(30)].map(cell);
        println!("| {name} |{}", columns.concat());
    }
}

fn disturbances() -> [(&'static str, Machine); 10] {
    let base = Machine::steady(0.03);
    let quiet = Machine::steady(0.002);
    let drift = |drift| Machine { drift, ..base };
    let stalls = |stalls| Machine { stalls, ..base };
    [
        ("none", base),
        ("drift of 50 % over the run", drift(Drift::Linear(0.5))),
        ("random walk, 10 % a round", drift(Drift::Walk(0.1))),
        ("drift of 50 %, also within rounds", drift(Drift::LinearWithin(0.5))),
        ("the same, sigma 0.002", Machine { drift: Drift::LinearWithin(0.5), ..quiet }),
        ("shared stalls, 10 % of rounds, × 3", stalls(Stalls::Shared(0.1, 3.0))),
        ("unshared stalls, 10 % of trials, × 1.2", stalls(Stalls::Unshared(0.1, 1.2))),
        ("unshared stalls, 5 % of trials, × 3", stalls(Stalls::Unshared(0.05, 3.0))),
        ("stalls of one target, 10 % of trials, × 1.2", stalls(Stalls::OneSided(0.1, 1.2))),
        ("stalls of one target, 5 % of trials, × 3", stalls(Stalls::OneSided(0.05, 3.0))),
    ]
}
