//! Rows in SQLite: a database file for each process, or a database in its memory.

use std::{
    ffi::CStr,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use model::{
    Durability, Error, Result, Rows, Settings,
    rows::{MULTI_ROWS, RowSession, RowStore, RowTables, Style},
};

use super::{
    Sqlite, beside,
    ffi::{Connection, Open, Statement},
    store::{checkpoint, configure, durability, read_back},
};
use crate::sql::{self, parts};

/// Rows of a statement with bound values in [`Style::Bulk`]: more make it no faster.
const BULK_ROWS: u16 = 64;

impl Rows for Sqlite {
    fn styles(&self, _: &Settings) -> &'static [Style] {
        &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk]
    }

    fn alone(&self, settings: &Settings) -> Option<&'static str> {
        in_memory(settings).then_some("a database in a process's memory is open to that one alone")
    }

    fn start(&self, location: &Path, _: &Settings) -> Result<Box<dyn RowStore>> {
        fs::create_dir(location).map_err(|e| Error::io(location.display(), e))?;
        Ok(Box::new(Databases(location.to_owned())))
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(Box::new(Tables::new(location, settings, 0)))
    }
}

pub(super) fn in_memory(settings: &Settings) -> bool {
    settings.get("store") == Some("memory")
}

/// A folder for database files.
struct Databases(PathBuf);

impl RowStore for Databases {
    fn location(&self) -> PathBuf {
        self.0.clone()
    }

    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>> {
        let tables = Tables::new(&self.0, settings, databases);
        if !in_memory(settings) {
            for database in 0..databases {
                let path = tables.path(database);
                fs::File::create_new(&path).map_err(|e| Error::io(path.display(), e))?;
                tables.make_table(&tables.connect(database)?)?;
            }
        }
        Ok(Box::new(tables))
    }

    fn close(self: Box<Self>) -> Result<()> {
        fs::remove_dir(&self.0).map_err(|e| Error::io(self.0.display(), e))
    }
}

struct Tables {
    folder: PathBuf,
    settings: Settings,
    databases: u32,
}

impl Tables {
    fn new(folder: &Path, settings: &Settings, databases: u32) -> Self {
        Self { folder: folder.to_owned(), settings: settings.clone(), databases }
    }

    fn path(&self, database: u32) -> PathBuf {
        self.folder.join(format!("rows{database}.db"))
    }

    fn connect(&self, database: u32) -> Result<Connection> {
        let open = if in_memory(&self.settings) { Open::Memory } else { Open::ReadWrite };
        let db = Connection::open(&self.path(database), open)?;
        configure(&db, &self.settings, model::Access::Write)?;
        Ok(db)
    }

    fn make_table(&self, db: &Connection) -> Result<()> {
        db.execute(&sql::create(&self.settings))
    }

    /// A connection to a database with its table; one in memory is made anew.
    fn open(&self, database: u32) -> Result<Connection> {
        let db = self.connect(database)?;
        if in_memory(&self.settings) {
            self.make_table(&db)?;
        }
        Ok(db)
    }
}

impl RowTables for Tables {
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>> {
        Ok(Box::new(Session { db: self.open(database)?, sql: String::new() }))
    }

    fn in_effect(&self) -> Result<Settings> {
        const NOT_NULL: &str = "SELECT min(\"notnull\") FROM pragma_table_info('numbers')";
        let db = self.open(0)?;
        let told = read_back(&db, &self.settings)?;
        let mut settings = Settings::default();
        for name in ["journal", "sync", "cache"] {
            settings.set(name, told.get(name).unwrap_or_default());
        }
        let file = db.column("SELECT file FROM pragma_database_list WHERE name='main'")?;
        let in_file = file.first().is_some_and(|file| !file.is_empty());
        settings.set("store", if in_file { "file" } else { "memory" });
        settings.set("null", if db.number(NOT_NULL)? == 1 { "no" } else { "yes" });
        Ok(settings)
    }

    fn durability(&self) -> Result<Durability> {
        Ok(durability(&self.in_effect()?))
    }

    fn files(&self, database: u32) -> Vec<PathBuf> {
        if in_memory(&self.settings) {
            return Vec::new();
        }
        let path = self.path(database);
        ["", "-journal", "-wal", "-shm"].iter().map(|suffix| beside(&path, suffix)).collect()
    }

    fn settle(&self) -> Result<()> {
        if in_memory(&self.settings) || self.settings.get("journal") != Some("wal") {
            return Ok(());
        }
        (0..self.databases).try_for_each(|database| checkpoint(&self.connect(database)?))
    }

    fn remove(self: Box<Self>) -> Result<()> {
        let files = (0..self.databases).flat_map(|database| self.files(database));
        files
            .filter(|file| file.exists())
            .try_for_each(|file| fs::remove_file(&file).map_err(|e| Error::io(file.display(), e)))
    }
}

struct Session {
    db: Connection,
    /// The statement of the moment, ended as C has it.
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

    /// One SQL string for `rows`, made and parsed here.
    fn insert_text(&mut self, rows: Range<i64>) -> Result<()> {
        sql::insert(&mut self.sql, rows);
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
        self.db.waits().into()
    }
}
