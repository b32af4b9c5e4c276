//! Rows in SQLite: a database file for each process, or a database in its memory.

use std::{
    ffi::CStr,
    ops::Range,
    path::{Path, PathBuf},
};

use model::{
    Durability, Error, Facet, Result, Rows, Settings,
    rows::{MULTI_ROWS, NULL, RowSession, RowStore, RowTables, Style},
};

use super::{
    Sqlite,
    database::{Database, checkpoint, durability},
    ffi::{Connection, Statement},
};
use crate::{
    row_folder::{RowFile, RowFolder},
    sql::{self, parts},
};

/// Rows of a statement with bound values in [`Style::Bulk`]: more make it no faster.
const BULK_ROWS: u16 = 64;

impl Rows for Sqlite {
    fn styles(&self, _: &Settings) -> &'static [Style] {
        &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk]
    }

    fn alone(&self, settings: &Settings) -> Option<&'static str> {
        in_memory(settings).then_some("a database in a process's memory is open to that one alone")
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        RowFolder::<RowDatabase>::start(location, settings)
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(RowFolder::<RowDatabase>::join(location, settings))
    }
}

pub(super) fn in_memory(settings: &Settings) -> bool {
    settings.get("store") == Some("memory")
}

struct RowDatabase(Settings);

impl RowDatabase {
    fn create_table(&self, db: &Connection) -> Result<()> {
        db.execute(&sql::create(&self.0))
    }

    /// A connection to a database with its table; one in memory is created for it.
    fn connect(&self, path: &Path) -> Result<Connection> {
        let db = Database::at(path, &self.0).connect()?;
        if in_memory(&self.0) {
            self.create_table(&db)?;
        }
        Ok(db)
    }
}

impl RowFile for RowDatabase {
    const EXTENSION: &'static str = "db";

    fn new(settings: &Settings) -> Self {
        Self(settings.clone())
    }

    fn create(&self, path: &Path) -> Result<()> {
        if in_memory(&self.0) {
            return Ok(());
        }
        self.create_table(&Database::create(path, &self.0)?.connect()?)
    }

    fn session(&self, path: &Path) -> Result<Box<dyn RowSession + '_>> {
        Ok(Box::new(Session { db: self.connect(path)?, sql: String::new() }))
    }

    fn in_effect(&self, path: &Path) -> Result<(Settings, Durability)> {
        const NOT_NULL: &str = "SELECT min(\"notnull\") FROM pragma_table_info('numbers')";
        let db = self.connect(path)?;
        let mut settings = Database::at(path, &self.0).read_back(&db, Facet::Rows)?;
        let file = db.column("SELECT file FROM pragma_database_list WHERE name='main'")?;
        let in_file = file.first().is_some_and(|file| !file.is_empty());
        settings.set("store", if in_file { "file" } else { "memory" });
        settings.set(NULL.name, if db.number(NOT_NULL)? == 1 { "no" } else { "yes" });
        let class = durability(&settings);
        Ok((settings, class))
    }

    fn files(&self, path: &Path) -> Vec<PathBuf> {
        if in_memory(&self.0) { Vec::new() } else { Database::at(path, &self.0).files() }
    }

    fn settle(&self, path: &Path) -> Result<()> {
        let database = Database::at(path, &self.0);
        if in_memory(&self.0) || !database.has_log() {
            return Ok(());
        }
        checkpoint(&database.connect()?)
    }
}

struct Session {
    db: Connection,
    /// The statement being run, ended by a NUL.
    sql: String,
}

impl Session {
    /// Runs `insert` for each part of `rows` that is a transaction.
    fn in_batches(
        &mut self,
        rows: Range<i64>,
        batch: u64,
        mut insert: impl FnMut(&mut Self, Range<i64>) -> Result<()>,
    ) -> Result<()> {
        for part in parts(rows, batch) {
            self.db.execute("BEGIN IMMEDIATE")?;
            insert(self, part)?;
            self.db.execute("COMMIT")?;
        }
        Ok(())
    }

    /// One SQL string for `rows`, built and parsed here.
    fn insert_text(&mut self, rows: Range<i64>) -> Result<()> {
        sql::insert(&mut self.sql, sql::INSERT, rows);
        self.sql.push('\0');
        let sql = CStr::from_bytes_with_nul(self.sql.as_bytes()).expect("one NUL, at its end");
        self.db.execute_c(sql)
    }

    /// Executes a prepared statement for every `width` rows, and one for each row of the rest.
    fn insert_bound(&mut self, rows: Range<i64>, batch: u64, width: u16) -> Result<()> {
        let (mut wide, mut single) = (self.bound(width)?, self.bound(1)?);
        self.in_batches(rows, batch, |session, rows| {
            for part in parts(rows, width.into()) {
                let inserted = if part.end - part.start == i64::from(width) {
                    execute(&mut wide, part)
                } else {
                    part.into_iter().try_for_each(|i| execute(&mut single, i..i + 1))
                };
                inserted.map_err(|e| session.db.named(e))?;
            }
            Ok(())
        })
    }

    fn bound(&self, width: u16) -> Result<Statement> {
        let rows = vec!["(?,?)"; width.into()].join(",");
        self.db.prepare(&format!("INSERT INTO numbers VALUES {rows}"))
    }
}

/// Binds `rows`, as many as the statement has, and inserts them.
#[inline]
fn execute(statement: &mut Statement, rows: Range<i64>) -> Result<()> {
    for (column, i) in (1..).step_by(2).zip(rows) {
        statement.bind_integer(column, i)?;
        statement.bind_integer(column + 1, 2 * i)?;
    }
    statement.step()?;
    statement.reset();
    Ok(())
}

impl RowSession for Session {
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()> {
        match style {
            Style::Text => self.in_batches(rows, batch, |session, rows| {
                rows.into_iter().try_for_each(|i| session.insert_text(i..i + 1))
            }),
            Style::Multi => self.in_batches(rows, batch, |session, rows| {
                parts(rows, MULTI_ROWS).try_for_each(|part| session.insert_text(part))
            }),
            Style::Prepared => self.insert_bound(rows, batch, 1),
            Style::Bulk => self.insert_bound(rows, batch, BULK_ROWS),
            Style::Delayed => Err(Error::unsupported("SQLite has no delayed inserts")),
        }
    }

    fn sum(&mut self) -> Result<i64> {
        self.db.number("SELECT sum(i2) FROM numbers")
    }

    fn add(&mut self, by: i64) -> Result<u64> {
        self.db.execute(&format!("UPDATE numbers SET i2=i2+{by}"))?;
        Ok(self.db.changes().unsigned_abs())
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.db.number("SELECT count(*) FROM numbers")?.unsigned_abs())
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        self.db.waits()
    }
}
