//! The catalogue: records under names in a store, each sealed with a sum.
//!
//! ```text
//! b/BLOCK                 where a block is, and how often files refer to it
//! f/FOLDER/NAME/VERSION   what is at a path of a folder from this snapshot on
//! i                       which repository it is of, and how many records it has
//! k/PACK                  a pack, and its length
//! s/VERSION               a snapshot
//! ```
//!
//! A path has a record for each snapshot in which it changed, so that a backup of an unchanged folder
//! adds one record. Numbers are hexadecimal, with eight digits.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use base64::{
    Engine as _,
    alphabet::Alphabet,
    engine::general_purpose::{GeneralPurpose, NO_PAD},
};
use model::{Key, Mode, Put, Result, Scan, Session};

use crate::{
    entry::{Block, Entry, Hash, Kind, RecordReader, damaged, opened, resealed, sealed},
    os,
};

/// The number of records that a scan requests at first.
const FEW: u64 = 100;
/// The number of records that a scan requests after the first page.
const MANY: u64 = 5000;
/// The bytes from which on a page takes no further records: those of large files are long.
const PAGE: usize = 4 << 20;

/// The encoding of sums as text, in the order of the sums, so that blocks are inserted in the order
/// of their keys.
const SUMS: GeneralPurpose = GeneralPurpose::new(
    &match Alphabet::new("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz") {
        Ok(alphabet) => alphabet,
        Err(_) => panic!("64 letters, none of them twice"),
    },
    NO_PAD,
);

/// The number of the folder that contains the folders that were backed up, by [`root_name`].
pub(crate) const ROOT: u32 = 0;

/// Returns the name of a folder that was backed up: a path would be several names.
pub(crate) fn root_name(path: &Path) -> Vec<u8> {
    let path = os::bytes(path.to_owned().into_os_string());
    blake3::hash(&path).to_hex().as_bytes().to_vec()
}

/// A backup as the catalogue lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of the backup, counted from 1.
    pub version: u32,
    /// The time at which it started, in seconds since 1970.
    pub seconds: u64,
    /// The number of files, folders and links.
    pub entries: u64,
    /// The bytes of all files.
    pub bytes: u64,
    /// The number that the next new folder gets.
    pub(crate) next_folder: u32,
    /// The folder that was backed up.
    pub folder: PathBuf,
}

/// The record of a catalogue about itself, by which a catalogue of another repository, or one that
/// has lost records, is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inventory {
    /// The number of the repository.
    pub(crate) id: u128,
    /// The numbers of versions of paths, blocks and packs.
    pub(crate) entries: u64,
    pub(crate) blocks: u64,
    pub(crate) packs: u64,
    /// The first snapshot that counts exactly the entries that it has.
    pub(crate) exact_from: u32,
}

/// The key of the inventory.
const INVENTORY: &[u8] = b"i";

/// An operation of a catalogue on its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads the record of a key.
    Get(Vec<u8>),
    /// All records whose keys start so.
    Scan(Vec<u8>),
    /// A record under a key.
    Put(Vec<u8>, Vec<u8>),
}

/// The function that a scan shows the rest of each key and its record to.
type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'v;

/// The function that gets the rest of each key, and what is read from its record, or why that is
/// damaged.
type VisitRecord<'v, T> = dyn FnMut(&[u8], Result<T>) -> Result<()> + 'v;

/// Runs the work of a store, and adds its time to `spent`.
pub(crate) fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    *spent += start.elapsed();
    done
}

/// The keys and values of a scan. They are looked at when the store has returned them, so that this
/// does not count as its time.
#[derive(Default)]
struct Page {
    bytes: Vec<u8>,
    /// The positions at which each key and its value end.
    ends: Vec<(usize, usize)>,
}

