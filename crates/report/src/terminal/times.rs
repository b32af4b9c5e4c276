//! The table of a workload: how fast each target was.

use model::{
    Batch, Cache, Case, Operation, Plan, Work, Workload, Ycsb,
    record::Record,
    rows,
    units::{show_count, show_rate},
};
use stats::Estimate;

use super::{
    bar::{self, Scale},
    latencies, limited,
    number::{NONE, faster_or_slower, figure, figure_or_none, with_interval},
    page::{Page, Paint},
    table::{Cell, Column, Side, Table},
    workers,
};
use crate::{Figures, Judgement, ages};

/// Narrowed a little first, then before the ratios are, then as far as it must be.
pub(super) const TARGET: Column =
    Column { name: "target", unit: "", side: Side::Left, gives: &[20, 12, 8] };

/// From this width on all columns fit beside a name that can be read.
const ROOMY: usize = 104;

pub(super) fn print(page: &mut Page, record: &Record, figures: &[Figures]) {
    let plan = &record.header.plan;
    for rows in figures.chunk_by(|one, next| one.case == next.case) {
        page.gap();
        page.paragraph("", &title(record, rows[0].case), Paint::Bold);
        table(plan, rows, page).print(page);
        let workers = workers::beneath(record, rows);
        let limited = limited::beneath(record, rows);
        for said in beneath(plan, rows).into_iter().chain(limited).chain(workers) {
            page.paragraph("  ", &said, Paint::Dim);
        }
        latencies::print(page, record, rows);
    }
}

/// What a cold table leaves to be asked: how much the state costs, and why the median is low.
fn beneath(plan: &Plan, rows: &[Figures]) -> Vec<String> {
    let over = |row: &Figures| {
        let label = &plan.targets.get(row.target)?.label;
        Some(format!("{label} {}", with_interval(row.over_warm.as_ref()?)))
    };
    let late = rows.iter().filter_map(|row| {
        let (label, kept) = (&plan.targets.get(row.target)?.label, row.paced?);
        Some(format!("{label} {}, {}", figure(kept.lag_p50_us), figure(kept.lag_p99_us)))
    });
    let late: Vec<_> = late.collect();
    let late = (!late.is_empty())
        .then(|| format!("µs that operations began late, median and p99: {}", late.join("; ")));
    let over: Vec<_> = rows.iter().filter_map(over).collect();
    let over = (!over.is_empty())
        .then(|| format!("time {} ÷ warm: {}", rows[0].case.cache, over.join(", ")));
    let workload = plan.workloads.get(rows[0].case.workload);
    let reads = workload.is_some_and(|workload| !workload.work.writes());
    let ahead = rows.iter().filter(|_| reads).any(|row| {
        let median = row.latency.map_or(f64::INFINITY, |latency| latency.p50_us);
        row.case.cache != Cache::Warm && row.us_per_op.is_some_and(|time| time.point > 2.0 * median)
    });
    let ahead = ahead.then(|| {
        "a median far below the time: most blobs were read ahead with others, few waited".to_owned()
    });
    late.into_iter().chain(over).chain(ahead).collect()
}

/// What a workload is called where only a word fits.
pub(crate) fn name(plan: &Plan, workload: usize) -> String {
    let Some(one) = plan.workloads.get(workload) else {
        return format!("workload {}", workload + 1);
    };
    match one.work {
        Work::Ageing { operation, age } => return ages::name(operation, age),
        Work::Rows { operation, .. } => {
            let several = plan.workloads.len() > rows::Operation::ALL.len();
            let by = if several {
                format!(" by {}", super::rows::processes(one))
            } else {
                String::new()
            };
            // What it is called in the table.
            let name = match operation {
                rows::Operation::Add => "update".to_owned(),
                other => other.to_string(),
            };
            return format!("{name}{by}");
        }
        Work::Blobs { .. } | Work::Tasks => {}
    }
    let name = called(one);
    let namesakes = plan.workloads.iter().filter(|other| called(other) == name).count();
    if namesakes == 1 { name } else { format!("{name} {}", workload + 1) }
}

