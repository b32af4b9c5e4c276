//! One worker's session on a table of the user's own.

use std::ops::ControlFlow;

use kit::{first::stop_after, key_columns::KeyValues, own_table};
use model::{
    Error, How, Item, Key, KeyKind, Mode, OwnedKey, Put, Result, Scan, Session, Visit, Visitor,
    copy_value,
};

use super::UsersStore;
use crate::server::{
    dialect::{Answer, Failure, ResultRow, SqlValue},
    users::{catalog::Catalog, describe::UsersTable},
    worker::{Worker, rows_in_part},
};

pub(super) struct UsersSession<'s, D: Catalog> {
    store: &'s UsersStore<D>,
    worker: Worker<'s, D>,
    /// The room for the values of a key in other bytes than the key's.
    room: Vec<u8>,
    get: D::Statement,
    length: D::Statement,
    scans: Scans<D>,
    /// `None` if the store is only read.
    writes: Option<Writes<D>>,
    /// Whether what is inserted are the user's own rows.
    fills: bool,
}

/// The statements that visit rows.
enum Scans<D: Catalog> {
    /// The server orders keys by an index: parts of a table, with values and with lengths. Parameters: the
    /// key unless the part is the first, and the most rows.
    Parts([PartScans<D>; 2]),
    /// The server sorts the keys: all rows, with values and with lengths.
    Sorted([D::Statement; 2]),
}

struct PartScans<D: Catalog> {
    first: D::Statement,
    from: D::Statement,
    after: D::Statement,
}

/// The statements that write.
struct Writes<D: Catalog> {
    insert: D::Statement,
    update: D::Statement,
    delete: D::Statement,
    /// Inserts the user's own row of a key into a copy of the table.
    copy: Option<D::Statement>,
}

impl<D: Catalog> Scans<D> {
    fn prepare(conn: &mut D, table: &UsersTable, value: &str, length: &str) -> Answer<Self> {
        let (shown, order, from) = (table.shown::<D>(), table.order::<D>(), &table.relation.quoted);
        if !table.is_ordered {
            let rows = table.filter().map_or_else(String::new, |filter| format!(" WHERE {filter}"));
            let mut all = |what| {
                conn.prepare(&format!("SELECT {shown}, {what} FROM {from}{rows} ORDER BY {order}"))
            };
            return Ok(Self::Sorted([all(value)?, all(length)?]));
        }
        let key = &table.key[0];
        let mut part = |what: &str, than: Option<&str>| {
            let bound = than.map(|than| format!("{order}{than}{}", D::parameter_for(key, 1)));
            let limit = (D::GRAMMAR.parameter)(1 + usize::from(bound.is_some()));
            let rows: Vec<_> = bound.into_iter().chain(table.filter()).collect();
            let rows = if rows.is_empty() { "1=1".to_owned() } else { rows.join(" AND ") };
            conn.prepare(&format!(
                "SELECT {shown}, {what} FROM {from} WHERE {rows} ORDER BY {order} LIMIT {limit}"
            ))
        };
        let mut parts = |what| {
            let [first, from, after] = [None, Some(">="), Some(">")];
            Ok::<_, Failure>(PartScans {
                first: part(what, first)?,
                from: part(what, from)?,
                after: part(what, after)?,
            })
        };
        Ok(Self::Parts([parts(value)?, parts(length)?]))
    }
}

