//! One worker's connection with its prepared statements.

use std::{
    cell::{Cell, RefCell},
    ops::ControlFlow,
};

use model::{
    Access, BUSY_RETRIES, Error, Facet, How, Item, Key, KeyKind, LOCK_WAITS, Meta, Mode, Put,
    Result, Scan, Session, Visit, Visitor,
};

use super::{
    dialect::{Connection, Dialect, Failure, Row, RowOf, Statement, Value},
    store::TableStore,
};
use crate::{
    first::first,
    refusal::{read_only, wrong_kind},
};

/// How often an operation that lost against another session is repeated.
const TRIES: u32 = 10;

pub(super) struct TableSession<'s, D: Dialect> {
    store: &'s TableStore<D>,
    /// In a cell because counting waits asks the server.
    conn: RefCell<D::Conn>,
    statements: Statements<Statement<D>>,
    /// Between `begin` and `commit`, unless an error ended the transaction.
    in_batch: bool,
    /// Operations repeated since last asked.
    retries: Cell<i64>,
    waits: RefCell<D::Waits>,
}

struct Statements<S> {
    get: S,
    insert: S,
    update: S,
    upsert: S,
    delete: S,
    scan_from: S,
}

impl<'s, D: Dialect> TableSession<'s, D> {
    pub(super) fn new(store: &'s TableStore<D>) -> Result<Self> {
        let conn = store.host.connect()?;
        Self::prepare(store, conn).map_err(|failure| store.host.explain(&failure))
    }

    fn prepare(store: &'s TableStore<D>, mut conn: D::Conn) -> Result<Self, Failure<D>> {
        let (table, grammar) = (&store.table, &D::GRAMMAR);
        let statements = Statements {
            get: conn.prepare(&table.get(grammar))?,
            insert: conn.prepare(&table.insert(grammar))?,
            update: conn.prepare(&table.update(grammar))?,
            upsert: conn.prepare(&table.upsert(grammar))?,
            delete: conn.prepare(&table.delete(grammar))?,
            scan_from: conn.prepare(&table.scan_from(grammar))?,
        };
        let waits = D::waits(&mut conn, &store.host, Facet::Blobs)?;
        Ok(Self {
            store,
            conn: RefCell::new(conn),
            statements,
            in_batch: false,
            retries: Cell::new(0),
            waits: RefCell::new(waits),
        })
    }

    fn keys(&self) -> KeyKind {
        self.store.table.keys
    }

    fn parameter<'k>(&self, key: Key<'k>) -> Result<Value<'k>> {
        match (key, self.keys()) {
            (Key::Int(key), KeyKind::Integers) => Ok(Value::Int(key)),
            (Key::Name(name), KeyKind::Names) => {
                let longest = D::longest_name(&self.store.table.form);
                if name.len() > longest {
                    Err(self.long_name(key, longest))
                } else {
                    Ok(Value::Bytes(name))
                }
            }
            (key, held) => Err(wrong_kind(key, held)),
        }
    }

    #[cold]
    fn long_name(&self, key: Key<'_>, longest: usize) -> Error {
        let what = D::form_name(&self.store.table.form);
        Error::unsupported(format!(
            "key {key}: too long a name; a primary key of {what} takes at most {longest} bytes"
        ))
    }

    /// Returns what `failure` means, after a rollback if the batch ended with it.
    #[cold]
    fn failed(&mut self, failure: &Failure<D>) -> Error {
        if self.in_batch && D::ends_batch(failure) {
            self.in_batch = false;
            // This fails if the connection is lost, and then there is nothing to roll back.
            let _ = self.conn.get_mut().run("ROLLBACK");
        }
        self.store.host.explain(failure)
    }

    /// Runs a statement that writes; whether it found or inserted a row.
    fn write(
        &mut self,
        which: fn(&Statements<Statement<D>>) -> &Statement<D>,
        parameters: &[Value<'_>],
    ) -> Result<bool> {
        if self.store.access == Access::Read {
            return Err(read_only());
        }
        let mut tries = 1;
        loop {
            match self.conn.get_mut().execute(which(&self.statements), parameters) {
                Ok(rows) => return Ok(rows > 0),
                Err(failure) if tries < TRIES && D::can_repeat(&failure, self.in_batch) => {
                    tries += 1;
                    self.retries.set(self.retries.get() + 1);
                }
                Err(failure) => return Err(self.failed(&failure)),
            }
        }
    }

    fn run(&mut self, sql: &str) -> Result<()> {
        let done = self.conn.get_mut().run(sql);
        done.map(drop).map_err(|failure| self.failed(&failure))
    }

    /// Visits the rows of a query of the whole table.
    fn stream(&mut self, query: &str, visit: &mut dyn FnMut(&RowOf<D>) -> Visit) -> Result<()> {
        let visited = self.conn.get_mut().stream(query, self.in_batch, visit);
        let visited = visited.map_err(|failure| self.failed(&failure))?;
        let stopped = !matches!(visited, Ok(ControlFlow::Continue(())));
        if stopped && !self.in_batch && D::Conn::LEFT_AFTER_STOP {
            *self = Self::new(self.store)?;
        }
        visited.map(drop)
    }
}

