//! Rows: a server with an SQL database for each number, a table without a primary key in each.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Mutex,
};

use kit::{
    lock,
    sql::{self, split_rows},
};
use model::{
    Durability, Engine, Error, Facet, Result, Rows, Settings,
    rows::{MULTI_ROWS, NULL, RowSession, RowStore, RowTables, Style},
};

use super::{
    dialect::{Answer, Dialect, Failure, ResultRow, SqlValue, Why, statistics},
    engine::ServerEngine,
    folder::{ServerFolder, VIA},
    host::Host,
    in_effect::{in_effect, with_fixed},
    store::TableStore,
    users::Catalog,
};

const NULLABLE: &str = "SELECT LOWER(MAX(is_nullable)) FROM information_schema.columns \
                        WHERE table_name='numbers'";

impl<D: Catalog> Rows for ServerEngine<TableStore<D>> {
    fn table_settings(&self) -> &'static [&'static str] {
        &["engine", NULL.name]
    }

    fn styles(&self, settings: &Settings) -> &'static [Style] {
        const ALWAYS: &[Style] = &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk];
        if D::delays(settings) { &Style::ALL } else { ALWAYS }
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        self.check(Facet::Rows, settings)?;
        let folder = ServerFolder::new(location, D::software())?;
        let start = || Host::<D>::start(&folder, Facet::Rows, settings);
        let host = Host::<D>::install(&folder, settings, start)?;
        Ok(Box::new(RowServer { folder, host }))
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        let folder = ServerFolder::new(location, D::software())?;
        Ok(Box::new(RowDatabases::<D>::new(folder, settings, 0)?))
    }
}

/// A server that this process started.
struct RowServer<D: Dialect> {
    folder: ServerFolder,
    host: Host<D>,
}