impl<D: Catalog> Writes<D> {
    fn prepare(conn: &mut D, store: &UsersStore<D>) -> Answer<Self> {
        let (table, name) = (&store.table, &store.name);
        let quoted = |name: &String| D::GRAMMAR.quoted(name);
        let columns: Vec<_> = table.key.iter().chain([&table.value]).collect();
        let names: Vec<_> = columns.iter().map(|column| quoted(&column.name)).collect();
        let values = (1..).zip(&columns).map(|(n, column)| D::parameter_for(column, n));
        let (names, values) = (names.join(", "), values.collect::<Vec<_>>().join(", "));
        let (over, nothing) = (D::OVERRIDING, D::GRAMMAR.or_nothing);
        let insert = format!("INSERT INTO {name} ({names}) {over}VALUES ({values}){nothing}");
        let (value, at) = (quoted(&table.value.name), table.at::<D>(2));
        let new = D::parameter_for(&table.value, 1);
        let copy = store.original.as_ref().map(|original| {
            let stored = table.relation.columns.iter().filter(|column| !column.is_computed);
            let stored = stored.map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ");
            let rows = format!("SELECT {stored} FROM {original} WHERE {}", table.at::<D>(1));
            conn.prepare(&format!("INSERT INTO {name} ({stored}) {over}{rows}{nothing}"))
        });
        let copy = copy.transpose()?;
        Ok(Self {
            insert: conn.prepare(&insert)?,
            update: conn.prepare(&format!("UPDATE {name} SET {value}={new} WHERE {at}"))?,
            delete: conn.prepare(&format!("DELETE FROM {name} WHERE {}", table.at::<D>(1)))?,
            copy,
        })
    }
}

impl<'s, D: Catalog> UsersSession<'s, D> {
    pub(super) fn new(store: &'s UsersStore<D>, fills: bool) -> Result<Self> {
        let (table, writes) = (&store.table, store.is_written());
        let quoted = D::GRAMMAR.quoted(&table.value.name);
        let value = D::value(&table.value, &quoted);
        let length = D::length(&table.value, &quoted);
        let prepare = |conn: &mut D| {
            if !writes {
                conn.run_all(D::READ_ONLY)?;
            }
            let row = |what: &str| {
                format!("SELECT {what} FROM {} WHERE {}", store.name, table.at::<D>(1))
            };
            Ok((
                conn.prepare(&row(&value))?,
                conn.prepare(&row(&length))?,
                Scans::prepare(conn, table, &value, &length)?,
                writes.then(|| Writes::prepare(conn, store)).transpose()?,
            ))
        };
        let (worker, (get, length, scans, writes)) =
            Worker::connect(&store.host, store.access, prepare)?;
        Ok(Self { store, worker, room: Vec::new(), get, length, scans, writes, fills })
    }

    /// Writes by one of the statements; returns whether it found or inserted a row.
    fn write(
        &mut self,
        statement: impl FnOnce(&Writes<D>) -> Option<&D::Statement>,
        key: Key<'_>,
        value: Option<&[u8]>,
        value_first: bool,
    ) -> Result<bool> {
        let Self { store, worker, room, writes, .. } = self;
        let statement = writes.as_ref().and_then(statement);
        let statement = statement.ok_or_else(kit::refusal::read_only)?;
        let key = store.table.key_columns.values::<SqlValue<'_>>(key, room)?;
        let value = value.map(SqlValue::Bytes);
        let (before, after) = if value_first { (value, None) } else { (None, value) };
        let values: Vec<_> = before.into_iter().chain(key.iter()).chain(after).collect();
        worker.write(statement, &values)
    }

    fn insert(&mut self, key: Key<'_>, value: &[u8]) -> Result<bool> {
        if self.fills && self.write(|all| all.copy.as_ref(), key, None, false)? {
            return Ok(true);
        }
        self.store.check_insert(value)?;
        // No index of the user's refuses a key that is there.
        if !self.store.table.is_unique && self.length(key)?.is_some() {
            return Ok(false);
        }
        self.write(|all| Some(&all.insert), key, Some(value), false)
    }

    fn update(&mut self, key: Key<'_>, value: &[u8]) -> Result<bool> {
        self.store.check_update(value)?;
        self.write(|all| Some(&all.update), key, Some(value), true)
    }

