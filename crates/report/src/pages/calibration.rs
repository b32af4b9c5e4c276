//! The page of a calibration: how often runs were right whose truth is known.

use checks::{Calibration, Form, Gate, KnownRun, LeftOutRun, SlowDown, Tally, Verdict};
use model::{
    record::Record,
    units::{duration_of, show_count, show_duration, show_percent, three_digits},
};

use super::Page;
use crate::{
    experiment::about,
    number::NONE,
    table::{Column, Line, Lines, Table},
};

/// Returns the page of a calibration; `alone` is a run of its store alone.
pub fn calibration(
    calibration: &Calibration,
    alone: &Record,
    runs: &[KnownRun],
    left_out: &[LeftOutRun],
) -> Page {
    let tallies = calibration.forms.iter().map(|form| Tally::new(runs, *form));
    let made = tallies.filter(|tally| tally.count() > 0);
    let (gates, tables): (Vec<_>, Vec<_>) = made.partition(|tally| tally.form == Form::Gate);
    let tables = (!tables.is_empty()).then(|| table(calibration, &tables));
    let gates = (!gates.is_empty()).then(|| gate_table(&gates));
    let slow_downs = calibration.slow_downs.iter().flat_map(|of| describe(calibration, runs, of));
    let slow_downs = Lines::new("", slow_downs);
    let ended = Line::new("", ended(calibration, runs.len(), left_out.len()));
    let ended = Lines::new("", [ended].into_iter().chain(without(&calibration.forms, left_out)));
    let blocks = [Some(about(alone, None)), tables.map(Into::into), gates.map(Into::into)];
    Page::new(blocks.into_iter().flatten().chain([slow_downs.into(), ended.into()]))
}

