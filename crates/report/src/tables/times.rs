//! The table of each target's time under one workload in one cache state, and the latencies of each
//! kind of operation.

use checks::{Figures, Percentiles, Rates, Series, Waits, explained, rates, waits};
use model::{
    Cache, Case, Operation, Plan, WORKER, Work,
    record::Record,
    units::{show_count, show_size, whole},
};

use super::{TARGET, above_p99, clock, time};
use crate::{
    number::{figure, small, with_interval},
    table::{Cell, Column, Room, Rows, Table, Value},
    words::{self, joined, label},
};

/// Returns the table of a case; `rows` are its figures.
pub(crate) fn times(record: &Record, rows: &[Figures]) -> Table {
    let plan = &record.header.plan;
    let names = Table::for_rows(words::case_title(record, rows[0].case), rows)
        .with(TARGET, |row| label(plan, row.target));
    let paced = rows.iter().any(|row| row.paced.is_some());
    let timed = if paced { on_schedule(plan, names) } else { measured(plan, names, rows) };
    timed
        .with(Column::number("rounds", "").room(Room::Scroll), |row| row.rounds as u64)
        .compared(plan, |row| row)
        .into_table()
        .with_legend(same_build(record, rows))
        .with_notes(notes(record, rows))
}

/// Adds the columns of measured times. A warm case has the first pass after opening, which the time
/// leaves out; a cold one, whose time is the first pass, has the bytes read from the device for
/// each byte.
fn measured<'a>(plan: &Plan, table: Rows<'a, Figures>, rows: &[Figures]) -> Rows<'a, Figures> {
    let case = rows[0].case;
    let unit = unit(plan, case);
    let warm = case.cache == Cache::Warm;
    let waited = rows.iter().any(|row| row.wall_us_per_op.is_some());
    table
        .with(Column::number("time", unit), |row| time(plan, row, row.us_per_op))
        .with_if(waited, Column::number("wall", unit).room(Room::Wide), |row| row.wall_us_per_op)
        .with_if(warm, Column::number("first", unit).room(Room::Spare(1)), |r| r.first_us_per_op)
        .with_if(!warm, Column::number("device", "B/B").room(Room::Spare(1)), |row| {
            row.device_read_per_byte
        })
        .with(Column::number("p50", "µs").room(Room::Spare(3)), |row| Some(row.latency?.p50))
        .with(Column::number("p99", "µs").room(Room::Spare(4)), |row| Some(row.latency?.p99))
        .with(Column::number("p99.9", "µs").room(Room::Spare(0)), |row| Some(row.latency?.p999))
        // The processor time of other hosts is not known here.
        .with_if(
            plan.hosts.is_empty(),
            Column::number("CPU", unit).room(Room::Spare(2)),
            Figures::cpu_us_per_op,
        )
        // The time in another unit.
        .with(Column::number("rate", "MB/s").room(Room::Wide), |row| row.mb_per_s)
}

pub(super) fn unit(plan: &Plan, case: Case) -> &'static str {
    let workload = plan.workloads.get(case.workload);
    workload.map_or("µs/blob", |workload| workload.work.time_unit())
}

fn is_mixed(work: Work) -> bool {
    matches!(work.operation(), Some(Operation::Mix(_)))
}

/// Adds the columns of operations on a schedule, whose latencies count from when each was due.
fn on_schedule<'a>(plan: &Plan, table: Rows<'a, Figures>) -> Rows<'a, Figures> {
    let done = |row: &Figures| {
        let kept = row.paced?;
        let mark = if kept.saturated { "saturated: " } else { "" };
        Some(Cell::from(Value::Rate(kept.reached)).mark(mark))
    };
    table
        .with(Column::number("latency", "µs"), |row| time(plan, row, row.us_per_op))
        .with(Column::number("p50", "µs").room(Room::Spare(1)), |row| Some(row.latency?.p50))
        .with(Column::number("p99", "µs").room(Room::Spare(3)), |row| Some(row.latency?.p99))
        .with(Column::number("p99.9", "µs"), |row| Some(row.latency?.p999))
        .with(Column::number("CPU", "µs/op").room(Room::Spare(2)), Figures::cpu_us_per_op)
        .with(Column::number("done", "/s"), done)
}

