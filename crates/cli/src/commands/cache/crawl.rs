//! The way through the trees.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs, io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use model::{Error, Result};
use pagecache::Locked;
use rustix::io::Errno;
use serde_json::Value;

use super::{
    act::Act,
    look::{self, Identity, Look},
    pattern,
    roots::Root,
    tally::Tally,
};
use crate::args::CacheOptions;

/// Lines of -v are printed in parts of this many bytes.
const PART: usize = 1 << 13;

/// So many files are looked at before the walk goes on: some megabytes of paths.
const MANY: usize = 1 << 15;

pub(super) struct Crawl<'a> {
    options: &'a CacheOptions,
    act: Act<'a>,
    tally: Tally,
    /// Folders, and files with several names.
    seen: HashSet<Identity>,
    /// The folders that lead to where the way is.
    above: Vec<Identity>,
    /// The file system to stay in.
    device: Option<u64>,
    /// Files that are only counted are looked at many at once.
    later: Vec<PathBuf>,
}

impl<'a> Crawl<'a> {
    pub(super) fn new(options: &'a CacheOptions) -> Self {
        Self {
            options,
            act: Act::new(options),
            tally: Tally::default(),
            seen: HashSet::new(),
            above: Vec::new(),
            device: None,
            later: Vec::new(),
        }
    }

    /// Visits what is at and below `root`. An error ends the command; what concerns one path
    /// only is counted.
    pub(super) fn root(&mut self, root: &Root) -> Result<()> {
        self.device = None;
        match fs::symlink_metadata(&root.path) {
            Ok(metadata) => self.entry(&root.path, metadata.file_type(), Some(root))?,
            Err(error) => self.failed(&root.path, &error)?,
        }
        self.catch_up()
    }

    /// What was counted and what is held.
    pub(super) fn finish(self) -> Result<(Tally, Vec<Locked>, Vec<Value>)> {
        let (locked, listed) = self.act.finish()?;
        Ok((self.tally, locked, listed))
    }

    /// A path of any kind; `root` if the way begins here.
    fn entry(&mut self, path: &Path, kind: fs::FileType, root: Option<&Root>) -> Result<()> {
        if is_named_by(&self.options.ignore, path) {
            return Ok(());
        }
        if kind.is_symlink() && !self.options.follow {
            self.tally.skipped.links += 1;
            return Ok(());
        }
        if !kind.is_dir() && !kind.is_file() && !kind.is_symlink() {
            self.tally.skipped.special += 1;
            return Ok(());
        }
        let cached = match root {
            Some(root) => root.name_was_cached,
            // Reading a folder loads no names: this can be asked until the path is looked at.
            None => pagecache::name_is_cached(path),
        };
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                // A folder to begin with may be held by whoever works in it.
                self.tally.name(cached.filter(|_| root.is_none()));
                self.folder(path, &metadata)
            }
            Ok(_) if self.is_wanted(path) => {
                let look = Look::at(path, self.options);
                self.file(path, look.map(|look| Look { name_was_cached: cached, ..look }))
            }
            Ok(_) => Ok(()),
            Err(error) => self.problem(path, &error),
        }
    }

    fn folder(&mut self, path: &Path, metadata: &fs::Metadata) -> Result<()> {
        let identity = (metadata.dev(), metadata.ino());
        if self.above.contains(&identity) {
            self.tally.skipped.loops += 1;
            return Ok(());
        }
        if self.is_elsewhere(metadata.dev()) || self.is_repeated(identity) {
            return Ok(());
        }
        self.tally.directories += 1;
        self.above.push(identity);
        match entries(path) {
            Ok(entries) => self.entries(entries)?,
            Err(error) => self.problem(path, &error)?,
        }
        self.above.pop();
        Ok(())
    }

    /// A folder's files, then all else in it.
    fn entries(&mut self, entries: Vec<(PathBuf, fs::FileType)>) -> Result<()> {
        let (files, others): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(_, kind)| kind.is_file());
        for (path, _) in files {
            if is_named_by(&self.options.ignore, &path) || !self.is_wanted(&path) {
                continue;
            }
            if self.options.only_counts() {
                self.later.push(path);
            } else {
                self.file(&path, Look::at(&path, self.options))?;
            }
        }
        if self.later.len() >= MANY {
            self.catch_up()?;
        }
        others.iter().try_for_each(|(path, kind)| self.entry(path, *kind, None))
    }

    /// Looks at the files that were left for later.
    fn catch_up(&mut self) -> Result<()> {
        let paths = std::mem::take(&mut self.later);
        let looks = look::at_all(&paths, self.options);
        paths.iter().zip(looks).try_for_each(|(path, look)| self.file(path, look))
    }

    fn file(&mut self, path: &Path, look: io::Result<Look>) -> Result<()> {
        let look = match look {
            Ok(look) => look,
            Err(error) => {
                // It is there, but out of reach.
                self.tally.files += u64::from(error.kind() == io::ErrorKind::PermissionDenied);
                return self.problem(path, &error);
            }
        };
        self.tally.name(look.name_was_cached);
        if !look.is_regular {
            self.tally.skipped.special += 1;
            return Ok(());
        }
        let linked = look.has_more_names && self.is_repeated(look.identity);
        if linked || self.is_elsewhere(look.identity.0) {
            return Ok(());
        }
        self.tally.files += 1;
        match self.act.on(path, &look, &mut self.tally) {
            Ok(()) => self.act.flush(PART),
            Err(error) if self.options.holds() => Err(Error::io(path.display(), error)),
            Err(error) => self.problem(path, &error),
        }
    }

    /// Whether the name is one of those wanted.
    fn is_wanted(&self, path: &Path) -> bool {
        self.options.only.is_empty() || is_named_by(&self.options.only, path)
    }

    /// Whether this was visited already and is not to be counted again.
    fn is_repeated(&mut self, identity: Identity) -> bool {
        !self.options.hard_links && !self.seen.insert(identity)
    }

    /// Whether this stands in another file system than its root, and is to be left out.
    fn is_elsewhere(&mut self, device: u64) -> bool {
        let here = *self.device.get_or_insert(device);
        let elsewhere = self.options.one_file_system && device != here;
        self.tally.skipped.elsewhere += u64::from(elsewhere);
        elsewhere
    }

    /// Counts what went wrong with a path that was found in a folder. One that has gone since is
    /// no failure, nor is a link to nowhere.
    fn problem(&mut self, path: &Path, error: &io::Error) -> Result<()> {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::LOOP) => self.tally.skipped.loops += 1,
            Some(Errno::NOENT) => self.tally.skipped.links += u64::from(path.is_symlink()),
            _ => self.failed(path, error)?,
        }
        Ok(())
    }

    fn failed(&mut self, path: &Path, error: &io::Error) -> Result<()> {
        self.act.flush(1)?;
        self.tally.problems.add(path, error, self.options.verbose);
        Ok(())
    }
}

/// What is in the folder, sorted by name.
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, fs::FileType)>> {
    let read = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.file_type()?))
    };
    let mut entries: Vec<_> = fs::read_dir(folder)?.map(read).collect::<io::Result<_>>()?;
    entries.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
    Ok(entries)
}

/// Whether one of the patterns stands for the last part of `path`.
fn is_named_by(patterns: &[OsString], path: &Path) -> bool {
    // `.` and `..` have no name of their own.
    let name = path.file_name().unwrap_or(path.as_os_str()).as_bytes();
    patterns.iter().any(|pattern| pattern::matches(pattern.as_bytes(), name))
}
