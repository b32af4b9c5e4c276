//! Saves a backup. One thread walks the folder; workers read, cut, sum and compress; this thread
//! uses the catalogue.

mod index;
mod jobs;
mod reader;
mod walk;

use std::{
    collections::HashMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use model::{Error, Mode, Result};

use crate::{
    batch::Batch,
    catalogue::{Catalogue, ROOT, Snapshot, root_name},
    entry::{Content, Entry, Kind, Stat},
    os::{self, Filesystems},
    packs::{Leftovers, Writer},
    repository::{Repository, StopCheck, workers},
};
use index::Index;
use jobs::{Event, FileJob, FoundEntry, Jobs, Listing, Stored};
use reader::Worker;

/// A path that was not backed up as it is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

/// The outcome of a complete backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The number of the snapshot, counted from 1.
    pub version: u32,
    /// The number of files, folders and links.
    pub entries: u64,
    /// The bytes of all files.
    pub bytes: u64,
    /// The number of files that were read, because they are new or changed.
    pub files_read: u64,
    /// The bytes of the files that were read.
    pub bytes_read: u64,
    /// The number of blocks that the repository did not have.
    pub new_blocks: u64,
    /// The bytes that the new blocks take up in packs.
    pub stored_bytes: u64,
    /// The number of paths that have an access list, which is not backed up.
    pub access_lists: u64,
    /// The number of packs that no catalogue mentions and that were moved to the folder
    /// `set-aside`: the catalogue had no backup, and may have lost those that the packs belong to.
    pub set_aside: u64,
    /// The time that the store of the catalogue took.
    pub catalogue: Duration,
    /// The paths that were not backed up as they are.
    pub problems: Vec<Problem>,
}

/// The greatest number of events that wait for this thread.
const EVENTS: usize = 64;

/// Saves `folder` as a new snapshot. The catalogue mentions nothing of it until all of it is
/// flushed.
///
/// # Errors
///
/// Fails if `folder` is not a folder, the catalogue is not the repository's, or the backup cannot
/// be completed; problems of single paths are in the result.
pub fn save(repository: &Repository, folder: &Path, stop: StopCheck<'_>) -> Result<Saved> {
    let mut catalogue = repository.catalogue(Mode::Write)?;
    save_with(repository, &mut catalogue, folder, stop)
}

/// Saves `folder` with a catalogue whose transaction is open, as [`save`] does.
pub(crate) fn save_with(
    repository: &Repository,
    catalogue: &mut Catalogue<'_>,
    folder: &Path,
    stop: StopCheck<'_>,
) -> Result<Saved> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let root = folder.canonicalize().map_err(|e| Error::io(folder.display(), e))?;
    if let Some(what) = repository.disagrees(catalogue)? {
        return Err(Error::corrupt(format!(
            "{what}; nothing was changed: bring its folder back from a copy, or keep backups in a new \
             folder"
        )));
    }
    let (packs, snapshots) = (catalogue.packs()?, catalogue.snapshots()?);
    let leftovers = if snapshots.is_empty() { Leftovers::SetAside } else { Leftovers::Remove };
    let mut writer = Writer::new(repository.packs().to_owned(), &packs, leftovers)?;
    let (index, jobs) = (Index::new(!packs.is_empty()), Jobs::default());
    let mut saving = Saving::new(catalogue, &root, snapshots.last(), &index);
    saving.saved.set_aside = writer.set_aside;
    saving.root()?;
    thread::scope(|scope| {
        let (events, inbox) = sync_channel(EVENTS);
        let (root, index, jobs, writer) = (&root, &index, &jobs, &writer);
        for _ in 0..workers() {
            let events = events.clone();
            scope.spawn(move || Worker::new(index, writer, events).run(jobs));
        }
        scope.spawn(move || walk::walk(root, &events));
        let done = saving.run(inbox, jobs, stop);
        jobs.close();
        done
    })?;
    stop()?;
    saving.finish(&writer.finish()?, started.as_secs())
}

