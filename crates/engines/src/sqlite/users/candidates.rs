//! Which tables and columns of a database can have the values. Only the schema, statistics and a few rows
//! are read, so that it takes no time in a large database.

use std::ops::ControlFlow;

use kit::own_table::{self, Estimate, KEY, TABLE, TILES, VALUE};
use model::{Error, Result, Settings};

use super::{
    plan::has_step,
    schema::{self, Column, Relation, RelationKind, quoted},
};
use crate::sqlite::ffi::{Connection, Parameter, Statement};

/// Those of Fossil's repositories (<https://fossil-scm.org/home/doc/trunk/www/fileformat.wiki>).
const FOSSIL: [&str; 4] = ["rid", "rcvid", "uuid", "content"];

/// The rows that are looked at in each place of a table: its start, its middle and its end.
const ROWS: u32 = 8;
/// The most rows that are counted one by one.
const COUNTED: i64 = 1_000;

/// A table or view with a column of values.
pub(super) struct Candidate {
    pub(super) relation: Relation,
    /// The columns of its key; `None` if it has none of its own.
    pub(super) key: Option<Vec<String>>,
    pub(super) value: String,
}

/// Returns the column of values that is called so.
pub(super) fn named(db: &Connection, table: &str, value: &str) -> Result<Candidate> {
    let relation = Relation::read(db, table)?;
    let value = relation.column(value)?.name.clone();
    let key = known(&relation).map_or_else(|| relation.own_key(), |(key, _)| Some(key));
    Ok(Candidate { relation, key, value })
}

/// Returns the only column that can have the values, among those that `asked` leaves.
///
/// # Errors
///
/// Fails if there is none, or there are several, which it names.
pub(super) fn only(db: &Connection, asked: &Settings) -> Result<Candidate> {
    let tables = match asked.get(TABLE) {
        Some(table) => vec![Relation::read(db, table)?.name],
        None => schema::own_names(db)?,
    };
    for group in groups(db, &tables, asked) {
        let group = group.into_iter().map(|(name, value)| named(db, name, &value));
        let mut found = filled(db, group.collect::<Result<_>>()?)?;
        if found.len() > 1 {
            // Of many tables only those that are named are read for an estimate.
            let found = found.iter().map(|candidate| {
                let Candidate { relation, value, .. } = candidate;
                Ok((&*relation.name, &**value, candidate.estimate(db, "1")?))
            });
            return Err(own_table::several(db.file(), found));
        }
        if let Some(candidate) = found.pop() {
            return Ok(candidate);
        }
    }
    Err(none(db, &tables, asked))
}

/// Returns those of several candidates that have values in the rows that are looked at, or all if none has.
fn filled(db: &Connection, mut candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
    if candidates.len() < 2 {
        return Ok(candidates);
    }
    let have: Vec<_> =
        candidates.iter().map(|candidate| candidate.has_values(db)).collect::<Result<_>>()?;
    if have.contains(&true) {
        let mut have = have.into_iter();
        candidates.retain(|_| have.next().unwrap_or(false));
    }
    Ok(candidates)
}