impl Page {
    /// Reads what the store finds, up to the first key that does not start with `prefix`, or until
    /// the page is full. Returns whether there may be more.
    fn fill(&mut self, session: &mut dyn Session, scan: Scan<'_>, prefix: &[u8]) -> Result<bool> {
        self.bytes.clear();
        self.ends.clear();
        let mut is_full = false;
        session.scan(scan, &mut |item| match item.key {
            Key::Name(key) if key.starts_with(prefix) => {
                self.bytes.extend_from_slice(key);
                let key_end = self.bytes.len();
                self.bytes.extend_from_slice(item.value);
                self.ends.push((key_end, self.bytes.len()));
                // The first one may be the last one of the page before.
                let has_new = self.ends.len() > 1;
                is_full =
                    self.ends.len() as u64 == scan.limit || has_new && self.bytes.len() >= PAGE;
                Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            }
            _ => Ok(ControlFlow::Break(())),
        })?;
        Ok(is_full)
    }

    fn rows(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> {
        (0..self.ends.len()).map(|row| {
            let start = row.checked_sub(1).map_or(0, |before| self.ends[before].1);
            let (key, end) = self.ends[row];
            (&self.bytes[start..key], &self.bytes[key..end])
        })
    }
}

pub(crate) struct Catalogue<'s> {
    session: Box<dyn Session + 's>,
    /// The time that the store took.
    spent: Duration,
    /// The operations so far; `None` if they are not recorded.
    log: Option<Vec<Operation>>,
    buffer: Vec<u8>,
    /// Whether a transaction that only reads is open.
    open: bool,
}

impl<'s> Catalogue<'s> {
    pub(crate) fn new(session: Box<dyn Session + 's>) -> Self {
        let (spent, buffer) = (Duration::ZERO, vec![0; 4096]);
        Self { session, spent, log: None, buffer, open: false }
    }

    /// Records the operations from now on.
    pub(crate) fn record(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Returns the operations that were recorded, and stops recording.
    pub(crate) fn recorded(&mut self) -> Vec<Operation> {
        self.log.take().unwrap_or_default()
    }

    /// Returns the time that the store took so far.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    fn log(&mut self, what: impl FnOnce() -> Operation) {
        if let Some(log) = &mut self.log {
            log.push(what());
        }
    }

    /// Calls the store, and counts its time.
    fn call_store<T>(&mut self, call: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
        timed(&mut self.spent, || call(&mut *self.session))
    }

    pub(crate) fn begin(&mut self, mode: Mode) -> Result<()> {
        self.open = mode == Mode::Read;
        self.call_store(|session| session.begin(mode))
    }

    pub(crate) fn commit(&mut self) -> Result<()> {
        let committed = self.call_store(|session| session.commit());
        self.open = false;
        committed
    }

    pub(crate) fn repeat(&mut self, what: &Operation) -> Result<()> {
        match what {
            Operation::Get(key) => self.get_sealed(key).map(|_| ()),
            Operation::Scan(prefix) => self.scan(prefix, &mut |_, _| Ok(())),
            Operation::Put(key, value) => self.put_sealed(key, value),
        }
    }

    fn put_sealed(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.log(|| Operation::Put(key.to_vec(), value.to_vec()));
        self.call_store(|session| session.put(Key::Name(key), value, &Put::default()).map(|_| ()))
    }

