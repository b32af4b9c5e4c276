//! Stores to be measured: how they are opened, what they hold, and what of them is in memory.

pub(crate) mod cache_state;
pub(crate) mod check;

use std::{
    cell::{Cell, RefCell},
    fs::Metadata,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use model::{
    Access, Blobs, Durability, Error, FileBytes, How, Library, OpenOptions, Result, Server,
    Settings, Shown, Store, StoreFacts, units::whole,
};
use pagecache::Snapshot;

use crate::Amount;

/// How long a file that becomes shorter may still have the time of the change before: reads were seen to fail
/// first.
const SHORTENING: Duration = Duration::from_millis(100);

/// Returns the facts about a store that was neither filled nor checked.
pub(crate) fn facts(
    (in_effect, durability): (Settings, Durability),
    files: FileBytes,
) -> StoreFacts {
    StoreFacts {
        target: 0,
        in_effect,
        durability,
        apparent_bytes: files.apparent,
        allocated_bytes: files.allocated,
        mount: None,
        memory_bytes: None,
        server: None,
        fill_ns: None,
        check_ns: 0,
        table: None,
    }
}

/// Returns the sizes of files and folders.
pub(crate) fn file_bytes(paths: &[PathBuf]) -> Result<FileBytes> {
    let host::Space { apparent, allocated } = host::space(paths)?;
    Ok(FileBytes { apparent, allocated })
}

/// Returns the name of the first file in `files`, or below folders there, that was written since then.
pub(crate) fn written_since(files: &[PathBuf], since: SystemTime) -> Option<String> {
    let mut written = None;
    let mut look = |path: &Path, meta: &Metadata| {
        let is_it = meta.is_file() && meta.modified().is_ok_and(|modified| modified >= since);
        if is_it && written.is_none() {
            written = path.file_name().map(|name| Shown(name.as_encoded_bytes()).to_string());
        }
        Ok(())
    };
    let existing = files.iter().filter(|file| file.exists());
    existing.for_each(|file| drop(host::walk(file, &mut look)));
    written
}

/// Returns the sentence that `what` changed, which is not to be taken for a fault of the store.
pub(crate) fn changed(what: &str) -> String {
    format!("changed while it was measured ({what}); stop what writes to it, or measure a copy")
}

/// A target's store, and how it is opened.
pub(crate) struct ReadyStore {
    pub(crate) engine: &'static dyn Blobs,
    pub(crate) path: PathBuf,
    pub(crate) options: OpenOptions,
    /// The store itself, where closing would lose it.
    pub(crate) held: Option<Box<dyn Store>>,
    /// Whether its files were filled into the page cache from start to end and since then only read, or
    /// only written to.
    pub(crate) filled: Cell<bool>,
    /// Whether its files were read from start to end, so that any later read of a page is not the first.
    pub(crate) loaded: Cell<bool>,
    /// Whether it is measured warm as it was found, because it is too large to be filled into the page
    /// cache.
    pub(crate) as_found: Cell<bool>,
    /// What of it was in memory when it was found, if it is too large to be brought there: what trials read is
    /// dropped again.
    pub(crate) found: RefCell<Option<Snapshot>>,
    /// The files that are examined for being in memory, where examining all takes too long: some of those of
    /// the values that are measured. `None` for all.
    pub(crate) examined: RefCell<Option<Vec<PathBuf>>>,
    /// Since when its files are to stay as they are, if it is a user's; `None` if this run may write to it.
    pub(crate) since: Option<SystemTime>,
}

impl ReadyStore {
    /// Creates a store at `path`, which need not exist yet.
    pub(crate) fn new(engine: &'static dyn Blobs, path: PathBuf, options: OpenOptions) -> Self {
        Self {
            engine,
            path,
            options,
            held: None,
            filled: Cell::default(),
            loaded: Cell::default(),
            as_found: Cell::default(),
            found: RefCell::default(),
            examined: RefCell::default(),
            since: Some(SystemTime::now()),
        }
    }

    pub(crate) fn library(&self) -> Option<Library> {
        self.engine.library(&self.options.settings)
    }

    /// Reports whether its operations are requests to a service that may charge for them.
    pub(crate) fn sends_requests(&self) -> bool {
        self.engine.sends_requests(&self.options.settings)
    }

    /// Returns how values are put that are all new to the store.
    pub(crate) fn filling(&self) -> How {
        // To look whether a key is there may be a request more.
        if self.sends_requests() { How::Upsert } else { How::Insert }
    }

    /// Reports whether another process can work on the store while this one has it open.
    pub(crate) fn can_be_shared(&self) -> bool {
        let Self { engine, options, held, .. } = self;
        let several = held.is_none() && engine.capabilities().processes;
        several && engine.writes_alone(&options.settings).is_none()
    }

    /// Opens the store, lets `use_it` work on it, closes it. Also returns how long opening took.
    pub(crate) fn with<T>(
        &self,
        use_it: impl FnOnce(&dyn Store) -> Result<T>,
    ) -> Result<(T, Duration)> {
        if let Some(store) = &self.held {
            return Ok((use_it(store.as_ref())?, Duration::ZERO));
        }
        let start = Instant::now();
        let store = self.engine.open(&self.path, &self.options)?;
        let opening = start.elapsed();
        let result = use_it(store.as_ref())?;
        store.close()?;
        Ok((result, opening))
    }

    /// Returns `error`, or, if it is a user's store that was written to meanwhile, one that says so. What is
    /// read without locks may seem damaged then.
    pub(crate) fn blame(&self, error: Error) -> Error {
        if error.is_stopped() {
            return error;
        }
        let written = self.written().or_else(|| {
            thread::sleep(SHORTENING);
            self.written()
        });
        written.map_or(error, |file| {
            Error::failed(changed(&format!("file {file}"))).at(self.path.display())
        })
    }

    /// Returns a file that was written to since the store was made ready, if it is a user's; files in folders
    /// are not looked at.
    pub(crate) fn written(&self) -> Option<String> {
        let is_own = self.options.access == Access::Read && self.held.is_none();
        let files = || self.files().into_iter().filter(|path| path.is_file()).collect::<Vec<_>>();
        self.since.filter(|_| is_own).and_then(|since| written_since(&files(), since))
    }

    /// Returns the files and folders of the store that exist.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.engine.files(&self.path).into_iter().filter(|path| path.exists()).collect()
    }

    /// Returns the facts about the store, which has `data` bytes of values.
    pub(crate) fn facts(&self, data: u64) -> Result<StoreFacts> {
        let all = Amount { count: 0, bytes: data };
        self.facts_within(0, all, Duration::MAX).map(|(facts, _)| facts)
    }

    /// Returns the facts about the store, which has `data`. If its files cannot be looked at in the time
    /// `longest`, the space that they take is estimated from those that can, whose number is returned too.
    pub(crate) fn facts_within(
        &self,
        target: usize,
        data: Amount,
        longest: Duration,
    ) -> Result<(StoreFacts, Option<u64>)> {
        let ((in_effect, started, table), _) = self.with(|store| {
            Ok((store.in_effect()?, !store.processes().is_empty(), store.table()?))
        })?;
        let memory_bytes = self.own_memory(&in_effect.0, data.bytes);
        let server = match (started, self.engine.capabilities().remote) {
            (true, _) => Some(Server::Started),
            (false, true) => Some(Server::Existing),
            (false, false) => None,
        };
        let files = self.files();
        let mount = host::filesystems(&files).into_iter().next().map(|found| found.mount);
        // Other stores are few files.
        let longest = if self.engine.capabilities().paths { longest } else { Duration::MAX };
        let (seen, some) = host::space_within(&files, longest)?;
        let part = some.map_or(1.0, |files| files as f64 / data.count.max(files) as f64);
        let [apparent, allocated] =
            [seen.apparent, seen.allocated].map(|seen| whole((seen as f64 / part).round()));
        let facts = facts(in_effect, FileBytes { apparent, allocated });
        Ok((StoreFacts { target, mount, memory_bytes, server, table, ..facts }, some))
    }

    /// Returns the memory that the store may take for itself, in bytes: all of its `data` if that
    /// is in memory anyway, otherwise what the setting `cache` gives it; an engine without a cache
    /// has none. `None` if a remote server does not report it.
    fn own_memory(&self, in_effect: &Settings, data: u64) -> Option<u64> {
        let engine = self.engine.capabilities();
        let cache = in_effect.parse("cache");
        match (engine.resident, engine.retains) {
            _ if engine.remote => cache,
            (false, _) => cache.or(Some(0)),
            (true, true) => Some(data),
            (true, false) => Some(0),
        }
    }

    /// Reports whether reads deliver what was written.
    pub(crate) fn retains(&self) -> bool {
        self.engine.capabilities().retains
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn the_first_file_that_was_written_since_then_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.db", "b", "gone"].map(|name| folder.path().join(name));
        fs::create_dir(&files[1]).unwrap();
        let [then, since, later] =
            [1, 2, 3].map(|n| SystemTime::UNIX_EPOCH + Duration::from_secs(n));
        let written = |path: PathBuf, time| File::create(path).unwrap().set_modified(time).unwrap();
        written(files[0].clone(), then);
        written(files[1].join("c"), then);
        assert_eq!(written_since(&files, since), None);
        written(files[1].join("c"), since);
        assert_eq!(written_since(&files, since).as_deref(), Some("c"));
        written(files[0].clone(), later);
        assert_eq!(written_since(&files, since).as_deref(), Some("a.db"));
    }
}
