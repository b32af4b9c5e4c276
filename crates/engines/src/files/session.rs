//! One worker's use of a folder of files.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use kit::{first::stop_after, refusal};
use model::{
    Access, Error, How, Item, Key, KeyKind, Mode, OwnedKey, Parts, Put, Result, Scan, Session,
    Visitor,
};

use super::{
    FilesFolder, name,
    os::{self, Facts, Sync, WriteMethod},
};

use crate::at;

/// The longest path that systems accept (Linux's `PATH_MAX`): its room is allocated once.
const LONGEST: usize = 4096;

/// The bytes of a part of a value.
const PART: usize = 1 << 20;

/// How long reading a file from memory takes at most, with a nanosecond for each byte. One that takes longer
/// came from the device: the system is then asked to read so many of the next ones meanwhile.
const FROM_MEMORY: Duration = Duration::from_micros(50);
const AHEAD: usize = 32;

/// The bytes of a new value.
enum Content<'c> {
    Whole(&'c [u8]),
    Parts(Parts<'c>),
}

impl Content<'_> {
    /// Writes the bytes, and returns their number.
    fn write(self, mut file: &File) -> io::Result<u64> {
        match self {
            Self::Whole(value) => file.write_all(value).map(|()| value.len() as u64),
            Self::Parts(parts) => (parts.write)(&mut file).map(|()| parts.length),
        }
    }
}

/// A worker's session on a folder of files.
pub(crate) struct FilesWorker<'s> {
    pub(super) store: &'s FilesFolder,
    number: u32,
    temporaries: u64,
    /// The path of the current key, ended by a zero byte.
    pub(super) path: Vec<u8>,
    /// The path of the temporary file next to it, ended by a zero byte.
    temporary: Vec<u8>,
    /// The folders whose entries changed in this batch; only kept for `sync=full`.
    touched: BTreeSet<PathBuf>,
    in_batch: bool,
}