/// By the operation, or by the benchmark that has this mix.
fn called(workload: &Workload) -> String {
    let Work::Blobs { operation, order, rate } = workload.work else {
        return workload.work.to_string();
    };
    let name = Ycsb::of(operation, order).map_or_else(|| operation.to_string(), |o| o.to_string());
    rate.map_or_else(|| name.clone(), |rate| format!("{name} at {}/s", show_rate(rate)))
}

/// `read, warm: 5,000 operations, random permutation, 1 thread, one commit`.
pub(crate) fn title(record: &Record, case: Case) -> String {
    let plan = &record.header.plan;
    let name = name(plan, case.workload);
    let Some(workload) = plan.workloads.get(case.workload) else { return name };
    let workers = workers::title(workload);
    let batch = match workload.batch {
        Batch::All => "all in one batch".to_owned(),
        Batch::Of(n) => format!("{} a batch", show_count(n)),
    };
    // A cold trial touches no key twice, so that it may have fewer than the plan.
    let measured =
        record.samples.iter().find(|s| s.workload == case.workload && s.cache == case.cache);
    let count = show_count(measured.map_or(workload.count, |sample| sample.operations));
    let cache = case.cache;
    let name = match workload.work.operation() {
        Some(Operation::Mix(mix)) => format!("{name} ({mix})"),
        _ => name,
    };
    let order = workload.work.order().map_or_else(String::new, |order| format!("{order}, "));
    format!("{name}, {cache}: {count} operations, {order}{batch}, {workers}")
}

/// With one target there is nothing to compare with: its time has the interval then.
fn table(plan: &Plan, rows: &[Figures], page: &Page) -> Table {
    let alone = plan.targets.len() == 1;
    let cache = rows[0].case.cache;
    // The rate is the time told another way: it gives way first.
    let paced = rows.iter().any(|row| row.paced.is_some());
    // On a schedule it is what is asked about.
    let shown = measured_columns(cache, "").len() - usize::from(page.width() < ROOMY && !paced);
    let mixed = |case: Case| plan.workloads.get(case.workload).is_some_and(is_mixed);
    let unit = if mixed(rows[0].case) { "µs/op" } else { "µs/blob" };
    let mut columns = if paced { paced_columns() } else { measured_columns(cache, unit) };
    columns.truncate(shown);
    let scale = Scale::of(rows.iter().map(|row| row.ratio.as_ref()));
    if !alone {
        columns.extend(bar::beside(compared_columns(), scale.column(page)));
    }
    let rate = (shown == RATE + 1).then_some(RATE);
    let bar = (page.bars() && !alone).then_some(shown + 1);
    let gladly = bar.and(rate).into_iter().chain(bar).collect();
    let mut table = Table::new(columns).sparing(gladly, LESS_ASKED_FOR.to_vec());
    for row in rows {
        let label = plan.targets.get(row.target).map_or("", |target| &target.label);
        let time = if alone { with_interval } else { point };
        let mut cells =
            if paced { on_schedule(label, row, time) } else { measured(label, row, time) };
        cells.truncate(shown);
        if !alone {
            let bar = scale.cell(page, row.ratio.as_ref());
            cells.extend(bar::beside(compared(row), bar));
        }
        table.row(cells);
    }
    table
}

fn is_mixed(workload: &Workload) -> bool {
    matches!(workload.work.operation(), Some(Operation::Mix(_)))
}

fn point(estimate: &Estimate) -> String {
    figure(estimate.point)
}

/// Where the rate stands.
const RATE: usize = 6;

/// What else gives way to names and verdicts: the rate, the first pass, processor time, the median.
const LESS_ASKED_FOR: [usize; 3] = [2, 5, 3];

/// What stands beside the time: warm, the first pass after opening, which the time leaves out;
/// cold, where the first pass is the time, the bytes read from the device for each byte.
fn measured_columns(cache: Cache, unit: &'static str) -> Vec<Column> {
    let beside = if cache == Cache::Warm { ("first", unit) } else { ("device", "B/B") };
    vec![
        TARGET,
        Column::number("time", unit),
        Column::number(beside.0, beside.1),
        Column::number("p50", "µs"),
        Column::number("p99", "µs"),
        Column::number("CPU", unit),
        Column::number("rate", "MB/s"),
    ]
}