    fn put(&mut self, key: &[u8], record: &[u8]) -> Result<()> {
        self.put_sealed(key, &sealed(key, record))
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>> {
        let found = self.get_sealed(key)?;
        found.map(|length| opened(key, &self.buffer[..length])).transpose()
    }

    /// Copies the value into the buffer, and returns its length. Records that are looked up are
    /// short.
    ///
    /// # Errors
    ///
    /// Fails if a record is longer than the buffer, which means that it is damaged.
    fn get_sealed(&mut self, key: &[u8]) -> Result<Option<usize>> {
        self.log(|| Operation::Get(key.to_vec()));
        let Self { session, spent, buffer, .. } = self;
        match timed(spent, || session.get(Key::Name(key), buffer))? {
            Some(length) if length > buffer.len() => Err(damaged(key)),
            found => Ok(found),
        }
    }

    /// Visits the keys that start with `prefix`, without it, and their sealed records. It requests
    /// a few at first: a server sends all that is requested, and most folders are small.
    fn scan(&mut self, prefix: &[u8], visit: &mut Visit<'_>) -> Result<()> {
        self.log(|| Operation::Scan(prefix.to_vec()));
        let (mut from, mut limit, mut page) = (prefix.to_vec(), FEW, Page::default());
        loop {
            let scan = Scan { from: Some(Key::Name(&from)), limit, ..Scan::ALL };
            let is_full = self.call_store(|session| page.fill(session, scan, prefix))?;
            for (key, value) in page.rows() {
                // The last key of the page before, which is longer than the prefix.
                if key != from {
                    visit(&key[prefix.len()..], value)?;
                }
            }
            match page.rows().next_back() {
                Some((last, _)) if is_full => last.clone_into(&mut from),
                _ => return Ok(()),
            }
            limit = MANY;
        }
    }

    /// Visits all records whose keys start with `prefix`: the rest of the key, and what `read` makes of
    /// it and the record, or why the record is damaged.
    fn visit_records<T>(
        &mut self,
        prefix: &[u8],
        read: impl Fn(&[u8], &[u8]) -> Option<T>,
        each: &mut VisitRecord<'_, T>,
    ) -> Result<()> {
        self.scan(prefix, &mut |rest, value| {
            let key = [prefix, rest].concat();
            let record = opened(&key, value);
            each(rest, record.and_then(|record| read(rest, record).ok_or_else(|| damaged(&key))))
        })
    }

    /// Returns the entries of a folder as they were in the snapshot `version`, by their names in
    /// order, without those that are gone.
    ///
    /// # Errors
    ///
    /// Fails if a record is damaged.
    pub(crate) fn children(&mut self, folder: u32, version: u32) -> Result<Vec<(Vec<u8>, Entry)>> {
        let found = self.readable_children(folder, version)?.into_iter();
        found.map(|(name, entry)| Ok((name, entry?))).collect()
    }

    /// Returns what [`Catalogue::children`] does, and for a damaged record the error in place of the
    /// entry: an older version of that path is not what was there.
    pub(crate) fn readable_children(
        &mut self,
        folder: u32,
        version: u32,
    ) -> Result<Vec<(Vec<u8>, Result<Entry>)>> {
        let mut found: Vec<(Vec<u8>, Result<Entry>)> = Vec::new();
        let prefix = format!("f/{folder:08x}/");
        let read = |rest: &[u8], record: &[u8]| {
            versioned(rest)?;
            Entry::from_bytes(record)
        };
        self.visit_records(prefix.as_bytes(), read, &mut |rest, entry| {
            let (name, since) = versioned(rest).unwrap_or((rest, 0));
            if since <= version {
                // Versions of a name follow each other in their order.
                found.pop_if(|(last, _)| last == name);
                found.push((name.to_vec(), entry));
            }
            Ok(())
        })?;
        let is_gone =
            |entry: &Result<Entry>| entry.as_ref().is_ok_and(|entry| entry.stat.kind == Kind::Gone);
        found.retain(|(_, entry)| !is_gone(entry));
        Ok(found)
    }

    /// Visits every version of every path.
    ///
    /// # Errors
    ///
    /// Fails if a record is damaged.
    pub(crate) fn entries(&mut self, each: &mut dyn FnMut(Entry) -> Result<()>) -> Result<()> {
        let read = |rest: &[u8], record: &[u8]| {
            let (name, _) = versioned(rest.get(FOLDER..)?)?;
            Entry::from_bytes(record).filter(|_| os::is_name(name))
        };
        self.visit_records(b"f/", read, &mut |_, entry| each(entry?))
    }

    pub(crate) fn put_entry(
        &mut self,
        folder: u32,
        name: &[u8],
        version: u32,
        entry: &Entry,
    ) -> Result<()> {
        let (folder, version) = (format!("f/{folder:08x}/"), format!("/{version:08x}"));
        self.put(&[folder.as_bytes(), name, version.as_bytes()].concat(), &entry.to_bytes())
    }

    /// Returns what the catalogue records about itself; `None` if it belongs to no kept repository,
    /// or to one of form 1.
    pub(crate) fn inventory(&mut self) -> Result<Option<Inventory>> {
        let record = self.get(INVENTORY)?;
        let read = |record| {
            let mut from = RecordReader(record);
            let id = from.u128()?;
            let [entries, blocks, packs] = [from.u64()?, from.u64()?, from.u64()?];
            Some(Inventory { id, entries, blocks, packs, exact_from: from.u32()? })
        };
        record.map(|record| read(record).ok_or_else(|| damaged(INVENTORY))).transpose()
    }

    pub(crate) fn put_inventory(&mut self, inventory: &Inventory) -> Result<()> {
        let Inventory { id, entries, blocks, packs, exact_from } = inventory;
        let mut record = id.to_le_bytes().to_vec();
        record.extend([*entries, *blocks, *packs].map(u64::to_le_bytes).as_flattened());
        record.extend(exact_from.to_le_bytes());
        self.put(INVENTORY, &record)
    }

    pub(crate) fn block(&mut self, hash: &Hash) -> Result<Option<Block>> {
        let key = block_key(hash);
        let record = self.get(key.as_bytes())?;
        let read = |record| Block::from_bytes(record).ok_or_else(|| damaged(key.as_bytes()));
        record.map(read).transpose()
    }

    pub(crate) fn put_block(&mut self, hash: &Hash, block: Block) -> Result<()> {
        self.put(block_key(hash).as_bytes(), &block.to_bytes())
    }

    /// Visits every block, or why its record is damaged.
    pub(crate) fn blocks(
        &mut self,
        each: &mut dyn FnMut(Result<(Hash, Block)>) -> Result<()>,
    ) -> Result<()> {
        let read = |rest: &[u8], record: &[u8]| {
            let hash = SUMS.decode(rest).ok()?.try_into().ok()?;
            Some((hash, Block::from_bytes(record)?))
        };
        self.visit_records(b"b/", read, &mut |_, block| each(block))
    }

    /// Returns the number of each pack and its length in bytes.
    pub(crate) fn packs(&mut self) -> Result<Vec<(u32, u64)>> {
        let read =
            |rest: &[u8], record: &[u8]| Some((hexadecimal(rest)?, RecordReader(record).u64()?));
        let mut found = Vec::new();
        self.visit_records(b"k/", read, &mut |_, pack| {
            found.push(pack?);
            Ok(())
        })?;
        Ok(found)
    }

    pub(crate) fn put_pack(&mut self, pack: u32, length: u64) -> Result<()> {
        self.put(format!("k/{pack:08x}").as_bytes(), &length.to_le_bytes())
    }

    /// Returns all backups, the oldest first.
    ///
    /// # Errors
    ///
    /// Fails if a record is damaged.
    pub(crate) fn snapshots(&mut self) -> Result<Vec<Snapshot>> {
        self.readable_snapshots()?.into_iter().collect()
    }

    /// Returns all backups, the oldest first, and for a damaged record the error in place of the
    /// backup.
    pub(crate) fn readable_snapshots(&mut self) -> Result<Vec<Result<Snapshot>>> {
        let read = |rest: &[u8], record: &[u8]| {
            let (version, mut from) = (hexadecimal(rest)?, RecordReader(record));
            let (seconds, entries, bytes) = (from.u64()?, from.u64()?, from.u64()?);
            let (next_folder, folder) = (from.u32()?, os::name(from.0).into());
            Some(Snapshot { version, seconds, entries, bytes, next_folder, folder })
        };
        let mut found = Vec::new();
        self.visit_records(b"s/", read, &mut |_, snapshot| {
            found.push(snapshot);
            Ok(())
        })?;
        Ok(found)
    }

    pub(crate) fn put_snapshot(&mut self, snapshot: &Snapshot) -> Result<()> {
        let Snapshot { version, seconds, entries, bytes, next_folder, folder } = snapshot;
        let mut record = [*seconds, *entries, *bytes].map(u64::to_le_bytes).as_flattened().to_vec();
        record.extend(next_folder.to_le_bytes());
        record.extend(os::bytes(folder.clone().into_os_string()));
        self.put(format!("s/{version:08x}").as_bytes(), &record)
    }
}

impl Drop for Catalogue<'_> {
    /// Ends a transaction that only reads; one that writes and was not committed must not be.
    fn drop(&mut self) {
        if self.open {
            let _ = self.session.commit();
        }
    }
}

