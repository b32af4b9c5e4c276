//! Rows: a server with an SQL database for each number, a table without a primary key in each.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Mutex,
};

use model::{
    BUSY_RETRIES, Durability, Error, Facet, LOCK_WAITS, Result, Settings,
    rows::{MULTI_ROWS, NULL, RowSession, RowStore, RowTables, Style},
};

use super::{
    dialect::{Connection, Failure, Row, RowDialect, Statement, Value},
    folder::Folder,
    host::Host,
    store,
    variables::add_asked,
};
use crate::{
    lock,
    sql::{self, parts},
};

const NULLABLE: &str = "SELECT LOWER(MAX(is_nullable)) FROM information_schema.columns \
                        WHERE table_name='numbers'";

/// A server that this process started.
pub(super) struct RowServer<D: RowDialect> {
    folder: Folder,
    host: Host<D>,
}

impl<D: RowDialect> RowServer<D> {
    pub(super) fn start(location: &Path, settings: &Settings) -> Result<Self> {
        let folder = Folder::at(location, D::software())?;
        Host::<D>::install(&folder, settings)?;
        let started = Host::start(&folder, Facet::Rows, settings).inspect_err(|_| {
            // This call created it; an error of its own would hide the first.
            let _ = folder.remove();
        });
        Ok(Self { host: started?.0, folder })
    }
}

impl<D: RowDialect> RowStore for RowServer<D> {
    fn location(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>> {
        D::check(Facet::Rows, settings)?;
        let tables = Tables::<D>::new(self.folder.clone(), settings, databases)?;
        tables.create()?;
        Ok(Box::new(tables))
    }

    fn processes(&self) -> Vec<u32> {
        self.host.processes()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { folder, host } = *self;
        let stopped = host.stop();
        stopped.and(folder.remove())
    }
}

/// Databases with a table in each.
pub(super) struct Tables<D: RowDialect> {
    folder: Folder,
    host: Host<D>,
    settings: Settings,
    form: D::Form,
    databases: Vec<String>,
    /// Kept because connecting would count as time when little is left to do.
    control: Mutex<D::Conn>,
    /// The server's counters when they were last asked for.
    counted: Mutex<Vec<i64>>,
}

fn name(database: u32) -> String {
    format!("storemark_rows_{database}")
}

impl<D: RowDialect> Tables<D> {
    pub(super) fn new(folder: Folder, settings: &Settings, databases: u32) -> Result<Self> {
        folder.check_served()?;
        let host = Host::joined(&folder);
        let control = Mutex::new(host.connect()?);
        Ok(Self {
            folder,
            host,
            settings: settings.clone(),
            form: D::row_form(settings),
            databases: (0..databases).map(name).collect(),
            control,
            counted: Mutex::default(),
        })
    }

    fn create(&self) -> Result<()> {
        let create = format!("{}{}", sql::create(&self.settings), D::table_options(&self.settings));
        let variables = self.host.variables(&mut lock::hold(&self.control))?;
        for database in &self.databases {
            self.control(|control| control.run(&D::create_database(database)))?;
            let mut conn = self.connect(database)?;
            conn.run(&create).map_err(|failure| self.host.explain(&failure))?;
            let form = store::form(&self.host, &mut conn, &D::table_name(database, "numbers"))?;
            D::check_fit(&self.settings, &variables, &form, true)?;
        }
        Ok(())
    }

    fn connect(&self, database: &str) -> Result<D::Conn> {
        self.host.connect_by(&D::to_folder(&self.folder, Some(database)))
    }

    fn control<T>(&self, work: impl FnOnce(&mut D::Conn) -> Result<T, Failure<D>>) -> Result<T> {
        work(&mut lock::hold(&self.control)).map_err(|failure| self.host.explain(&failure))
    }
}

impl<D: RowDialect> RowTables for Tables<D> {
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>> {
        let session = Session::new(self, self.connect(&name(database))?);
        Ok(Box::new(session.map_err(|failure| self.host.explain(&failure))?))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let variables = self.host.variables(&mut lock::hold(&self.control))?;
        let mut settings = D::in_effect(Facet::Rows, &variables, &self.form);
        add_asked(&mut settings, &self.settings);
        let rows = self.connect(&name(0))?.rows(NULLABLE);
        let rows = rows.map_err(|failure| self.host.explain(&failure))?;
        let null = rows.first().and_then(|row| row.text(0));
        settings.set(NULL.name, null.ok_or_else(|| Error::corrupt("the table is gone"))?);
        Ok((settings, D::durability(&variables, &self.form)))
    }

    /// A server that does not answer is noticed by the next call.
    fn files(&self, database: u32) -> Vec<PathBuf> {
        let database = name(database);
        let Ok(mut conn) = self.connect(&database) else { return Vec::new() };
        D::files(&mut conn, &self.folder, &database, &self.form).unwrap_or_default()
    }

    fn settle(&self) -> Result<()> {
        self.control(|control| D::settle_rows(control, &self.databases, &self.form))
    }

