//! Restores a snapshot: content, modes, times, symbolic and hard links, and as root owners. Entries
//! that cannot be restored, because they are damaged or their names are too long, are named, and
//! the rest is restored.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use model::{Error, ErrorKind, Mode, Result, Shown, windows_name_problem};

use crate::{
    batch::Batch,
    catalogue::{Catalogue, ROOT, Snapshot, root_name},
    entry::{BlockPlace, Content, Entry, Hash, Stat},
    os,
    packs::PackReader,
    repository::{Listed, Repository, StopCheck, workers},
    save::Problem,
};

/// The outcome of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The number of files that were restored.
    pub files: u64,
    /// The bytes of these files.
    pub bytes: u64,
    /// The entries that could not be restored as they were, each with the reason.
    pub problems: Vec<Problem>,
    /// The time that the store of the catalogue took.
    pub catalogue: Duration,
}

/// Restores the snapshot `version`, or the last one, as the folder `to`, which is empty or missing.
/// Only this user can read it until everything in it has its mode.
///
/// # Errors
///
/// Fails if there is no such snapshot, `to` is not empty, or nothing more can be written; problems
/// of single paths are in the result.
pub fn restore(
    repository: &Repository,
    version: Option<u32>,
    to: &Path,
    stop: StopCheck<'_>,
) -> Result<Restored> {
    let mut catalogue = repository.catalogue(Mode::Read)?;
    let mut listed = repository.list_in(&mut catalogue)?;
    let snapshot = find_snapshot(&listed, version)?;
    let root = root_of(&mut catalogue, &snapshot)?;
    let places = block_places(&mut catalogue, &mut listed)?;
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
        let planned = plan.tree(to, root).and_then(|()| plan.send());
        let Plan { later, out, .. } = plan;
        drop(out);
        // A worker's error is reported before the error that nobody takes its batches.
        let mut restored = Restored::default();
        for writer in writers {
            restored.add(writer.join().expect("it does not panic")?);
        }
        planned.map(|()| (later, restored))
    })?;
    stop()?;
    listed.damage.extend(missing_paths(&mut catalogue, &snapshot, &later)?);
    restored.finish(later)?;
    let named = listed.damage.into_iter().map(|what| Problem { path: to.to_owned(), what });
    restored.problems.extend(named);
    restored.problems.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Restored { catalogue: catalogue.spent(), ..restored })
}

/// Returns the snapshot `version`, or the last one.
fn find_snapshot(listed: &Listed, version: Option<u32>) -> Result<Snapshot> {
    let Listed { snapshots, damage } = listed;
    let is_it = |found: &&Snapshot| version.is_none_or(|version| version == found.version);
    let missing = || match damage.first() {
        Some(what) => Error::corrupt(what.clone()),
        None => missing(version, snapshots.len()),
    };
    snapshots.iter().rev().find(is_it).cloned().ok_or_else(missing)
}

/// Returns where the blocks are whose records can be read, and adds the others to the damage. A file
/// with one of these is named when it is written.
fn block_places(
    catalogue: &mut Catalogue<'_>,
    listed: &mut Listed,
) -> Result<HashMap<Hash, BlockPlace>> {
    let mut places = HashMap::new();
    let visited = catalogue.blocks(&mut |block| {
        match block {
            Ok((hash, block)) => drop(places.insert(hash, block.place)),
            Err(error) => listed.add_damage(&error),
        }
        Ok(())
    });
    match visited {
        // The store itself is damaged from here on.
        Err(error) if error.kind() == ErrorKind::Corrupt => listed.add_damage(&error),
        visited => visited?,
    }
    Ok(places)
}

/// Returns the folder that was backed up: what its system reported, with its mode, and its number.
fn root_of(catalogue: &mut Catalogue<'_>, snapshot: &Snapshot) -> Result<(Stat, u32)> {
    let root = root_name(&snapshot.folder);
    let roots = catalogue.readable_children(ROOT, snapshot.version)?;
    let found = roots.into_iter().find(|(name, _)| *name == root).map(|(_, entry)| entry);
    match found.transpose()? {
        Some(Entry { stat, mode, content: Content::Folder(number) }) => {
            Ok((Stat { mode, ..stat }, number))
        }
        _ => Err(Error::corrupt("catalogue: a snapshot has no folder")),
    }
}

/// Returns a sentence if the catalogue has fewer paths of the snapshot than it had when that was
/// taken.
fn missing_paths(
    catalogue: &mut Catalogue<'_>,
    snapshot: &Snapshot,
    later: &Later,
) -> Result<Option<String>> {
    let inventory = match catalogue.inventory() {
        // The record was named before.
        Err(error) if error.kind() == ErrorKind::Corrupt => None,
        inventory => inventory?,
    };
    let exact = inventory.is_some_and(|found| found.exact_from <= snapshot.version);
    let (found, had) = (later.found, snapshot.entries);
    let fewer = exact && later.complete && found < had;
    Ok(fewer.then(|| format!("catalogue: has lost records: it has {found} of {had} paths")))
}