    /// Visits all rows in parts, each after the last key of the one before.
    fn scan_parts(&mut self, values: bool, visit: &mut Visitor<'_>) -> Result<()> {
        let most = rows_in_part(values);
        let mut check = RowCheck::new(&self.store.table);
        let mut last: Option<OwnedKey> = None;
        loop {
            let Self { store, worker, room, scans, .. } = &mut *self;
            let Scans::Parts(parts) = scans else { return Ok(()) };
            let part = &parts[usize::from(!values)];
            let key = last.as_ref().map(|last| store.table.key_columns.values(last.as_key(), room));
            let key = key.transpose()?;
            let query = if key.is_some() { &part.after } else { &part.first };
            let parameters: Vec<_> =
                key.iter().flat_map(KeyValues::iter).chain([SqlValue::Int(most)]).collect();
            let (mut rows, mut seen) = (0, None);
            let visited = worker.visit_rows(query, &parameters, &mut |row| {
                rows += 1;
                let item = check.item(row, values)?;
                seen = Some(OwnedKey::from(item.key));
                visit(item)
            })?;
            if rows < most || visited.is_break() {
                return Ok(());
            }
            last = seen;
        }
    }

    /// Visits all rows: the server sorts their keys, and values are read one by one.
    fn scan_sorted(&mut self, values: bool, visit: &mut Visitor<'_>) -> Result<()> {
        let Self { store, worker, scans, .. } = &mut *self;
        let Scans::Sorted([whole, list]) = scans else { return Ok(()) };
        let mut check = RowCheck::new(&store.table);
        if !values || store.table.unindexed.is_some() {
            let query = if values { whole } else { list };
            let mut show = |row: &D::Row| visit(check.item(row, values)?);
            return worker.visit_table(query, &mut show).map(drop);
        }
        // What is left of a query whose visitor stops is fetched, which takes long with values.
        let mut keys = Vec::new();
        let mut keep = |row: &D::Row| {
            let item = check.item(row, false)?;
            keys.push((OwnedKey::from(item.key), item.length));
            Ok(ControlFlow::Continue(()))
        };
        worker.visit_table(list, &mut keep).map(drop)?;
        let mut buffer = Vec::new();
        for (key, length) in keys {
            buffer.resize(kit::refusal::size(length)?, 0);
            let mut found = self.get(key.as_key(), &mut buffer)?;
            if let Some(length) = found.filter(|length| *length > buffer.len()) {
                buffer.resize(length, 0);
                found = self.get(key.as_key(), &mut buffer)?;
            }
            // Outside a view of one moment a row may be gone.
            let Some(value) = found.and_then(|found| buffer.get(..found)) else { continue };
            if visit(Item::new(key.as_key(), value, None))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn scan_from(&mut self, from: Key<'_>, scan: &Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let Self { store, worker, room, scans, .. } = &mut *self;
        let Scans::Parts(parts) = scans else {
            let why = "rows from a key on are not read by this key";
            return Err(store.table.refused(store.table.unindexed.as_deref().unwrap_or(why)));
        };
        let key = store.table.key_columns.values::<SqlValue<'_>>(from, room)?;
        let limit = SqlValue::Int(i64::try_from(scan.limit).unwrap_or(i64::MAX));
        let parameters: Vec<_> = key.iter().chain([limit]).collect();
        let query = &parts[usize::from(!scan.values)].from;
        let mut check = RowCheck::new(&store.table);
        let mut show = |row: &D::Row| visit(check.item(row, scan.values)?);
        worker.visit_rows(query, &parameters, &mut show).map(drop)
    }
}

impl<D: Catalog> Session for UsersSession<'_, D> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let Self { store, worker, room, get, .. } = self;
        let table = &store.table;
        if let Some(why) = &table.unindexed {
            return Err(table.refused(why));
        }
        let values = table.key_columns.values::<SqlValue<'_>>(key, room)?;
        let mut length = None;
        let mut read = |row: &D::Row| -> Visit {
            let value = row.bytes(0).ok_or_else(|| null_value(table, key))?;
            if length.replace(copy_value(value, into)).is_some() {
                return Err(repeated(table, key));
            }
            Ok(ControlFlow::Continue(()))
        };
        worker.visit_rows(get, values.as_slice(), &mut read).map(|_| length)
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        let Self { store, worker, room, length, .. } = self;
        let table = &store.table;
        let values = table.key_columns.values::<SqlValue<'_>>(key, room)?;
        let (mut rows, mut found) = (0, None);
        let mut read = |row: &D::Row| -> Visit {
            rows += 1;
            found = row.int(0).map(i64::unsigned_abs);
            if rows > 1 { Err(repeated(table, key)) } else { Ok(ControlFlow::Continue(())) }
        };
        worker.visit_rows(length, values.as_slice(), &mut read).map(|_| found)
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        match put.how {
            How::Insert => self.insert(key, value),
            How::Update => self.update(key, value),
            How::Upsert => {
                // One value would replace those of all rows that have the key.
                if !self.store.table.is_unique {
                    self.length(key)?;
                }
                Ok(self.update(key, value)? || self.insert(key, value)?)
            }
        }
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.write(|all| Some(&all.delete), key, None, false)
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.worker.begin(mode)
    }

