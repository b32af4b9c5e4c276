//! One worker's connection with its prepared statements.

use std::{cell::Cell, ops::ControlFlow};

use model::{
    Access, Error, Item, Key, KeyKind, LOCK_WAITS, Meta, Mode, Put, Result, Session, Visit,
};
use postgres::{Client, Row, Statement, fallible_iterator::FallibleIterator, types::ToSql};

use super::database::Database;
use crate::refusal::{read_only, wrong_kind};

/// An entry of a btree takes at most a third of a page of 8 KiB, and has 12 bytes beside the key.
const LONGEST_NAME: usize = 2692;

/// Rows that one fetch of a cursor brings: few, as values are large.
const FETCHED: usize = 32;

pub(super) struct PostgresSession<'s> {
    database: &'s Database,
    client: Client,
    /// Between `begin` and `commit`, unless an error ended the transaction.
    in_batch: bool,
    get: Statement,
    insert: Statement,
    update: Statement,
    upsert: Statement,
    delete: Statement,
    scan_from: Statement,
    /// The server's process for this connection.
    backend: i32,
    /// How far the server's log was read.
    read: Cell<u64>,
}

impl<'s> PostgresSession<'s> {
    pub(super) fn new(database: &'s Database) -> Result<Self> {
        let client = database.connect()?;
        Self::prepared(database, client).map_err(|error| database.host.explain(&error))
    }

    fn prepared(database: &'s Database, mut client: Client) -> Result<Self, postgres::Error> {
        let table = &database.table;
        Ok(Self {
            database,
            in_batch: false,
            get: client.prepare(&table.get())?,
            insert: client.prepare(&table.insert())?,
            update: client.prepare(&table.update())?,
            upsert: client.prepare(&table.upsert())?,
            delete: client.prepare(&table.delete())?,
            scan_from: client.prepare(&table.scan_from())?,
            backend: client.query_one("SELECT pg_backend_pid()", &[])?.get(0),
            read: Cell::new(database.host.log_length()),
            client,
        })
    }

    fn keys(&self) -> KeyKind {
        self.database.table.keys
    }

    fn check(&self, key: Key<'_>) -> Result<()> {
        match key {
            _ if key.kind() != self.keys() => Err(wrong_kind(key, self.keys())),
            Key::Name(name) if name.len() > LONGEST_NAME => Err(Error::unsupported(format!(
                "{key}: a name of {} bytes; PostgreSQL's index takes at most {LONGEST_NAME}",
                name.len()
            ))),
            _ => Ok(()),
        }
    }

    fn check_write(&self, key: Key<'_>) -> Result<()> {
        if self.database.access == Access::Read { Err(read_only()) } else { self.check(key) }
    }

    /// After an error the server refuses everything until the transaction is rolled back.
    #[cold]
    fn failed(&mut self, error: &postgres::Error) -> Error {
        if std::mem::take(&mut self.in_batch) {
            // It fails where the connection is lost, and then there is nothing to roll back.
            let _ = self.client.batch_execute("ROLLBACK");
        }
        self.database.host.explain(error)
    }

    fn run(&mut self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).map_err(|error| self.failed(&error))
    }

    /// Visits the rows of `sql` as a cursor brings them, in one transaction.
    fn each(&mut self, sql: &str, visit: &mut dyn FnMut(&Row) -> Visit) -> Result<()> {
        let own = !self.in_batch;
        if own {
            self.begin(Mode::Read)?;
        }
        self.run(&format!("DECLARE visited NO SCROLL CURSOR FOR {sql}"))?;
        let visited = self.fetch_all(visit);
        // An error of the server's has ended the transaction, and the cursor with it.
        if self.in_batch {
            self.run("CLOSE visited")?;
            if own {
                self.commit()?;
            }
        }
        visited
    }

    fn fetch_all(&mut self, visit: &mut dyn FnMut(&Row) -> Visit) -> Result<()> {
        let fetch = self.client.prepare(&format!("FETCH {FETCHED} FROM visited"));
        let fetch = fetch.map_err(|error| self.failed(&error))?;
        loop {
            match fetch_some(&mut self.client, &fetch, visit) {
                Ok(Ok(ControlFlow::Continue(()))) => {}
                Ok(stopped) => return stopped.map(drop),
                Err(error) => return Err(self.failed(&error)),
            }
        }
    }
}

