//! Facts about a database as a whole.

use std::{ops::ControlFlow, path::Path};

use model::{Access, Arrangement, Entry, EntryKind, Result, TableFacts};

use super::{
    database::{check, check_log, opening},
    ffi::{Connection, LINKED, Statement},
    space,
    stored::KIND,
    table::{OWN, SQLAR, SqlTable},
    users,
};
use crate::at;

/// The statistics of a database that `stat` reports, as kvtest does. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    /// The number of values.
    pub count: i64,
    /// What the table holds besides values: folders, links and devices of an archive.
    pub left_out: Vec<Entry>,
    /// The mean length of a value; `None` without values.
    pub average: Option<f64>,
    /// The length of the smallest value.
    pub smallest: i64,
    /// The length of the largest value.
    pub largest: i64,
    /// The number of values that are texts; `None` if it is not a table of the user's own.
    pub texts: Option<i64>,
    /// The number of rows of such a table that have NULL or a number in place of a value; `count` is
    /// without them.
    pub nulls_and_numbers: i64,
    /// The size of a page.
    pub page_size: i64,
    /// The number of pages.
    pub page_count: i64,
    /// The number of free pages.
    pub freelist_count: i64,
    /// The length up to which values are in the database, in a hybrid store; `None` if all are there.
    pub inline: Option<u64>,
    /// The answer of `PRAGMA integrity_check(10)`.
    pub integrity: Vec<String>,
}

/// Returns statistics of the database at `path`, in which `find` finds the table; with `vacuum`, it
/// rewrites the database first. What an integrity check finds is part of them.
///
/// # Errors
///
/// Fails if the file is cut short, a transaction is unfinished, `find` finds no table, or another process
/// keeps it locked.
pub(crate) fn stat(
    path: &Path,
    find: impl FnOnce(&Connection) -> Result<SqlTable>,
    vacuum: bool,
) -> Result<Stat> {
    let access = if vacuum { Access::Write } else { Access::Read };
    check(path, access)?;
    let db = Connection::open(&LINKED, path, opening(path, access))?;
    let table = &db.with_short_waits(find)?;
    if vacuum {
        db.execute("VACUUM")?;
    }
    let SqlTable { name, value, length, filter, .. } = table;
    let is_value = if table.users.is_some() { "of IN ('blob','text')" } else { "1" };
    let about = format!(
        "SELECT ifnull(sum(ok),0), sum(ok*length), min(length) FILTER (WHERE ok), \
         max(length) FILTER (WHERE ok), sum(of='text'), sum(NOT ok), \
         count(length) FILTER (WHERE ok) FROM (SELECT length, of, {is_value} AS ok \
         FROM (SELECT {length} AS length, typeof({value}) AS of FROM {name} WHERE {filter}))"
    );
    let about = db
        .prepare(&db.adapt_sql(&about))?
        .row([], |row| [0, 1, 2, 3, 4, 5, 6].map(|column| row.integer(column)))?;
    let [count, sum, smallest, largest, texts, nulls_and_numbers, with_length] =
        about.unwrap_or_default();
    Ok(Stat {
        count,
        left_out: entries(&db, table)?,
        // NULL has none.
        average: (with_length > 0).then(|| sum as f64 / with_length as f64),
        smallest,
        largest,
        texts: table.users.is_some().then_some(texts),
        nulls_and_numbers,
        page_size: db.number("PRAGMA page_size")?,
        page_count: db.number("PRAGMA page_count")?,
        freelist_count: db.number("PRAGMA freelist_count")?,
        inline: None,
        integrity: db.column("PRAGMA integrity_check(10)", 0)?,
    })
}

/// The number of rows whose types are counted: enough to see a mix, and quick in a large table.
const TYPED_ROWS: u32 = 100_000;

/// Returns what is special about a table of the user's own, or one in a database with others; `None` if it
/// is neither.
pub(super) fn table_facts(db: &Connection, table: &SqlTable) -> Result<Option<TableFacts>> {
    let (shares_files, own_bytes) = space::own_bytes(db, table)?;
    let space = TableFacts { shares_files, own_bytes, ..TableFacts::default() };
    let SqlTable { name, value, filter, users: Some(_), .. } = table else {
        return Ok(shares_files.then_some(space));
    };
    let sql = format!(
        "SELECT ifnull(sum(it IN ('blob','text')),0), ifnull(sum(it='text'),0) \
         FROM (SELECT typeof({value}) AS it FROM {name} WHERE {filter} LIMIT {TYPED_ROWS})"
    );
    let counts = db.prepare(&sql)?.row([], |row| [0, 1].map(|n| row.integer(n).unsigned_abs()))?;
    let [values, texts] = counts.unwrap_or_default();
    // Only texts among other values are worth a word.
    let texts = if texts == values { 0 } else { texts };
    Ok(Some(TableFacts { values, texts, ..space }))
}

/// Lists what is not the dataset's: other tables, views and the like, other columns, and
/// what an archive contains in addition to files. SQLite's own tables are not among them.
pub(super) fn other_contents(path: &Path) -> Result<Vec<String>> {
    check_log(path, at::length(path)?)?;
    let db = Connection::open(&LINKED, path, opening(path, Access::Read))?;
    let table = db.with_short_waits(|db| SqlTable::find(db, &OWN))?;
    let mut others = further(&db, table)?;
    others.extend(entries(&db, table)?.iter().take(3).map(ToString::to_string));
    Ok(others)
}

