//! What the lab's loop costs, for each mix of YCSB: nanoseconds an operation of a pass
//! over `null`, and `memory` through the lab against a bare loop over the same values with the same
//! operations.
//!
//! ```text
//! cargo bench -p storemark-lab                all six mixes
//! cargo bench -p storemark-lab -- --check     exit 3 if one is over its limit
//! cargo test -p storemark-lab --bench '*'     tries it, with fewer rounds
//! ```

mod bare;
mod rounds;

use std::process::ExitCode;

use model::{Error, Result, Ycsb};
use rounds::median;
use stats::paired_ratio;

/// Nanoseconds an operation over `null` at most.
const NULL_LIMIT_NS: f64 = 20.0;
/// `memory` through the lab over a bare loop at most: the engine locks its map in each operation and keeps
/// modes and times beside the values, the loop does neither.
const MEMORY_LIMIT: f64 = 1.5;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::from(3),
        Ok(false) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("own_cost: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether `--check` was given and a mix is over its limit.
fn run() -> Result<bool> {
    let (check, rounds) = arguments()?;
    println!(
        "{:8}{:>8}{:>8}{:>8}{:>8}{:>8}  95 % interval",
        "ns", "null", "least", "memory", "bare", "ratio"
    );
    let mut over = false;
    for letter in ["a", "b", "c", "d", "e", "f"] {
        over |= row(letter.parse()?, rounds)?;
    }
    Ok(check && over)
}

/// Returns whether `--check` was given, and the number of rounds. cargo says whether it measures.
fn arguments() -> Result<(bool, u64)> {
    let (cargo, words): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|word| word == "--bench");
    let rounds = if cargo.is_empty() { 2 } else { 15 };
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok((false, rounds)),
        ["--check"] => Ok((true, rounds)),
        _ => Err(Error::usage(format!("{}: accepted is --check", words.join(" ")))),
    }
}

/// Measures a mix and prints its row; whether it is over a limit.
fn row(ycsb: Ycsb, rounds: u64) -> Result<bool> {
    let null = rounds::null(ycsb, rounds)?;
    let [lab, bare] = rounds::memory(ycsb, rounds)?;
    let ratio = paired_ratio(&lab, &bare).expect("times are positive");
    let least = null.iter().copied().fold(f64::INFINITY, f64::min);
    let (null, lab, bare) = (median(null), median(lab), median(bare));
    let over = null > NULL_LIMIT_NS || ratio.low > MEMORY_LIMIT;
    let verdict = if over { "OVER" } else { "ok" };
    println!(
        "{:8}{null:8.1}{least:8.1}{lab:8.1}{bare:8.1}{:8.3}  {:.3} to {:.3}  {verdict}",
        ycsb.to_string(),
        ratio.point,
        ratio.low,
        ratio.high
    );
    Ok(over)
}