/// The state of the thread of the catalogue.
struct Saving<'a, 's> {
    catalogue: &'a mut Catalogue<'s>,
    index: &'a Index,
    root: &'a Path,
    /// The number of the first folder that is not of an earlier snapshot.
    first_folder: u32,
    next_folder: u32,
    /// The folders that the walk has still to list, by their paths below the root.
    folders: HashMap<PathBuf, u32>,
    /// The files that were not handed to a worker yet.
    batch: Batch<FileJob>,
    /// The number of batches that workers have.
    pending: usize,
    walked: bool,
    /// The number of versions of paths that are new in the catalogue.
    new_entries: u64,
    saved: Saved,
}

impl<'a, 's> Saving<'a, 's> {
    fn new(
        catalogue: &'a mut Catalogue<'s>,
        root: &'a Path,
        last: Option<&Snapshot>,
        index: &'a Index,
    ) -> Self {
        let first_folder = last.map_or(ROOT + 1, |last| last.next_folder);
        let saved = Saved { version: last.map_or(1, |last| last.version + 1), ..Saved::default() };
        Self {
            catalogue,
            index,
            root,
            first_folder,
            next_folder: first_folder,
            folders: HashMap::new(),
            batch: Batch::default(),
            pending: 0,
            walked: false,
            new_entries: 0,
            saved,
        }
    }

    /// Saves the entry of the folder itself.
    fn root(&mut self) -> Result<()> {
        let meta = fs::metadata(self.root).map_err(|e| Error::io(self.root.display(), e))?;
        let stat = os::stat(&meta).filter(|stat| stat.kind == Kind::Folder);
        let refused = || Error::usage("is not a folder").at(self.root.display());
        let filesystem = Filesystems::default().number(self.root, &meta);
        let stat = Stat { filesystem, ..stat.ok_or_else(refused)? };
        let name = root_name(self.root);
        let known = self.catalogue.children(ROOT, self.saved.version)?;
        let known = known.into_iter().find(|(known, _)| *known == name).map(|(_, known)| known);
        let found = FoundEntry { name: os::name(&name), stat, target: None };
        self.entry(ROOT, Path::new(""), found, known.as_ref())
    }

    /// Handles what the walk and the workers report until both have finished.
    fn run(&mut self, inbox: Receiver<Event>, jobs: &Jobs, stop: StopCheck<'_>) -> Result<()> {
        for event in inbox {
            stop()?;
            match event {
                Event::Listing(listing) => self.listing(listing)?,
                Event::Walked => self.walked = true,
                Event::Ask(hashes, reply) => {
                    for hash in hashes {
                        self.index.insert_known(hash, self.catalogue.block(&hash)?);
                    }
                    // A worker that waits no longer has failed, and says so.
                    let _ = reply.send(());
                }
                Event::Stored(files) => {
                    self.pending -= 1;
                    files.into_iter().try_for_each(|(job, stored)| self.stored(job, stored))?;
                }
                Event::Failed(error) => return Err(error),
            }
            if self.batch.is_full() || (self.walked && !self.batch.is_empty()) {
                self.pending += 1;
                jobs.push(self.batch.take());
            }
            if self.walked && self.pending == 0 {
                // The workers end, and with them the events.
                jobs.close();
            }
        }
        Ok(())
    }