/// Lists the same as entries, which a copy of the dataset leaves out.
pub(super) fn left_out(db: &Connection, table: &SqlTable) -> Result<Vec<Entry>> {
    let further = further(db, table)?.into_iter().map(|name| Entry {
        name: name.into_bytes(),
        kind: EntryKind::Further,
        content: Vec::new(),
    });
    Ok(entries(db, table)?.into_iter().chain(further).collect())
}

fn further(db: &Connection, table: &SqlTable) -> Result<Vec<String>> {
    if let Some(table) = &table.users {
        return users::other_columns(db, table);
    }
    let others = format!(
        "SELECT type||' '||name FROM sqlite_master \
         WHERE name<>'{}' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
        table.name
    );
    let mut further = db.column(&others, 0)?;
    let mut columns = db.column(&format!("PRAGMA table_info({})", table.name), 1)?;
    columns.retain(|name| !table.columns.contains(&&**name));
    further.extend(columns.into_iter().map(|name| format!("column {name}")));
    Ok(further)
}

/// Returns the rows of an archive that are no values.
fn entries(db: &Connection, table: &SqlTable) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    if table.name != SQLAR.name {
        return Ok(entries);
    }
    let sql = format!(
        "SELECT name, mode, data, typeof(name)='text', rowid, EXISTS (SELECT 1 FROM sqlar AS i \
         WHERE i.name>o.name||'/' AND i.name<o.name||'0') FROM sqlar AS o WHERE NOT ({})",
        table.filter
    );
    db.prepare(&sql)?.rows([], |row| {
        entries.push(entry(row));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(entries)
}

fn entry(row: &Statement) -> Entry {
    if row.integer(3) == 0 {
        let name = format!("row {}", row.integer(4)).into_bytes();
        return Entry { name, kind: EntryKind::Nameless, content: Vec::new() };
    }
    let kind = match u32::try_from(row.integer(1)).unwrap_or(0) & KIND {
        0o120_000 => EntryKind::Link,
        0o040_000 if row.integer(5) == 0 => EntryKind::EmptyFolder,
        0o040_000 => EntryKind::Folder,
        _ => EntryKind::Special,
    };
    let content = if kind == EntryKind::Link { row.blob(2).to_vec() } else { Vec::new() };
    Entry { name: row.text(0).to_vec(), kind, content }
}

/// The first SQLite with window functions.
const WINDOWS: i32 = 3_025_000;

/// Returns how values are arranged in the pages of a database. It reads every page of the table.
pub(super) fn arrangement(db: &Connection, table: &SqlTable) -> Result<Arrangement> {
    // SQLite must have been compiled with this to list single pages; they are counted with a window.
    let lists_pages = db.number("SELECT sqlite_compileoption_used('ENABLE_DBSTAT_VTAB')")? != 0
        && db.version_number() >= WINDOWS;
    Ok(Arrangement::Pages {
        pages: db.number("PRAGMA page_count")?.unsigned_abs(),
        free: db.number("PRAGMA freelist_count")?.unsigned_abs(),
        runs: (lists_pages && table.rowid.is_some()).then(|| runs(db, table)).transpose()?,
    })
}

/// Counts the runs of pages. What does not fit into a leaf page is in a chain of overflow pages:
/// its path is that of the cell, `+`, and its place in the chain
/// (<https://sqlite.org/dbstat.html>). A chain is broken if the next page is not the neighbour; a
/// value without a chain is in one piece.
fn runs(db: &Connection, table: &SqlTable) -> Result<u64> {
    let name = &table.name;
    let literal = table.blobs.0.to_string_lossy().replace('\'', "''");
    let values = db.number(&format!("SELECT count(*) FROM {name}"))?;
    let breaks = db.number(&format!(
        "WITH chain AS (SELECT pageno, lag(pageno) OVER \
             (PARTITION BY substr(path,1,instr(path,'+')) ORDER BY path) AS before \
             FROM dbstat WHERE name='{literal}' AND pagetype='overflow') \
         SELECT count(*) FROM chain WHERE pageno<>before+1"
    ))?;
    Ok((values + breaks).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{ffi::Open, table::KV};

    /// A database in memory, in pages of 1024 bytes, with three values of ten overflow pages.
    fn three_values() -> Connection {
        let db = Connection::open(&LINKED, "".as_ref(), Open::Memory).unwrap();
        db.execute("PRAGMA page_size=1024").unwrap();
        db.execute(&KV.create).unwrap();
        for key in 1..=3 {
            db.execute(&format!("INSERT INTO kv VALUES({key}, zeroblob(10000))")).unwrap();
        }
        db
    }

    #[test]
    fn values_written_one_after_the_other_are_whole() {
        let db = three_values();
        db.execute("INSERT INTO kv VALUES(4, 'in its leaf')").unwrap();
        let Arrangement::Pages { pages, free, runs } = arrangement(&db, &KV).unwrap() else {
            panic!("a database has pages");
        };
        assert_eq!((free, runs), (0, Some(4)));
        assert!(pages > 30, "{pages}");
    }

    #[test]
    fn a_longer_value_in_the_gap_of_a_shorter_one_is_broken() {
        let db = three_values();
        db.execute("DELETE FROM kv WHERE k=2").unwrap();
        let Arrangement::Pages { free, runs, .. } = arrangement(&db, &KV).unwrap() else {
            panic!("a database has pages");
        };
        assert_eq!(runs, Some(2));
        assert!(free >= 9, "{free}");
        db.execute("INSERT INTO kv VALUES(5, zeroblob(15000))").unwrap();
        let Arrangement::Pages { runs: Some(runs), .. } = arrangement(&db, &KV).unwrap() else {
            panic!("this build lists pages");
        };
        assert!(runs > 3, "the gap, then the end of the file: {runs}");
    }
}
