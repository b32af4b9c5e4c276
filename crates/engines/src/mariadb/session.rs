//! One worker's connection with its prepared statements.

use std::{
    cell::{Cell, RefCell},
    ops::ControlFlow,
};

use model::{
    Access, BUSY_RETRIES, Error, How, Item, Key, KeyKind, LOCK_WAITS, Meta, Mode, Put, Result,
    Session, Visit,
};
use mysql::{Conn, Params, Row, Statement, Value, prelude::Queryable};

use super::{connection::code, store::TableStore};
use crate::refusal::{read_only, wrong_kind};

/// What a statement needs in a packet beside key and value: more than it takes.
const AROUND: u64 = 1024;
/// How often an operation that is a transaction of its own is repeated.
const TRIES: u32 = 10;

pub(crate) struct TableSession<'s> {
    store: &'s TableStore,
    /// In a cell for the counters alone.
    conn: RefCell<Conn>,
    statements: Statements,
    in_batch: bool,
    /// Operations repeated since last asked.
    retries: Cell<i64>,
    /// The server's lock waits when last asked, in the one session that counts them.
    waits: Cell<Option<i64>>,
}

struct Statements {
    get: Statement,
    insert: Statement,
    update: Statement,
    upsert: Statement,
    delete: Statement,
    scan_from: Statement,
}

impl<'s> TableSession<'s> {
    pub(crate) fn new(store: &'s TableStore) -> Result<Self> {
        let mut conn = store.connector.connect()?;
        let table = &store.table;
        let mut prepare = |sql: String| conn.prep(sql).map_err(|e| store.explain(e));
        let statements = Statements {
            get: prepare(table.get())?,
            insert: prepare(table.insert())?,
            update: prepare(table.update())?,
            upsert: prepare(table.upsert())?,
            delete: prepare(table.delete())?,
            scan_from: prepare(table.scan_from())?,
        };
        let waits = first_waits(&mut conn).map_err(|e| store.explain(e))?;
        Ok(Self {
            store,
            conn: RefCell::new(conn),
            statements,
            in_batch: false,
            retries: Cell::new(0),
            waits: Cell::new(waits),
        })
    }

    fn value_of(&self, key: Key<'_>) -> Result<Value> {
        match (key, self.store.table.keys) {
            (Key::Int(key), KeyKind::Integers) => Ok(Value::Int(key)),
            (Key::Name(name), KeyKind::Names) => {
                let longest = self.store.table.kind.longest_name();
                if name.len() > longest {
                    return Err(Error::usage(format!(
                        "key {key}: a name has at most {longest} bytes in a primary key of engine={}",
                        self.store.table.kind.word()
                    )));
                }
                Ok(Value::Bytes(name.to_vec()))
            }
            (key, held) => Err(wrong_kind(key, held)),
        }
    }

    fn check_packet(&self, value: &[u8]) -> Result<()> {
        let (needed, longest) = (value.len() as u64 + AROUND, self.store.longest_packet);
        if needed <= longest {
            return Ok(());
        }
        Err(Error::usage(format!(
            "a value of {} bytes does not fit into max_allowed_packet, which is {longest} bytes on \
             this server; SET GLOBAL max_allowed_packet={} (at most 1 GiB) lets it in",
            value.len(),
            needed.next_multiple_of(1024)
        )))
    }

    /// Runs a statement that writes; the rows it found, or none where the key was there already.
    /// What lost against another session is repeated where nothing else is lost: a wait that took
    /// too long undoes the statement alone, a deadlock the whole batch.
    fn write(
        &mut self,
        which: impl Fn(&Statements) -> &Statement,
        parameters: impl Fn() -> Vec<Value>,
    ) -> Result<bool> {
        if self.store.access == Access::Read {
            return Err(read_only());
        }
        let mut tries = 1;
        loop {
            let conn = self.conn.get_mut();
            let statement = which(&self.statements);
            match conn.exec_drop(statement, Params::Positional(parameters())) {
                Ok(()) => return Ok(conn.affected_rows() > 0),
                Err(mysql::Error::MySqlError(e)) if e.code == code::DUPLICATE => return Ok(false),
                Err(error) if tries < TRIES && can_repeat(&error, self.in_batch) => {
                    tries += 1;
                    self.retries.set(self.retries.get() + 1);
                }
                Err(error) => return Err(self.store.explain(error)),
            }
        }
    }

    fn execute(&mut self, statement: &str) -> Result<()> {
        self.conn.get_mut().query_drop(statement).map_err(|e| self.store.explain(e))
    }

    /// Visits the rows of a query as they arrive.
    fn walk(&mut self, query: &str, visit: &mut dyn FnMut(&Row) -> Visit) -> Result<()> {
        let store = self.store;
        let explain = |e| store.explain(e);
        let conn = self.conn.get_mut();
        let statement = conn.prep(query).map_err(explain)?;
        let mut rows = conn.exec_iter(&statement, ()).map_err(explain)?;
        let ended = loop {
            let Some(row) = rows.next() else { return Ok(()) };
            match visit(&row.map_err(explain)?) {
                Ok(ControlFlow::Continue(())) => {}
                ended => break ended,
            }
        };
        // Dropped, the rows that are left would be fetched, however many: the connection is left
        // instead, unless a transaction is under way in it.
        if !self.in_batch {
            std::mem::forget(rows);
            *self = Self::new(store)?;
        }
        ended.map(drop)
    }
}

