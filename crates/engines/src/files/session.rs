//! One worker's use of a folder of files.

use std::{collections::BTreeSet, io};

use model::{Access, Error, How, Item, Key, KeyKind, Mode, Put, Result, Scan, Session, Visitor};

use super::{
    listing,
    os::{self, Facts, File, Sync, Writing},
    store::Folder,
    temporary,
};
use crate::{first::first, refusal};

/// Longest path that systems take (Linux's `PATH_MAX`): its room is allocated once.
const LONGEST: usize = 4096;

pub(super) struct Worker<'s> {
    store: &'s Folder,
    number: u32,
    temporaries: u64,
    /// The path of the current key, ended by a zero byte.
    path: Vec<u8>,
    /// The temporary file next to it, likewise.
    temporary: Vec<u8>,
    /// Folders whose entries changed in this batch, each ended by a zero byte. Kept only for
    /// `sync=full`.
    touched: BTreeSet<Vec<u8>>,
    in_batch: bool,
}

impl<'s> Worker<'s> {
    pub(super) fn new(store: &'s Folder, number: u32) -> Self {
        Self {
            store,
            number,
            temporaries: 0,
            path: Vec::with_capacity(LONGEST),
            temporary: Vec::with_capacity(LONGEST),
            touched: BTreeSet::new(),
            in_batch: false,
        }
    }

    /// An error about the current file.
    #[cold]
    fn failed(&self, cause: io::Error) -> Error {
        let name = self.path.strip_suffix(&[0]).unwrap_or(&self.path);
        Error::io(self.store.path.join(os::path(name)).display(), cause)
    }

    fn writable(&self) -> Result<()> {
        if self.store.access == Access::Write { Ok(()) } else { Err(refusal::read_only()) }
    }

    fn write_in_place(&mut self, value: &[u8], put: &Put) -> io::Result<bool> {
        let Some(file) = self.open_new(false, put.how)? else { return Ok(false) };
        self.write_to(file, value, put).map(|()| true)
    }

    /// Writes a temporary file, then renames it to the current one.
    fn write_temporary(&mut self, value: &[u8], put: &Put) -> io::Result<bool> {
        let there = || self.store.root.facts(&self.path).map(|facts| facts.is_some());
        match put.how {
            How::Insert if there()? => return Ok(false),
            How::Update if !there()? => return Ok(false),
            _ => {}
        }
        self.temporaries += 1;
        temporary::next_to(&self.path, self.number, self.temporaries, &mut self.temporary);
        let Some(file) = self.open_new(true, How::Upsert)? else { return Ok(false) };
        let written = self
            .write_to(file, value, put)
            .and_then(|()| self.store.root.rename(&self.temporary, &self.path));
        if written.is_err() {
            // The first error is the one to report.
            let _ = self.store.root.remove(&self.temporary);
        }
        written.map(|()| true)
    }

