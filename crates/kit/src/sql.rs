//! Shared code of the engines of rows that speak SQL.

use std::{fmt::Write, ops::Range};

use model::Settings;

/// Returns the statement that creates a table of rows.
pub fn create(settings: &Settings) -> String {
    let null = if settings.get("null") == Some("no") { " NOT NULL" } else { "" };
    format!("CREATE TABLE numbers (i INT{null}, i2 INT{null})")
}

/// The start of a statement that inserts rows.
pub const INSERT: &str = "INSERT INTO numbers VALUES ";

/// Writes a statement that starts with `start` and inserts `rows`; it replaces the content of
/// `sql`.
pub fn insert(sql: &mut String, start: &str, rows: Range<i64>) {
    sql.clear();
    sql.push_str(start);
    for i in rows.clone() {
        let comma = if i == rows.start { "" } else { ", " };
        write!(sql, "{comma}({i}, {})", 2 * i).expect("a string takes all");
    }
}

/// Divides `rows` into parts of `length`; the last may be shorter.
pub fn split_rows(rows: Range<i64>, length: u64) -> impl Iterator<Item = Range<i64>> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let step = usize::try_from(length).unwrap_or(usize::MAX);
    rows.clone().step_by(step).map(move |start| start..start.saturating_add(length).min(rows.end))
}
