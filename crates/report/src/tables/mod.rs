//! The tables of every question, built from figures.

mod explained;
mod hosts;
mod judged;
mod legend;
mod over_time;
mod requests;
mod scaling;
mod stores;
mod study;
mod sweep;
mod times;

pub(crate) use self::{
    explained::{explained, explained_moves, explained_sentences, explained_time},
    hosts::hosts,
    judged::judged,
    legend::legend,
    over_time::over_time,
    requests::requests,
    scaling::{knee, scaling, scalings},
    stores::{settings, shared_settings, stores},
    study::{against_published, shown_place, study, study_verdict},
    sweep::{break_even, break_evens, page_sizes, size, sweep, sweep_title},
    times::{latencies, latency_table, times},
};

use checks::{Figures, Series, Verdict, per};
use itertools::Itertools;
use model::{Plan, record::Record};
use spec::RunSpec;
use stats::Estimate;

use crate::{
    number::{NONE, factor, figure},
    table::{Cell, Column, Rows, Table, Tone},
    words,
};

/// The column of names. The longest name of a default run is whole on 80 columns; then names are
/// narrowed before the ratios are, then as far as they must.
pub(crate) const TARGET: Column = Column::text("target").narrow(&[26, 20, 12, 8]);
/// The column of names in tables without a ratio that can be narrowed.
pub(crate) const LONG_TARGET: Column = Column::text("target").narrow(&[30, 20, 12]);
/// The column of verdicts, at least as wide as its longest words.
pub(crate) const VERDICT: Column = Column::text("verdict").narrow(&[15]);

/// Returns a column of ratios, whose interval takes a second line on narrow pages.
pub(crate) const fn ratio_column(head: &'static str, unit: &'static str) -> Column {
    Column::number(head, unit).narrow(&[usize::MAX, usize::MAX, 13])
}

