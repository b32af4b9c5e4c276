//! The tables of roles: the time of an operation next to the other roles and alone, with the waits
//! for locks, and the sizes of stores meanwhile.

use checks::{MaintenanceFigures, RoleFigures, RoleGrowth};
use model::{
    record::Record,
    units::{duration_of, show_duration},
};

use crate::{
    number::with_interval,
    table::{Cell, Column, Line, Lines, Room, Table, Tone, Value},
    tables::{TARGET, ratio_column, time},
    words::label,
};

/// Returns a sentence for each role on what the others cost it; `None` if there is one role.
pub(crate) fn slowdowns(record: &Record, rows: &[RoleFigures]) -> Option<Lines> {
    let plan = &record.header.plan;
    let line = |rows: &[RoleFigures]| {
        let cost = |row: &RoleFigures| {
            let slowdown = row.slowdown.as_ref()?;
            Some(format!("{} on {}", with_interval(slowdown), label(plan, row.figures.target)))
        };
        let costs: Vec<_> = rows.iter().filter_map(cost).collect();
        let name = role_name(record, rows.first()?);
        (!costs.is_empty()).then(|| {
            let text =
                format!("{name} take this multiple of their time alone: {}", costs.join(", "));
            Line::new("", text).tone(Tone::Bold)
        })
    };
    let lines = rows.chunk_by(|one, next| one.role == next.role).filter_map(line);
    Lines::new("", lines).unless_empty()
}

fn role_name<'r>(record: &'r Record, row: &RoleFigures) -> &'r str {
    let roles = record.header.plan.experiment.roles();
    roles.and_then(|roles| roles.roles.get(row.role)).map_or("", |role| &role.name)
}

const NOTE: &str = "÷ alone: the time of an operation next to the other roles divided by that of the same role \
                    alone, paired by round; waiting for a processor is left out; waited: share of the \
                    time of its sessions spent waiting for locks; –: the engine does not count it";

/// Returns the table of the roles together, or of the only one.
pub(crate) fn roles(record: &Record, rows: &[RoleFigures]) -> Table {
    let name = |row: &RoleFigures| role_name(record, row).to_owned();
    let data = record.header.plan.experiment.roles();
    let pass_ns = data.map_or(0, |data| data.pass_ns) as f64;
    let [pass, apart] = [pass_ns, pass_ns / 4.0].map(|ns| show_duration(duration_of(ns / 1e9)));
    let short = format!(
        "passes of {pass} show no period of stalls that are more than {apart} apart; a longer --pass does"
    );
    table(record, rows, "÷ alone", name).with_notes([NOTE.to_owned(), short])
}

/// Returns the table of roles while maintenance ran; `None` if there was none.
pub(crate) fn maintained(record: &Record, rows: &[RoleFigures]) -> Option<Table> {
    let plan = &record.header.plan;
    let name = |row: &RoleFigures| plan.workload_name(row.figures.case.workload);
    (!rows.is_empty()).then(|| table(record, rows, "÷ without", name))
}

fn table(
    record: &Record,
    rows: &[RoleFigures],
    slowdown: &'static str,
    name: impl Fn(&RoleFigures) -> String,
) -> Table {
    let plan = &record.header.plan;
    let several = rows.iter().any(|row| row.slowdown.is_some());
    let count = |count: i64| Value::Count(count.unsigned_abs());
    let before = Column::number("before", "µs/op").room(Room::Scroll);
    Table::for_rows("", rows)
        .with(Column::text("role"), name)
        .with(TARGET, |row| label(plan, row.figures.target))
        .with(Column::number("time", "µs/op"), |row| {
            time(plan, &row.figures, row.figures.us_per_op)
        })
        .with_if(several, ratio_column(slowdown, ""), |row| Cell::interval(row.slowdown.as_ref()))
        .with_if(several, before, |row| row.before_us)
        .with(Column::number("done", "/s"), |row| Value::Rate(row.per_second))
        .with(Column::number("p50", "µs").room(Room::Spare(4)), |row| Some(row.latency?.p50))
        .with(Column::number("p99", "µs"), |row| Some(row.latency?.p99))
        .with(Column::number("p99.9", "µs").room(Room::Spare(2)), |row| Some(row.latency?.p999))
        .with(Column::number("max", "µs").room(Room::Spare(3)), |row| Some(row.latency?.max))
        .with(Column::number("waited", "%"), |row| row.waits.share.map(|share| share * 100.0))
        .with(Column::number("lock", "waits").room(Room::Spare(0)), |row| {
            row.waits.locks.map(count)
        })
        .with(Column::number("busy", "errors"), |row| count(row.waits.errors))
        .with(Column::number("busy", "retries").room(Room::Spare(0)), |row| {
            row.waits.retries.map(count)
        })
        .into_table()
}

/// Returns the table of how long maintenance took; `None` if there was none.
pub(crate) fn maintenance(record: &Record, all: &[MaintenanceFigures]) -> Option<Table> {
    let plan = &record.header.plan;
    let table =
        Table::for_rows("how long maintenance takes while no session works, and under load", all)
            .with(Column::text("maintenance"), |of| of.what.to_string())
            .with(TARGET, |of| label(plan, of.target))
            .with(Column::number("alone", "ms"), |of| of.alone_ms)
            .with(Column::number("under load", "ms"), |of| of.under_load_ms)
            .with(Column::number("within", "passes"), |of| Value::Count(of.within))
            .with(Column::number("gave up", ""), |of| Value::Count(of.unfinished))
            .into_table();
    (!all.is_empty()).then_some(table)
}

/// Returns the table of the largest sizes during a pass; `None` if none were measured.
pub(crate) fn growths(record: &Record, growths: &[RoleGrowth]) -> Option<Table> {
    let plan = &record.header.plan;
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let table =
        Table::for_rows("largest size of the files on disk while all roles worked", growths)
            .with(TARGET, |row| label(plan, row.target))
            .with(Column::number("start", "MB"), |row| row.sizes.first().map(|size| mb(size.bytes)))
            .with(Column::number("peak", "MB"), |row| mb(row.peak().bytes))
            .with(Column::number("log", "MB"), |row| mb(row.log_peak().log_bytes))
            .with(Column::number("after", "s"), |row| row.peak().at_ns as f64 / 1e9)
            .into_table();
    (!growths.is_empty()).then_some(table)
}
