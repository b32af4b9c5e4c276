//! `pack:FILE` is one file of values and a table of where they are: the physical limit of a
//! copy, against which other engines are held.
//!
//! A read is a table lookup and one copy, by `pread` or out of a map of the file (`io=mmap`)
//! created when it is opened; values written later are behind the map and are read by `pread`.
//! An update that fits into the room of the old value overwrites it, a longer one is appended;
//! room that is given up is not used again. Each value has a checksum: a scan of a store opened to
//! read compares it, a get does not, as it is to cost what a copy costs. Between processes nothing is locked.

mod format;

use std::{
    fs::File,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard},
};

use kit::{lock, refusal};
use memmap2::{MmapOptions, MmapRaw};
use model::{
    Accepts, Access, Blobs, Capabilities, Declaration, Durability, Engine, Error, How, Item, Key,
    KeyKind, Mode, OpenOptions, Put, Result, Scan, Session, Setting, Settings, Store, Visit,
    Visitor,
};

use self::format::{Content, HEAD, Slot};

use crate::{at, fresh, table::Table};

/// The engine of pack files.
pub(crate) struct Pack;

static DECLARATION: Declaration = Declaration {
    settings: &[Setting::new(
        "io",
        Accepts::Words(&["pread", "mmap"]),
        "how values are read: a system call each, or copied out of a map of the file",
    )
    .of_use()],
    durability: &[Durability::None.kept_by(
        &[],
        "pwrite(2) over the old bytes, no flush: a power cut leaves any mixture of old and new",
    )],
    limitations: &["names in order: a scan looks at all of them"],
    integrity: Some("a checksum for each value"),
    capabilities: Capabilities { atomic_batches: false, ..Capabilities::ON_DISK },
    blobs: Some(&Pack),
    reference: true,
    ..Declaration::new("pack", "one file and an offset table: the physical limit of a copy")
};

