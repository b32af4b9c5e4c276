//! The databases of a server, a table in each.

use std::{path::PathBuf, sync::Mutex};

use model::{
    Durability, Error, LOCK_WAITS, Result, Settings,
    rows::{DELAYED_ROWS, NULL, RowSession, RowTables},
};
use mysql::{Conn, prelude::Queryable};

use super::{may_be_null, session::TableSession};
use crate::{
    lock,
    mariadb::{connection::Connector, folder::Folder, kind::Kind, session::waits, told},
};

pub(super) struct Tables {
    folder: Folder,
    settings: Settings,
    databases: u32,
    kind: Kind,
    connector: Connector,
    /// Kept, since connecting would count as time when what is owed is little.
    conn: Mutex<Conn>,
    counted: Mutex<Counts>,
}

/// The server's counters since it started.
#[derive(Clone, Copy, Default)]
struct Counts {
    waits: i64,
    delayed: i64,
}

fn name(database: u32) -> String {
    format!("storemark_rows_{database}")
}

impl Tables {
    pub(super) fn new(folder: &Folder, settings: &Settings, databases: u32) -> Result<Self> {
        let connector = Connector::to_socket(&folder.socket(), None);
        let conn = Mutex::new(connector.connect()?);
        let (folder, settings) = (folder.clone(), settings.clone());
        let kind = Kind::asked(&settings);
        let counted = Mutex::default();
        Ok(Self { folder, settings, databases, kind, connector, conn, counted })
    }

    pub(super) fn make(&self) -> Result<()> {
        let null = if may_be_null(&self.settings) { "" } else { " NOT NULL" };
        let kind = self.kind.word();
        for database in (0..self.databases).map(name) {
            self.execute(&format!("CREATE DATABASE {database}"))?;
            self.execute(&format!(
                "CREATE TABLE {database}.foo (i INT{null}, i2 INT{null}) ENGINE={kind}"
            ))?;
        }
        let (made, _) = self.declared()?;
        if made.eq_ignore_ascii_case(kind) {
            return Ok(());
        }
        Err(Error::usage(format!("engine={kind}: the server does not have it")))
    }

    /// The storage engine of the first table, and whether its columns may be NULL.
    fn declared(&self) -> Result<(String, String)> {
        let declared = self.on_server(|conn| {
            conn.query_first(format!(
                "SELECT engine, LOWER(MAX(is_nullable)) FROM information_schema.tables \
                 JOIN information_schema.columns USING (table_schema, table_name) \
                 WHERE table_schema = '{}' GROUP BY engine",
                name(0)
            ))
        })?;
        declared.ok_or_else(|| Error::corrupt("the table is not there"))
    }

    fn execute(&self, statement: &str) -> Result<()> {
        self.on_server(|conn| conn.query_drop(statement))
    }

    fn on_server<T>(&self, work: impl FnOnce(&mut Conn) -> mysql::Result<T>) -> Result<T> {
        work(&mut lock::hold(&self.conn)).map_err(|e| self.connector.explain(e))
    }

    fn counts(&self) -> Result<Counts> {
        self.on_server(|conn| {
            Ok(Counts { waits: waits(conn)?, delayed: counter(conn, "Delayed_writes")? })
        })
    }

    /// Closes the tables: what was put off is written.
    fn flush(&self) -> Result<()> {
        let tables: Vec<_> = (0..self.databases).map(|n| format!("{}.foo", name(n))).collect();
        if tables.is_empty() {
            return Ok(());
        }
        self.execute(&format!("FLUSH TABLES {}", tables.join(", ")))
    }
}

/// How the files of a table end that hold its rows.
fn suffixes(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Innodb => &["ibd"],
        Kind::Myisam => &["MYD", "MYI"],
        Kind::Aria => &["MAD", "MAI"],
        Kind::Csv => &["CSV"],
        Kind::Memory => &[],
    }
}

fn counter(conn: &mut Conn, name: &str) -> mysql::Result<i64> {
    let found = conn.query_first(format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
    Ok(found.map_or(0, |(_, count): (String, i64)| count))
}

impl RowTables for Tables {
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>> {
        let connector = Connector::to_socket(&self.folder.socket(), Some(&name(database)));
        Ok(Box::new(TableSession::new(connector, self.kind)?))
    }

    fn in_effect(&self) -> Result<Settings> {
        let (_, null) = self.declared()?;
        let explain = |e| self.connector.explain(e);
        let mut conn = lock::hold(&self.conn);
        let mut found = told::in_effect(&mut conn, self.kind, &self.settings, &explain)?;
        found.set(NULL.name, null);
        Ok(found)
    }

    fn durability(&self) -> Result<Durability> {
        Ok(self.on_server(told::flushing)?.class(self.kind))
    }

    fn files(&self, database: u32) -> Vec<PathBuf> {
        let data = self.folder.data();
        let table = data.join(name(database)).join("foo");
        let files: Vec<_> = suffixes(self.kind).iter().map(|s| table.with_extension(s)).collect();
        let has_own = self.kind != Kind::Innodb || files.iter().all(|file| file.exists());
        // One file has them all where innodb_file_per_table is off.
        if has_own { files } else { vec![data.join("ibdata1")] }
    }

    /// Only rows that are delayed are put off: a commit of InnoDB has done what its class asks for,
    /// the other kinds have none.
    fn settle(&self) -> Result<()> {
        if self.kind.delays() && self.on_server(|conn| counter(conn, "Delayed_insert_threads"))? > 0
        {
            self.flush()?;
        }
        Ok(())
    }

    fn statistics(&self) -> Result<Vec<(&'static str, i64)>> {
        if self.kind == Kind::Aria {
            // It writes pages at its checkpoints: till then its files do not tell its size.
            self.flush()?;
        }
        let now = self.counts()?;
        let before = std::mem::replace(&mut *lock::hold(&self.counted), now);
        Ok(vec![
            (LOCK_WAITS, now.waits - before.waits),
            (DELAYED_ROWS, now.delayed - before.delayed),
        ])
    }

    fn remove(self: Box<Self>) -> Result<()> {
        (0..self.databases).try_for_each(|n| self.execute(&format!("DROP DATABASE {}", name(n))))
    }
}
