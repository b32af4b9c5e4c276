//! How passes went over time: rates and percentiles of their slices, and where they stalled.

use std::collections::BTreeMap;

use model::{Case, Plan, record::Record, units::show_rate};

use super::{
    Style, blank,
    number::{NONE, figure_or_none},
    page::{Page, Paint},
    sweep::varied,
    table::{Cell, Column, Table},
    times::{self, TARGET},
};
use crate::{Figures, Stall, Timeline, figures, timelines};

/// What `--over-time` adds to the page of these records.
pub fn over_time(records: &[Record], style: &Style) -> String {
    let mut page = blank(*style);
    for record in records {
        // It stands below another page.
        page.line([]);
        let varied = varied(record);
        let varied = if varied.is_empty() { varied } else { format!(", {varied}") };
        let head = format!("over time{varied}: latency passes in slices of 100 ms");
        page.paragraph("", &head, Paint::Bold);
        print(&mut page, record, style.all_findings);
    }
    page.into_text()
}

fn print(page: &mut Page, record: &Record, all: bool) {
    let figures = figures(record);
    let cases = figures.chunk_by(|one, next| one.case == next.case).map(|rows| {
        let passes: Vec<_> = rows.iter().map(|row| Passes::of(record, row)).collect();
        (rows[0].case, passes)
    });
    let told = |(_, passes): &(Case, Vec<Passes<'_>>)| passes.iter().any(|of| !of.lines.is_empty());
    let cases: Vec<_> = cases.filter(told).collect();
    if cases.is_empty() {
        let noted = record.samples.iter().any(|sample| sample.over_time().is_some());
        page.paragraph("  ", if noted { NOT_IN_STATE } else { NOTHING }, Paint::Plain);
    }
    for (case, passes) in cases {
        table(page, &record.header.plan, case, &passes);
        for of in &passes {
            of.beneath(page, all);
        }
    }
}

const NOTHING: &str = "nothing of it stands in this record: no pass with a clock took longer than \
                       a slice, or an older storemark made it; `storemark run --over-time` makes \
                       passes that do";

const NOT_IN_STATE: &str = "no pass of which it stands in this record was in its cache state";

/// Those of a target in one case, of all rounds.
struct Passes<'a> {
    label: &'a str,
    lines: Vec<Timeline>,
}

fn table(page: &mut Page, plan: &Plan, case: Case, all: &[Passes<'_>]) {
    page.gap();
    let name = times::name(plan, case.workload);
    page.paragraph("", &format!("{name}, {}", case.cache), Paint::Bold);
    let mut table = Table::new(vec![
        TARGET,
        Column::number("slices", ""),
        Column::number("least", "/s"),
        Column::number("median", "/s"),
        Column::number("most", "/s"),
        Column::number("p99 from", "µs"),
        Column::number("to", "µs"),
        Column::number("stalled", ""),
    ]);
    for of in all {
        table.row(of.cells());
    }
    table.print(page);
}

impl<'a> Passes<'a> {
    fn of(record: &'a Record, row: &Figures) -> Self {
        let label = record.header.plan.targets.get(row.target).map_or("", |t| &*t.label);
        Self { label, lines: timelines(record, row.case, row.target) }
    }

    fn cells(&self) -> Vec<Cell> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        // What is shorter than a slice tells no rate that compares.
        let mut rates: Vec<_> = points().filter(|p| p.whole).map(|p| p.per_second).collect();
        rates.sort_by(f64::total_cmp);
        let rate = |at: usize| rates.get(at).map_or_else(|| NONE.to_owned(), |r| show_rate(*r));
        let p99s = || points().filter_map(|point| point.p99_us);
        let last = rates.len().saturating_sub(1);
        [
            self.label.to_owned(),
            points().count().to_string(),
            rate(0),
            rate(last / 2),
            rate(last),
            figure_or_none(p99s().min_by(f64::total_cmp)),
            figure_or_none(p99s().max_by(f64::total_cmp)),
            self.stalled()
                .map_or_else(|| NONE.to_owned(), |share| format!("{:.1} %", share * 100.0)),
        ]
        .iter()
        .map(Cell::new)
        .collect()
    }

    fn wall_ms(&self) -> f64 {
        self.lines.iter().map(|line| line.wall_ms).sum()
    }

    /// Share of the passes in stalls.
    fn stalled(&self) -> Option<f64> {
        let stalled = self.stalls().fold(0.0, |sum, (_, stall)| sum + stall.length_ms);
        (self.wall_ms() > 0.0).then(|| stalled / self.wall_ms())
    }

    fn stalls(&self) -> impl Iterator<Item = (u32, &Stall)> {
        self.lines.iter().flat_map(|line| line.stalls.iter().map(|stall| (line.round, stall)))
    }

    /// What the engine did, and the stalls: the longest, or all.
    fn beneath(&self, page: &mut Page, all: bool) {
        if let Some(chores) = self.chores() {
            page.paragraph("  ", &format!("{}: {chores}", self.label), Paint::Dim);
        }
        let mut stalls: Vec<_> = self.stalls().collect();
        stalls.sort_by(|one, other| other.1.length_ms.total_cmp(&one.1.length_ms));
        let shown = if all { stalls.len() } else { SHOWN.min(stalls.len()) };
        for (round, stall) in &stalls[..shown] {
            page.paragraph("  ", &format!("{} {}", self.label, said(*round, stall)), Paint::Plain);
        }
        if shown < stalls.len() {
            let more = format!("and {} shorter stalls (--verbose shows all)", stalls.len() - shown);
            page.paragraph("  ", &more, Paint::Dim);
        }
    }

    /// `12 × checkpoint, 0.43 s of 2.00 s`.
    fn chores(&self) -> Option<String> {
        let mut sums = BTreeMap::<&str, (u32, f64)>::new();
        for (name, chores) in self.lines.iter().flat_map(|line| &line.chores) {
            let sum = sums.entry(name).or_default();
            *sum = (sum.0 + chores.count, sum.1 + chores.total_ms);
        }
        let told =
            sums.iter().map(|(name, (count, ms))| format!("{count} × {name}, {:.2} s", ms / 1e3));
        let told: Vec<_> = told.collect();
        let wall_s = self.wall_ms() / 1e3;
        (!told.is_empty()).then(|| format!("{} of {wall_s:.2} s", told.join("; ")))
    }
}

fn said(round: u32, stall: &Stall) -> String {
    let Stall { start_ms, length_ms, cause } = stall;
    let (at, round) = (start_ms / 1e3, u64::from(round) + 1);
    let cause = cause.as_deref().unwrap_or("cause not told");
    format!("stalled for {length_ms:.0} ms: round {round} at {at:.2} s, {cause}")
}

/// Stalls of a target that are shown.
const SHOWN: usize = 5;
