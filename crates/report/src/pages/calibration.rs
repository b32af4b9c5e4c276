//! How often comparisons were right whose truth is known.

use std::time::Duration;

use checks::{Calibration, Known, KnownComparison, Tally, Verdict};
use model::{
    record::Record,
    units::{show_duration, three_digits},
};

use super::{Page, about};
use crate::table::{Column, Line, Lines, Table};

/// The page of a calibration; `alone` is a run of its store alone.
pub fn calibration(
    calibration: &Calibration,
    alone: &Record,
    comparisons: &[KnownComparison],
) -> Page {
    let same = Tally::of(comparisons, Known::Same);
    let slowed = Tally::of(comparisons, Known::Slowed);
    let [one, other] = [&same, &slowed].map(|tally| column(calibration, tally));
    let rows: Vec<_> = ROWS.into_iter().zip(one.into_iter().zip(other)).collect();
    let title = "reading, compared with itself and with itself slowed down";
    let table = Table::of(format!("{} {title}", calibration.target), &rows)
        .with(Column::text(""), |(name, _)| *name)
        .with(Column::number("same", ""), |(_, (same, _))| same.clone())
        .with(Column::number("slowed", ""), |(_, (_, slowed))| slowed.clone())
        .done();
    let slow_down = Lines::new("", slow_down(calibration, &slowed));
    let ended = Lines::new("", [Line::new("", ended(calibration, comparisons))]);
    Page::of([about(alone, None), table.into(), slow_down.into(), ended.into()])
}

const ROWS: [&str; 12] = [
    "comparisons",
    "time for each",
    "called faster",
    "called slower",
    "same within ±3 %",
    "inconclusive",
    "false alarms",
    "detected",
    "interval holds the truth",
    "half-width, mean",
    "rounds, mean",
    "settled before the time",
];

/// The figures of a kind; without comparisons only that there are none.
fn column(calibration: &Calibration, tally: &Tally<'_>) -> [String; ROWS.len()] {
    let (kind, all) = (tally.kind, tally.count());
    if all == 0 {
        let mut none = [const { String::new() }; ROWS.len()];
        none[0] = all.to_string();
        return none;
    }
    let percent = |count: u64| format!("{:.1} %", count as f64 / all as f64 * 100.0);
    let (low, high) = tally.found_interval();
    let found = format!("{} ({:.1}–{:.1})", percent(tally.found()), low * 100.0, high * 100.0);
    let (alarms, detected) = match kind {
        Known::Same => (found, String::new()),
        Known::Slowed => (String::new(), found),
    };
    let time = Duration::try_from_secs_f64(calibration.part(kind).seconds);
    [
        all.to_string(),
        show_duration(time.unwrap_or(Duration::MAX)),
        tally.with_verdict(Verdict::Faster).to_string(),
        tally.with_verdict(Verdict::Slower).to_string(),
        tally.with_verdict(Verdict::Same).to_string(),
        tally.with_verdict(Verdict::Inconclusive).to_string(),
        alarms,
        detected,
        percent(tally.covering()),
        format!("±{:.1} %", tally.half_width() * 100.0),
        format!("{:.1}", tally.rounds()),
        tally.precise().to_string(),
    ]
}

/// What was asked for, what the wait takes, and its effect.
fn slow_down(calibration: &Calibration, slowed: &Tally<'_>) -> Vec<Line> {
    let Calibration { slow_down, operation_ns, wait_ns, measured_wait_ns, .. } = calibration;
    let achieved = slowed.ratio().map_or_else(String::new, |ratio| {
        let [point, low, high] =
            [ratio.point, ratio.low, ratio.high].map(|ratio| (ratio - 1.0) * 100.0);
        let interval = match ratio.n {
            1 => String::new(),
            _ => format!(" ({low:.2} to {high:.2})"),
        };
        format!("; {point:.2} % achieved{interval}")
    });
    let asked = three_digits(slow_down * 100.0);
    let slowed = format!(
        "slow-down: {asked} % of {operation_ns:.0} ns asked for, a wait of {wait_ns:.1} ns \
         ({measured_wait_ns:.1} ns by itself){achieved}"
    );
    let inexact =
        "the wait is not what was asked for: the processor was shared or changed its speed";
    let inexact = (!calibration.is_exact()).then(|| Line::new("! ", inexact));
    [Line::new("", slowed)].into_iter().chain(inexact).collect()
}

fn ended(calibration: &Calibration, comparisons: &[KnownComparison]) -> String {
    let all = u64::from(calibration.same.count) + u64::from(calibration.slowed.count);
    let done = match comparisons.len() as u64 {
        done if done == all => format!("all {all}"),
        done => format!("{done} of {all}"),
    };
    format!("{done} comparisons were made; seed {}", calibration.seed)
}