/// Returns the tables and columns of a known form, those declared for bytes, and those for text.
fn groups<'t>(
    db: &Connection,
    tables: &'t [String],
    asked: &Settings,
) -> [Vec<(&'t String, String)>; 3] {
    let is_asked = |value: &str| asked.get(VALUE).is_none_or(|own| own.eq_ignore_ascii_case(value));
    let (mut of_known, mut of_bytes, mut of_text) = (Vec::new(), Vec::new(), Vec::new());
    for name in tables {
        // What is no table of SQLite's own form has no values.
        let Ok(relation) = Relation::read(db, name) else { continue };
        if let Some((_, value)) = known(&relation).filter(|(_, value)| is_asked(value)) {
            of_known.push((name, value));
        }
        if relation.kind == RelationKind::View && asked.get(TABLE).is_none() {
            continue;
        }
        let own = relation.own_key().unwrap_or_default();
        let is_asked = |column: &&Column| !own.contains(&column.name) && is_asked(&column.name);
        let (texts, others): (Vec<_>, Vec<_>) =
            relation.columns.iter().filter(is_asked).partition(|column| column.is_for_text());
        let (bytes, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|column| column.is_for_bytes());
        let bytes = if bytes.is_empty() { with_bytes(db, name, others) } else { bytes };
        of_bytes.extend(bytes.iter().map(|column| (name, column.name.clone())));
        of_text.extend(texts.into_iter().map(|column| (name, column.name.clone())));
    }
    [of_known, of_bytes, of_text]
}

/// Returns those columns that have bytes in one of the first rows, whatever they are declared for.
fn with_bytes<'c>(db: &Connection, table: &str, mut columns: Vec<&'c Column>) -> Vec<&'c Column> {
    let shown: Vec<_> =
        columns.iter().map(|column| format!("typeof({})", quoted(&column.name))).collect();
    let sql = format!("SELECT {} FROM {} LIMIT {ROWS}", shown.join(","), quoted(table));
    let mut found = vec![false; columns.len()];
    let look = |row: &Statement| {
        for (found, column) in found.iter_mut().zip(0..) {
            *found |= row.text(column) == b"blob";
        }
        Ok(ControlFlow::Continue(()))
    };
    // Rows that cannot be read show nothing.
    if !columns.is_empty()
        && let Ok(mut rows) = db.prepare(&sql)
    {
        let _ = rows.rows([], look);
    }
    let mut found = found.into_iter();
    columns.retain(|_| found.next().unwrap_or(false));
    columns
}

fn none(db: &Connection, tables: &[String], asked: &Settings) -> Error {
    let is_view = |name: &&String| {
        Relation::read(db, name).is_ok_and(|relation| relation.kind == RelationKind::View)
    };
    // A view has values, but no key, so that none is taken by itself.
    let view = tables.iter().find(is_view).filter(|_| asked.get(TABLE).is_none());
    let view = view.map(|name| format!("; ?{TABLE}={name}&{KEY}=COLUMN reads a view"));
    let tables = match tables {
        [] => "it has no tables at all".to_owned(),
        tables => format!("its tables are {}", tables.join(", ")),
    };
    let value = asked.get(VALUE).map(|value| format!(" {value}")).unwrap_or_default();
    Error::usage(format!(
        "has no table kv nor sqlar, nor a column{value} of bytes or text; {tables}{}",
        view.unwrap_or_default()
    ))
}

/// Returns the key and the value of a table whose form is known.
fn known(relation: &Relation) -> Option<(Vec<String>, String)> {
    let name =
        |of: &&str| relation.column(of).map(|column| column.name.clone()).unwrap_or_default();
    let (key, value) = match relation {
        tiles if tiles.has(&TILES) => (&TILES[..3], &TILES[3]),
        blob if blob.has(&FOSSIL) => (&FOSSIL[..1], &FOSSIL[3]),
        _ => return None,
    };
    Some((key.iter().map(&name).collect(), name(value)))
}