    fn commit(&mut self) -> Result<()> {
        self.worker.commit()
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        if let Some(from) = scan.from {
            return self.scan_from(from, &scan, visit);
        }
        // All parts are of one view.
        let is_alone = self.worker.begin_view()?;
        let visit = &mut stop_after(scan.limit, visit);
        let scanned = match self.scans {
            Scans::Parts(_) => self.scan_parts(scan.values, visit),
            Scans::Sorted(_) => self.scan_sorted(scan.values, visit),
        };
        scanned.and(self.worker.end_view(is_alone))
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        self.worker.statistics()
    }
}

/// Checks the rows of a scan: each has a key of its own, and a value.
struct RowCheck<'t> {
    table: &'t UsersTable,
    last: Option<OwnedKey>,
}

impl<'t> RowCheck<'t> {
    fn new(table: &'t UsersTable) -> Self {
        Self { table, last: None }
    }

    /// Returns the item of a row, which has a key and a value, or its length.
    ///
    /// # Errors
    ///
    /// Fails if the row has no such key or value, or the key of the row before.
    fn item<'r, R: ResultRow>(&mut self, row: &'r R, values: bool) -> Result<Item<'r>> {
        let key = match self.table.key_columns.kind() {
            KeyKind::Integers => row.int(0).map(Key::Int),
            KeyKind::Names => row.bytes(0).map(Key::Name),
        };
        let key = key.ok_or_else(|| no_key(self.table))?;
        let missing = || null_value(self.table, key);
        let item = if values {
            Item::new(key, row.bytes(1).ok_or_else(missing)?, None)
        } else {
            let length = row.int(1).ok_or_else(missing)?;
            Item::new(key, &[], None).with_length(length.unsigned_abs())
        };
        if !self.table.is_unique {
            if self.last.as_ref().is_some_and(|last| last.as_key() == key) {
                return Err(repeated(self.table, key));
            }
            self.last = Some(key.into());
        }
        Ok(item)
    }
}

#[cold]
fn no_key(table: &UsersTable) -> Error {
    table.refused(&own_table::no_key(&key_names(table), "a number of more than 63 bits"))
}

#[cold]
fn null_value(table: &UsersTable, key: Key<'_>) -> Error {
    let value = &table.value.name;
    table.refused(&own_table::no_value(value, key, "NULL", &format!("{value} IS NOT NULL")))
}

#[cold]
fn repeated(table: &UsersTable, key: Key<'_>) -> Error {
    table.refused(&own_table::repeated(&key_names(table), key))
}

fn key_names(table: &UsersTable) -> String {
    let names: Vec<_> = table.key.iter().map(|column| column.name.as_str()).collect();
    names.join(",")
}
