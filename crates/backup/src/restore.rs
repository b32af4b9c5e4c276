//! Restores a snapshot: content, modes, times, symbolic and hard links, and as root owners. What is
//! damaged is left out and named.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use model::{Error, ErrorKind, Mode, Result};

use crate::{
    batch::Batch,
    catalogue::{Catalogue, ROOT, root_name},
    entry::{Content, Entry, Hash, Place, Stat},
    os,
    packs::Reader,
    repository::{Repository, StopCheck, workers},
    save::Problem,
};

/// What was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    pub files: u64,
    pub bytes: u64,
    /// What could not be restored, because the repository is damaged.
    pub problems: Vec<Problem>,
    /// The time that the store of the catalogue took.
    pub catalogue: Duration,
}

/// Restores the snapshot `version`, or the last one, as the folder `to`, which is empty or missing.
pub fn restore(
    repository: &Repository,
    version: Option<u32>,
    to: &Path,
    stop: StopCheck<'_>,
) -> Result<Restored> {
    let mut catalogue = repository.catalogue(Mode::Read)?;
    let snapshots = catalogue.snapshots()?;
    let is_it = |of: u32| version.is_none_or(|version| version == of);
    let snapshot = snapshots.iter().rev().find(|snapshot| is_it(snapshot.version));
    let snapshot = snapshot.ok_or_else(|| missing(version, snapshots.len()))?;
    let root = root_name(&snapshot.folder);
    let roots = catalogue.children(ROOT, snapshot.version)?;
    let root = roots.into_iter().find(|(name, _)| *name == root).map(|(_, entry)| entry);
    let root = root.ok_or_else(|| Error::corrupt("catalogue: a snapshot has no folder"))?;
    let mut places = HashMap::new();
    catalogue.blocks(&mut |(hash, block)| {
        places.insert(hash, block.place);
        Ok(())
    })?;
    create(to)?;
    let (later, mut restored) = thread::scope(|scope| {
        let (out, inbox) = sync_channel(workers());
        let inbox = Arc::new(Mutex::new(inbox));
        let (places, packs) = (&places, repository.packs());
        let start = |_| {
            let inbox = Arc::clone(&inbox);
            scope.spawn(move || write_files(&inbox, places, packs))
        };
        let writers: Vec<_> = (0..workers()).map(start).collect();
        drop(inbox);
        let mut plan = Plan::new(&mut catalogue, snapshot.version, out, stop);
        let planned = plan.entry(to, root).and_then(|()| plan.send());
        let Plan { later, out, .. } = plan;
        drop(out);
        // What a worker says comes before that nobody takes up its batches.
        let mut restored = Restored::default();
        for writer in writers {
            restored.add(writer.join().expect("it does not panic")?);
        }
        planned.map(|()| (later, restored))
    })?;
    let Later { folders, links, problems, .. } = later;
    restored.problems.extend(problems);
    let without = link_all(&links, &restored.problems)?;
    restored.files += (links.len() - without.len()) as u64;
    restored.problems.extend(without);
    restored.problems.sort_by(|a, b| a.path.cmp(&b.path));
    // Those inside first: they change the times of those around them.
    for (folder, stat) in folders.iter().rev() {
        os::restore(folder, stat).map_err(|e| Error::io(folder.display(), e))?;
    }
    Ok(Restored { catalogue: catalogue.spent(), ..restored })
}

impl Restored {
    fn add(&mut self, Self { files, bytes, problems, .. }: Self) {
        self.files += files;
        self.bytes += bytes;
        self.problems.extend(problems);
    }
}

/// Makes further names of files; returns those whose file is damaged.
fn link_all(links: &[(PathBuf, PathBuf)], damaged: &[Problem]) -> Result<Vec<Problem>> {
    let damaged: HashMap<_, _> = damaged.iter().map(|of| (&of.path, &of.what)).collect();
    let mut without = Vec::new();
    for (first, link) in links {
        match damaged.get(first) {
            Some(what) => without.push(Problem { path: link.clone(), what: (*what).clone() }),
            None => fs::hard_link(first, link).map_err(|e| Error::io(link.display(), e))?,
        }
    }
    Ok(without)
}

fn missing(version: Option<u32>, count: usize) -> Error {
    match version {
        Some(version) => {
            Error::usage(format!("--snapshot {version}: no such backup; accepted is 1 to {count}"))
        }
        None => Error::usage("the repository holds no backup"),
    }
}

/// The folder, which must be empty.
fn create(to: &Path) -> Result<()> {
    let failed = |e| Error::io(to.display(), e);
    fs::create_dir_all(to).map_err(failed)?;
    if fs::read_dir(to).map_err(failed)?.next().is_some() {
        return Err(Error::usage(format!("{}: is not empty; name a new folder", to.display())));
    }
    Ok(())
}