/// Converts an operation to that on the `copy`-th copy of what was backed up; returns `None` if it
/// is done once for all copies.
pub(crate) fn for_copy(operation: &Operation, copy: u32) -> Option<Operation> {
    if copy == 0 {
        return Some(operation.clone());
    }
    Some(match operation {
        Operation::Get(key) => Operation::Get(key_of_copy(key, copy)?),
        Operation::Scan(prefix) => Operation::Scan(key_of_copy(prefix, copy)?),
        Operation::Put(key, value) => {
            let key = key_of_copy(key, copy)?;
            let value = resealed(&key, value);
            Operation::Put(key, value)
        }
    })
}

/// Returns the key of another block, or of a path in another folder.
fn key_of_copy(key: &[u8], copy: u32) -> Option<Vec<u8>> {
    let (kind, rest) = key.split_at_checked(2)?;
    match kind {
        b"b/" if !rest.is_empty() => {
            let sum = blake3::hash(&[rest, &copy.to_le_bytes()].concat());
            Some(block_key(sum.as_bytes()).into_bytes())
        }
        b"f/" => {
            let (folder, rest) = rest.split_at_checked(8)?;
            // Copies have numbers of their own as long as a folder has fewer than a million folders.
            let number = hexadecimal(folder)?.wrapping_add(copy << 20);
            Some([b"f/", format!("{number:08x}").as_bytes(), rest].concat())
        }
        _ => None,
    }
}

