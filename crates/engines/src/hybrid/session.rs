//! One worker's use of a store: a session of the database, and one of the folder of files.

use std::ops::{ControlFlow, Range};

use kit::refusal;
use model::{
    Access, Error, FinishedWork, How, Item, Key, Mode, OwnedKey, Put, Result, Scan, Session,
    ValueType, Visitor, copy_value,
};

use super::{
    parts::Parts,
    table::{self, FileReference},
};

use crate::{
    files::FilesWorker,
    sqlite::{SqlTable, SqliteSession, Statement},
};

/// The number of file numbers that a session takes from the store at once: as many as a folder has
/// files.
const RESERVED: i64 = 100;

pub(super) struct HybridSession<'s> {
    parts: &'s Parts,
    batch: Option<Mode>,
    /// The numbers for new files, which no other session has.
    numbers: Range<i64>,
    /// The files that no row names once this batch is committed.
    replaced: Vec<i64>,
    files: FilesWorker<'s>,
    /// The query for the number of a value's file, or NULL.
    named: Statement,
    /// The statements for small values alone: they find no row of a value in a file.
    update: Statement,
    delete: Statement,
    /// The statements for all values.
    insert: Statement,
    replace: Statement,
    reserve: Statement,
    reserved: Statement,
    rows: SqliteSession,
}

enum StoredValue {
    /// In its row, with this many bytes.
    Inline(usize),
    /// In a file; `None` if the row's text names none.
    File(Option<FileReference>),
}

impl<'s> HybridSession<'s> {
    pub(super) fn new(parts: &'s Parts) -> Result<Self> {
        let rows = parts.rows.worker()?;
        let SqlTable { name, key, set, .. } = parts.rows.table();
        let small = format!("WHERE {key}=?1 AND file IS NULL");
        // SQLite before 3.35 has no RETURNING.
        let reserve = format!("UPDATE hybrid SET next=next+{RESERVED}");
        Ok(Self {
            parts,
            batch: None,
            numbers: 0..0,
            replaced: Vec::new(),
            files: parts.files.worker(),
            named: rows.prepare(&format!("SELECT file FROM {name} WHERE {key}=?1"))?,
            update: rows.prepare(&format!("UPDATE {name} SET {set} {small}"))?,
            delete: rows.prepare(&format!("DELETE FROM {name} {small}"))?,
            insert: rows.prepare(&table::insert(parts.rows.table()))?,
            replace: rows.prepare(&table::replace(parts.rows.table()))?,
            reserve: rows.prepare(&reserve)?,
            reserved: rows.prepare("SELECT next FROM hybrid")?,
            rows,
        })
    }

    #[inline]
    fn find(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<StoredValue>> {
        self.rows.read(key, |row| match row.value(0) {
            (ValueType::Text, text) => StoredValue::File(FileReference::parse(text)),
            (_, value) => StoredValue::Inline(copy_value(value, into)),
        })
    }

    /// Reads the file that the row of `key` names. If it is gone, another session has replaced it
    /// since the row was read, and the row is read again.
    fn get_from_file(
        &mut self,
        key: Key<'_>,
        mut named: Option<FileReference>,
        into: &mut [u8],
    ) -> Result<Option<usize>> {
        let mut gone = None;
        loop {
            let file = self.reference(key, named)?;
            if let Some(length) = self.files.get(Key::Int(file.number), into)? {
                check_length(self.parts, key, file, length as u64)?;
                return Ok(Some(length));
            }
            self.renew(key, file, gone.replace(file))?;
            match self.find(key, into)? {
                Some(StoredValue::File(again)) => named = again,
                Some(StoredValue::Inline(length)) => return Ok(Some(length)),
                None => return Ok(None),
            }
        }
    }

    fn reference(&self, key: Key<'_>, named: Option<FileReference>) -> Result<FileReference> {
        named.ok_or_else(|| names_none(self.parts, key))
    }

    /// Ends the transaction in which the row of `key` names a file that is gone, so that the row is
    /// read again.
    ///
    /// # Errors
    ///
    /// Fails if the row named the same file before, or if this session has the only transaction
    /// that can change it.
    fn renew(
        &mut self,
        key: Key<'_>,
        file: FileReference,
        before: Option<FileReference>,
    ) -> Result<()> {
        if before == Some(file) || self.batch == Some(Mode::Write) {
            return Err(self.parts.corrupt(key, &format!("its file {} is missing", file.number)));
        }
        if self.batch.is_some() {
            self.rows.commit()?;
            self.rows.begin(Mode::Read)?;
        }
        Ok(())
    }

    /// Runs `work` in the batch that is open, or in one of its own.
    fn writing<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.batch.is_some() {
            return work(self);
        }
        self.begin(Mode::Write)?;
        let done = work(self).and_then(|done| self.commit().map(|()| done));
        if done.is_err() {
            self.abandon();
        }
        done
    }

    /// Undoes a batch that failed. Its new files become orphans.
    #[cold]
    fn abandon(&mut self) {
        self.batch = None;
        self.replaced.clear();
        // They may have been reserved in the batch.
        self.numbers = 0..0;
        self.rows.roll_back();
    }

    /// Returns the number of the file of a value, 0 if it is in its row, `None` if there is no
    /// value.
    fn file_number(&mut self, key: Key<'_>) -> Result<Option<i64>> {
        self.rows.read_by(&mut self.named, key, |row| row.integer(0))
    }

    /// Records that no row names the file of a value any longer, once the batch is committed.
    fn replaced(&mut self, held: Option<i64>) {
        self.replaced.extend(held.filter(|number| *number > 0));
    }

