//! How much was run, and why it ended.

use std::{collections::BTreeSet, time::Duration};

use model::{
    record::{Ended, Record},
    units::show_duration,
};

use super::counted;
use crate::number::plus_minus;

/// `10 rounds in 48.2 s; every interval is within ±3 %; seed 42`.
fn ended_one(record: &Record) -> String {
    let rounds = counted(rounds(record) as u64, "round");
    let seconds = record.end.as_ref().map(|end| end.seconds);
    format!("{rounds}{}; {}; seed {}", time(seconds), why(record), record.header.plan.seed)
}

/// The same for one run, or for those of a sweep together.
pub(crate) fn ended(runs: &[Record]) -> String {
    if let [run] = runs
        && run.header.point.is_none()
    {
        return ended_one(run);
    }
    let rounds: usize = runs.iter().map(rounds).sum();
    let time = time(Some(runs.iter().filter_map(|run| Some(run.end.as_ref()?.seconds)).sum()));
    let last = runs.last().map_or_else(String::new, why);
    let seed = runs.first().map_or(0, |run| run.header.plan.seed);
    let count = counted(runs.len() as u64, "run");
    format!("{count}, {rounds} rounds together{time}; the last: {last}; seed {seed}")
}

/// Rounds with a sample.
fn rounds(record: &Record) -> usize {
    record.samples.iter().map(|s| s.round).collect::<BTreeSet<_>>().len()
}

/// A record may hold any number of seconds.
fn time(seconds: Option<f64>) -> String {
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.map_or_else(String::new, |duration| format!(" in {}", show_duration(duration)))
}

/// A tenth more than asked for is no news: a round that was started is finished.
fn overran(record: &Record) -> bool {
    let asked = record.header.plan.rounds.seconds;
    record.end.as_ref().is_some_and(|end| end.seconds > asked * 1.1)
}

fn why(record: &Record) -> String {
    let precision = plus_minus(record.header.plan.rounds.precision);
    match record.end.as_ref().map(|end| &end.reason) {
        Some(Ended::Precise) => format!("every interval is within {precision}"),
        Some(Ended::Time) if overran(record) => {
            "the time was spent before the least number of rounds was run".to_owned()
        }
        Some(Ended::Time) => "the time was spent".to_owned(),
        Some(Ended::Rounds) => "as many as asked for".to_owned(),
        Some(Ended::Interrupted) => "interrupted: what was measured is shown".to_owned(),
        Some(Ended::Failed(how)) => format!("failed: {how}; what was measured is shown"),
        None => "cut off: what was measured is shown".to_owned(),
    }
}