impl Restored {
    fn add(&mut self, Self { files, bytes, problems, .. }: Self) {
        self.files += files;
        self.bytes += bytes;
        self.problems.extend(problems);
    }

    /// Creates hard links and restores folders, once all files are written.
    fn finish(&mut self, later: Later) -> Result<()> {
        let Later { folders, links, problems, .. } = later;
        let without = link_all(&links, &self.problems)?;
        self.files += (links.len() - without.len()) as u64;
        self.problems.extend(problems.into_iter().chain(without));
        // Inner folders come first: restoring them changes the times of outer ones, which are
        // closed meanwhile.
        for (folder, stat) in folders.iter().rev() {
            self.problems.extend(problem_of(
                "owner, mode and time",
                folder,
                os::restore(folder, stat),
            )?);
        }
        Ok(())
    }
}

/// Returns the problem of a step that concerns one path, if it failed.
///
/// # Errors
///
/// Fails if the error concerns all other paths too.
fn problem_of(step: &str, path: &Path, outcome: io::Result<()>) -> Result<Option<Problem>> {
    match outcome {
        Ok(()) => Ok(None),
        Err(error) if os::concerns_all(&error) => Err(Error::io(path.display(), error)),
        Err(error) => Ok(Some(Problem { path: path.to_owned(), what: format!("{step}: {error}") })),
    }
}

/// Creates further names of files; returns those that could not be created, for example because
/// their file was not restored.
fn link_all(links: &[(PathBuf, PathBuf)], damaged: &[Problem]) -> Result<Vec<Problem>> {
    let damaged: HashMap<_, _> =
        damaged.iter().map(|problem| (&problem.path, &problem.what)).collect();
    let mut without = Vec::new();
    for (first, link) in links {
        match damaged.get(first).filter(|_| !first.exists()) {
            Some(what) => without.push(Problem { path: link.clone(), what: (*what).clone() }),
            None => without.extend(problem_of("second name", link, fs::hard_link(first, link))?),
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

/// Creates the folder, which must be empty, and closes it to other users.
fn create(to: &Path) -> Result<()> {
    let failed = |e| Error::io(to.display(), e);
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|e| Error::io(parent.display(), e))?;
    }
    match host::create_folder(to, 0o700) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => return created.map_err(failed),
    }
    let check_empty = || match fs::read_dir(to).map_err(failed)?.next() {
        Some(_) => Err(Error::usage("is not empty; name a new folder").at(to.display())),
        None => Ok(()),
    };
    check_empty()?;
    let open = |e| Error::io(format!("{}: cannot be closed to other users", to.display()), e);
    host::set_mode(to, 0o700).map_err(open)?;
    // Another user may have put something there until now.
    check_empty()
}

/// The work that is left until all files are written.
#[derive(Default)]
struct Later {
    folders: Vec<(PathBuf, Stat)>,
    /// The first path of a file, and another one.
    links: Vec<(PathBuf, PathBuf)>,
    /// The first paths of files with several names, by what was reported of them and by their
    /// blocks.
    linked: HashMap<(Stat, blake3::Hash), PathBuf>,
    /// The problems of entries that were not handed to a worker.
    problems: Vec<Problem>,
    /// The number of entries that the catalogue has.
    found: u64,
    /// Whether all of the catalogue was seen.
    complete: bool,
}

/// A file with its blocks.
type Planned = (PathBuf, Stat, Vec<Hash>);

