//! A new archive, whose entries are written one after the other.

use std::{
    collections::HashSet,
    io::Write,
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

use kit::lock;
use model::{
    Durability, Error, How, Key, KeyKind, Meta, Parts, Put, Result, Scan, Session, Settings, Store,
    Visitor,
};

use super::{Archive, index::entry_name, reading::written_once, tar::TarWriter, zip::ZipWriter};
use crate::files;

/// The writer of an archive's entries.
pub(super) enum Writer {
    Tar(TarWriter),
    Zip(ZipWriter),
}

impl Writer {
    fn add(&mut self, name: &[u8], parts: Parts<'_>, meta: Meta) -> Result<()> {
        match self {
            Self::Tar(writer) => writer.add(name, parts, meta),
            Self::Zip(writer) => writer.add(name, parts, meta),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Self::Tar(writer) => writer.flush(),
            Self::Zip(writer) => writer.flush(),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Tar(writer) => writer.finish(),
            Self::Zip(writer) => writer.finish(),
        }
    }
}

/// An archive that is being written.
pub(super) struct NewArchive {
    archive: Archive,
    path: PathBuf,
    keys: KeyKind,
    is_deflated: bool,
    /// Mode and time of values that have none.
    meta: Meta,
    state: Mutex<State>,
}

/// What changes while entries are written.
struct State {
    /// The writer; `None` once the archive is finished.
    writer: Option<Writer>,
    names: HashSet<Box<[u8]>>,
}

impl NewArchive {
    pub(super) fn new(archive: Archive, path: &Path, keys: KeyKind, writer: Writer) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = now.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
        Self {
            archive,
            path: path.to_owned(),
            keys,
            is_deflated: matches!(&writer, Writer::Zip(writer) if writer.is_deflated()),
            meta: Meta { mode: 0o100_644, seconds, nanoseconds: 0 },
            state: Mutex::new(State { writer: Some(writer), names: HashSet::new() }),
        }
    }

    fn finish(&self) -> Result<()> {
        let writer = lock::hold(&self.state).writer.take();
        writer.map_or(Ok(()), Writer::finish).map_err(|e| e.at(self.path.display()))
    }
}

impl Store for NewArchive {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(WritingSession { store: self, name: Vec::new() }))
    }

    fn check_item(&self, key: Key<'_>, _: u64) -> Result<()> {
        if let Key::Name(name) = key { files::check_name(name) } else { Ok(()) }
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        Ok(self.archive.in_effect(self.is_deflated))
    }

    fn flush_writes(&self) -> Result<()> {
        let mut state = lock::hold(&self.state);
        state.writer.as_mut().map_or(Ok(()), Writer::flush).map_err(|e| e.at(self.path.display()))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.finish()
    }
}

/// Finishes an archive that is dropped, not closed, as far as possible.
impl Drop for NewArchive {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// A worker's session on an archive that is being written.
struct WritingSession<'s> {
    store: &'s NewArchive,
    name: Vec<u8>,
}

impl Session for WritingSession<'_> {
    fn get(&mut self, _: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
        Err(unfinished())
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let mut whole = |to: &mut dyn Write| to.write_all(value);
        self.put_parts(key, Parts { length: value.len() as u64, write: &mut whole }, put)
    }

    /// Adds an entry; returns `false` if there may be none or none yet.
    fn put_parts(&mut self, key: Key<'_>, parts: Parts<'_>, put: &Put) -> Result<bool> {
        let NewArchive { keys, path, meta, state, .. } = self.store;
        if key.kind() != *keys {
            return Err(kit::refusal::wrong_kind(key, *keys));
        }
        self.store.check_item(key, parts.length)?;
        entry_name(key, &mut self.name);
        let mut state = lock::hold(state);
        match (put.how, state.names.contains(&*self.name)) {
            (How::Insert, true) | (How::Update, false) => return Ok(false),
            (_, true) => return Err(written_once()),
            (_, false) => {}
        }
        let Some(writer) = &mut state.writer else { return Err(written_once()) };
        let added = writer.add(&self.name, parts, put.meta.unwrap_or(*meta));
        added.map_err(|error| error.context(key).at(path.display()))?;
        state.names.insert((&*self.name).into());
        Ok(true)
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Err(written_once())
    }

    fn scan(&mut self, _: Scan<'_>, _: &mut Visitor<'_>) -> Result<()> {
        Err(unfinished())
    }
}

#[cold]
fn unfinished() -> Error {
    Error::usage("an archive that is being written cannot be read before it is closed")
}
