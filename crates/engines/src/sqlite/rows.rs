//! Rows in SQLite: a database file for each process, or a database in its memory.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use kit::sql::{self, split_rows};
use model::{
    Durability, Error, Facet, Result, Rows, Settings,
    rows::{MULTI_ROWS, NULL, RowSession, RowStore, RowTables, Style},
};

use super::{
    Sqlite,
    database::{self, Database, checkpoint, is_in_memory},
    ffi::{Connection, Functions, Parameter, Statement},
    library,
};

use crate::row_folder::{RowFile, RowFolder};

/// The first SQLite that inserts several rows with a statement.
const SEVERAL_ROWS: i32 = 3_007_011;
/// The first SQLite that inserts more than 500 rows with a statement.
const THOUSAND_ROWS: i32 = 3_008_008;

/// The rows of a statement with bound values in [`Style::Bulk`]: more make it no faster.
const BULK_ROWS: u64 = 64;

impl Rows for Sqlite {
    fn styles(&self, settings: &Settings) -> &'static [Style] {
        match library::functions(settings).map(Functions::version_number) {
            Ok(..SEVERAL_ROWS) => &[Style::Text, Style::Prepared],
            Ok(..THOUSAND_ROWS) => &[Style::Text, Style::Prepared, Style::Bulk],
            _ => &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk],
        }
    }

    fn alone(&self, settings: &Settings) -> Option<&'static str> {
        is_in_memory(settings)
            .then_some("a database in a process's memory is open to that one alone")
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        RowFolder::<Self>::start(location, settings)
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(RowFolder::<Self>::join(location, settings))
    }
}

/// Opens a connection to a database with its table; one in memory is created for it.
fn connect(path: &Path, settings: &Settings) -> Result<Connection> {
    let db = Database::existing(path, settings).connect()?.restrict_to_thread()?;
    if is_in_memory(settings) {
        db.execute(&sql::create(settings))?;
    }
    Ok(db)
}

impl RowFile for Sqlite {
    const EXTENSION: &'static str = "db";

    fn create(path: &Path, settings: &Settings) -> Result<()> {
        if is_in_memory(settings) {
            return Ok(());
        }
        let database = Database::create(path, settings)?;
        let db = database.open()?;
        database.lay_out(&db, &[&sql::create(settings)])?;
        database.configure(&db)
    }

    fn session(path: &Path, settings: &Settings) -> Result<Box<dyn RowSession>> {
        Ok(Box::new(SqliteRows { db: connect(path, settings)?, sql: String::new() }))
    }

    fn in_effect(path: &Path, settings: &Settings) -> Result<(Settings, Durability)> {
        let db = connect(path, settings)?;
        let (mut settings, class) =
            Database::existing(path, settings).in_effect(&db, Facet::Rows)?;
        let not_null = db.column("PRAGMA table_info(numbers)", 3)?.iter().all(|is| is == "1");
        settings.set(NULL.name, if not_null { "no" } else { "yes" });
        Ok((settings, class))
    }

    fn files(path: &Path, settings: &Settings) -> Vec<PathBuf> {
        if is_in_memory(settings) { Vec::new() } else { database::files(path) }
    }

    fn flush(path: &Path, settings: &Settings) -> Result<()> {
        if is_in_memory(settings) || settings.get("journal") != Some("wal") {
            return Ok(());
        }
        checkpoint(&connect(path, settings)?)
    }
}

/// A worker's session.
struct SqliteRows {
    db: Connection,
    /// The statement being run.
    sql: String,
}

impl SqliteRows {
    /// Inserts `rows` by one SQL string, built and parsed here.
    fn insert_text(&mut self, rows: Range<i64>) -> Result<()> {
        sql::insert(&mut self.sql, sql::INSERT, rows);
        // SQLite would copy a text without it.
        self.sql.push('\0');
        self.db.execute(&self.sql)
    }

    fn bound(&self, width: u64) -> Result<Statement> {
        let rows = (0..width).map(|_| "(?,?)").collect::<Vec<_>>().join(",");
        self.db.prepare(&format!("{}{rows}", sql::INSERT))
    }
}

/// Binds `rows`, as many as the statement has, and inserts them.
#[inline]
fn execute(statement: &mut Statement, rows: Range<i64>) -> Result<()> {
    statement.run(rows.flat_map(|i| [i, 2 * i]).map(Parameter::Integer))
}

impl RowSession for SqliteRows {
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()> {
        let width = match style {
            Style::Text | Style::Prepared => 1,
            Style::Multi => MULTI_ROWS,
            Style::Bulk => BULK_ROWS,
            Style::Delayed => return Err(Error::unsupported("SQLite has no delayed inserts")),
        };
        let mut bound = match style {
            Style::Prepared | Style::Bulk => Some((self.bound(width)?, self.bound(1)?)),
            _ => None,
        };
        for rows in split_rows(rows, batch) {
            self.db.execute("BEGIN IMMEDIATE")?;
            for part in split_rows(rows, width) {
                let Some((wide, single)) = &mut bound else {
                    self.insert_text(part)?;
                    continue;
                };
                if (part.end - part.start).unsigned_abs() == width {
                    execute(wide, part)?;
                } else {
                    part.into_iter().try_for_each(|i| execute(single, i..i + 1))?;
                }
            }
            self.db.execute("COMMIT")?;
        }
        Ok(())
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
        self.db.waits().into()
    }
}