impl Engine for Pack {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Blobs for Pack {
    fn recognises(&self, path: &Path) -> bool {
        at::start(path).is_some_and(|head| format::is_pack(&head))
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::file(location, |file| {
            at::write(&file, &HEAD, 0).map_err(|e| Error::io(location.display(), e))?;
            let tail = Tail { end: HEAD.len() as u64, settled: false };
            let options = OpenOptions { access: Access::Write, ..options.clone() };
            PackFile::new(location, file, &options, Table::new(options.keys), tail)
        })
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let file = at::open(location, options.access)?;
        let (slots, end) = format::read_table(&file).map_err(|e| e.at(location.display()))?;
        let tail = Tail { end, settled: true };
        Ok(Box::new(PackFile::new(location, file, options, slots, tail)?))
    }
}

/// The end of the values, and whether the table is written after them.
struct Tail {
    end: u64,
    settled: bool,
}

/// An open pack. Locks are taken in the order `slots`, `tail`. A slot is changed first and the tail
/// after it, so that a table written meanwhile never passes for current.
struct PackFile {
    path: PathBuf,
    file: File,
    access: Access,
    map: Option<MmapRaw>,
    keys: KeyKind,
    slots: RwLock<Table<Slot>>,
    tail: Mutex<Tail>,
    /// The locks that are held while a value is overwritten, chosen by its offset: of two writers
    /// of one value, the checksum has to be the last one's too.
    overwriting: [Mutex<()>; 16],
}

impl PackFile {
    fn new(
        path: &Path,
        file: File,
        options: &OpenOptions,
        slots: Table<Slot>,
        tail: Tail,
    ) -> Result<Self> {
        let map = (options.settings.get("io") == Some("mmap"))
            .then(|| MmapOptions::new().map_raw_read_only(&file))
            .transpose()
            .map_err(|e| Error::io(path.display(), e))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            access: options.access,
            map,
            keys: slots.keys(),
            slots: RwLock::new(slots),
            tail: Mutex::new(tail),
            overwriting: Default::default(),
        })
    }

    /// Copies a value to the front of `into` if it fits, and returns its length.
    #[inline]
    fn copy(&self, slot: &Slot, into: &mut [u8]) -> Result<usize> {
        let length = refusal::size(slot.length())?;
        if let Some(front) = into.get_mut(..length)
            && !self.copy_mapped(slot.offset.get(), front)
        {
            at::read(&self.file, front, slot.offset.get()).map_err(|e| self.store_error(e))?;
        }
        Ok(length)
    }

    /// Copies bytes from the map; returns `false` if there is no map, or it does not reach that
    /// far.
    #[inline]
    fn copy_mapped(&self, offset: u64, into: &mut [u8]) -> bool {
        let Some(map) = &self.map else { return false };
        let Ok(offset) = usize::try_from(offset) else { return false };
        if offset.checked_add(into.len()).is_none_or(|end| end > map.len()) {
            return false;
        }
        // SAFETY: the range is within the map, and within the file: a slot is entered after
        // its bytes are written, and the file is never cut (nothing guards against another
        // process that truncates it). `into` is memory of its own. No
        // reference to the map is formed, as `pwrite` may change it meanwhile.
        unsafe {
            std::ptr::copy_nonoverlapping(map.as_ptr().add(offset), into.as_mut_ptr(), into.len());
        }
        true
    }

    /// Overwrites a value in place. Returns the answer to the put, or `None` if the value must be
    /// appended.
    fn overwrite(&self, key: Key<'_>, value: &[u8], put: &Put) -> Result<Option<bool>> {
        let slots = lock::read(&self.slots);
        let Some(slot) = slots.get(&key)? else {
            return Ok((put.how == How::Update).then_some(false));
        };
        if put.how == How::Insert {
            return Ok(Some(false));
        }
        let length = value.len() as u64;
        if length > slot.room || slot.meta.as_deref() != put.meta.as_ref() {
            return Ok(None);
        }
        let content = Content::measure(value)?;
        let turn = self.lock_slot(slot);
        at::write(&self.file, value, slot.offset.get()).map_err(|e| self.store_error(e))?;
        let old = slot.replace(content);
        drop(turn);
        if old != content {
            self.reserve(0)?;
        }
        Ok(Some(true))
    }

    fn lock_slot(&self, slot: &Slot) -> MutexGuard<'_, ()> {
        let which = slot.offset.get() % self.overwriting.len() as u64;
        lock::hold(&self.overwriting[usize::try_from(which).unwrap_or(0)])
    }

    /// Writes a value behind all others and enters it, unless another session was faster with what
    /// [`Put::how`] forbids.
    fn append(&self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let length = value.len() as u64;
        let content = Content::measure(value)?;
        let offset = self.reserve(length)?;
        at::write(&self.file, value, offset).map_err(|e| self.store_error(e))?;
        let slot =
            Slot::new(offset, content, length, put.meta).expect("values are behind the head");
        let mut slots = lock::write(&self.slots);
        match (put.how, slots.get(&key)?.is_some()) {
            (How::Insert, true) | (How::Update, false) => return Ok(false),
            _ => slots.insert(key, slot)?,
        };
        self.reserve(0)?;
        Ok(true)
    }

    fn remove(&self, key: Key<'_>) -> Result<bool> {
        let mut slots = lock::write(&self.slots);
        let removed = slots.remove(key)?.is_some();
        if removed {
            self.reserve(0)?;
        }
        Ok(removed)
    }

    /// Reserves `length` bytes behind all values. The table, if it is there, loses its trailer.
    fn reserve(&self, length: u64) -> Result<u64> {
        let mut tail = lock::hold(&self.tail);
        if tail.settled {
            format::void_trailer(&self.file).map_err(|e| self.store_error(e))?;
            tail.settled = false;
        }
        let offset = tail.end;
        tail.end += length;
        Ok(offset)
    }

    fn store_error(&self, cause: std::io::Error) -> Error {
        Error::io(self.path.display(), cause)
    }

    /// Visits keys from `from` on with their slots and, if `values`, their values, read into one
    /// buffer.
    fn walk(
        &self,
        slots: &Table<Slot>,
        scan: Scan<'_>,
        visit: &mut dyn FnMut(Key<'_>, &Slot, &[u8]) -> Visit,
    ) -> Result<()> {
        let mut value = Vec::new();
        for (key, slot) in slots.sorted(scan.from, scan.limit)? {
            if scan.values && (value.len() as u64) < slot.room {
                value.resize(refusal::size(slot.room)?, 0);
            }
            let copied = if scan.values { self.copy(slot, &mut value)? } else { 0 };
            if visit(key, slot, &value[..copied])?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn describe_damage(key: Key<'_>) -> String {
    format!("the value of {key} is damaged: its checksum differs")
}

impl Store for PackFile {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(PackSession { store: self, held: None }))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        refusal::check_value(key, length, u32::MAX.into())
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = Settings::default();
        settings.set("io", if self.map.is_some() { "mmap" } else { "pread" });
        Ok((settings, Durability::None))
    }

    /// Writes the table, if anything changed since it was last written.
    fn flush_writes(&self) -> Result<()> {
        let slots = lock::read(&self.slots);
        let mut tail = lock::hold(&self.tail);
        if !tail.settled {
            let length = self.file.metadata().map_err(|e| self.store_error(e))?.len();
            let (start, table) = format::encode(&slots, tail.end, length)?;
            at::write(&self.file, &table, start).map_err(|e| self.store_error(e))?;
            tail.settled = true;
        }
        Ok(())
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let mut damaged = Vec::new();
        self.walk(&lock::read(&self.slots), Scan::ALL, &mut |key, slot, value| {
            if Content::measure(value)? != slot.content() {
                damaged.push(describe_damage(key));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Some(damaged))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.flush_writes()
    }
}

/// Writes the table of a store that is dropped, not closed, as far as possible.
impl Drop for PackFile {
    fn drop(&mut self) {
        let _ = self.flush_writes();
    }
}

/// A session. While a batch that reads is open, `held` keeps the table locked for reading, so that
/// a get takes no lock; writers that add, lengthen or remove a value wait for its end.
struct PackSession<'s> {
    store: &'s PackFile,
    held: Option<RwLockReadGuard<'s, Table<Slot>>>,
}

impl PackSession<'_> {
    /// Runs `read` on the table, under the batch's lock or one of its own.
    #[inline]
    fn with_table<T>(&self, read: impl FnOnce(&Table<Slot>) -> Result<T>) -> Result<T> {
        match &self.held {
            Some(slots) => read(slots),
            None => read(&lock::read(&self.store.slots)),
        }
    }

    /// Checks that the session may write: a write inside a reading batch would wait for itself.
    fn writable(&self) -> Result<()> {
        if self.held.is_some() {
            return Err(Error::usage("the batch was begun to read; nothing was written"));
        }
        if self.store.access == Access::Write { Ok(()) } else { Err(refusal::read_only()) }
    }
}

impl Session for PackSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.with_table(|slots| {
            slots.get(&key)?.map(|slot| self.store.copy(slot, into)).transpose()
        })
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.writable()?;
        match self.store.overwrite(key, value, put)? {
            Some(answer) => Ok(answer),
            None => self.store.append(key, value, put),
        }
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.writable()?;
        self.store.remove(key)
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        // The old guard goes first: taking a second one could wait for a writer that
        // waits for the first.
        self.held = None;
        self.held = (mode == Mode::Read).then(|| lock::read(&self.store.slots));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.held = None;
        Ok(())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        // While others write, a value may differ from its checksum for a moment.
        let checked = scan.values && self.store.access == Access::Read;
        let visit = &mut |key: Key<'_>, slot: &Slot, value: &[u8]| {
            if checked && Content::measure(value)? != slot.content() {
                let path = self.store.path.display();
                return Err(Error::corrupt(describe_damage(key)).at(path));
            }
            let meta = slot.meta.as_deref().copied();
            visit(Item::new(key, value, meta).with_length(slot.length()))
        };
        self.with_table(|slots| self.store.walk(slots, scan, visit))
    }
}
