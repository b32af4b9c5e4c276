//! Rows: for each group of processes the times and the ratios, next to the published ones, and what
//! the way of handing rows over does to a store.

use checks::{RowCell, RowFigures, RowGroup, Verdict, without_style};
use model::{Plan, PlannedTarget, Workload, record::Record, rows::Style, units::show_count};

use crate::tables::{
    LONG_TARGET, fastest, published, ratio, ratio_column, shared_settings, star, tone,
};
use crate::{
    table::{Cell, Column, Line, Lines, Table, Value},
    words::{self, joined, label},
};

/// The published unit of sizes, 1,048,576 bytes, in millions of bytes.
const MIB_IN_MB: f64 = 1.048_576;

/// Returns the table of times and sizes. A single target has no ratio, so its times have their
/// intervals.
pub(crate) fn row_seconds(record: &Record, group: &RowGroup) -> Table {
    let plan = &record.header.plan;
    let has_published = group.has_published(|cell| cell.published_seconds);
    let alone = plan.targets.len() == 1;
    let seconds = |cell: &RowCell| match &cell.seconds {
        Some(seconds) if !alone => Value::Estimate(*seconds).into(),
        seconds => Cell::interval(seconds.as_ref()),
    };
    let mut table = Table::for_rows(group.workload.processes_name(), &group.targets)
        .with(LONG_TARGET, |row| label(plan, row.target));
    for (place, name) in ["insert", "sum", "update"].into_iter().enumerate() {
        let published = |row: &RowFigures| published(row.cells[place].published_seconds);
        table = table.with(Column::number(name, "s"), |row| seconds(&row.cells[place])).with_if(
            has_published,
            Column::number("publ.", "s"),
            published,
        );
    }
    table
        .with(Column::number("size", "MB"), |row| row.size_mb)
        .with_if(has_published, Column::number("publ.", "MB"), |row| {
            published(row.published_mib.map(|mib| mib * MIB_IN_MB))
        })
        .into_table()
        .with_notes(waits(record, group))
}

/// Counts the waits for others, which are part of the times.
fn waits(record: &Record, group: &RowGroup) -> impl Iterator<Item = String> {
    group.targets.iter().filter_map(|row| {
        let count = |count: &i64| show_count(count.unsigned_abs());
        let waits = row.waits.iter().map(|(name, sum)| format!("{name} {}", count(sum)));
        let waits = joined(waits, ", ")?;
        Some(format!("{}, in all rounds: {waits}", label(&record.header.plan, row.target)))
    })
}

/// Returns the table of ratios to the baseline; `None` with one target.
pub(crate) fn row_ratios(record: &Record, group: &RowGroup) -> Option<Table> {
    let plan = &record.header.plan;
    let baseline = plan.targets.get(plan.baseline).filter(|_| plan.targets.len() > 1)?;
    let has_published = group.has_published(|cell| cell.published_ratio);
    let mut table = Table::for_rows(ratio_title(plan, &baseline.label, group), &group.targets)
        .with(LONG_TARGET, |row| label(plan, row.target));
    for (place, name) in ["insert ÷", "sum ÷", "update ÷"].into_iter().enumerate() {
        let published = |row: &RowFigures| published(row.cells[place].published_ratio);
        let ratio = |row: &RowFigures| {
            let RowCell { ratio, verdict, .. } = &row.cells[place];
            self::ratio(ratio.as_ref(), *verdict).tone(tone(*verdict))
        };
        table = table.with(Column::number(name, ""), ratio).with_if(
            has_published,
            Column::number("publ.", ""),
            published,
        );
    }
    let mut cells = group.targets.iter().flat_map(|row| &row.cells);
    let starred = cells.any(|cell| cell.verdict == Verdict::DurabilityDiffers);
    Some(table.with_legend(starred.then(|| star(plan))).into_table())
}