impl<D: Dialect> Session for TableSession<'_, D> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let key = self.parameter(key)?;
        let mut length = None;
        let found = self.conn.get_mut().each(&self.statements.get, &[key], &mut |row| {
            let value = bytes(row, 0)?;
            if let Some(front) = into.get_mut(..value.len()) {
                front.copy_from_slice(value);
            }
            length = Some(value.len());
            Ok(ControlFlow::Continue(()))
        });
        found.map_err(|failure| self.failed(&failure))?.map(drop)?;
        Ok(length)
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        if value.len() as u64 > self.store.longest_value {
            return Err(D::too_long(value.len(), self.store.longest_value));
        }
        let (key, value) = (self.parameter(key)?, Value::Bytes(value));
        let [mode, seconds, nanoseconds] = parameters(put.meta);
        let all = match put.how {
            How::Update => [value, mode, seconds, nanoseconds, key],
            How::Insert | How::Upsert => [key, value, mode, seconds, nanoseconds],
        };
        let few = match put.how {
            How::Update => [value, key],
            How::Insert | How::Upsert => [key, value],
        };
        let parameters = if self.keys() == KeyKind::Names { &all[..] } else { &few };
        match put.how {
            How::Insert => self.write(|statements| &statements.insert, parameters),
            How::Upsert => self.write(|statements| &statements.upsert, parameters),
            How::Update => self.write(|statements| &statements.update, parameters),
        }
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let key = self.parameter(key)?;
        self.write(|statements| &statements.delete, &[key])
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.run(D::begin(mode))?;
        self.in_batch = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.in_batch) {
            return Err(Error::failed("an error has ended the batch; it was rolled back"));
        }
        self.run("COMMIT")
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let keys = self.keys();
        let Some(from) = scan.from else {
            let table = &self.store.table;
            if !scan.values {
                return self
                    .stream(&table.list(&D::GRAMMAR), &mut |row| visit(length_of(row, keys)?));
            }
            let mut visit = first(scan.limit, visit);
            return self.stream(&table.scan(&D::GRAMMAR), &mut |row| visit(item_of(row, keys)?));
        };
        let limit = Value::Int(i64::try_from(scan.limit).unwrap_or(i64::MAX));
        let parameters = [self.parameter(from)?, limit];
        let query = &self.statements.scan_from;
        let visit = &mut |row: &_| visit(item_of(row, keys)?);
        let visited = self.conn.get_mut().each(query, &parameters, visit);
        visited.map_err(|failure| self.failed(&failure))?.map(drop)
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        let (mut waits, mut conn) = (self.waits.borrow_mut(), self.conn.borrow_mut());
        let waits = D::count(&mut waits, &mut conn, &self.store.host);
        let waits = waits.map(|waits| (LOCK_WAITS, waits));
        waits.into_iter().chain([(BUSY_RETRIES, self.retries.take())]).collect()
    }
}

fn bytes(row: &impl Row, column: usize) -> Result<&[u8]> {
    let wrong = || Error::corrupt(format!("column {column} of a row holds no bytes"));
    row.bytes(column).ok_or_else(wrong)
}

fn key_of<R: Row>(row: &R, keys: KeyKind) -> Result<Key<'_>> {
    match keys {
        KeyKind::Names => bytes(row, 0).map(Key::Name),
        KeyKind::Integers => {
            let wrong = || Error::corrupt("a key of the table is no integer");
            row.int(0).map(Key::Int).ok_or_else(wrong)
        }
    }
}

fn item_of<R: Row>(row: &R, keys: KeyKind) -> Result<Item<'_>> {
    let meta = if keys == KeyKind::Names { meta_of(row) } else { None };
    let value = bytes(row, 1)?;
    Ok(Item { key: key_of(row, keys)?, value, length: value.len() as u64, meta })
}

/// A row of a key and a length.
fn length_of<R: Row>(row: &R, keys: KeyKind) -> Result<Item<'_>> {
    let length = row.int(1).unwrap_or(0).unsigned_abs();
    Ok(Item { key: key_of(row, keys)?, value: &[], length, meta: None })
}

fn meta_of(row: &impl Row) -> Option<Meta> {
    Some(Meta {
        mode: u32::try_from(row.int(2)?).ok()?,
        seconds: row.int(3)?,
        nanoseconds: u32::try_from(row.int(4)?).ok()?,
    })
}

/// Mode, seconds and nanoseconds.
fn parameters<'v>(meta: Option<Meta>) -> [Value<'v>; 3] {
    meta.map_or([Value::Null; 3], |meta| {
        [i64::from(meta.mode), meta.seconds, i64::from(meta.nanoseconds)].map(Value::Int)
    })
}