/// What is done once all files are written.
#[derive(Default)]
struct Later {
    folders: Vec<(PathBuf, Stat)>,
    /// The first path of a file, and another one.
    links: Vec<(PathBuf, PathBuf)>,
    /// The first paths of files with several.
    linked: HashMap<Stat, PathBuf>,
    /// Folders whose entries cannot be read.
    problems: Vec<Problem>,
}

/// A file with its blocks.
type Planned = (PathBuf, Stat, Vec<Hash>);

/// Goes through the catalogue, and hands files to workers.
struct Plan<'a, 's> {
    catalogue: &'a mut Catalogue<'s>,
    version: u32,
    out: SyncSender<Vec<Planned>>,
    stop: StopCheck<'a>,
    batch: Batch<Planned>,
    later: Later,
}

impl<'a, 's> Plan<'a, 's> {
    fn new(
        catalogue: &'a mut Catalogue<'s>,
        version: u32,
        out: SyncSender<Vec<Planned>>,
        stop: StopCheck<'a>,
    ) -> Self {
        let (batch, later) = (Batch::default(), Later::default());
        Self { catalogue, version, out, stop, batch, later }
    }

    fn entry(&mut self, path: &Path, Entry { stat, content }: Entry) -> Result<()> {
        let failed = |e| Error::io(path.display(), e);
        match content {
            Content::Folder(number) => self.folder(path, stat, number),
            Content::Blocks(blocks) => self.file(path, stat, blocks),
            Content::Link(target) => {
                os::link(&target, path).and_then(|()| os::restore(path, &stat)).map_err(failed)
            }
            Content::Nothing => Ok(()),
        }
    }

    fn folder(&mut self, path: &Path, stat: Stat, number: u32) -> Result<()> {
        (self.stop)()?;
        self.later.folders.push((path.to_owned(), stat));
        let children = match self.catalogue.children(number, self.version) {
            Err(error) if !error.is_stopped() => {
                let what = format!("what is in it is lost: {error}");
                self.later.problems.push(Problem { path: path.to_owned(), what });
                return Ok(());
            }
            children => children?,
        };
        let is_folder = |child: &(_, Entry)| matches!(child.1.content, Content::Folder(_));
        // As a backup walks: files whose blocks are in the same frames follow each other.
        let (folders, others): (Vec<_>, Vec<_>) = children.into_iter().partition(is_folder);
        for (name, entry) in others {
            self.entry(&path.join(os::name(&name)), entry)?;
        }
        for (name, entry) in folders {
            let path = path.join(os::name(&name));
            fs::create_dir(&path).map_err(|e| Error::io(path.display(), e))?;
            self.entry(&path, entry)?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, stat: Stat, blocks: Vec<Hash>) -> Result<()> {
        if stat.links > 1 {
            if let Some(first) = self.later.linked.get(&stat) {
                self.later.links.push((first.clone(), path.to_owned()));
                return Ok(());
            }
            self.later.linked.insert(stat, path.to_owned());
        }
        self.batch.push((path.to_owned(), stat, blocks), stat.size);
        if self.batch.is_full() { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        // The workers say why they have ended.
        self.out.send(self.batch.take()).map_err(|_| Error::interrupted())
    }
}

/// Writes files until there are no more. One that is damaged is left out.
fn write_files(
    inbox: &Mutex<Receiver<Vec<Planned>>>,
    places: &HashMap<Hash, Place>,
    packs: &Path,
) -> Result<Restored> {
    let (mut reader, mut restored) = (Reader::new(packs)?, Restored::default());
    loop {
        let batch = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(batch) = batch else { return Ok(restored) };
        for (path, stat, blocks) in batch {
            match write_file(&path, &stat, &blocks, places, &mut reader) {
                Ok(()) => {
                    restored.files += 1;
                    restored.bytes += stat.size;
                }
                Err(damage) if damage.kind() == ErrorKind::Corrupt => {
                    // Half a file would pass for a whole one.
                    fs::remove_file(&path).map_err(|e| Error::io(path.display(), e))?;
                    restored.problems.push(Problem { path, what: damage.to_string() });
                }
                Err(error) => return Err(error.context(path.display())),
            }
        }
    }
}

/// An error of the kind `Corrupt` if a block is damaged.
fn write_file(
    path: &Path,
    stat: &Stat,
    blocks: &[Hash],
    places: &HashMap<Hash, Place>,
    reader: &mut Reader<'_>,
) -> Result<()> {
    let mut file = File::create_new(path).map_err(|e| Error::io("cannot be created", e))?;
    for hash in blocks {
        let place = places.get(hash);
        let place = place.ok_or_else(|| Error::corrupt("catalogue: a block is missing"))?;
        let block = reader.block(place, hash)?;
        file.write_all(block).map_err(|e| Error::io("cannot be written", e))?;
    }
    os::restore_file(&file, stat).map_err(|e| Error::io("mode, owner and time", e))
}