/// Returns the title of the ratios: `time ÷ that of csv; fastest: insert sqlite (3.1×), sum sqlite
/// (2.0×), update csv`.
fn ratio_title(plan: &Plan, baseline: &str, group: &RowGroup) -> String {
    let operations = ["insert", "sum", "update"].into_iter().enumerate();
    let fastest = operations.filter_map(|(place, name)| {
        let cells = group.targets.iter().map(|row| (row.target, &row.cells[place]));
        let first = fastest(plan, cells.map(|(target, cell)| (target, cell.ratio, cell.verdict)))?;
        Some(format!("{name} {first}"))
    });
    let fastest = words::joined(fastest, ", ").map(|all| format!("; fastest: {all}"));
    format!("time ÷ that of {baseline}{}", fastest.unwrap_or_default())
}

const STYLES: [Style; 4] = [Style::Text, Style::Prepared, Style::Multi, Style::Bulk];

/// Returns the table of inserting, divided by the baseline's store in the same style. How far a
/// ratio shrinks from text to bulk shows how much of it was parsing and round trips. `None` if no
/// store has several styles.
pub(crate) fn row_styles(record: &Record, group: &RowGroup) -> Option<Table> {
    let plan = &record.header.plan;
    let baseline = plan.targets.get(plan.baseline)?;
    let comparable: Vec<_> = group.targets.iter().filter(|r| r.over_same_style.is_some()).collect();
    let target = |row: &RowFigures| &plan.targets[row.target];
    let in_style = |store: &PlannedTarget, style: Style| {
        let same = |row: &&RowFigures| same_store(store, target(row));
        let is = |row: &&RowFigures| target(row).settings.get("style") == Some(style.as_str());
        comparable.iter().copied().filter(same).find(is)
    };
    // One style alone is in the table of ratios.
    let mut stores: Vec<_> = comparable.iter().map(|row| target(row)).collect();
    stores.retain(|store| STYLES.into_iter().filter(|s| in_style(store, *s).is_some()).count() > 1);
    stores.dedup_by(|next, store| same_store(next, store));
    let title = format!("inserting ÷ that of {} in the same style", store_name(baseline));
    let mut table = Table::for_rows(title, &stores)
        .with(LONG_TARGET, |store| store_name(store))
        .with(Column::number("publ.", ""), |store| {
            published(in_style(store, Style::Text).and_then(|row| row.cells[0].published_ratio))
        });
    for style in STYLES {
        table = table.with(ratio_column(style.as_str(), ""), |store| {
            Cell::interval(in_style(store, style).and_then(|row| row.over_same_style.as_ref()))
        });
    }
    Some(table.into_table()).filter(|table| !table.rows.is_empty())
}

fn same_store(one: &PlannedTarget, other: &PlannedTarget) -> bool {
    one.engine == other.engine
        && one.location == other.location
        && without_style(&one.settings) == without_style(&other.settings)
}

/// Returns the label of a store without the style at its end.
fn store_name(target: &PlannedTarget) -> &str {
    let style = target.settings.get("style").unwrap_or_default();
    target.label.strip_suffix(style).unwrap_or(&target.label).trim_end()
}

/// The notes on how the published set-up differs from this one.
const PUBLISHED: [&str; 2] = [
    "published figures are of 200,000 rows on the machine and the versions above, in PHP, of MySQL over TCP; of SQLite \
     100,000 rows a transaction, of MySQL 30,000; sizes of MySQL are those that it reported",
    "text is the published style: one SQL string a row, formatted and parsed for each; SQLite takes it \
     by a call, a server by a round trip over a socket. prepared leaves out the parsing, multi (1,000 \
     rows a statement) and bulk the round trips as well: what a ratio of text loses there is not the \
     store's",
];

const SHARED: &str =
    "on one database each process inserts rows of its own, but sums and changes those of all";

/// Returns what to know when reading the tables.
pub(crate) fn row_notes(record: &Record, published: bool) -> Lines {
    let plan = &record.header.plan;
    let shares_database = |(index, workload): (usize, &Workload)| {
        let is_shared = workload.work.own_databases() == Some(false);
        let is_measured = record.samples.iter().any(|sample| sample.workload == index);
        workload.processes > 1 && is_shared && is_measured
    };
    let shared = plan.workloads.iter().enumerate().any(shares_database).then_some(SHARED);
    let notes = PUBLISHED.into_iter().filter(|_| published).chain(shared);
    Lines::new("", notes.map(Line::dim).chain(shared_settings(record)))
}
