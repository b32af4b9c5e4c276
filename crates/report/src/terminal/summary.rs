//! The last line: how much was run, and why no more.

use std::{collections::BTreeSet, time::Duration};

use model::{
    record::{End, Ended, Record},
    units::show_duration,
};

use super::{
    number::plus_minus,
    page::{Page, Paint},
};

pub(super) fn print(page: &mut Page, record: &Record) {
    page.gap();
    page.paragraph("", &ended(record), Paint::Plain);
}

/// `10 rounds in 48.2 s; the time was spent; seed 42`.
pub(crate) fn ended(record: &Record) -> String {
    let rounds = match rounds(record) {
        1 => "1 round".to_owned(),
        n => format!("{n} rounds"),
    };
    let time = record.end.as_ref().map_or_else(String::new, time);
    let seed = record.header.plan.seed;
    format!("{rounds}{time}; {}; seed {seed}", why(record))
}

/// Rounds with a sample.
pub(super) fn rounds(record: &Record) -> usize {
    record.samples.iter().map(|s| s.round).collect::<BTreeSet<_>>().len()
}

/// A record may hold any number of seconds.
fn time(end: &End) -> String {
    let duration = Duration::try_from_secs_f64(end.seconds).ok();
    duration.map_or_else(String::new, |duration| format!(" in {}", show_duration(duration)))
}

/// A tenth more than asked for is no news: a round that was begun is ended.
fn overran(record: &Record) -> bool {
    let asked = record.header.plan.rounds.seconds;
    record.end.as_ref().is_some_and(|end| end.seconds > asked * 1.1)
}

pub(super) fn why(record: &Record) -> String {
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