impl<'a, R> Rows<'a, R> {
    /// Adds the ratio to the baseline and its verdict, if there is anything to compare.
    pub(crate) fn compared(self, plan: &Plan, figures: impl Fn(&'a R) -> &'a Figures) -> Self {
        if plan.targets.len() == 1 {
            return self;
        }
        let starred = |row| {
            let Figures { verdict, ratio, .. } = figures(row);
            *verdict == Verdict::DurabilityDiffers && ratio.is_some()
        };
        let star = self.rows().any(starred).then(|| star(plan));
        self.ratios(&figures).verdicts(&figures).with_legend(star)
    }

    /// Adds what [`Rows::compared`] does, and says below the table what its times contain.
    pub(crate) fn into_compared(
        self,
        record: &Record,
        figures: impl Fn(&'a R) -> &'a Figures,
    ) -> Table {
        let clock = clock(record, self.rows().map(&figures).collect::<Vec<_>>());
        self.compared(&record.header.plan, figures).into_table().with_notes(clock)
    }

    pub(crate) fn ratios(self, figures: impl Fn(&'a R) -> &'a Figures) -> Self {
        let column = Column { bars: true, ..ratio_column("ratio", "") };
        self.with(column, |row| ratio(figures(row).ratio.as_ref(), figures(row).verdict))
    }

    pub(crate) fn verdicts(self, figures: impl Fn(&'a R) -> &'a Figures) -> Self {
        self.with(VERDICT, |row| {
            let Figures { verdict, ratio, .. } = figures(row);
            Cell::from(words::verdict(*verdict, ratio.as_ref())).tone(tone(*verdict))
        })
    }
}

/// Explains the star of a ratio.
pub(crate) fn star(plan: &Plan) -> String {
    let has = RunSpec::has_option(plan.command(), "durability");
    let how = if has { "; --durability CLASS makes it the same" } else { "" };
    format!("*: not the same work, as durability differs from the baseline's{how}")
}

/// Formats a ratio with its interval, and a star if it compares unequal work.
pub(crate) fn ratio(ratio: Option<&Estimate>, verdict: Verdict) -> Cell {
    let mark = if verdict == Verdict::DurabilityDiffers { "*" } else { "" };
    match (ratio, verdict) {
        (Some(_), _) => Cell::interval(ratio).mark(mark),
        (None, Verdict::Baseline) => Cell::from("1"),
        (None, _) => Cell::default(),
    }
}

/// Returns the fastest target, `sqlite (3.1×)`, or the baseline; `None` if that is not shown yet.
pub(crate) fn fastest(
    plan: &Plan,
    all: impl Iterator<Item = (usize, Option<Estimate>, Verdict)>,
) -> Option<String> {
    let stores = all.filter(|(target, ..)| !plan.is_reference(*target));
    let judged: Vec<_> =
        stores.filter_map(|(target, ratio, of)| Some((target, ratio?, of))).collect();
    let faster = judged.iter().filter(|(.., verdict)| *verdict == Verdict::Faster);
    let first = faster.min_by(|one, other| one.1.point.total_cmp(&other.1.point));
    let slower = judged.iter().all(|(.., verdict)| *verdict == Verdict::Slower);
    match first {
        Some((target, ratio, _)) => {
            let by = factor(ratio.point.recip());
            Some(format!("{} ({by}×)", words::label(plan, *target)))
        }
        None if slower && !judged.is_empty() && !plan.is_reference(plan.baseline) => {
            Some(words::label(plan, plan.baseline).to_owned())
        }
        None => None,
    }
}

pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Limit | Verdict::Reference => Tone::Dim,
        _ => Tone::Plain,
    }
}

/// The smallest share of waiting that is reported.
const WAITED: f64 = 0.01;

/// Describes how much times contain of waiting for a processor: `waited for a processor, left out
/// of the time: files 35 %, redb 31 %; by the wall clock: mariadb`.
pub(crate) fn clock<'a>(
    record: &Record,
    rows: impl IntoIterator<Item = &'a Figures, IntoIter: Clone>,
) -> Option<String> {
    let rows = rows.into_iter();
    let label = |row: &Figures| words::label(&record.header.plan, row.target).to_owned();
    let measured = || rows.clone().filter(|row| row.rounds > 0 && row.paced.is_none());
    // A target that waited in several cases is named once.
    let mut worst = Vec::<(String, f64, &str)>::new();
    for row in measured() {
        let Some(share) = row.waited_share().filter(|share| *share >= WAITED) else { continue };
        let label = label(row);
        match worst.iter_mut().find(|(other, ..)| *other == label) {
            Some((_, most, up_to)) => (*most, *up_to) = (most.max(share), "up to "),
            None => worst.push((label, share, "")),
        }
    }
    let shares = worst
        .into_iter()
        .map(|(label, share, up_to)| format!("{label} {up_to}{:.0} %", share * 100.0));
    let shares = words::joined(shares, ", ")
        .map(|all| format!("waited for a processor, left out of the time: {all}"));
    let is_by_wall = |row: &&Figures| row.wall_us_per_op.is_none();
    let all = measured().all(|row| is_by_wall(&row));
    let by_wall: Vec<_> = measured().filter(is_by_wall).map(label).unique().collect();
    let by_wall = match by_wall.as_slice() {
        [] => None,
        _ if all => Some("times contain waiting for a processor".to_owned()),
        some => Some(format!("the time contains waiting for a processor: {}", some.join(", "))),
    };
    words::joined([shares, by_wall], "; ")
}

/// Explains why a time is above the 99th percentile next to it; `None` if it is not.
fn above_p99(record: &Record, row: &Figures) -> Option<String> {
    let latency = row.latency.filter(|of| row.us_per_op.is_some_and(|us| us.point > of.p99))?;
    let samples: Vec<_> = Series::new(record, row.case, row.target).samples().collect();
    let settling = per(&samples, |sample| sample.wall_ns, |sample| Some(sample.settle_ns))?;
    if settling > latency.above_p99 {
        return Some(format!("{:.0} % of it flushes after the last operation", settling * 100.0));
    }
    let longest = figure(latency.max / 1e3);
    let share = latency.above_p99 * 100.0;
    Some(format!("{share:.0} % of it in the slowest 1 % of the operations, up to {longest} ms"))
}

/// Formats a time, with its interval if it is the only target, because there is nothing to compare
/// it with.
pub(crate) fn time(plan: &Plan, row: &Figures, time: Option<Estimate>) -> Cell {
    match time {
        Some(time) if plan.targets.len() == 1 => Cell::interval(Some(&time)),
        Some(time) => time.into(),
        None if row.verdict == Verdict::StateNotReached => Cell::from("not in state"),
        None => Cell::from(NONE),
    }
}

/// Formats a published figure, dimmed so that it is not taken for one of this machine.
pub(crate) fn published(value: Option<f64>) -> Cell {
    Cell::from(value).tone(Tone::Dim)
}