    fn statistics(&self) -> Result<Vec<(&'static str, i64)>> {
        let now = self.control(|control| D::counters(control, &self.databases, &self.form))?;
        let before = std::mem::replace(&mut *lock::hold(&self.counted), now.clone());
        let before = before.into_iter().chain(std::iter::repeat(0));
        let counts = now.into_iter().zip(before).map(|(now, before)| now - before);
        Ok(D::COUNTERS.iter().copied().zip(counts).collect())
    }

    fn remove(self: Box<Self>) -> Result<()> {
        let remove =
            |database| self.control(|control| control.run(&format!("DROP DATABASE {database}")));
        self.databases.iter().try_for_each(|database| remove(database).map(drop))
    }
}

/// One worker's connection to a database.
struct Session<'t, D: RowDialect> {
    tables: &'t Tables<D>,
    conn: D::Conn,
    insert: Statement<D>,
    waits: D::Waits,
    /// The text of the last statement, kept for its memory.
    sql: String,
    /// Transactions repeated since last asked.
    repeats: i64,
}

impl<'t, D: RowDialect> Session<'t, D> {
    fn new(tables: &'t Tables<D>, mut conn: D::Conn) -> Result<Self, Failure<D>> {
        let [i, i2] = [1, 2].map(D::GRAMMAR.parameter);
        let insert = conn.prepare(&format!("{}({i}, {i2})", sql::INSERT))?;
        let waits = D::waits(&mut conn, &tables.host, Facet::Rows)?;
        Ok(Self { tables, conn, insert, waits, sql: String::new(), repeats: 0 })
    }

    /// Runs a transaction until no other session is in its way.
    fn repeat<T>(
        &mut self,
        mut transaction: impl FnMut(&mut Self) -> Result<T, Failure<D>>,
    ) -> Result<T> {
        loop {
            match transaction(self) {
                Err(failure) if self.is_undone(&failure) => self.repeats += 1,
                done => return done.map_err(|failure| self.tables.host.explain(&failure)),
            }
        }
    }

    /// Whether the server gave up a transaction for another one; nothing of it remains.
    fn is_undone(&mut self, failure: &Failure<D>) -> bool {
        D::gave_way(failure, &self.tables.form) && self.conn.run("ROLLBACK").is_ok()
    }

    /// One transaction. Its frame is also sent to tables that have no transactions, as published.
    fn insert_all(&mut self, rows: Range<i64>, style: Style) -> Result<(), Failure<D>> {
        self.conn.run("START TRANSACTION")?;
        match style {
            Style::Text => self.insert_text(sql::INSERT, rows, 1),
            Style::Delayed => self.insert_text("INSERT DELAYED INTO numbers VALUES ", rows, 1),
            Style::Multi => self.insert_text(sql::INSERT, rows, MULTI_ROWS),
            Style::Prepared => self.insert_prepared(rows),
            Style::Bulk => D::load(&mut self.conn, rows),
        }?;
        self.conn.run("COMMIT").map(drop)
    }

    /// One SQL string for every `width` rows, made here and parsed by the server.
    fn insert_text(&mut self, start: &str, rows: Range<i64>, width: u64) -> Result<(), Failure<D>> {
        parts(rows, width).try_for_each(|part| {
            sql::insert(&mut self.sql, start, part);
            self.conn.run(&self.sql).map(drop)
        })
    }

    fn insert_prepared(&mut self, mut rows: Range<i64>) -> Result<(), Failure<D>> {
        rows.try_for_each(|i| {
            let row = [Value::Int(i), Value::Int(2 * i)];
            self.conn.execute(&self.insert, &row).map(drop)
        })
    }

    fn number(&mut self, query: &str) -> Result<i64> {
        self.repeat(|session| session.conn.number(query))
    }
}

/// An error if the columns cannot hold `rows`.
fn check(rows: &Range<i64>) -> Result<()> {
    let held = i64::from(i32::MIN / 2)..=i64::from(i32::MAX / 2) + 1;
    if held.contains(&rows.start) && held.contains(&rows.end) {
        return Ok(());
    }
    Err(Error::unsupported(format!("rows {rows:?} do not fit columns of 32 bits")))
}

impl<D: RowDialect> RowSession for Session<'_, D> {
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()> {
        check(&rows)?;
        parts(rows, batch)
            .try_for_each(|part| self.repeat(|session| session.insert_all(part.clone(), style)))
    }

    fn sum(&mut self) -> Result<i64> {
        self.number("SELECT sum(i2) FROM numbers")
    }

    fn add(&mut self, by: i64) -> Result<u64> {
        let statement = format!("UPDATE numbers SET i2=i2+{by}");
        self.repeat(|session| session.conn.run(&statement))
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.number("SELECT count(*) FROM numbers")?.unsigned_abs())
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        let waits = D::count(&mut self.waits, &mut self.conn, &self.tables.host);
        let waits = waits.map(|waits| (LOCK_WAITS, waits));
        waits.into_iter().chain([(BUSY_RETRIES, std::mem::take(&mut self.repeats))]).collect()
    }
}
