//! The open file, the table of its slots, and where the values end.

use std::{
    fs::File,
    num::NonZeroU64,
    path::{Path, PathBuf},
    sync::{
        Mutex, RwLock, RwLockReadGuard,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use memmap2::{MmapOptions, MmapRaw};
use model::{
    Access, Durability, Error, How, Key, KeyKind, Meta, OpenOptions, Put, Result, Session,
    Settings, Store,
};

use super::{
    format::{self, HEAD, TRAILER, Trailer},
    session::Reader,
};
use crate::{at, lock, refusal, table::Table};

/// Where a value is. Offset and room never change; the length does, under a shared lock,
/// when the value is overwritten in place. Never astride two cache lines, and an `Option` of it
/// is no larger.
#[repr(align(32))]
pub(super) struct Slot {
    offset: NonZeroU64,
    pub(super) room: u64,
    length: AtomicU64,
    pub(super) meta: Option<Box<Meta>>,
}

impl Slot {
    /// `None`: no value is at offset 0, where the head is.
    pub(super) fn new(
        offset: u64,
        length: u64,
        room: u64,
        meta: Option<Box<Meta>>,
    ) -> Option<Self> {
        Some(Self { offset: NonZeroU64::new(offset)?, room, length: AtomicU64::new(length), meta })
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset.get()
    }

    pub(super) fn length(&self) -> u64 {
        self.length.load(Relaxed)
    }
}

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
        let (slots, end) = read_table(&file).map_err(|e| e.context(path.display()))?;
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

    pub(super) fn slots(&self) -> RwLockReadGuard<'_, Table<Slot>> {
        lock::read(&self.slots)
    }

    pub(super) fn writable(&self) -> Result<()> {
        if self.access == Access::Write { Ok(()) } else { Err(refusal::read_only()) }
    }

    /// Copies a value to the front of `into` if it fits, and returns its length.
    #[inline]
    pub(super) fn copy(&self, slot: &Slot, into: &mut [u8]) -> Result<usize> {
        let length = slot.length();
        let length = usize::try_from(length).map_err(|_| refusal::too_long(length))?;
        if let Some(front) = into.get_mut(..length)
            && !self.copy_mapped(slot.offset(), front)
        {
            at::read(&self.file, front, slot.offset()).map_err(|e| self.failed(e))?;
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
    pub(super) fn overwrite(&self, key: Key<'_>, value: &[u8], put: &Put) -> Result<Option<bool>> {
        let slots = self.slots();
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
        at::write(&self.file, value, slot.offset()).map_err(|e| self.failed(e))?;
        if slot.length.swap(length, Relaxed) != length {
            self.reserve(0)?;
        }
        Ok(Some(true))
    }

    /// Writes a value behind all others and enters it, unless another session was faster with
    /// what [`Put::how`] forbids.
    pub(super) fn append(&self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        format::check(key)?;
        let length = value.len() as u64;
        let offset = self.reserve(length)?;
        at::write(&self.file, value, offset).map_err(|e| self.failed(e))?;
        let slot = Slot::new(offset, length, length, put.meta.map(Box::new))
            .expect("values are behind the head");
        let mut slots = lock::write(&self.slots);
        match (put.how, slots.get(&key)?.is_some()) {
            (How::Insert, true) | (How::Update, false) => return Ok(false),
            _ => slots.insert(key, slot)?,
        };
        self.reserve(0)?;
        Ok(true)
    }

    pub(super) fn remove(&self, key: Key<'_>) -> Result<bool> {
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
        Ok(Box::new(Reader::new(self)))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = Settings::default();
        settings.set("io", if self.map.is_some() { "mmap" } else { "pread" });
        Ok((settings, Durability::None))
    }

    /// Writes the table, if anything changed since it was last written.
    fn settle(&self) -> Result<()> {
        let slots = self.slots();
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

/// The slots of a file and the offset where its values end.
fn read_table(file: &File) -> Result<(Table<Slot>, u64)> {
    let failed = |e| Error::io("reading its table", e);
    let length = file.metadata().map_err(failed)?.len();
    check_head(file, length)?;
    let start = length.checked_sub(TRAILER as u64).ok_or_else(no_trailer)?;
    let mut trailer = [0; TRAILER];
    at::read(file, &mut trailer, start).map_err(failed)?;
    let trailer = Trailer::decode(&trailer).ok_or_else(no_trailer)?;
    if !(HEAD.len() as u64..=start).contains(&trailer.table) {
        return Err(no_trailer());
    }
    let size = length - trailer.table;
    let mut tail = vec![0; usize::try_from(size).map_err(|_| refusal::too_long(size))?];
    at::read(file, &mut tail, trailer.table).map_err(failed)?;
    Ok((format::decode(&tail, &trailer)?, trailer.table))
}

fn check_head(file: &File, length: u64) -> Result<()> {
    let mut head = [0; HEAD.len()];
    if length >= HEAD.len() as u64 {
        at::read(file, &mut head, 0).map_err(|e| Error::io("reading its head", e))?;
    }
    if head == HEAD {
        Ok(())
    } else if format::is_pack(&head) {
        Err(Error::unsupported("a pack of a version that is not known here"))
    } else {
        Err(Error::corrupt("not a pack: it does not start as one"))
    }
}

fn no_trailer() -> Error {
    Error::corrupt(
        "the table at its end is missing: its writer was interrupted, or the file was cut short",
    )
}