impl Candidate {
    /// Returns whether one of the rows that are looked at has a value: the first ones, as a rule, so that two
    /// pages of a table are read.
    fn has_values(&self, db: &Connection) -> Result<bool> {
        let [table, column] = [&self.relation.name, &self.value].map(|name| quoted(name));
        let has = |rows: &str| {
            let sql = format!(
                "SELECT EXISTS(SELECT 1 FROM (SELECT typeof({column}) AS of FROM {table} {rows} LIMIT {ROWS}) \
                 WHERE of IN ('blob','text'))"
            );
            Ok::<_, Error>(db.number(&sql)? > 0)
        };
        if has("")? {
            return Ok(true);
        }
        for rows in self.places(db, &table)?.iter().skip(1) {
            if has(rows)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Estimates how many values it has, and of what size, in rows for which `filter` is true.
    pub(super) fn estimate(&self, db: &Connection, filter: &str) -> Result<Estimate> {
        let table = quoted(&self.relation.name);
        let mut estimate = self.count(db, &table, filter)?;
        let (mut values, mut bytes) = (0, 0);
        for rows in self.places(db, &table)? {
            let column = quoted(&self.value);
            // A value that a subquery returns is read whole; its type and length are in the row's header.
            let sql = format!(
                "SELECT count(*), ifnull(sum(bytes),0) FROM \
                 (SELECT octet_length({column}) AS bytes, typeof({column}) AS of, {filter} AS ok \
                 FROM {table} {rows} LIMIT {ROWS}) WHERE ok AND of IN ('blob','text')"
            );
            let mut rows = db.prepare(&db.adapt_sql(&sql))?;
            let found = rows.row([], |row| (row.integer(0), row.integer(1)))?;
            let (count, sum) = found.unwrap_or_default();
            (values, bytes) = (values + count, bytes + sum);
        }
        estimate.mean = bytes.unsigned_abs().checked_div(values.unsigned_abs());
        Ok(estimate)
    }

    /// Returns the conditions and orders that lead to rows at the start, in the middle and at the end, as
    /// far as an index leads there.
    fn places(&self, db: &Connection, table: &str) -> Result<Vec<String>> {
        let mut places = vec![String::new()];
        if let Some(rowid) = self.relation.rowid.as_ref().map(|name| quoted(name)) {
            let [first, last] = ends(db, table, &rowid)?;
            let middle = first.midpoint(last);
            places.push(format!("WHERE {rowid}>={middle} ORDER BY {rowid}"));
            places.push(format!("ORDER BY {rowid} DESC"));
        } else {
            places.extend(self.last_first(db, table)?);
        }
        Ok(places)
    }

    /// Returns the order that starts at the last key; `None` if SQLite would read all rows for it.
    fn last_first(&self, db: &Connection, table: &str) -> Result<Option<String>> {
        let Some(key) = &self.key else { return Ok(None) };
        let terms: Vec<_> = key.iter().map(|name| format!("{} DESC", quoted(name))).collect();
        let order = format!("ORDER BY {}", terms.join(","));
        let sql =
            format!("SELECT typeof({}) FROM {table} {order} LIMIT {ROWS}", quoted(&self.value));
        let reads_all = has_step(db, &sql, 0, &["TEMP B-TREE", "MATERIALIZE"])?;
        Ok((!reads_all).then_some(order))
    }

    /// Returns the number of rows for which `filter` is true: counted if the table is small, otherwise at
    /// most all rows, by the statistics of `ANALYZE`, or by rowids.
    fn count(&self, db: &Connection, table: &str, filter: &str) -> Result<Estimate> {
        // The first number of a line is that of all rows.
        const ANALYSED: &str = "SELECT CAST(stat AS INTEGER) FROM sqlite_stat1 WHERE tbl=?1 AND stat>'' \
                                ORDER BY idx IS NOT NULL LIMIT 1";
        let rows = self.relation.rowid.as_ref().map(|rowid| ends(db, table, &quoted(rowid)));
        let rows =
            rows.transpose()?.map(|[first, last]| last.saturating_sub(first).saturating_add(1));
        if rows.is_some_and(|rows| rows <= COUNTED) {
            let count = db.number(&format!("SELECT count(*) FROM {table} WHERE {filter}"))?;
            return Ok(Estimate { count, ..Estimate::default() });
        }
        let analysed = db.prepare(ANALYSED).ok().and_then(|mut rows| {
            let name = [Parameter::Text(self.relation.name.as_bytes())];
            rows.row(name, |row| row.integer(0)).ok().flatten()
        });
        if let Some(count) = analysed.filter(|count| *count > 0) {
            let how = if filter == "1" { "about " } else { "up to " };
            return Ok(Estimate { count, how, mean: None });
        }
        if let Some(count) = rows {
            return Ok(Estimate { count, how: "up to ", mean: None });
        }
        let some = format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {})", COUNTED + 1);
        let count = db.number(&some)?;
        if count <= COUNTED {
            let count = db.number(&format!("SELECT count(*) FROM {table} WHERE {filter}"))?;
            return Ok(Estimate { count, ..Estimate::default() });
        }
        let how = if filter == "1" { "more than " } else { "some of more than " };
        Ok(Estimate { count: COUNTED, how, mean: None })
    }
}

/// Returns the first and the last rowid.
fn ends(db: &Connection, table: &str, rowid: &str) -> Result<[i64; 2]> {
    let end = |of| db.number(&format!("SELECT ifnull({of}({rowid}),0) FROM {table}"));
    Ok([end("min")?, end("max")?])
}