/// Of operations that begin on schedule: latencies count from when they were to.
fn paced_columns() -> Vec<Column> {
    vec![
        TARGET,
        Column::number("latency", "µs"),
        Column::number("p50", "µs"),
        Column::number("p99", "µs"),
        Column::number("p99.9", "µs"),
        Column::number("CPU", "µs/op"),
        Column::number("done", "/s"),
    ]
}

fn on_schedule(label: &str, row: &Figures, time: fn(&Estimate) -> String) -> Vec<Cell> {
    let cpu = row.cpu.map(|cpu| cpu.user_us_per_op + cpu.system_us_per_op);
    let done = row.paced.map(|kept| {
        let mark = if kept.saturated { "saturated: " } else { "" };
        format!("{mark}{}", show_rate(kept.reached))
    });
    [
        label.to_owned(),
        row.us_per_op.as_ref().map_or_else(|| nothing(row), time),
        figure_or_none(row.latency.map(|latency| latency.p50_us)),
        figure_or_none(row.latency.map(|latency| latency.p99_us)),
        figure_or_none(row.latency.map(|latency| latency.p999_us)),
        figure_or_none(cpu),
        done.unwrap_or_else(|| NONE.to_owned()),
    ]
    .iter()
    .map(Cell::new)
    .collect()
}

/// Their least widths are those of their longest words.
pub(super) fn compared_columns() -> [Column; 2] {
    [
        Column { name: "time ÷", unit: "baseline's", side: Side::Right, gives: &[usize::MAX, 13] },
        Column { name: "verdict", unit: "", side: Side::Left, gives: &[15] },
    ]
}

fn measured(label: &str, row: &Figures, time: fn(&Estimate) -> String) -> Vec<Cell> {
    let beside = match row.case.cache {
        Cache::Warm => row.first_us_per_op.map(|first| first.point),
        _ => row.device_read_per_byte,
    };
    let cpu = row.cpu.map(|cpu| cpu.user_us_per_op + cpu.system_us_per_op);
    [
        label.to_owned(),
        row.us_per_op.as_ref().map_or_else(|| nothing(row), time),
        figure_or_none(beside),
        figure_or_none(row.latency.map(|latency| latency.p50_us)),
        figure_or_none(row.latency.map(|latency| latency.p99_us)),
        figure_or_none(cpu),
        figure_or_none(row.mb_per_s.map(|rate| rate.point)),
    ]
    .iter()
    .map(Cell::new)
    .collect()
}

/// What stands where there is no time.
pub(crate) fn nothing(row: &Figures) -> String {
    let missed = row.judgement == Judgement::StateNotReached;
    if missed { "not in state" } else { NONE }.to_owned()
}

pub(super) fn compared(row: &Figures) -> [Cell; 2] {
    [Cell::new(ratio(row)), verdict(row)]
}

/// The ratio with its interval; a star where it compares unequal work.
pub(crate) fn ratio(row: &Figures) -> String {
    let mark = if row.judgement == Judgement::DurabilityDiffers { "*" } else { "" };
    match (&row.ratio, row.judgement) {
        (Some(ratio), _) => format!("{mark}{}", with_interval(ratio)),
        (None, Judgement::Baseline) => "1".to_owned(),
        (None, _) => NONE.to_owned(),
    }
}

fn verdict(row: &Figures) -> Cell {
    let paint = match row.judgement {
        Judgement::Faster => Paint::Green,
        Judgement::Slower => Paint::Red,
        _ => Paint::Plain,
    };
    Cell::new(judged(row)).painted(paint)
}

/// What the ratio says, in words.
pub(crate) fn judged(row: &Figures) -> String {
    let words = match row.judgement {
        Judgement::Faster | Judgement::Slower => {
            return row.ratio.map_or_else(String::new, |ratio| faster_or_slower(ratio.point));
        }
        Judgement::Baseline => "baseline",
        Judgement::NoDifference => "no difference shown",
        Judgement::DurabilityDiffers => "durability differs",
        Judgement::TooFewRounds => "too few rounds",
        Judgement::StateNotReached => "state not reached",
        Judgement::NotMeasured => NONE,
    };
    words.to_owned()
}