    /// Writes a value that may be large or replace a large one.
    fn replace(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let held = self.file_number(key)?;
        match put.how {
            How::Insert if held.is_some() => return Ok(false),
            How::Update if held.is_none() => return Ok(false),
            _ => {}
        }
        let large = self.is_large(value);
        let text = if large { self.write(value)?.text() } else { String::new() };
        let (value, of) =
            if large { (text.as_bytes(), ValueType::Text) } else { (value, put.value_type) };
        let statement = if held.is_some() { &mut self.replace } else { &mut self.insert };
        self.rows.put_by(statement, key, value, &Put { value_type: of, ..*put })?;
        self.replaced(held);
        Ok(true)
    }

    #[inline]
    fn is_large(&self, value: &[u8]) -> bool {
        value.len() as u64 > self.parts.inline
    }

    /// Writes `value` into a new file.
    fn write(&mut self, value: &[u8]) -> Result<FileReference> {
        let insert = Put::new(How::Insert);
        loop {
            let number = self.number()?;
            // A session that was killed may have left a file with a number that it did not commit.
            if self.files.put(Key::Int(number), value, &insert)? {
                return Ok(FileReference { number, length: value.len() as u64 });
            }
        }
    }

    /// Visits items until the file of one is gone, which is returned with its key. Counts down
    /// `left`.
    fn scan_part(
        &mut self,
        part: Scan<'_>,
        left: &mut u64,
        visit: &mut Visitor<'_>,
    ) -> Result<Option<(OwnedKey, FileReference)>> {
        let Self { rows, files, parts, .. } = self;
        let (mut gone, mut value) = (None, Vec::new());
        rows.scan(part, &mut |item| {
            let mut shown = Item { value_type: ValueType::Bytes, ..item };
            if item.value_type == ValueType::Text && part.values {
                let named = FileReference::parse(item.value);
                let file = named.ok_or_else(|| names_none(parts, item.key))?;
                if !files.load(Key::Int(file.number), &mut value)? {
                    gone = Some((OwnedKey::from(item.key), file));
                    return Ok(ControlFlow::Break(()));
                }
                check_length(parts, item.key, file, value.len() as u64)?;
                (shown.value, shown.length) = (&value, file.length);
            }
            *left -= 1;
            visit(shown)
        })?;
        Ok(gone)
    }

    /// Returns a number that no file had before; called in a batch that writes.
    fn number(&mut self) -> Result<i64> {
        if let Some(number) = self.numbers.next() {
            return Ok(number);
        }
        self.reserve.run([])?;
        let end = self.reserved.row([], |row| row.integer(0))?.unwrap_or(0);
        self.numbers = end - RESERVED + 1..end;
        Ok(end - RESERVED)
    }

    fn check_writable(&self) -> Result<()> {
        if self.parts.rows.access() == Access::Read { Err(refusal::read_only()) } else { Ok(()) }
    }
}

#[cold]
fn names_none(parts: &Parts, key: Key<'_>) -> Error {
    parts.corrupt(key, "its row names no file")
}

fn check_length(parts: &Parts, key: Key<'_>, file: FileReference, has: u64) -> Result<()> {
    let FileReference { number, length } = file;
    if has == length {
        return Ok(());
    }
    Err(parts.corrupt(key, &format!("its file {number} has {has} of {length} bytes")))
}

impl Session for HybridSession<'_> {
    #[inline]
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        match self.find(key, into)? {
            Some(StoredValue::Inline(length)) => Ok(Some(length)),
            Some(StoredValue::File(named)) => self.get_from_file(key, named, into),
            None => Ok(None),
        }
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        self.rows.length(key)
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.check_writable()?;
        let small = !self.is_large(value);
        if small && put.how == How::Insert {
            return self.rows.put(key, value, put);
        }
        // Most small values replace small ones.
        if small && put.how == How::Update && self.rows.put_by(&mut self.update, key, value, put)? {
            return Ok(true);
        }
        self.writing(|session| session.replace(key, value, put))
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.check_writable()?;
        if self.rows.delete_by(&mut self.delete, key)? {
            return Ok(true);
        }
        self.writing(|session| {
            let held = session.file_number(key)?;
            if held.is_none() {
                return Ok(false);
            }
            let deleted = session.rows.delete(key)?;
            session.replaced(held);
            Ok(deleted)
        })
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.rows.begin(mode)?;
        self.batch = Some(mode);
        self.files.begin(mode)
    }

    /// Flushes the folders of new files, then commits the rows that name them, then removes the
    /// files that no row names any longer.
    fn commit(&mut self) -> Result<()> {
        let committed = self.files.commit().and_then(|()| self.rows.commit());
        if committed.is_err() {
            self.abandon();
            return committed;
        }
        self.batch = None;
        if self.replaced.is_empty() {
            return Ok(());
        }
        self.parts.release(&mut self.replaced, &mut self.files)
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let (mut left, mut from, mut gone) = (scan.limit, None, None);
        loop {
            let start = from.as_ref().map(OwnedKey::as_key).or(scan.from);
            let part = Scan { from: start, limit: left, ..scan };
            let Some((key, file)) = self.scan_part(part, &mut left, visit)? else { return Ok(()) };
            self.renew(key.as_key(), file, gone.replace(file))?;
            from = Some(key);
        }
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        self.rows.statistics()
    }

    fn background_work(&self) -> Vec<FinishedWork> {
        self.rows.background_work()
    }
}
