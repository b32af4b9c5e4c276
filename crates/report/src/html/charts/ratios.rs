//! Each target's time over the baseline's, with its interval.

use model::Case;

use crate::{
    Figures,
    html::{
        chart::{Axis, Interval, Unit},
        figure::Figure,
        groups::Groups,
        machine::{Job, Part, Run},
        table::{Column, Table},
        targets::Targets,
    },
    terminal::{
        number::{NONE, figure_or_none, with_interval},
        sweep,
        times::{judged, nothing, ratio},
    },
};

pub(super) const READ: &str = "Left of 1 a target takes less time than the baseline; whiskers are \
                               95 % intervals, and one that contains 1 shows no difference.";

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    match part.job() {
        Job::Run | Job::Age => vec![of_cases(part, targets)],
        Job::Sweep => {
            let cases = part.first().header.plan.cases();
            cases.map(|case| of_runs(part, targets, case)).collect()
        }
        Job::Rows | Job::Queue => vec![],
    }
}

/// A group for each workload in each state.
fn of_cases(part: &Part<'_>, targets: &Targets<'_>) -> Figure {
    let mut ratios = Ratios::new(part);
    for run in part.runs() {
        for rows in run.cases() {
            ratios.add(targets, run, &part.on(run.case(rows[0].case), run.side), rows);
        }
    }
    ratios.figure("")
}

/// A group for each run of a sweep.
fn of_runs(part: &Part<'_>, targets: &Targets<'_>, case: Case) -> Figure {
    let mut ratios = Ratios::new(part);
    let mut name = String::new();
    for run in part.runs() {
        let group = part.on(sweep::varied(run.record), run.side);
        for rows in run.cases().filter(|rows| rows[0].case == case) {
            name = run.case(case);
            ratios.add(targets, run, &group, rows);
        }
    }
    ratios.figure(&format!(": {name}"))
}

struct Ratios {
    baseline: String,
    groups: Groups,
    table: Table,
}

impl Ratios {
    fn new(part: &Part<'_>) -> Self {
        let plan = &part.first().header.plan;
        let baseline = plan.targets.get(plan.baseline).map_or("", |target| &target.label);
        let axis = Axis::log(format!("time ÷ that of {baseline}"), Unit::Ratio);
        Self {
            baseline: baseline.to_owned(),
            groups: Groups::around_one(axis),
            table: Table::new(String::new(), columns()),
        }
    }

    fn add(&mut self, targets: &Targets<'_>, run: Run<'_>, group: &str, rows: &[Figures]) {
        for row in rows.iter().filter(|row| row.rounds > 0) {
            let label = run.label(row.target);
            self.table.row(cells(group, label, row));
            if let Some((ratio, target)) = row.ratio.as_ref().zip(targets.place(label)) {
                self.groups.point(group, target, Interval::from(ratio), Some(judged(row)));
            }
        }
    }

    fn figure(self, place: &str) -> Figure {
        let title = format!("Time ÷ that of {}{place}", self.baseline);
        let table = self.table.called(&title);
        self.groups.figure("ratio", title, READ, table)
    }
}

/// What the terminal's table shows, the rate and the first pass included.
fn columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::text("in"),
        Column::number("time", "µs"),
        Column::number("first", "µs"),
        Column::number("device", "B/B"),
        Column::number("p50", "µs"),
        Column::number("p99", "µs"),
        Column::number("CPU", "µs"),
        Column::number("rate", "MB/s"),
        Column::number("rounds", ""),
        Column::number("time ÷ baseline’s", ""),
        Column::text("verdict"),
    ]
}

fn cells(group: &str, label: &str, row: &Figures) -> Vec<String> {
    let cpu = row.cpu.map(|cpu| cpu.user_us_per_op + cpu.system_us_per_op);
    vec![
        label.to_owned(),
        group.to_owned(),
        row.us_per_op.as_ref().map_or_else(|| nothing(row), with_interval),
        row.first_us_per_op.as_ref().map_or_else(|| NONE.to_owned(), with_interval),
        figure_or_none(row.device_read_per_byte),
        figure_or_none(row.latency.map(|latency| latency.p50_us)),
        figure_or_none(row.latency.map(|latency| latency.p99_us)),
        figure_or_none(cpu),
        row.mb_per_s.as_ref().map_or_else(|| NONE.to_owned(), with_interval),
        row.rounds.to_string(),
        ratio(row),
        judged(row),
    ]
}