    fn listing(&mut self, Listing { folder, found }: Listing) -> Result<()> {
        let number = self.folders.remove(&folder).expect("folders are listed after their parents");
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.problem(self.root.join(folder), format!("cannot be listed: {error}"));
                return Ok(());
            }
        };
        let mut known = HashMap::new();
        if number < self.first_folder {
            known.extend(self.catalogue.children(number, self.saved.version)?);
        }
        for one in found {
            match one {
                Ok(one) => {
                    let known = known.remove(one.name.as_encoded_bytes());
                    let path = folder.join(&one.name);
                    self.entry(number, &path, one, known.as_ref())?;
                }
                Err((name, what)) => {
                    known.remove(name.as_encoded_bytes());
                    self.problem(self.root.join(&folder).join(name), what);
                }
            }
        }
        known.into_keys().try_for_each(|name| self.put(number, &name, &Entry::GONE))
    }

    /// Saves an entry of the folder `number`, given what was known of it before.
    fn entry(
        &mut self,
        number: u32,
        path: &Path,
        found: FoundEntry,
        known: Option<&Entry>,
    ) -> Result<()> {
        let FoundEntry { name, stat, target } = found;
        let same = known.is_some_and(|known| known.stat == stat);
        self.saved.entries += 1;
        let name = os::bytes(name);
        let content = match stat.kind {
            Kind::Folder => {
                let before = known.and_then(|known| match known.content {
                    Content::Folder(number) => Some(number),
                    _ => None,
                });
                let own = before.unwrap_or_else(|| self.new_folder());
                self.folders.insert(path.to_owned(), own);
                Content::Folder(own)
            }
            Kind::File => {
                self.saved.bytes += stat.size;
                if !same {
                    let (path, known) = (self.root.join(path), known.is_some());
                    self.batch.push(FileJob { folder: number, name, path, stat, known }, stat.size);
                }
                return Ok(());
            }
            Kind::Link => Content::Link(target.unwrap_or_default()),
            Kind::Gone => Content::Nothing,
        };
        if known.is_some_and(|known| same && known.content == content) {
            return Ok(());
        }
        let mode = match stat.kind {
            Kind::Folder => self.folder_mode(&self.root.join(path), stat.mode),
            _ => stat.mode,
        };
        self.put(number, &name, &Entry { stat, mode, content })
    }

    /// Returns the mode of a folder without what its access list adds. If the list cannot be read,
    /// the group gets nothing.
    fn folder_mode(&mut self, path: &Path, mode: u32) -> u32 {
        let found =
            fs::symlink_metadata(path).and_then(|meta| host::mode_without_list(path, &meta));
        let (plain, has_list) = found.unwrap_or((mode & !0o070, false));
        self.saved.access_lists += u64::from(has_list);
        plain
    }

    /// Saves a file that a worker read. If it could not be read, what an earlier snapshot has of it
    /// stays.
    fn stored(&mut self, job: FileJob, stored: Result<Stored, String>) -> Result<()> {
        let FileJob { folder, name, path, stat, known } = job;
        match stored {
            Err(what) => {
                self.saved.entries -= u64::from(!known);
                self.problem(path, what);
            }
            Ok(Stored { blocks, bytes, changed, mode, has_list }) => {
                self.saved.access_lists += u64::from(has_list);
                if changed {
                    let what = "changed while it was read: the next backup reads it again";
                    self.problem(path, what.to_owned());
                }
                self.index.count(&blocks);
                self.saved.files_read += 1;
                self.saved.bytes_read += bytes;
                self.put(folder, &name, &Entry { stat, mode, content: Content::Blocks(blocks) })?;
            }
        }
        Ok(())
    }

    fn new_folder(&mut self) -> u32 {
        let number = self.next_folder;
        self.next_folder += 1;
        number
    }

    fn put(&mut self, folder: u32, name: &[u8], entry: &Entry) -> Result<()> {
        self.new_entries += 1;
        self.catalogue.put_entry(folder, name, self.saved.version, entry)
    }

    fn problem(&mut self, path: PathBuf, what: String) {
        self.saved.problems.push(Problem { path, what });
    }

    /// Writes the snapshot to the catalogue in one transaction, after everything was flushed.
    fn finish(mut self, packs: &[(u32, u64)], seconds: u64) -> Result<Saved> {
        let blocks = self.index.changed();
        self.saved.new_blocks = self.index.new_blocks();
        for (hash, block) in &blocks {
            self.catalogue.put_block(hash, *block)?;
        }
        for (pack, length) in packs {
            self.saved.stored_bytes += length;
            self.catalogue.put_pack(*pack, *length)?;
        }
        if let Some(mut inventory) = self.catalogue.inventory()? {
            inventory.entries += self.new_entries;
            inventory.blocks += self.saved.new_blocks;
            inventory.packs += packs.len() as u64;
            self.catalogue.put_inventory(&inventory)?;
        }
        let Saved { version, entries, bytes, .. } = self.saved;
        let (folder, next_folder) = (self.root.to_owned(), self.next_folder);
        let snapshot = Snapshot { version, seconds, entries, bytes, next_folder, folder };
        self.catalogue.put_snapshot(&snapshot)?;
        self.catalogue.commit()?;
        self.saved.catalogue = self.catalogue.spent();
        self.saved.problems.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self.saved)
    }
}
