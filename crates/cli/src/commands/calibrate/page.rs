//! What a person reads at the end.

use std::fmt::Write;

use model::{
    record::Ended,
    units::{show_duration, three_digits},
};
use report::Judgement;

use super::{
    Calibration,
    comparison::{Comparison, Kind},
    series::Series,
    slowing::Slowing,
    tally::Tally,
};
use crate::output;

pub(super) fn page(calibration: &Calibration, done: &[Comparison]) -> String {
    let Calibration { series, subject, pace, slowing } = calibration;
    let mut text = report::head(pace, &output::style(false, false));
    let title = "reading, compared with itself and with itself slowed down";
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{} {title}", subject.label);
    let tallies = [Kind::Same, Kind::Slowed].map(|kind| Tally::of(done, kind));
    let columns = tallies.each_ref().map(|tally| column(series, tally));
    for (row, name) in ROWS.iter().enumerate() {
        let [same, slowed] = columns.each_ref().map(|column| column[row].as_str());
        let line = format!("{name:<26}{same:>20}{slowed:>22}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let [_, slowed] = &tallies;
    text.push_str(&slow_down(slowing, slowed));
    let _ = writeln!(text, "\n{}; seed {}", how_many(series, done), series.seed);
    text
}

const ROWS: [&str; 12] = [
    "",
    "comparisons",
    "time for each",
    "called faster",
    "called slower",
    "no difference shown",
    "false alarms",
    "detected",
    "interval holds the truth",
    "half-width, mean",
    "rounds, mean",
    "precise before the time",
];

/// The figures of a kind; without comparisons only that there are none.
fn column(series: &Series, tally: &Tally<'_>) -> [String; ROWS.len()] {
    let (kind, all) = (tally.kind, tally.len());
    let mut column = [const { String::new() }; ROWS.len()];
    kind.name().clone_into(&mut column[0]);
    column[1] = all.to_string();
    if all == 0 {
        return column;
    }
    let percent = |count: u64| format!("{:.1} %", count as f64 / all as f64 * 100.0);
    let (low, high) = tally.found_interval();
    let found = format!("{} ({:.1}–{:.1})", percent(tally.found()), low * 100.0, high * 100.0);
    let (alarms, detected) = match kind {
        Kind::Same => (found, String::new()),
        Kind::Slowed => (String::new(), found),
    };
    let figures = [
        show_duration(series.time(kind)),
        tally.judged(Judgement::Faster).to_string(),
        tally.judged(Judgement::Slower).to_string(),
        tally.judged(Judgement::NoDifference).to_string(),
        alarms,
        detected,
        percent(tally.covering()),
        format!("±{:.1} %", tally.half_width() * 100.0),
        format!("{:.1}", tally.rounds()),
        tally.ended(&Ended::Precise).to_string(),
    ];
    column[2..].clone_from_slice(&figures);
    column
}

/// What was asked for, what the wait takes, and what it did.
fn slow_down(slowing: &Slowing, slowed: &Tally<'_>) -> String {
    let Slowing { share, operation_ns, asked_ns, measured_ns, .. } = *slowing;
    let asked = three_digits(share * 100.0);
    let mut text = format!(
        "\nslow-down: {asked} % of {operation_ns:.0} ns asked for, a wait of {asked_ns:.1} ns \
         ({measured_ns:.1} ns by itself)"
    );
    if let Some(ratio) = slowed.ratio() {
        let [point, low, high] =
            [ratio.point, ratio.low, ratio.high].map(|ratio| (ratio - 1.0) * 100.0);
        let _ = write!(text, "; {point:.2} % achieved");
        if ratio.n > 1 {
            let _ = write!(text, " ({low:.2} to {high:.2})");
        }
    }
    text.push('\n');
    if !slowing.is_exact() {
        text.push_str(
            "! the wait is not what was asked for: the processor was shared or changed its speed\n",
        );
    }
    text
}

fn how_many(series: &Series, done: &[Comparison]) -> String {
    match (done.len(), series.comparisons.len()) {
        (done, all) if done == all => format!("all {all} comparisons were made"),
        (done, all) => format!("{done} of {all} comparisons were made"),
    }
}