impl<'s> FilesWorker<'s> {
    pub(super) fn new(store: &'s FilesFolder, number: u32) -> Self {
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

    /// Makes the file of `key` the current one.
    #[inline]
    pub(super) fn select(&mut self, key: Key<'_>) -> Result<()> {
        self.store.layout.path(key, &mut self.path)
    }

    pub(super) fn select_to_write(&mut self, key: Key<'_>) -> Result<()> {
        if self.store.access == Access::Read {
            return Err(refusal::read_only());
        }
        self.select(key)
    }

    /// Creates an error about the current file.
    #[cold]
    pub(super) fn file_error(&self, cause: io::Error) -> Error {
        let what = self.current();
        match cause.kind() {
            // It stays so, however often it is tried.
            io::ErrorKind::Unsupported => Error::unsupported(format!("{cause}")).at(what.display()),
            _ => Error::io(what.display(), cause),
        }
    }

    fn put_content(&mut self, key: Key<'_>, content: Content<'_>, put: &Put) -> Result<bool> {
        self.select_to_write(key)?;
        let written = self.write(content, put).map_err(|e| self.file_error(e))?;
        if written {
            self.mark_changed()?;
        }
        Ok(written)
    }

    /// Writes the current file, or a temporary one that is then renamed to it.
    fn write(&mut self, content: Content<'_>, put: &Put) -> io::Result<bool> {
        let root = &self.store.root;
        if self.store.write != WriteMethod::Rename {
            let Some(file) = self.open(put.how)? else { return Ok(false) };
            return self.write_to(&file, content, put).map(|()| true);
        }
        if put.how != How::Upsert && root.facts(&self.path)?.is_some() == (put.how == How::Insert) {
            return Ok(false);
        }
        self.temporaries += 1;
        name::next_to(&self.path, self.number, self.temporaries, &mut self.temporary);
        let Some(file) = self.open(How::Upsert)? else { return Ok(false) };
        let written = self.write_to(&file, content, put);
        drop(file);
        let renamed = written.and_then(|()| root.rename(&self.temporary, &self.path));
        if renamed.is_err() {
            // The first error is the one to report.
            let _ = root.remove(&self.temporary);
        }
        renamed.map(|()| true)
    }

    /// Opens the current file or its temporary one for writing, in folders created as needed;
    /// returns `None` if `how` forbids it.
    fn open(&mut self, how: How) -> io::Result<Option<File>> {
        let FilesFolder { root, write, .. } = self.store;
        let rename = *write == WriteMethod::Rename;
        let open = |worker: &Self| {
            root.write(if rename { &worker.temporary } else { &worker.path }, how, *write)
        };
        let mut file = open(self)?;
        if file.is_none() && how != How::Update && self.create_folders()? {
            file = open(self)?;
        }
        match file {
            None if how == How::Upsert => Err(io::ErrorKind::NotFound.into()),
            file => Ok(file),
        }
    }

    fn write_to(&self, mut file: &File, content: Content<'_>, put: &Put) -> io::Result<()> {
        let length = content.write(file)?;
        if self.store.write == WriteMethod::Overwrite && file.seek(SeekFrom::End(0))? > length {
            file.set_len(length)?;
        }
        if let Some(meta) = &put.meta {
            os::set_meta(file, meta)?;
        }
        self.store.sync.flush(file)
    }

    /// Returns the folder of the current file.
    fn folder(&self) -> PathBuf {
        self.store.path.join(os::path(name::folder(&self.path)))
    }

    /// Creates the folders of the current path; returns `false` if there are none above it.
    fn create_folders(&mut self) -> io::Result<bool> {
        if !self.path.contains(&b'/') {
            return Ok(false);
        }
        let folder = self.folder();
        fs::create_dir_all(&folder)?;
        if self.store.sync == Sync::Full {
            let within = |folder: &&Path| folder.starts_with(&self.store.path);
            self.touched.extend(folder.ancestors().take_while(within).map(Path::to_owned));
        }
        Ok(true)
    }

    /// Records that the folder of the current file changed, and flushes it outside a batch.
    fn mark_changed(&mut self) -> Result<()> {
        if self.store.sync == Sync::Full {
            self.touched.insert(self.folder());
            if !self.in_batch {
                self.flush_folders()?;
            }
        }
        Ok(())
    }

    fn flush_folders(&mut self) -> Result<()> {
        while let Some(folder) = self.touched.pop_first() {
            at::flush_folder(&folder)?;
        }
        Ok(())
    }

    fn opened(&self) -> Result<Option<(File, Facts)>> {
        self.store.root.read(&self.path).map_err(|e| self.file_error(e))
    }

    /// Reads all of the current file, or nothing if it has more than `longest` bytes.
    fn read(&self, value: &mut Vec<u8>, longest: u64) -> Result<Option<Facts>> {
        let Some((file, facts)) = self.opened()? else { return Ok(None) };
        if facts.length > longest {
            value.clear();
            return Ok(Some(facts));
        }
        value.resize(refusal::size(facts.length)?, 0);
        let length = os::fill(&file, value).map_err(|e| self.file_error(e))?;
        value.truncate(length);
        Ok(Some(facts))
    }

    /// Shows the files of `keys` in their order to `visit`, as `scan` asks for them. Those that have gone are no
    /// longer keys.
    fn read_each(
        &mut self,
        keys: &[Key<'_>],
        scan: &Scan<'_>,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let named = self.store.layout.keys() == KeyKind::Names;
        let is_whole = scan.limit == Scan::ALL.limit;
        let (mut value, mut asked) = (Vec::new(), 0);
        for (place, key) in keys.iter().enumerate() {
            self.select(*key)?;
            let start = is_whole.then(Instant::now);
            let Some(facts) = self.read(&mut value, scan.longest)? else { continue };
            let from_memory = FROM_MEMORY + Duration::from_nanos(value.len() as u64);
            let mut meta = named.then_some(facts.meta);
            // Asking for access lists would slow a timed scan of a range down.
            if let Some(meta) = meta.as_mut().filter(|_| is_whole) {
                meta.mode = os::real_mode(&self.current(), meta.mode);
            }
            if start.is_some_and(|start| start.elapsed() > from_memory) {
                let next = asked.max(place + 1)..keys.len().min(place + 1 + AHEAD);
                asked = asked.max(next.end);
                for key in &keys[next] {
                    self.select(*key)?;
                    self.store.root.read_ahead(&self.path);
                }
            }
            if visit(Item::new(*key, &value, meta).with_length(facts.length))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Reads all of the file of `key` into `value`; returns `false` if there is none.
    pub(crate) fn load(&mut self, key: Key<'_>, value: &mut Vec<u8>) -> Result<bool> {
        self.select(key)?;
        Ok(self.read(value, u64::MAX)?.is_some())
    }

    /// Removes the current file; returns `false` if there is none.
    pub(super) fn remove(&self) -> Result<bool> {
        match self.store.root.remove(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true).map_err(|e| self.file_error(e)),
        }
    }

    pub(super) fn current(&self) -> PathBuf {
        self.store.path.join(os::path(self.path.strip_suffix(&[0]).unwrap_or(&self.path)))
    }

    pub(super) fn facts(&self) -> Result<Option<Facts>> {
        self.store.root.facts(&self.path).map_err(|e| self.file_error(e))
    }
}

impl Session for FilesWorker<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        self.select(key)?;
        let Some((file, facts)) = self.opened()? else { return Ok(None) };
        let length = refusal::size(facts.length)?;
        match into.get_mut(..length) {
            Some(front) => os::fill(&file, front).map(Some).map_err(|e| self.file_error(e)),
            None => Ok(Some(length)),
        }
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        self.select(key)?;
        Ok(self.facts()?.map(|facts| facts.length))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.put_content(key, Content::Whole(value), put)
    }

    fn read_parts(&mut self, key: Key<'_>, to: &mut dyn Write) -> Result<()> {
        self.select(key)?;
        let gone = || self.file_error(io::ErrorKind::NotFound.into());
        let (file, _) = self.opened()?.ok_or_else(gone)?;
        let copied = io::copy(&mut BufReader::with_capacity(PART, file), to);
        copied.map(drop).map_err(|e| self.file_error(e))
    }

    fn put_parts(&mut self, key: Key<'_>, parts: Parts<'_>, put: &Put) -> Result<bool> {
        self.put_content(key, Content::Parts(parts), put)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.select_to_write(key)?;
        // Among numbered files is nothing else, so that a second call for each would be for nothing.
        let may_be_other = self.store.layout.keys() == KeyKind::Names;
        if may_be_other && self.facts()?.is_none() || !self.remove()? {
            return Ok(false);
        }
        self.mark_changed()?;
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

    /// Visits the files in order. A folder has no order: it is listed whole, and sorted, for each
    /// scan.
    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let mut visit = stop_after(scan.limit, visit);
        let listed = self.store.layout.list(&self.store.path)?;
        let keys = listed.sorted_keys(scan.from);
        if scan.values {
            return self.read_each(&keys, &scan, &mut visit);
        }
        let named = self.store.layout.keys() == KeyKind::Names;
        for key in keys {
            let mut facts = None;
            if scan.lengths {
                self.select(key)?;
                facts = self.facts()?;
                // A file removed since the listing is no longer a key.
                if facts.is_none() {
                    continue;
                }
            }
            let meta = facts.filter(|_| named).map(|facts| facts.meta);
            let length = facts.map_or(0, |facts| facts.length);
            if visit(Item::new(key, &[], meta).with_length(length))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn visit_each(&mut self, keys: &[(OwnedKey, u64)], visit: &mut Visitor<'_>) -> Result<()> {
        let keys: Vec<_> = keys.iter().map(|(key, _)| key.as_key()).collect();
        self.read_each(&keys, &Scan::ALL, &mut |item| visit(Item { meta: None, ..item }))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow::{Break, Continue};

    use super::*;
    use crate::files::layout::Layout;

    #[test]
    fn values_are_shown_in_the_order_of_the_keys_without_those_that_have_gone() {
        let folder = tempfile::tempdir().unwrap();
        let numbers = || (0..100_u8).rev();
        numbers().for_each(|number| {
            fs::write(folder.path().join(number.to_string()), [number; 9]).unwrap();
        });
        let store =
            FilesFolder::new(folder.path(), Layout::Names, Access::Read, Sync::None).unwrap();
        let key = |number: u8| OwnedKey::Name(number.to_string().as_bytes().into());
        // The lengths are too small, as if the files had grown, and one key has no file.
        let keys: Vec<_> = numbers().chain([200]).map(|number| (key(number), 1)).collect();
        fs::remove_file(folder.path().join("50")).unwrap();
        // One that has gone is passed over.
        store.root.read_ahead(b"50\0");
        for most in [usize::MAX, 7] {
            let mut shown = Vec::new();
            let mut session = FilesWorker::new(&store, 0);
            let visited = session.visit_each(&keys, &mut |item| {
                assert_eq!((item.value.len(), item.meta), (9, None));
                shown.push(item.value[0]);
                Ok(if shown.len() < most { Continue(()) } else { Break(()) })
            });
            visited.unwrap();
            let expected = numbers().filter(|number| *number != 50).take(most);
            assert_eq!(shown, expected.collect::<Vec<_>>());
        }
    }
}
