//! Rows in PostgreSQL: a private server with a SQL database for each process.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use ::postgres::{
    Client, Error as ServerError, NoTls, SimpleQueryMessage, Transaction,
    binary_copy::BinaryCopyInWriter, error::SqlState, types::Type,
};
use model::{
    BUSY_RETRIES, Durability, Error, LOCK_WAITS, Result, Rows, Settings,
    rows::{MULTI_ROWS, RowSession, RowStore, RowTables, Style},
};

use crate::{
    postgres::{
        Postgres, account,
        cluster::Cluster,
        host::Host,
        store::stop,
        variables::{self, Variables},
    },
    server::Server,
    sql::{self, parts},
};

impl Rows for Postgres {
    fn table_settings(&self) -> &'static [&'static str] {
        &["null"]
    }

    fn check(&self, settings: &Settings) -> Result<()> {
        variables::check_inside(settings)
    }

    fn styles(&self, _: &Settings) -> &'static [Style] {
        &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk]
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        let cluster = Cluster::at(location);
        cluster.make(account())?;
        let (server, _) = cluster.start(settings, account()).inspect_err(|_| cluster.remove())?;
        Ok(Box::new(Running { cluster, server }))
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(Box::new(Tables::new(Cluster::at(location), settings, 0)?))
    }
}

/// A server that this process started.
struct Running {
    cluster: Cluster,
    server: Server,
}

impl RowStore for Running {
    fn location(&self) -> PathBuf {
        self.cluster.folder.clone()
    }

    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>> {
        let tables = Tables::new(self.cluster.clone(), settings, databases)?;
        tables.each(|database| format!("CREATE DATABASE {database} TEMPLATE template0"))?;
        for database in 0..databases {
            tables.run(&mut tables.connect(database)?, &sql::create(settings))?;
        }
        Ok(Box::new(tables))
    }

    fn processes(&self) -> Vec<u32> {
        vec![self.server.pid()]
    }

    fn close(self: Box<Self>) -> Result<()> {
        let stopped = stop(self.server);
        self.cluster.remove();
        stopped.map_err(|error| error.context(self.cluster.folder.display()))
    }
}

struct Tables {
    cluster: Cluster,
    host: Host,
    settings: Settings,
    databases: u32,
}

impl Tables {
    fn new(cluster: Cluster, settings: &Settings, databases: u32) -> Result<Self> {
        let host = cluster.joined()?;
        Ok(Self { cluster, host, settings: settings.clone(), databases })
    }

    fn explained<T>(&self, done: Result<T, ServerError>) -> Result<T> {
        done.map_err(|error| self.host.explain(&error))
    }

    fn connect(&self, database: u32) -> Result<Client> {
        let mut config = self.cluster.config();
        self.explained(config.dbname(&name(database)).connect(NoTls))
    }

    fn run(&self, client: &mut Client, sql: &str) -> Result<()> {
        self.explained(client.batch_execute(sql))
    }

    /// Runs what `sql` makes of each database's name, from outside of them.
    fn each(&self, sql: impl Fn(String) -> String) -> Result<()> {
        let mut client = self.explained(self.cluster.config().connect(NoTls))?;
        (0..self.databases).try_for_each(|database| self.run(&mut client, &sql(name(database))))
    }

    /// The first file of a database's table.
    fn file(&self, database: u32) -> Result<PathBuf> {
        let sql = "SELECT pg_relation_filepath('numbers')";
        let row = self.explained(self.connect(database)?.query_one(sql, &[]))?;
        Ok(self.cluster.data().join(row.get::<_, String>(0)))
    }
}

fn name(database: u32) -> String {
    format!("rows{database}")
}

impl RowTables for Tables {
    fn session(&self, database: u32) -> Result<Box<dyn RowSession + '_>> {
        let mut client = self.connect(database)?;
        let row = self.explained(client.query_one("SELECT pg_backend_pid()", &[]))?;
        let (backend, read) = (row.get(0), self.host.log_length());
        Ok(Box::new(Session { tables: self, client, backend, read, repeats: 0 }))
    }

    fn in_effect(&self) -> Result<Settings> {
        const NULLABLE: &str = "SELECT bool_or(is_nullable='YES') FROM information_schema.columns \
                                WHERE table_name='numbers'";
        let mut client = self.connect(0)?;
        let variables = Variables::read(&mut client)?;
        let mut settings = variables.settings(&self.settings);
        settings.set("set.autovacuum", variables.get("autovacuum"));
        let nullable = self.explained(client.query_one(NULLABLE, &[]))?.get(0);
        settings.set("null", if nullable { "yes" } else { "no" });
        Ok(settings)
    }

    fn durability(&self) -> Result<Durability> {
        Ok(Variables::read(&mut self.connect(0)?)?.durability())
    }

    /// A file is made longer as soon as a row needs a new page, also while the page itself is in
    /// the server's memory only: lengths are true without a checkpoint. A server that does not
    /// answer is noticed by whatever is asked of it next.
    fn files(&self, database: u32) -> Vec<PathBuf> {
        let Ok(first) = self.file(database) else { return Vec::new() };
        let beside = |end: &str| {
            let mut path = first.clone().into_os_string();
            path.push(end);
            PathBuf::from(path)
        };
        let segments = (1..).map(|n| beside(&format!(".{n}"))).take_while(|path| path.exists());
        [first.clone(), beside("_fsm"), beside("_vm")].into_iter().chain(segments).collect()
    }

    /// The server waits a while for the sessions of workers that have just ended.
    fn remove(self: Box<Self>) -> Result<()> {
        self.each(|database| format!("DROP DATABASE {database}"))
    }
}

