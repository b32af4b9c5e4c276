//! Walks whole trees and counts what of them is cached; warms, evicts or locks it on the way.

mod look;
mod options;
mod pattern;

use std::{
    collections::HashSet,
    ffi::OsString,
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use self::look::{Look, Seen};
pub use self::options::{Action, CrawlOptions, CrawlReport, Skipped};
use crate::{BUFFER, Evictor, Locked, Pages, files::entries, name_is_cached, page_size, warm};

/// The number of files that are collected before they are opened: some megabytes of paths.
const MANY: usize = 1 << 15;

/// A device and an inode on it.
type Identity = (u64, u64);

fn identity(metadata: &fs::Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// A path to start from.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    /// Whether the path's name was cached, found out before the path is looked at, which loads it.
    name_was_cached: Option<bool>,
}

impl Root {
    /// Creates a root at `path`, which nothing may have looked at before.
    pub fn new(path: PathBuf) -> Self {
        Self { name_was_cached: name_is_cached(&path), path }
    }
}

/// A path with the error that occurred there.
#[derive(Debug)]
pub struct Problem {
    /// The path.
    pub path: PathBuf,
    /// The error.
    pub error: io::Error,
}

/// A receiver of files and problems. An error that it returns ends the crawl.
pub trait Visitor {
    /// The error that ends a crawl early.
    type Error: From<Problem>;

    /// Decides whether so many more bytes may be locked, by returning an error if not.
    fn lock(&mut self, bytes: u64) -> io::Result<()>;

    /// Receives an open file and its pages, if [`CrawlOptions::shows_files`].
    fn file(&mut self, path: &Path, file: &File, pages: Pages) -> Result<(), Self::Error>;

    /// Receives the error of one path, which does not end the crawl.
    fn problem(&mut self, problem: Problem) -> Result<(), Self::Error>;
}

/// A walk through trees, which counts what is cached and acts on files.
#[derive(Debug)]
pub struct Crawl<'a, V> {
    options: &'a CrawlOptions,
    visitor: V,
    found: CrawlReport,
    buffer: Vec<u8>,
    evictor: Evictor,
    /// The folders, and the files with several names, that were visited.
    seen: HashSet<Identity>,
    /// The folders that contain the current one.
    above: Vec<Identity>,
    /// The file system to stay in; `None` before the first path of a root.
    device: Option<u64>,
    /// The files that are only counted, which are opened many at once.
    later: Vec<PathBuf>,
}

impl<'a, V: Visitor> Crawl<'a, V> {
    /// Creates a walk that has not started.
    pub fn new(options: &'a CrawlOptions, visitor: V) -> Self {
        Self {
            options,
            visitor,
            found: CrawlReport::default(),
            buffer: vec![0; if options.action == Action::Warm { BUFFER } else { 0 }],
            evictor: Evictor::default(),
            seen: HashSet::new(),
            above: Vec::new(),
            device: None,
            later: Vec::new(),
        }
    }

    /// Visits what is at and below `root`.
    ///
    /// # Errors
    ///
    /// Fails if the visitor does; an error of a single path is passed to [`Visitor::problem`].
    pub fn root(&mut self, root: &Root) -> Result<(), V::Error> {
        self.device = None;
        match fs::symlink_metadata(&root.path) {
            Ok(metadata) => self.entry(&root.path, metadata.file_type(), Some(root))?,
            Err(error) => self.failed(&root.path, error)?,
        }
        self.catch_up()
    }

    /// Returns what was counted and what is held in memory, and the visitor.
    pub fn finish(self) -> (CrawlReport, V) {
        (self.found, self.visitor)
    }