fn table(calibration: &Calibration, tallies: &[Tally<'_>]) -> Table {
    let title = format!("{}, compared with itself in several forms", calibration.target);
    let count = |count: u64| count.to_string();
    Table::for_rows(title, tallies)
        .with(Column::text(""), |tally| tally.form.to_string())
        .with(Column::number("runs", ""), |tally| count(tally.count()))
        .with(Column::number("wrong", ""), |tally| share(tally, tally.wrong()))
        .with(Column::number("found", ""), |tally| {
            tally.found().map_or_else(String::new, |found| share(tally, found))
        })
        .with(Column::number("same", ""), |tally| count(tally.with_verdict(Verdict::Same)))
        .with(Column::number("open", ""), |tally| count(tally.open()))
        .with(Column::number("covered", ""), |tally| percent(tally.coverage()))
        .with(Column::number("width", ""), |tally| half_width(tally.half_width()))
        .with(Column::number("rounds", ""), |tally| format!("{:.1}", tally.rounds().max(0.0)))
        .with(Column::number("time", ""), |tally| format!("{:.1} s", tally.seconds()))
        .into_table()
        .with_notes(NOTES.map(str::to_owned))
}

const NOTES: [&str; 2] = [
    "wrong: tables with a verdict that contradicts the truth; found: slow-downs called slower; each \
     with its 95 % interval",
    "same, open: ratios called the same within ±3 %, and those that nothing was shown of; covered: \
     intervals that hold the truth; width, rounds and time: means",
];

/// Formats the half width of intervals. One round has none, and that of two or three may be beyond
/// all sense.
fn half_width(mean: f64) -> String {
    if mean < 10.0 { format!("±{}", percent(mean)) } else { NONE.to_owned() }
}

fn gate_table(tallies: &[Tally<'_>]) -> Table {
    let gates = |says| move |tally: &Tally<'_>| share(tally, tally.gates(says));
    Table::for_rows("two records of the same, compared", tallies)
        .with(Column::text(""), |_| "--fail-above 10%")
        .with(Column::number("pairs", ""), |tally| tally.count().to_string())
        .with(Column::number("pass", ""), gates(Gate::Pass))
        .with(Column::number("fail", ""), gates(Gate::Fail))
        .with(Column::number("undecided", ""), gates(Gate::Undecided))
        .with(Column::number("time", ""), |tally| format!("{:.1} s", tally.seconds()))
        .into_table()
}

/// Formats a count as a share of the runs, with its interval: `5.0 % (0.1–24.9)`.
fn share(tally: &Tally<'_>, count: u64) -> String {
    let (low, high) = tally.interval(count);
    let all = tally.count() as f64;
    format!("{} ({:.1}–{:.1})", percent(count as f64 / all), low * 100.0, high * 100.0)
}

/// Formats a share; without ratios there is none.
fn percent(share: f64) -> String {
    if share.is_nan() { NONE.to_owned() } else { show_percent(share) }
}

/// Describes a slow-down: the share of an operation's time that was asked for, the wait for that, how long the
/// wait took over an engine that does nothing, and the slow-down that the runs show. A second line says if
/// the wait was not what was asked for.
fn describe(calibration: &Calibration, runs: &[KnownRun], slow_down: &SlowDown) -> Vec<Line> {
    let SlowDown { share, wait_ns, measured_ns } = slow_down;
    let achieved = Tally::new(runs, Form::Slowed(*share)).ratio();
    let achieved = achieved.map_or_else(String::new, |ratio| {
        let [point, low, high] =
            [ratio.point, ratio.low, ratio.high].map(|ratio| (ratio - 1.0) * 100.0);
        let interval = match ratio.n {
            1 => String::new(),
            _ => format!(" ({low:.2} to {high:.2})"),
        };
        format!("; {point:.2} % achieved{interval}")
    });
    let asked = three_digits(share * 100.0);
    let slowed = format!(
        "slow-down: {asked} % of {:.0} ns asked for, a wait of {wait_ns:.1} ns ({measured_ns:.1} ns \
         by itself){achieved}",
        calibration.operation_ns
    );
    let inexact =
        "the wait is not what was asked for: the processor was shared or changed its speed";
    let inexact = (!slow_down.is_exact()).then(|| Line::new("! ", inexact));
    [Line::new("", slowed)].into_iter().chain(inexact).collect()
}

fn ended(calibration: &Calibration, runs: usize, left_out: usize) -> String {
    let Calibration { forms, runs: of_each, seconds, seed, .. } = calibration;
    let all = u64::from(*of_each) * forms.len() as u64;
    let done = match runs as u64 {
        done if done == all => format!("all {all} runs were made"),
        done if done + left_out as u64 == all => format!("{done} of {all} runs were made"),
        done => {
            let time = duration_of(*seconds);
            format!("{done} of {all} runs were made (--time {})", show_duration(time))
        }
    };
    format!("{done}; seed {seed}")
}

/// Counts the runs of each form that measured nothing, with the reason of the first; `None` if
/// there are none.
fn without(forms: &[Form], left_out: &[LeftOutRun]) -> Option<Line> {
    let first = left_out.first()?;
    let of = |form: &Form| {
        let count = left_out.iter().filter(|run| run.form == *form).count();
        (count > 0).then(|| format!("{form} {count}"))
    };
    let forms: Vec<_> = forms.iter().filter_map(of).collect();
    let runs = match left_out.len() {
        1 => "1 run was".to_owned(),
        count => format!("{} runs were", show_count(count as u64)),
    };
    let (forms, first, why) = (forms.join(", "), first.form, &first.why);
    Some(Line::new(
        "! ",
        format!("{runs} left out of all figures: {forms}; the first ({first}): {why}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_measured_nothing_are_counted_by_form_with_the_first_reason() {
        let out = |form, why: &str| LeftOutRun { form, seed: 1, why: why.to_owned() };
        let forms = [Form::Same, Form::Updates, Form::Gate];
        let said = |left_out: &[LeftOutRun]| without(&forms, left_out).map(|line| line.text);
        assert_eq!(said(&[]), None);
        let one = said(&[out(Form::Gate, "no time")]).unwrap();
        assert_eq!(one, "1 run was left out of all figures: gate 1; the first (gate): no time");
        let more = ["no time", "none either", "nor here"].map(|why| out(Form::Updates, why));
        let more = said(&[&more[..], &[out(Form::Same, "")]].concat()).unwrap();
        assert_eq!(
            more,
            "4 runs were left out of all figures: one store 1, updates 3; the first (updates): no time"
        );
    }
}