fn block_key(hash: &Hash) -> String {
    format!("b/{}", SUMS.encode(hash))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// The bytes of the number of a folder and the stroke after it.
const FOLDER: usize = 9;

/// Returns the name and the version at the end of a key.
fn versioned(rest: &[u8]) -> Option<(&[u8], u32)> {
    let (name, version) = rest.split_at_checked(rest.len().checked_sub(9)?)?;
    Some((name, hexadecimal(version.strip_prefix(b"/")?)?))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use model::{Item, ValueType, Visitor};

    use super::*;

    /// A store with numbered keys, which knows whether it works.
    struct Numbers<'a> {
        count: u32,
        /// Bytes of each value after its key.
        padding: usize,
        works: &'a Cell<bool>,
    }

    impl Session for Numbers<'_> {
        fn get(&mut self, _: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
            Ok(None)
        }

        fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
            Ok(true)
        }

        fn delete(&mut self, _: Key<'_>) -> Result<bool> {
            Ok(false)
        }

        fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
            self.works.set(true);
            let keys = (0..self.count).map(|number| format!("n/{number:08}").into_bytes());
            let from = |key: &Vec<u8>| scan.from.is_none_or(|from| Key::Name(key) >= from);
            let limit = usize::try_from(scan.limit).unwrap_or(usize::MAX);
            for key in keys.chain([b"z".to_vec()]).filter(from).take(limit) {
                let (name, of) = (Key::Name(&key), ValueType::default());
                let value = [&key[..], &vec![0; self.padding]].concat();
                let item =
                    Item { key: name, value: &value, length: 10, meta: None, value_type: of };
                if visit(item)?.is_break() {
                    break;
                }
            }
            self.works.set(false);
            Ok(())
        }
    }

    #[test]
    fn a_scan_shows_every_record_once_and_none_while_the_clock_of_the_store_runs() {
        let counts = [0, 1, 99, 100, 101, 5098, 5099, 5100, 12_000];
        let short = counts.map(|count| (count, 0));
        let long = [(1, PAGE), (3, PAGE), (3, PAGE / 2), (9, PAGE / 4), (9, PAGE / 3)];
        for (count, padding) in short.into_iter().chain(long) {
            let (works, mut found) = (Cell::new(false), Vec::new());
            let store = Numbers { count, padding, works: &works };
            let mut catalogue = Catalogue::new(Box::new(store));
            let mut visit = |rest: &[u8], value: &[u8]| {
                assert!(!works.get(), "our own work is not the store's");
                assert!(value[2..].starts_with(rest));
                found.push(String::from_utf8_lossy(rest).into_owned());
                Ok(())
            };
            catalogue.scan(b"n/", &mut visit).unwrap();
            let expected: Vec<_> = (0..count).map(|number| format!("{number:08}")).collect();
            assert_eq!(found, expected);
        }
    }
}