    /// Visits a path of any kind; `root` is given if the walk starts there.
    fn entry(
        &mut self,
        path: &Path,
        kind: fs::FileType,
        root: Option<&Root>,
    ) -> Result<(), V::Error> {
        if is_named_by(&self.options.ignore, path) {
            return Ok(());
        }
        if kind.is_file() && root.is_none() {
            return self.listed(path);
        }
        if kind.is_symlink() && !self.options.follow {
            self.found.skipped.links += 1;
            return Ok(());
        }
        if !kind.is_dir() && !kind.is_file() && !kind.is_symlink() {
            self.found.skipped.special += 1;
            return Ok(());
        }
        let cached = match root {
            Some(root) => root.name_was_cached,
            // Reading a folder loads no names: this can be asked until the path is looked at.
            None => name_is_cached(path),
        };
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                // A folder to start from may be held by whoever works in it.
                self.count_name(cached.filter(|_| root.is_none()));
                self.folder(path, &metadata)
            }
            Ok(_) if self.is_wanted(path) => {
                let look = Look::open(path, self.options);
                self.file(path, look.map(|look| Look { name_was_cached: cached, ..look }))
            }
            Ok(_) => Ok(()),
            Err(error) => self.problem(path, error),
        }
    }

    fn folder(&mut self, path: &Path, metadata: &fs::Metadata) -> Result<(), V::Error> {
        let identity = identity(metadata);
        if self.above.contains(&identity) {
            self.found.skipped.loops += 1;
            return Ok(());
        }
        if self.is_elsewhere(metadata.dev()) || self.is_repeated(identity) {
            return Ok(());
        }
        self.found.directories += 1;
        self.above.push(identity);
        match entries(path) {
            Ok(mut entries) => {
                // The files first, then everything else.
                entries.sort_by_key(|(_, kind)| !kind.is_file());
                entries.iter().try_for_each(|(path, kind)| self.entry(path, *kind, None))?;
            }
            Err(error) => self.problem(path, error)?,
        }
        self.above.pop();
        Ok(())
    }

    /// Visits a file that was found in a folder. Opening it shows whether its name was cached.
    fn listed(&mut self, path: &Path) -> Result<(), V::Error> {
        if !self.is_wanted(path) {
            return Ok(());
        }
        if !self.options.only_counts() {
            return self.file(path, Look::open(path, self.options));
        }
        self.later.push(path.to_owned());
        if self.later.len() < MANY { Ok(()) } else { self.catch_up() }
    }

    /// Visits the files that were left for later.
    fn catch_up(&mut self) -> Result<(), V::Error> {
        let paths = std::mem::take(&mut self.later);
        let looks = look::open_all(&paths, self.options);
        paths.iter().zip(looks).try_for_each(|(path, look)| self.file(path, look))
    }

    fn file(&mut self, path: &Path, look: io::Result<Look>) -> Result<(), V::Error> {
        let look = match look {
            Ok(look) => look,
            Err(error) => {
                // It exists, but cannot be opened.
                self.found.files += u64::from(error.kind() == io::ErrorKind::PermissionDenied);
                return self.problem(path, error);
            }
        };
        self.count_name(look.name_was_cached);
        if !look.metadata.is_file() {
            self.found.skipped.special += 1;
            return Ok(());
        }
        let linked = look.metadata.nlink() > 1 && self.is_repeated(identity(&look.metadata));
        if linked || self.is_elsewhere(look.metadata.dev()) {
            return Ok(());
        }
        self.found.files += 1;
        match self.act(&look) {
            Ok(Some((file, pages))) if self.options.shows_files => {
                self.visitor.file(path, file, pages)
            }
            Ok(_) => Ok(()),
            Err(error) if self.options.holds() => {
                Err(Problem { path: path.to_owned(), error }.into())
            }
            Err(error) => self.problem(path, error),
        }
    }

    /// Applies the action to a regular file, and counts its pages; returns them if the file is still
    /// open.
    fn act<'f>(&mut self, look: &'f Look) -> io::Result<Option<(&'f File, Pages)>> {
        let size = look.metadata.len();
        if self.options.max_size.is_some_and(|most| size > most) {
            self.found.skipped.large += 1;
            return Ok(None);
        }
        let span = self.options.span;
        let length = span.range_in(size).map(|(_, length)| length);
        if size > 0 && length.is_none() {
            self.found.skipped.short += 1;
            return Ok(None);
        }
        let file = match &look.seen {
            Seen::Pages(pages) => {
                self.found.pages += *pages;
                return Ok(None);
            }
            Seen::File(file) => file,
        };
        if self.options.holds() {
            self.visitor.lock(length.unwrap_or(0))?;
        }
        match self.options.action {
            Action::Count => {}
            Action::Warm => {
                let bytes = warm(file, span, &mut self.buffer)?;
                self.found.touched += bytes.div_ceil(page_size());
            }
            Action::Evict => self.evictor.evict(file, span)?,
            Action::Lock => self.found.locked.push(Locked::new(file, span)?),
            Action::Map => self.found.locked.push(Locked::mapped(file, span)?),
        }
        let pages = Pages::count_sized(file, size, span)?;
        self.found.pages += pages;
        Ok(Some((file, pages)))
    }

    fn count_name(&mut self, was_cached: Option<bool>) {
        if let Some(cached) = was_cached {
            self.found.names.total += 1;
            self.found.names.cached += u64::from(cached);
        }
    }

    /// Returns whether the name is one of those wanted.
    fn is_wanted(&self, path: &Path) -> bool {
        self.options.only.is_empty() || is_named_by(&self.options.only, path)
    }

    /// Returns whether the entry was visited already and is not to be counted again.
    fn is_repeated(&mut self, identity: Identity) -> bool {
        !self.options.hard_links && !self.seen.insert(identity)
    }

    /// Returns whether the entry is in another file system than its root, and is to be skipped.
    fn is_elsewhere(&mut self, device: u64) -> bool {
        let here = *self.device.get_or_insert(device);
        let elsewhere = self.options.one_file_system && device != here;
        self.found.skipped.elsewhere += u64::from(elsewhere);
        elsewhere
    }

    /// Counts or reports an error of a path that was found in a folder. A path that was removed
    /// meanwhile is no failure, nor is a link to nothing.
    fn problem(&mut self, path: &Path, error: io::Error) -> Result<(), V::Error> {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::LOOP) => self.found.skipped.loops += 1,
            Some(Errno::NOENT) => self.found.skipped.links += u64::from(path.is_symlink()),
            _ => self.failed(path, error)?,
        }
        Ok(())
    }

    fn failed(&mut self, path: &Path, error: io::Error) -> Result<(), V::Error> {
        self.visitor.problem(Problem { path: path.to_owned(), error })
    }
}

/// Returns whether one of the patterns matches the last part of `path`.
fn is_named_by(patterns: &[OsString], path: &Path) -> bool {
    // `.` and `..` have no name of their own.
    let name = path.file_name().unwrap_or(path.as_os_str()).as_bytes();
    patterns.iter().any(|pattern| pattern::matches(pattern.as_bytes(), name))
}
