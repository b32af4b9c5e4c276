//! Which tables and columns of a database can have the values. Only the catalogue, statistics and a few
//! rows are read.

use kit::own_table::{self, Estimate, FEW_ROWS, TABLE, VALUE};
use model::{Error, Result, Settings, no_such};

use super::{
    catalog::{Catalog, ColumnKind, Listed, Relation},
    name::TableName,
};
use crate::server::{dialect::ResultRow, host::Host, leftovers};

/// The rows of which a mean size is read.
const ROWS: u32 = 24;

/// Returns whether a column of one of the user's tables has bytes.
pub(super) fn has_bytes(listed: &Listed) -> bool {
    listed.kind == Some(ColumnKind::Bytes) && is_users(listed)
}

/// Returns whether a table is neither a view nor one that a run of storemark made.
fn is_users(listed: &Listed) -> bool {
    !listed.is_view && !listed.name.table.starts_with(leftovers::NAME)
}

/// Returns the table with the values, and the name of their column, among those that `asked` leaves.
///
/// # Errors
///
/// Fails if there is none, or there are several, which it names.
pub(super) fn only<D: Catalog>(
    host: &Host<D>,
    listed: &[Listed],
    asked: &Settings,
) -> Result<(Relation, String)> {
    let rows = match asked.get(TABLE) {
        Some(table) => named(listed, table)?,
        None => listed.iter().filter(|one| is_users(one)).collect(),
    };
    let read = |one: &Listed| host.control(|control| Relation::read(control, one));
    if let (Some(_), Some(value)) = (asked.get(TABLE), asked.get(VALUE)) {
        let relation = read(rows[0])?;
        let name = relation.column(value)?.name.clone();
        return Ok((relation, name));
    }
    let is_asked =
        |one: &Listed| asked.get(VALUE).is_none_or(|own| own.eq_ignore_ascii_case(&one.column));
    // Any number may be that of a large object: its column has to be named.
    let kinds: &[ColumnKind] = match asked.get(VALUE) {
        None => &[ColumnKind::Bytes, ColumnKind::Text],
        Some(_) => &[ColumnKind::Bytes, ColumnKind::LargeObject, ColumnKind::Text],
    };
    for kind in kinds {
        let of_kind = rows.iter().filter(|one| one.kind == Some(*kind) && is_asked(one));
        let mut found = Vec::new();
        for one in of_kind {
            let relation = read(one)?;
            let is_key = relation.own_key().is_some_and(|key| key.contains(&one.column));
            if !is_key {
                let estimate = estimate(host, &relation, &one.column)?;
                found.push((relation, &one.column, estimate));
            }
        }
        if found.iter().any(|(_, _, estimate)| estimate.mean.is_some()) {
            found.retain(|(_, _, estimate)| estimate.mean.is_some());
        }
        if found.len() > 1 {
            let names: Vec<_> =
                found.iter().map(|(relation, ..)| relation.name.to_string()).collect();
            let found = names.iter().zip(&found);
            return Err(own_table::several(
                &host.shown,
                found.map(|(name, (_, value, estimate))| Ok((&**name, value.as_str(), *estimate))),
            ));
        }
        if let Some((relation, value, _)) = found.pop() {
            return Ok((relation, value.clone()));
        }
    }
    Err(none(&rows, asked))
}

/// Returns the columns of the table that is called so.
fn named<'l>(listed: &'l [Listed], table: &str) -> Result<Vec<&'l Listed>> {
    let name = TableName::parse(table);
    let exact = |one: &&Listed| {
        let schema = name.schema.as_deref();
        one.name.table == name.table
            && schema.map_or(one.name.schema.is_none(), |own| own == one.schema)
    };
    let like = |one: &&Listed| name.is(&one.name, &one.schema);
    let mut found: Vec<_> = listed.iter().filter(exact).collect();
    if found.is_empty() {
        found = listed.iter().filter(like).collect();
    }
    if found.is_empty() {
        let mut names: Vec<_> = listed.iter().map(|one| one.name.to_string()).collect();
        names.dedup();
        return Err(Error::usage(no_such("table", table, names.iter().map(String::as_str))));
    }
    Ok(found)
}

fn none(rows: &[&Listed], asked: &Settings) -> Error {
    let mut tables: Vec<_> = rows.iter().map(|one| one.name.to_string()).collect();
    tables.dedup();
    let tables = match &tables[..] {
        [] => "it has no tables that can be read".to_owned(),
        tables => format!("its tables are {}", tables.join(", ")),
    };
    let value = asked.get(VALUE).map(|value| format!(" {value}")).unwrap_or_default();
    Error::usage(format!("has no column{value} of bytes or text; {tables}"))
}

/// Estimates how many values a column has, and of what size.
pub(super) fn estimate<D: Catalog>(
    host: &Host<D>,
    relation: &Relation,
    value: &str,
) -> Result<Estimate> {
    let Relation { quoted, rows, .. } = relation;
    let column = relation.column(value)?;
    let length = D::length(column, &D::GRAMMAR.quoted(value));
    host.control(|control| {
        let mut estimate = Estimate { count: *rows, how: "about ", mean: None };
        if *rows <= FEW_ROWS {
            let some = format!("(SELECT 1 FROM {quoted} LIMIT {})", FEW_ROWS + 1);
            let count = control.number(&format!("SELECT COUNT(*) FROM {some} AS few"))?;
            let how = if count > FEW_ROWS { "more than " } else { "" };
            estimate = Estimate { count: count.min(FEW_ROWS), how, mean: None };
        }
        let some = format!("(SELECT {length} AS n FROM {quoted} LIMIT {ROWS})");
        let mean =
            format!("SELECT COUNT(n), {} FROM {some} AS few", D::integer("COALESCE(AVG(n), 0)"));
        let found = control.rows(&mean)?;
        let number = |n| found.first().and_then(|row| row.int(n));
        if number(0).is_some_and(|count| count > 0) {
            estimate.mean = number(1).map(i64::unsigned_abs);
        }
        Ok(estimate)
    })
}