struct Session<'t> {
    tables: &'t Tables,
    client: Client,
    /// The server's process for it.
    backend: i32,
    /// How far the server's log was read.
    read: u64,
    /// Attempts repeated for the sake of others, since last told.
    repeats: i64,
}

impl Session<'_> {
    /// Does `work` until the server no longer gives it up for the sake of another session.
    fn repeat<T>(
        &mut self,
        mut work: impl FnMut(&mut Client) -> Result<T, ServerError>,
    ) -> Result<T> {
        loop {
            match work(&mut self.client) {
                Err(error) if gave_way(&error) => self.repeats += 1,
                done => return self.tables.explained(done),
            }
        }
    }

    /// Runs `insert` in a transaction for each part of `rows` that is one.
    fn in_batches(
        &mut self,
        rows: Range<i64>,
        batch: u64,
        mut insert: impl FnMut(&mut Transaction<'_>, Range<i64>) -> Result<(), ServerError>,
    ) -> Result<()> {
        parts(rows, batch).try_for_each(|part| {
            self.repeat(|client| {
                // Dropped after an error, it is rolled back.
                let mut transaction = client.transaction()?;
                insert(&mut transaction, part.clone())?;
                transaction.commit()
            })
        })
    }

    /// A string for every `width` rows.
    fn insert_text(&mut self, rows: Range<i64>, batch: u64, width: u64) -> Result<()> {
        let mut text = String::new();
        self.in_batches(rows, batch, |transaction, rows| {
            parts(rows, width).try_for_each(|part| {
                sql::insert(&mut text, part);
                transaction.batch_execute(&text)
            })
        })
    }

    fn insert_prepared(&mut self, rows: Range<i64>, batch: u64) -> Result<()> {
        let statement = self.client.prepare("INSERT INTO numbers VALUES ($1, $2)");
        let statement = self.tables.explained(statement)?;
        self.in_batches(rows, batch, |transaction, mut rows| {
            rows.try_for_each(|i| {
                let [i, i2] = row(i);
                transaction.execute(&statement, &[&i, &i2]).map(drop)
            })
        })
    }

    fn insert_bulk(&mut self, rows: Range<i64>, batch: u64) -> Result<()> {
        self.in_batches(rows, batch, |transaction, mut rows| {
            let out = transaction.copy_in("COPY numbers FROM STDIN (FORMAT binary)")?;
            let mut out = BinaryCopyInWriter::new(out, &[Type::INT4, Type::INT4]);
            rows.try_for_each(|i| {
                let [i, i2] = row(i);
                out.write(&[&i, &i2])
            })?;
            out.finish().map(drop)
        })
    }
}

/// Whether it failed only since another session was at work; what it did is undone.
fn gave_way(error: &ServerError) -> bool {
    [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE]
        .iter()
        .any(|state| error.code() == Some(state))
}

/// Row `i`, which [`check`] has let pass.
fn row(i: i64) -> [i32; 2] {
    [i, 2 * i].map(|n| i32::try_from(n).expect("rows are checked before they are inserted"))
}

/// Refuses rows that the columns cannot hold.
fn check(rows: &Range<i64>) -> Result<()> {
    let held = i64::from(i32::MIN / 2)..=i64::from(i32::MAX / 2) + 1;
    if held.contains(&rows.start) && held.contains(&rows.end) {
        return Ok(());
    }
    Err(Error::unsupported(format!("rows {rows:?} do not fit columns of 32 bits")))
}

impl RowSession for Session<'_> {
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()> {
        check(&rows)?;
        match style {
            Style::Text => self.insert_text(rows, batch, 1),
            Style::Multi => self.insert_text(rows, batch, MULTI_ROWS),
            Style::Prepared => self.insert_prepared(rows, batch),
            Style::Bulk => self.insert_bulk(rows, batch),
            Style::Delayed => Err(Error::unsupported("PostgreSQL has no delayed inserts")),
        }
    }

    fn sum(&mut self) -> Result<i64> {
        let sql = "SELECT coalesce(sum(i2), 0) FROM numbers";
        Ok(self.repeat(|client| client.query_one(sql, &[]))?.get(0))
    }

    /// A statement alone is a transaction.
    fn add(&mut self, by: i64) -> Result<u64> {
        let sql = format!("UPDATE numbers SET i2=i2+{by}");
        let told = self.repeat(|client| client.simple_query(&sql))?;
        let changed = told.iter().find_map(|message| match message {
            SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
            _ => None,
        });
        changed.ok_or_else(|| Error::failed("PostgreSQL does not tell how many rows it changed"))
    }

    fn count(&mut self) -> Result<u64> {
        let row = self.repeat(|client| client.query_one("SELECT count(*) FROM numbers", &[]))?;
        Ok(row.get::<_, i64>(0).unsigned_abs())
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        let mut told = vec![(BUSY_RETRIES, std::mem::take(&mut self.repeats))];
        if let Some((waits, end)) = self.tables.host.waits(self.backend, self.read) {
            self.read = end;
            told.push((LOCK_WAITS, waits));
        }
        told
    }
}