fn can_repeat(error: &mysql::Error, in_batch: bool) -> bool {
    let mysql::Error::MySqlError(error) = error else { return false };
    error.code == code::LOCK_TIMEOUT || (error.code == code::DEADLOCK && !in_batch)
}

/// The server counts waits for all; one session of all processes tells them. `None`: another does.
fn first_waits(conn: &mut Conn) -> mysql::Result<Option<i64>> {
    let chosen: Option<Option<i64>> = conn.query_first("SELECT GET_LOCK('storemark', 0)")?;
    if chosen.flatten() == Some(1) { waits(conn).map(Some) } else { Ok(None) }
}

/// Waits for rows and for tables since the server started.
pub(crate) fn waits(conn: &mut Conn) -> mysql::Result<i64> {
    let counts: Vec<(String, i64)> = conn.query(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_waits', 'Table_locks_waited')",
    )?;
    Ok(counts.iter().map(|(_, count)| count).sum())
}

/// Copies `value` to the front of `into` if it fits, and returns its length.
fn copy(value: &[u8], into: &mut [u8]) -> usize {
    if let Some(room) = into.get_mut(..value.len()) {
        room.copy_from_slice(value);
    }
    value.len()
}

fn bytes(row: &Row, column: usize) -> Result<&[u8]> {
    match row.as_ref(column) {
        Some(Value::Bytes(bytes)) => Ok(bytes),
        other => Err(Error::corrupt(format!("column {column} of a row holds {other:?}"))),
    }
}

fn integer(row: &Row, column: usize) -> Option<i64> {
    match row.as_ref(column)? {
        Value::Int(number) => Some(*number),
        Value::UInt(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

fn key_of(row: &Row, keys: KeyKind) -> Result<Key<'_>> {
    match keys {
        KeyKind::Names => bytes(row, 0).map(Key::Name),
        KeyKind::Integers => integer(row, 0)
            .map(Key::Int)
            .ok_or_else(|| Error::corrupt("a key of the table is no integer")),
    }
}

fn item_of(row: &Row, keys: KeyKind) -> Result<Item<'_>> {
    Ok(Item { key: key_of(row, keys)?, value: bytes(row, 1)?, meta: meta_of(row) })
}

fn meta_of(row: &Row) -> Option<Meta> {
    Some(Meta {
        mode: u32::try_from(integer(row, 2)?).ok()?,
        seconds: integer(row, 3)?,
        nanoseconds: u32::try_from(integer(row, 4)?).ok()?,
    })
}

/// Mode, seconds and nanoseconds.
fn meta_values(meta: Option<Meta>) -> [Value; 3] {
    meta.map_or([Value::NULL, Value::NULL, Value::NULL], |meta| {
        [meta.mode.into(), meta.seconds.into(), meta.nanoseconds.into()]
    })
}

impl Session for TableSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let key = Params::Positional(vec![self.value_of(key)?]);
        let explain = |e| self.store.explain(e);
        let rows = self.conn.get_mut().exec_iter(&self.statements.get, key);
        let row = rows.map_err(explain)?.next().transpose().map_err(explain)?;
        row.map(|row| bytes(&row, 0).map(|value| copy(value, into))).transpose()
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.check_packet(value)?;
        let key = self.value_of(key)?;
        let named = self.store.table.keys == KeyKind::Names;
        let meta = || meta_values(put.meta).into_iter().filter(|_| named);
        let value = || Value::Bytes(value.to_vec());
        let key_first = || [key.clone(), value()].into_iter().chain(meta()).collect();
        match put.how {
            How::Insert => self.write(|s| &s.insert, key_first),
            How::Upsert => self.write(|s| &s.upsert, key_first),
            How::Update => self.write(
                |s| &s.update,
                || [value()].into_iter().chain(meta()).chain([key.clone()]).collect(),
            ),
        }
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let key = self.value_of(key)?;
        self.write(|s| &s.delete, || vec![key.clone()])
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.execute(match mode {
            Mode::Read => "START TRANSACTION READ ONLY",
            Mode::Write => "START TRANSACTION",
        })?;
        self.in_batch = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.in_batch = false;
        self.execute("COMMIT")
    }

    fn list(&mut self, visit: &mut dyn FnMut(Key<'_>, u64) -> Visit) -> Result<()> {
        let table = &self.store.table;
        self.walk(&table.list(), &mut |row| {
            let length = integer(row, 1).and_then(|length| u64::try_from(length).ok());
            visit(key_of(row, table.keys)?, length.unwrap_or(0))
        })
    }

    fn scan(&mut self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        let table = &self.store.table;
        self.walk(&table.scan(), &mut |row| visit(item_of(row, table.keys)?))
    }

    fn scan_from(
        &mut self,
        from: Option<Key<'_>>,
        limit: u64,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        let parameters = Params::Positional(vec![
            self.value_of(from.unwrap_or(Key::least(self.store.table.keys)))?,
            Value::UInt(limit),
        ]);
        let explain = |e| self.store.explain(e);
        let conn = self.conn.get_mut();
        for row in conn.exec_iter(&self.statements.scan_from, parameters).map_err(explain)? {
            if visit(item_of(&row.map_err(explain)?, self.store.table.keys)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        let now = self.waits.get().and_then(|_| waits(&mut self.conn.borrow_mut()).ok());
        let before = if now.is_some() { self.waits.replace(now) } else { None };
        let waited = now.zip(before).map_or(0, |(now, before)| now - before);
        vec![(LOCK_WAITS, waited), (BUSY_RETRIES, self.retries.take())]
    }
}