    /// Opens the current file or its temporary one, in folders created as needed; `None` if
    /// `how` forbids it.
    fn open_new(&mut self, temporary: bool, how: How) -> io::Result<Option<File>> {
        let open = |worker: &Self| {
            let path = if temporary { &worker.temporary } else { &worker.path };
            worker.store.root.write(path, how, worker.store.write)
        };
        let mut file = open(self)?;
        if file.is_none() && how != How::Update && self.make_folders()? {
            file = open(self)?;
        }
        if file.is_none() && how == How::Upsert {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(file)
    }

    fn write_to(&self, file: File, value: &[u8], put: &Put) -> io::Result<()> {
        file.write_all(value)?;
        if self.store.write == Writing::Overwrite {
            file.cut(value.len())?;
        }
        if let Some(meta) = &put.meta {
            file.set_meta(meta)?;
        }
        file.flush(self.store.sync)?;
        drop(file);
        Ok(())
    }

    /// Creates the folders of the current path; `false` if there are none above it.
    fn make_folders(&mut self) -> io::Result<bool> {
        let slashes: Vec<_> = (0..self.path.len()).filter(|i| self.path[*i] == b'/').collect();
        for slash in &slashes {
            let mut folder = self.path[..*slash].to_vec();
            folder.push(0);
            if self.store.root.make_folder(&folder)? {
                self.touch(&folder[..*slash]);
            }
        }
        Ok(!slashes.is_empty())
    }

    /// Notes that the entries of the folder around `path` changed.
    fn touch(&mut self, path: &[u8]) {
        if self.store.sync == Sync::Full {
            let folder = match temporary::folder(path) {
                [] => b".\0".to_vec(),
                [folder @ .., _] => [folder, b"\0"].concat(),
            };
            self.touched.insert(folder);
        }
    }

    /// Notes that the folder of the current file changed, and flushes it outside a batch.
    fn changed(&mut self) -> Result<()> {
        if self.store.sync == Sync::Full {
            let path = std::mem::take(&mut self.path);
            self.touch(&path);
            self.path = path;
            if !self.in_batch {
                self.flush_folders()?;
            }
        }
        Ok(())
    }

    fn flush_folders(&mut self) -> Result<()> {
        while let Some(folder) = self.touched.pop_first() {
            let flushed = self.store.root.flush_folder(&folder);
            flushed.map_err(|e| Error::io(self.store.path.display(), e))?;
        }
        Ok(())
    }

    fn read_all(&self, file: &File, facts: &Facts, value: &mut Vec<u8>) -> Result<()> {
        value.resize(size(facts.length)?, 0);
        let length = file.fill(value).map_err(|e| self.failed(e))?;
        value.truncate(length);
        Ok(())
    }
}

impl Session for Worker<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.store.layout.path(key, &mut self.path)?;
        let opened = self.store.root.read(&self.path).map_err(|e| self.failed(e))?;
        let Some((file, facts)) = opened else { return Ok(None) };
        let length = size(facts.length)?;
        match into.get_mut(..length) {
            Some(front) => file.fill(front).map(Some).map_err(|e| self.failed(e)),
            None => Ok(Some(length)),
        }
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.writable()?;
        self.store.layout.path(key, &mut self.path)?;
        let written = if self.store.write == Writing::Rename {
            self.write_temporary(value, put)
        } else {
            self.write_in_place(value, put)
        };
        let written = written.map_err(|e| self.failed(e))?;
        if written {
            self.changed()?;
        }
        Ok(written)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.writable()?;
        self.store.layout.path(key, &mut self.path)?;
        if self.store.root.facts(&self.path).map_err(|e| self.failed(e))?.is_none() {
            return Ok(false);
        }
        self.store.root.remove(&self.path).map_err(|e| self.failed(e))?;
        self.changed()?;
        Ok(true)
    }

    fn begin(&mut self, _: Mode) -> Result<()> {
        self.in_batch = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.in_batch = false;
        self.flush_folders()
    }

    /// A folder has no order: it is listed whole, and sorted, for each scan.
    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let mut visit = first(scan.limit, visit);
        let named = self.store.layout.keys() == KeyKind::Names;
        let mut value = Vec::new();
        let listing = listing::list(&self.store.path, self.store.layout)?;
        for key in listing.keys().skip(scan.from.map_or(0, |from| listing.before(from))) {
            self.store.layout.path(key, &mut self.path)?;
            // A file removed since the listing is no longer a key.
            let facts = if scan.values {
                let opened = self.store.root.read(&self.path).map_err(|e| self.failed(e))?;
                let Some((file, facts)) = opened else { continue };
                self.read_all(&file, &facts, &mut value)?;
                facts
            } else {
                let facts = self.store.root.facts(&self.path).map_err(|e| self.failed(e))?;
                let Some(facts) = facts else { continue };
                facts
            };
            let meta = named.then_some(facts.meta);
            if visit(Item { key, value: &value, length: facts.length, meta })?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn size(length: u64) -> Result<usize> {
    usize::try_from(length).map_err(|_| refusal::too_long(length))
}
