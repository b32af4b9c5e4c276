//! An open archive, to be read.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::refusal;
use model::{
    Durability, Entry, Error, Item, Key, KeyKind, Put, Result, Scan, Session, Settings, Store,
    Visitor,
};

use super::{
    Archive,
    index::{Entries, Slot, value_error},
    inflate::Inflater,
};

pub(super) struct ArchiveStore {
    archive: Archive,
    path: PathBuf,
    file: File,
    entries: Arc<Entries>,
}

impl ArchiveStore {
    pub(super) fn new(archive: Archive, path: &Path, file: File, entries: Arc<Entries>) -> Self {
        Self { archive, path: path.to_owned(), file, entries }
    }

    fn start_session(&self) -> ArchiveSession<'_> {
        let inflater = self.entries.is_deflated.then(Inflater::new);
        ArchiveSession { store: self, inflater }
    }

    #[cold]
    fn failed(&self, key: Key<'_>, error: &Error) -> Error {
        value_error(key, error).at(self.path.display())
    }
}

impl Store for ArchiveStore {
    fn keys(&self) -> KeyKind {
        self.entries.values.keys()
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self.start_session()))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        Ok(self.archive.in_effect(self.entries.is_deflated))
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        Ok(self.entries.left_out.clone())
    }

    fn has_parts(&self) -> bool {
        true
    }

    /// Returns the values that differ from their checksums; `None` for tar, which has none of values.
    fn integrity(&self) -> Result<Option<Vec<String>>> {
        if self.archive == Archive::Tar {
            return Ok(None);
        }
        let (mut session, mut value, mut damaged) = (self.start_session(), Vec::new(), Vec::new());
        for (key, slot) in self.entries.values.sorted(None, u64::MAX)? {
            if let Err(error) = session.load(slot, &mut value) {
                damaged.push(value_error(key, &error).to_string());
            }
        }
        Ok(Some(damaged))
    }
}

struct ArchiveSession<'s> {
    store: &'s ArchiveStore,
    /// Inflates values; `None` if none is deflated.
    inflater: Option<Inflater>,
}

impl ArchiveSession<'_> {
    /// Reads a value to the front of `room`, which grows as needed, and compares its checksum. Returns its
    /// length.
    fn load(&mut self, slot: &Slot, room: &mut Vec<u8>) -> Result<usize> {
        let length = refusal::size(slot.length)?;
        if room.len() < length {
            room.resize(length, 0);
        }
        slot.read(&self.store.file, room, &mut self.inflater)?;
        if slot.checksum.is_some() {
            slot.check(crc32fast::hash(&room[..length]))?;
        }
        Ok(length)
    }
}

impl Session for ArchiveSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let Some(slot) = self.store.entries.values.get(&key)? else { return Ok(None) };
        match slot.read(&self.store.file, into, &mut self.inflater) {
            Ok(length) => Ok(Some(length)),
            Err(error) => Err(self.store.failed(key, &error)),
        }
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        Ok(self.store.entries.values.get(&key)?.map(|slot| slot.length))
    }

    fn read_parts(&mut self, key: Key<'_>, to: &mut dyn Write) -> Result<()> {
        let gone = || Error::failed("is gone");
        let slot = self.store.entries.values.get(&key)?.ok_or_else(gone);
        let written = slot.and_then(|slot| slot.write(&self.store.file, to));
        written.map_err(|error| self.store.failed(key, &error))
    }

    fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
        Err(written_once())
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Err(written_once())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let store = self.store;
        let (named, mut value) = (store.keys() == KeyKind::Names, Vec::new());
        for (key, slot) in store.entries.values.sorted(scan.from, scan.limit)? {
            let length = if scan.values && slot.length <= scan.longest {
                self.load(slot, &mut value).map_err(|error| store.failed(key, &error))?
            } else {
                0
            };
            let item = Item::new(key, &value[..length], named.then_some(slot.meta));
            if visit(item.with_length(slot.length))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Creates the error of a change.
#[cold]
pub(super) fn written_once() -> Error {
    Error::usage("an archive is written once, as a whole; `storemark copy` writes another one")
}