impl<D: Dialect> RowStore for RowServer<D> {
    fn location(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>> {
        D::check(Facet::Rows, settings)?;
        let tables = RowDatabases::<D>::new(self.folder.clone(), settings, databases)?;
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

struct RowDatabases<D: Dialect> {
    folder: ServerFolder,
    host: Host<D>,
    settings: Settings,
    databases: Vec<String>,
    /// The server's counters at the last call.
    counted: Mutex<Vec<(&'static str, i64)>>,
}

fn name(database: u32) -> String {
    format!("storemark_rows_{database}")
}

impl<D: Dialect> RowDatabases<D> {
    fn new(folder: ServerFolder, settings: &Settings, databases: u32) -> Result<Self> {
        let host = Host::connect_started(&folder, settings)?;
        let databases = (0..databases).map(name).collect();
        Ok(Self { folder, host, settings: settings.clone(), databases, counted: Mutex::default() })
    }

    fn create(&self) -> Result<()> {
        let create = format!("{}{}", sql::create(&self.settings), D::table_options(&self.settings));
        for database in &self.databases {
            let statement = format!("CREATE DATABASE {database}{}", D::NEW_DATABASE);
            self.host.control(|control| control.run(&statement))?;
            let fixed = self.run_in_database(database, |conn| {
                conn.run(&create)?;
                D::fixed_setting(conn, &D::table_name(database, "numbers"))
            })?;
            with_fixed(&self.host, fixed, &self.settings)?;
        }
        Ok(())
    }

    /// Runs `work` in a database, by a connection of its own.
    fn run_in_database<T>(
        &self,
        database: &str,
        work: impl FnOnce(&mut D) -> Answer<T>,
    ) -> Result<T> {
        let done =
            D::to_folder(&self.folder, Some(database), None)().and_then(|mut conn| work(&mut conn));
        done.map_err(|failure| self.host.explain(failure))
    }
}

impl<D: Dialect> RowTables for RowDatabases<D> {
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>> {
        let tcp = self.folder.tcp();
        let connect = D::to_folder(&self.folder, Some(&name(database)), tcp.as_ref());
        let [i, i2] = [1, 2].map(D::GRAMMAR.parameter);
        let insert = format!("{}({i}, {i2})", sql::INSERT);
        let prepare = |conn: &mut D| conn.prepare(&insert);
        let (conn, insert) = self.host.session(&connect, Facet::Rows, prepare)?;
        Ok(Box::new(RowConnection { tables: self, conn, insert, sql: String::new(), repeats: 0 }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let (mut settings, class) = in_effect(&self.host, Facet::Rows, &self.settings)?;
        let rows = self.run_in_database(&name(0), |conn| conn.rows(NULLABLE))?;
        let null = rows.first().and_then(|row| row.text(0));
        settings.set(VIA.name, if self.folder.tcp().is_some() { "tcp" } else { "socket" });
        settings.set(NULL.name, null.ok_or_else(|| Error::corrupt("the table is gone"))?);
        Ok((settings, class))
    }

    /// Returns the files of a table. The next call notices if the server does not answer.
    fn files(&self, database: u32) -> Vec<PathBuf> {
        let database = name(database);
        let files = |conn: &mut _| D::files(conn, &self.folder, &database, &self.settings);
        self.run_in_database(&database, files).unwrap_or_default()
    }

    fn flush_writes(&self) -> Result<()> {
        self.host.control_table(|control| D::flush_rows(control, &self.databases, &self.settings))
    }

    fn statistics(&self) -> Result<Vec<(&'static str, i64)>> {
        let (databases, settings) = (&self.databases, &self.settings);
        let now = self.host.control_table(|control| D::counters(control, databases, settings))?;
        let before = std::mem::replace(&mut *lock::hold(&self.counted), now.clone());
        let before = before.into_iter().map(|(_, count)| count).chain(std::iter::repeat(0));
        Ok(now.into_iter().zip(before).map(|((name, now), before)| (name, now - before)).collect())
    }

    fn remove(self: Box<Self>) -> Result<()> {
        let statements = self.databases.iter().map(|name| format!("DROP DATABASE {name}"));
        self.host.control_table(|control| control.run_all(statements))
    }
}

/// A worker's connection to a database.
struct RowConnection<'t, D: Dialect> {
    tables: &'t RowDatabases<D>,
    conn: D,
    insert: D::Statement,
    /// The text of the last statement, kept for its memory.
    sql: String,
    /// The number of transactions repeated since the last call.
    repeats: i64,
}

impl<D: Dialect> RowConnection<'_, D> {
    /// Runs a transaction until no other session is in its way.
    fn retry<T>(&mut self, mut transaction: impl FnMut(&mut Self) -> Answer<T>) -> Result<T> {
        loop {
            match transaction(self) {
                Err(failure) if self.is_undone(&failure) => self.repeats += 1,
                done => return done.map_err(|failure| self.tables.host.explain(failure)),
            }
        }
    }

    /// Returns whether the server gave up a transaction for another one; nothing of it remains.
    fn is_undone(&mut self, failure: &Failure) -> bool {
        matches!(failure.why, Why::Waited | Why::Undone)
            && D::is_transactional(&self.tables.settings)
            && self.conn.run("ROLLBACK").is_ok()
    }

    /// Inserts rows in one transaction. Its frame is also sent to tables that have no transactions,
    /// as published.
    fn insert_all(&mut self, rows: Range<i64>, style: Style) -> Answer<()> {
        self.conn.run("START TRANSACTION")?;
        match style {
            Style::Text => self.insert_text(sql::INSERT, rows, 1),
            Style::Delayed => self.insert_text("INSERT DELAYED INTO numbers VALUES ", rows, 1),
            Style::Multi => self.insert_text(sql::INSERT, rows, MULTI_ROWS),
            Style::Prepared => rows.into_iter().try_for_each(|i| {
                let row = [SqlValue::Int(i), SqlValue::Int(2 * i)];
                self.conn.execute(&self.insert, &row).map(drop)
            }),
            Style::Bulk => D::load(&mut self.conn, rows),
        }?;
        self.conn.run("COMMIT").map(drop)
    }

    /// Inserts rows by one SQL string for every `width` rows, written here and parsed by the
    /// server.
    fn insert_text(&mut self, start: &str, rows: Range<i64>, width: u64) -> Answer<()> {
        split_rows(rows, width).try_for_each(|part| {
            sql::insert(&mut self.sql, start, part);
            self.conn.run(&self.sql).map(drop)
        })
    }

    fn number(&mut self, query: &str) -> Result<i64> {
        self.retry(|session| session.conn.number(query))
    }
}

/// Checks that the columns can hold `rows`.
fn check(rows: &Range<i64>) -> Result<()> {
    let held = i64::from(i32::MIN / 2)..=i64::from(i32::MAX / 2) + 1;
    if held.contains(&rows.start) && held.contains(&rows.end) {
        return Ok(());
    }
    Err(Error::unsupported(format!("rows {rows:?} do not fit columns of 32 bits")))
}

impl<D: Dialect> RowSession for RowConnection<'_, D> {
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()> {
        check(&rows)?;
        split_rows(rows, batch)
            .try_for_each(|part| self.retry(|session| session.insert_all(part.clone(), style)))
    }

    fn sum(&mut self) -> Result<i64> {
        self.number("SELECT sum(i2) FROM numbers")
    }

    fn add(&mut self, by: i64) -> Result<u64> {
        let statement = format!("UPDATE numbers SET i2=i2+{by}");
        self.retry(|session| session.conn.run(&statement))
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.number("SELECT count(*) FROM numbers")?.unsigned_abs())
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        statistics(self.conn.waits(), std::mem::take(&mut self.repeats))
    }
}