/// The next rows. Outside, the server's error; inside, what the visitor answers, or a stop after
/// the last row.
fn fetch_some(
    client: &mut Client,
    fetch: &Statement,
    visit: &mut dyn FnMut(&Row) -> Visit,
) -> Result<Visit, postgres::Error> {
    let mut rows = client.query_raw(fetch, std::iter::empty::<&i64>())?;
    for _ in 0..FETCHED {
        let Some(row) = rows.next()? else { return Ok(Ok(ControlFlow::Break(()))) };
        match visit(&row) {
            Ok(ControlFlow::Continue(())) => {}
            stop => return Ok(stop),
        }
    }
    Ok(Ok(ControlFlow::Continue(())))
}

/// A key as a parameter.
fn parameter<'k>(key: &'k Key<'_>) -> &'k (dyn ToSql + Sync) {
    match key {
        Key::Int(key) => key,
        Key::Name(name) => name,
    }
}

impl Session for PostgresSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.check(key)?;
        let row = self.client.query_opt(&self.get, &[parameter(&key)]);
        let Some(row) = row.map_err(|error| self.failed(&error))? else { return Ok(None) };
        let value: &[u8] = row.get(0);
        if let Some(front) = into.get_mut(..value.len()) {
            front.copy_from_slice(value);
        }
        Ok(Some(value.len()))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.check_write(key)?;
        let statement = match put.how {
            model::How::Insert => &self.insert,
            model::How::Update => &self.update,
            model::How::Upsert => &self.upsert,
        };
        let key = parameter(&key);
        let written = match self.keys() {
            KeyKind::Integers => self.client.execute(statement, &[key, &value]),
            KeyKind::Names => {
                let mode = put.meta.map(|meta| i64::from(meta.mode));
                let seconds = put.meta.map(|meta| meta.seconds);
                let nanoseconds = put.meta.map(|meta| i64::from(meta.nanoseconds));
                self.client.execute(statement, &[key, &value, &mode, &seconds, &nanoseconds])
            }
        };
        Ok(written.map_err(|error| self.failed(&error))? > 0)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.check_write(key)?;
        let deleted = self.client.execute(&self.delete, &[parameter(&key)]);
        Ok(deleted.map_err(|error| self.failed(&error))? > 0)
    }

    /// Reads of a batch see the store as it was when it began, as those of an embedded engine do.
    /// Writes see what others have committed, which is the server's default: with a view of their
    /// own, two writers of one key could not both succeed.
    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.run(match mode {
            Mode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Mode::Write => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        })?;
        self.in_batch = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.in_batch) {
            return Err(Error::failed("an error has ended the batch; it was rolled back"));
        }
        self.run("COMMIT")
    }

    fn list(&mut self, visit: &mut dyn FnMut(Key<'_>, u64) -> Visit) -> Result<()> {
        let keys = self.keys();
        self.each(&self.database.table.list(), &mut |row| {
            visit(key_of(row, keys), row.get::<_, i64>(1).unsigned_abs())
        })
    }

    fn scan(&mut self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        let keys = self.keys();
        self.each(&self.database.table.scan(), &mut |row| visit(item_of(row, keys)))
    }

    fn scan_from(
        &mut self,
        from: Option<Key<'_>>,
        limit: u64,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let from = from.unwrap_or(Key::least(self.keys()));
        self.check(from)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.client.query(&self.scan_from, &[parameter(&from), &limit]);
        for row in rows.map_err(|error| self.failed(&error))? {
            if visit(item_of(&row, self.keys()))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        let Some((waits, end)) = self.database.host.waits(self.backend, self.read.get()) else {
            return Vec::new();
        };
        self.read.set(end);
        vec![(LOCK_WAITS, waits)]
    }
}

fn item_of(row: &Row, keys: KeyKind) -> Item<'_> {
    Item { key: key_of(row, keys), value: row.get(1), meta: meta_of(row, keys) }
}

fn key_of(row: &Row, keys: KeyKind) -> Key<'_> {
    match keys {
        KeyKind::Integers => Key::Int(row.get(0)),
        KeyKind::Names => Key::Name(row.get(0)),
    }
}

fn meta_of(row: &Row, keys: KeyKind) -> Option<Meta> {
    if keys == KeyKind::Integers {
        return None;
    }
    let (mode, seconds, nanoseconds): (Option<i64>, Option<i64>, Option<i64>) =
        (row.get(2), row.get(3), row.get(4));
    Some(Meta {
        mode: mode?.try_into().unwrap_or(0),
        seconds: seconds?,
        nanoseconds: nanoseconds?.try_into().unwrap_or(0),
    })
}
