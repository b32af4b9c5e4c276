//! The open file with the table of its slots, and one worker's use of it.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Mutex, RwLock, RwLockReadGuard, atomic::Ordering::Relaxed},
};

use memmap2::{MmapOptions, MmapRaw};
use model::{
    Access, Durability, Error, How, Item, Key, KeyKind, Mode, OpenOptions, Put, Result, Scan,
    Session, Settings, Store, Visitor,
};

use super::format::{self, HEAD, Slot};
use crate::{at, lock, refusal, table::Table};

/// Where the values end, and whether the table is there.
struct Tail {
    end: u64,
    settled: bool,
}

/// Locks are taken in the order `slots`, `tail`. A slot is changed first and
/// the tail after it, so that a table written meanwhile never passes for current.
pub(super) struct Pack {
    path: PathBuf,
    file: File,
    access: Access,
    map: Option<MmapRaw>,
    keys: KeyKind,
    slots: RwLock<Table<Slot>>,
    tail: Mutex<Tail>,
}

impl Pack {
    pub(super) fn create(path: &Path, file: File, options: &OpenOptions) -> Result<Self> {
        at::write(&file, &HEAD, 0).map_err(|e| Error::io(path.display(), e))?;
        let tail = Tail { end: HEAD.len() as u64, settled: false };
        let options = OpenOptions { access: Access::Write, ..options.clone() };
        Self::new(path, file, &options, Table::new(options.keys), tail)
    }

    pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let file = at::open(path, options.access)?;
        let (slots, end) = format::read_table(&file).map_err(|e| e.context(path.display()))?;
        Self::new(path, file, options, slots, Tail { end, settled: true })
    }

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
        })
    }

    /// Copies a value to the front of `into` if it fits, and returns its length.
    #[inline]
    fn copy(&self, slot: &Slot, into: &mut [u8]) -> Result<usize> {
        let length = refusal::size(slot.length())?;
        if let Some(front) = into.get_mut(..length)
            && !self.copy_mapped(slot.offset.get(), front)
        {
            at::read(&self.file, front, slot.offset.get()).map_err(|e| self.failed(e))?;
        }
        Ok(length)
    }

    /// `false`: there is no map, or it does not reach that far.
    #[inline]
    fn copy_mapped(&self, offset: u64, into: &mut [u8]) -> bool {
        let Some(map) = &self.map else { return false };
        let Ok(offset) = usize::try_from(offset) else { return false };
        if offset.checked_add(into.len()).is_none_or(|end| end > map.len()) {
            return false;
        }
        // SAFETY: the range is within the map, and within the file: a slot is entered after
        // its bytes are written, and the file is never cut below the end of its slots (nothing
        // guards against another process that truncates it). `into` is memory of its own. No
        // reference to the map is formed, as `pwrite` may change it meanwhile.
        unsafe {
            std::ptr::copy_nonoverlapping(map.as_ptr().add(offset), into.as_mut_ptr(), into.len());
        }
        true
    }

    /// Overwrites a value in place. `Some(answer)`: the put is answered; `None`: it must be
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
        at::write(&self.file, value, slot.offset.get()).map_err(|e| self.failed(e))?;
        if slot.length.swap(length, Relaxed) != length {
            self.reserve(0)?;
        }
        Ok(Some(true))
    }

    /// Writes a value behind all others and enters it, unless another session was faster with
    /// what [`Put::how`] forbids.
    fn append(&self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let length = value.len() as u64;
        let offset = self.reserve(length)?;
        at::write(&self.file, value, offset).map_err(|e| self.failed(e))?;
        let slot = Slot::new(offset, length, length, put.meta).expect("values are behind the head");
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

    /// Room for `length` bytes behind all values. The table, if it is there, is cut off.
    fn reserve(&self, length: u64) -> Result<u64> {
        let mut tail = lock::hold(&self.tail);
        if tail.settled {
            self.file.set_len(tail.end).map_err(|e| self.failed(e))?;
            tail.settled = false;
        }
        let offset = tail.end;
        tail.end += length;
        Ok(offset)
    }

    fn failed(&self, cause: std::io::Error) -> Error {
        Error::io(self.path.display(), cause)
    }
}

impl Store for Pack {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Reader { store: self, held: None }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = Settings::default();
        settings.set("io", if self.map.is_some() { "mmap" } else { "pread" });
        Ok((settings, Durability::None))
    }

    /// Writes the table, if anything changed since it was last written.
    fn settle(&self) -> Result<()> {
        let slots = lock::read(&self.slots);
        let mut tail = lock::hold(&self.tail);
        if !tail.settled {
            let table = format::encode(&slots, tail.end)?;
            at::write(&self.file, &table, tail.end).map_err(|e| self.failed(e))?;
            tail.settled = true;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.settle()
    }
}

/// A store that is dropped, not closed, is settled as far as it can be.
impl Drop for Pack {
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

/// While a batch that reads is open, `held` keeps the table locked for reading, so that a get
/// takes no lock; writers that add, lengthen or remove a value wait for its end.
struct Reader<'s> {
    store: &'s Pack,
    held: Option<RwLockReadGuard<'s, Table<Slot>>>,
}

impl Reader<'_> {
    /// Runs `read` on the table, under the batch's lock or one of its own.
    #[inline]
    fn with<T>(&self, read: impl FnOnce(&Table<Slot>) -> Result<T>) -> Result<T> {
        match &self.held {
            Some(slots) => read(slots),
            None => read(&lock::read(&self.store.slots)),
        }
    }

    /// A write inside a reading batch would wait for itself.
    fn writable(&self) -> Result<()> {
        if self.held.is_some() {
            return Err(Error::usage("the batch was begun to read; nothing was written"));
        }
        if self.store.access == Access::Write { Ok(()) } else { Err(refusal::read_only()) }
    }
}

impl Session for Reader<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.with(|slots| slots.get(&key)?.map(|slot| self.store.copy(slot, into)).transpose())
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
        let mut value = Vec::new();
        self.with(|slots| {
            for (key, slot) in slots.sorted(scan.from, scan.limit)? {
                if scan.values && (value.len() as u64) < slot.room {
                    value.resize(refusal::size(slot.room)?, 0);
                }
                let copied = if scan.values { self.store.copy(slot, &mut value)? } else { 0 };
                let meta = slot.meta.as_deref().copied();
                let item = Item { key, value: &value[..copied], length: slot.length(), meta };
                if visit(item)?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}
