//! One worker's session on a table of storemark's own.

use std::ops::ControlFlow;

use kit::{first::stop_after, refusal::wrong_kind};
use model::{
    Error, How, Item, Key, KeyKind, Meta, Mode, Put, Result, Scan, Session, Store, Visit, Visitor,
    copy_value,
};

use super::TableStore;
use crate::server::{
    dialect::{Dialect, EachRow, ResultRow, SqlValue},
    table::{DELETE, GET, INSERT, LIST_FROM, SCAN_FROM, UPDATE, UPSERT},
    worker::{Worker, rows_in_part},
};

pub(super) struct TableSession<'s, D: Dialect> {
    store: &'s TableStore<D>,
    worker: Worker<'s, D>,
    statements: Vec<D::Statement>,
}

impl<'s, D: Dialect> TableSession<'s, D> {
    pub(super) fn new(store: &'s TableStore<D>) -> Result<Self> {
        let texts = store.statements.iter();
        let prepare = |conn: &mut D| texts.map(|sql| conn.prepare(sql)).collect();
        let (worker, statements) = Worker::connect(&store.host, store.access, prepare)?;
        Ok(Self { store, worker, statements })
    }

    fn parameter<'k>(&self, key: Key<'k>) -> Result<SqlValue<'k>> {
        match (key, self.store.keys) {
            (Key::Int(key), KeyKind::Integers) => Ok(SqlValue::Int(key)),
            (Key::Name(name), KeyKind::Names) if name.len() > self.store.longest_name => {
                Err(long_name(key, self.store.longest_name))
            }
            (Key::Name(name), KeyKind::Names) => Ok(SqlValue::Bytes(name)),
            (key, held) => Err(wrong_kind(key, held)),
        }
    }

    fn write(&mut self, statement: usize, values: &[SqlValue<'_>]) -> Result<bool> {
        self.worker.write(&self.statements[statement], values)
    }

    fn visit_rows(
        &mut self,
        query: usize,
        values: &[SqlValue<'_>],
        visit: EachRow<'_, D::Row>,
    ) -> Visit {
        self.worker.visit_rows(&self.statements[query], values, visit)
    }

    /// Visits all items in parts that start with the last key of the one before, so that few are in
    /// memory and many can be skipped.
    fn scan_all(&mut self, values: bool, visit: &mut Visitor<'_>) -> Result<()> {
        let keys = self.store.keys;
        let query = if values { SCAN_FROM } else { LIST_FROM };
        let most = rows_in_part(values);
        let (mut number, mut name, mut is_first) = (i64::MIN, Vec::new(), true);
        loop {
            let start = name.clone();
            let from = match keys {
                KeyKind::Integers => Key::Int(number),
                KeyKind::Names => Key::Name(&start),
            };
            let (parameters, mut rows) = ([self.parameter(from)?, SqlValue::Int(most)], 0);
            let visited = self.visit_rows(query, &parameters, &mut |row| {
                let item = if values { item_of(row, keys) } else { length_of(row, keys) }?;
                rows += 1;
                match item.key {
                    Key::Int(key) => number = key,
                    Key::Name(key) => name = key.to_vec(),
                }
                let is_shown = !is_first && item.key == from;
                if is_shown { Ok(ControlFlow::Continue(())) } else { visit(item) }
            })?;
            if rows < most || visited.is_break() {
                return Ok(());
            }
            is_first = false;
        }
    }
}

#[cold]
pub(super) fn long_name(key: Key<'_>, longest: usize) -> Error {
    Error::unsupported(format!(
        "key {key}: too long a name; the primary key of this table takes at most {longest} bytes"
    ))
}

impl<D: Dialect> Session for TableSession<'_, D> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let key = self.parameter(key)?;
        let mut length = None;
        self.visit_rows(GET, &[key], &mut |row| {
            length = Some(copy_value(bytes(row, 0)?, into));
            Ok(ControlFlow::Continue(()))
        })
        .map(|_| length)
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        let (keys, mut length) = (self.store.keys, None);
        let parameters = [self.parameter(key)?, SqlValue::Int(1)];
        self.visit_rows(LIST_FROM, &parameters, &mut |row| {
            let item = length_of(row, keys)?;
            length = (item.key == key).then_some(item.length);
            Ok(ControlFlow::Continue(()))
        })
        .map(|_| length)
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.store.check_item(key, value.len() as u64)?;
        let (key, value) = (self.parameter(key)?, SqlValue::Bytes(value));
        let [mode, seconds, nanoseconds] = put.meta.map_or([SqlValue::Null; 3], |meta| {
            [i64::from(meta.mode), meta.seconds, i64::from(meta.nanoseconds)].map(SqlValue::Int)
        });
        // Integers have no mode and time.
        let few = if self.store.keys == KeyKind::Names { 5 } else { 2 };
        match put.how {
            How::Update if few == 2 => self.write(UPDATE, &[value, key]),
            How::Update => self.write(UPDATE, &[value, mode, seconds, nanoseconds, key]),
            How::Insert => self.write(INSERT, &[key, value, mode, seconds, nanoseconds][..few]),
            How::Upsert => self.write(UPSERT, &[key, value, mode, seconds, nanoseconds][..few]),
        }
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let key = self.parameter(key)?;
        self.write(DELETE, &[key])
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.worker.begin(mode)
    }

    fn commit(&mut self) -> Result<()> {
        self.worker.commit()
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let Some(from) = scan.from else {
            let is_alone = self.worker.begin_view()?;
            let scanned = self.scan_all(scan.values, &mut stop_after(scan.limit, visit));
            return scanned.and(self.worker.end_view(is_alone));
        };
        let keys = self.store.keys;
        let limit = SqlValue::Int(i64::try_from(scan.limit).unwrap_or(i64::MAX));
        let parameters = [self.parameter(from)?, limit];
        self.visit_rows(SCAN_FROM, &parameters, &mut |row| visit(item_of(row, keys)?)).map(drop)
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        self.worker.statistics()
    }
}

fn bytes(row: &impl ResultRow, column: usize) -> Result<&[u8]> {
    let wrong = || Error::corrupt(format!("column {column} of a row holds no bytes"));
    row.bytes(column).ok_or_else(wrong)
}

fn key_of<R: ResultRow>(row: &R, keys: KeyKind) -> Result<Key<'_>> {
    match keys {
        KeyKind::Names => bytes(row, 0).map(Key::Name),
        KeyKind::Integers => {
            let wrong = || Error::corrupt("a key of the table is no integer");
            row.int(0).map(Key::Int).ok_or_else(wrong)
        }
    }
}

fn item_of<R: ResultRow>(row: &R, keys: KeyKind) -> Result<Item<'_>> {
    let meta = if keys == KeyKind::Names { meta_of(row) } else { None };
    Ok(Item::new(key_of(row, keys)?, bytes(row, 1)?, meta))
}

fn length_of<R: ResultRow>(row: &R, keys: KeyKind) -> Result<Item<'_>> {
    let length = row.int(1).unwrap_or(0).unsigned_abs();
    Ok(Item::new(key_of(row, keys)?, &[], None).with_length(length))
}

fn meta_of(row: &impl ResultRow) -> Option<Meta> {
    Some(Meta {
        mode: u32::try_from(row.int(2)?).ok()?,
        seconds: row.int(3)?,
        nanoseconds: u32::try_from(row.int(4)?).ok()?,
    })
}