/// A pass through the catalogue, which hands files to workers.
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
        let batch = Batch::default();
        let later = Later { complete: true, ..Later::default() };
        Self { catalogue, version, out, stop, batch, later }
    }

    /// Visits the folder `to` and all below it, each folder before those in it.
    fn tree(&mut self, to: &Path, (stat, number): (Stat, u32)) -> Result<()> {
        let (mut left, mut seen) = (vec![(to.to_owned(), number)], HashSet::new());
        self.later.found = 1;
        self.later.folders.push((to.to_owned(), stat));
        while let Some((path, number)) = left.pop() {
            (self.stop)()?;
            if seen.insert(number) {
                let folders = self.folder(&path, number)?;
                left.extend(folders.into_iter().rev());
            } else {
                self.problem(
                    path,
                    "catalogue: the folder is in itself, or in two places".to_owned(),
                );
            }
        }
        Ok(())
    }

    fn problem(&mut self, path: PathBuf, what: String) {
        self.later.complete = false;
        self.later.problems.push(Problem { path, what });
    }

    /// Restores what is in a folder, and returns the folders in it.
    fn folder(&mut self, path: &Path, number: u32) -> Result<Vec<(PathBuf, u32)>> {
        let children = match self.catalogue.readable_children(number, self.version) {
            Err(error) if !error.is_stopped() => {
                self.problem(path.to_owned(), format!("what is in it is lost: {error}"));
                return Ok(Vec::new());
            }
            children => children?,
        };
        self.later.found += children.len() as u64;
        // Files whose blocks are in the same frames follow each other, as in a backup: those in folders
        // come later.
        let mut folders = Vec::new();
        for (name, entry) in children {
            if !os::is_name(&name) {
                let what = format!("catalogue: a name that leads elsewhere: {}", Shown(&name));
                self.problem(path.to_owned(), what);
                continue;
            }
            if cfg!(windows)
                && let Some(why) = windows_name_problem(&name)
            {
                let what = format!("{} {why}: Windows has no such file", Shown(&name));
                self.problem(path.to_owned(), what);
                continue;
            }
            let path = path.join(os::name(&name));
            let Entry { stat, mode, content } = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.problem(path, error.to_string());
                    continue;
                }
            };
            let stat = Stat { mode, ..stat };
            match content {
                Content::Folder(number) => folders.extend(self.new_folder(path, stat, number)?),
                Content::Blocks(blocks) => self.file(path, stat, blocks)?,
                Content::Link(target) => {
                    let made = os::link(&target, &path).and_then(|()| os::restore(&path, &stat));
                    self.later.problems.extend(problem_of("symbolic link", &path, made)?);
                }
                Content::Nothing => {}
            }
        }
        Ok(folders)
    }

    /// Creates a folder; returns `None` if it cannot be created, and nothing in it can be restored.
    fn new_folder(
        &mut self,
        path: PathBuf,
        stat: Stat,
        number: u32,
    ) -> Result<Option<(PathBuf, u32)>> {
        let step = "the folder, and all in it";
        if let Some(problem) = problem_of(step, &path, host::create_folder(&path, 0o700))? {
            self.problem(problem.path, problem.what);
            return Ok(None);
        }
        self.later.folders.push((path.clone(), stat));
        Ok(Some((path, number)))
    }

    fn file(&mut self, path: PathBuf, stat: Stat, blocks: Vec<Hash>) -> Result<()> {
        if stat.links > 1 {
            let key = (stat, blake3::hash(blocks.as_flattened()));
            if let Some(first) = self.later.linked.get(&key) {
                self.later.links.push((first.clone(), path));
                return Ok(());
            }
            self.later.linked.insert(key, path.clone());
        }
        self.batch.push((path, stat, blocks), stat.size);
        if self.batch.is_full() { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        // The workers say why they have ended.
        self.out.send(self.batch.take()).map_err(|_| Error::interrupted())
    }
}

/// Writes files until there are no more. Those that cannot be restored are named in the result.
fn write_files(
    inbox: &Mutex<Receiver<Vec<Planned>>>,
    places: &HashMap<Hash, BlockPlace>,
    packs: &Path,
) -> Result<Restored> {
    let (mut reader, mut restored) = (PackReader::new(packs)?, Restored::default());
    loop {
        let batch = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(batch) = batch else { return Ok(restored) };
        for (path, stat, blocks) in batch {
            let Some(file) = restored.create_file(&path)? else { continue };
            if let Err(trouble) = write_blocks(&file, &blocks, places, &mut reader) {
                // Half a file would pass for a whole one.
                fs::remove_file(&path).map_err(|e| Error::io(path.display(), e))?;
                if trouble.kind() != ErrorKind::Corrupt {
                    return Err(trouble.context(path.display()));
                }
                restored.problems.push(Problem { path, what: trouble.to_string() });
                continue;
            }
            restored.files += 1;
            restored.bytes += stat.size;
            let set = os::restore_file(&file, &stat);
            restored.problems.extend(problem_of("owner, mode and time", &path, set)?);
        }
    }
}

impl Restored {
    fn create_file(&mut self, path: &Path) -> Result<Option<File>> {
        match os::create(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) => {
                self.problems.extend(problem_of("cannot be created", path, Err(error))?);
                Ok(None)
            }
        }
    }
}

/// Writes the content of a file.
///
/// # Errors
///
/// Fails with the kind `Corrupt` if the content is missing or damaged.
fn write_blocks(
    mut file: &File,
    blocks: &[Hash],
    places: &HashMap<Hash, BlockPlace>,
    reader: &mut PackReader<'_>,
) -> Result<()> {
    for hash in blocks {
        let place = places.get(hash);
        let place = place.ok_or_else(|| Error::corrupt("catalogue: a block is missing"))?;
        let block = reader.block(place, hash)?;
        file.write_all(block).map_err(|e| {
            let kind = if os::concerns_all(&e) { ErrorKind::Failed } else { ErrorKind::Corrupt };
            Error::io("cannot be written", e).with_kind(kind)
        })?;
    }
    Ok(())
}