fn notes(record: &Record, rows: &[Figures]) -> Vec<String> {
    let case = rows[0].case;
    let figures = |of: &dyn Fn(&Figures) -> Option<String>| of_each(record, rows, of);
    let late = figures(&|row| {
        let kept = row.paced?;
        Some([kept.lag_p50_us, kept.lag_p99_us].map(figure).join(", "))
    });
    let over_warm = figures(&|row| row.over_warm.as_ref().map(with_interval));
    let rates = figures(&|row| {
        let Rates { slowest, fastest, total } = rates(record, row)?;
        let largest = fastest.max(total);
        let [slowest, fastest, total] =
            [slowest, fastest, total].map(|rate| grouped(rate, largest));
        Some(format!("{slowest} to {fastest}, {total} in all"))
    });
    let waits = |of: fn(Waits) -> f64| {
        figures(&|row| waits(record, row).map(of).filter(|waits| *waits > 0.0).map(small))
    };
    [
        clock(record, rows),
        figures(&|row| above_p99(record, row)).map(|all| format!("time above p99: {all}")),
        late.map(|all| format!("µs that operations started late, median and p99: {all}")),
        stalls(record, rows),
        over_warm.map(|all| format!("time {} ÷ warm: {all}", case.cache)),
        read_ahead(&record.header.plan, rows),
        in_memory(record, rows),
        rates.map(|all| format!("{RATES}: {all}")),
        waits(|waits| waits.locks).map(|all| format!("lock waits per operation: {all}")),
        waits(|waits| waits.retries).map(|all| format!("busy retries per operation: {all}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Counts the rounds with a stall, and says how rare stalls are where there was none; `None` if there are
/// too few rounds to show it.
fn stalls(record: &Record, rows: &[Figures]) -> Option<String> {
    let counted = |row: &Figures| {
        let name = label(&record.header.plan, row.target);
        Some((name, checks::stalled_rounds(record, row)?))
    };
    let all: Vec<_> = rows.iter().filter_map(counted).collect();
    let (with, without): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, of)| of.stalled > 0);
    let named =
        with.iter().map(|(name, of)| Some(format!("{name} {} of {}", of.stalled, of.rounds)));
    let others = joined(without.iter().map(|(name, _)| (*name).to_owned()), ", ");
    let of = others.filter(|_| without.len() < rows.len());
    let of = of.map_or_else(String::new, |others| format!(" of {others}"));
    // The least number of rounds shows the least.
    let fewest = without.iter().map(|(_, of)| of).min_by_key(|of| of.rounds);
    let none = fewest.and_then(|fewest| {
        let rounds = fewest.rounds;
        let more = fewest.rarer_than()?;
        Some(format!("none of {rounds}{of}, so fewer than one in {more} (95 %)"))
    });
    let all = joined(named.chain([none]), "; ")?;
    Some(format!("rounds with an operation of 10 ms or more: {all}"))
}

const RATES: &str = "thousands of operations/s of each worker while it works, and in all from the first start \
                     until everything is flushed";

/// Lists what is known of each target: `files 1.2; sqlite 3.4`; `None` if nothing is.
fn of_each(
    record: &Record,
    rows: &[Figures],
    of: impl Fn(&Figures) -> Option<String>,
) -> Option<String> {
    let each =
        |row: &Figures| Some(format!("{} {}", label(&record.header.plan, row.target), of(row)?));
    joined(rows.iter().filter_map(each), "; ")
}

/// Reports by how much a build of a library differs from itself; `None` if no build was measured
/// twice.
fn same_build(record: &Record, rows: &[Figures]) -> Option<String> {
    let plan = &record.header.plan;
    let (row, original) = rows.iter().find_map(|row| Some((row, plan.same_build(row.target)?)))?;
    let series = |target| Series::new(record, row.case, target);
    let in_table = row.ratio.filter(|_| original == plan.baseline);
    let ratio = in_table.or_else(|| series(row.target).ratio_to(series(original)))?;
    let is_program = plan.targets[row.target].settings.get(WORKER).is_some();
    let what = if is_program { "another worker of" } else { "a copy of the library of" };
    Some(format!(
        "{what} {} takes {} of its time: a smaller difference between builds shows nothing",
        label(plan, original),
        with_interval(&ratio)
    ))
}

/// Explains why the median of a cold state is low; `None` if it is not.
fn read_ahead(plan: &Plan, rows: &[Figures]) -> Option<String> {
    let reads = !plan.workloads.get(rows[0].case.workload)?.work.writes();
    let ahead = |row: &Figures| {
        let median = row.latency.map_or(f64::INFINITY, |latency| latency.p50);
        row.case.cache != Cache::Warm && row.us_per_op.is_some_and(|time| time.point > 2.0 * median)
    };
    (reads && rows.iter().any(ahead)).then(|| {
        "a median far below the time: most blobs were read ahead with others, few waited".to_owned()
    })
}

/// Describes the limit on memory, if there is one, and the share of pages that proves it, or that was found in
/// memory; `None` for the other states.
fn in_memory(record: &Record, rows: &[Figures]) -> Option<String> {
    let plan = &record.header.plan;
    let limit = match rows[0].case.cache {
        Cache::AsFound => String::new(),
        Cache::Limited => {
            let memory = plan.memory?;
            let (limit, cache) = (show_size(memory.limit_bytes?), show_size(memory.cache_bytes));
            format!("memory limited to {limit}, {cache} of it for an engine's own cache; ")
        }
        _ => return None,
    };
    let shares = explained(record, rows).into_iter().filter_map(|row| {
        Some(format!("{} {} %", label(plan, row.target), figure(row.cached_before?)))
    });
    let shares = joined(shares, ", ").unwrap_or_default();
    Some(format!("{limit}pages in memory when a trial started: {shares}"))
}

/// Formats a rate whole, in groups of three digits, if the largest of its line has four digits or
/// more.
fn grouped(rate: f64, largest: f64) -> String {
    if largest < 999.5 { figure(rate) } else { show_count(whole(rate.round())) }
}

/// Returns the table of latencies by kind of operation; `None` for workloads whose latencies are in
/// the table of times.
pub(crate) fn latencies(record: &Record, rows: &[Figures]) -> Option<Table> {
    let plan = &record.header.plan;
    let work = plan.workloads.get(rows[0].case.workload)?.work;
    if !is_mixed(work) && work.rate().is_none() {
        return None;
    }
    let table = latency_table(record, rows);
    (!table.rows.is_empty()).then_some(table)
}

/// Returns the table of latencies of any workload.
pub(crate) fn latency_table(record: &Record, rows: &[Figures]) -> Table {
    let plan = &record.header.plan;
    let latencies_of_row = |row: &Figures| {
        let latencies = checks::latencies(record, row.case, row.target).into_iter();
        let label = label(plan, row.target);
        latencies.map(move |of| (label, Percentiles::from_histogram(&of.histogram), of))
    };
    let all: Vec<_> = rows.iter().flat_map(latencies_of_row).collect();
    Table::for_rows("", &all)
        .with(TARGET, |(label, ..)| *label)
        .with(Column::text("latency of"), |(_, _, of)| of.action.map_or("all", |a| a.as_str()))
        .with(Column::number("operations", ""), |(_, _, of)| of.histogram.len())
        .with(Column::number("p50", "µs"), |(_, p, _)| p.p50)
        .with(Column::number("p90", "µs"), |(_, p, _)| p.p90)
        .with(Column::number("p99", "µs"), |(_, p, _)| p.p99)
        .with(Column::number("p99.9", "µs"), |(_, p, _)| p.p999)
        .with(Column::number("p99.99", "µs"), |(_, p, _)| p.p9999)
        .with(Column::number("max", "µs"), |(_, p, _)| p.max)
        .into_table()
}
