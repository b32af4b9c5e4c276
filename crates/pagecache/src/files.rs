//! The files of a store or of any tree, listed once.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    Evictor, Names, Pages, Span, has_gone, names, open, warm,
    warm::{read_ahead, warm_missing},
    with_path,
};

/// The bytes of a file that are read before it is asked again whether to go on.
const PART: usize = 64 << 20;

/// The number of files that the system is asked to read while others are read: a device serves many
/// requests in hardly more time than one.
const AHEAD: usize = 32;

/// The regular files and the folders below some paths, sorted by the components of the paths, each
/// once. None of them is held open.
#[derive(Default)]
pub struct Files<'a> {
    paths: Vec<PathBuf>,
    /// The folders below the paths, without the paths themselves.
    folders: Vec<PathBuf>,
    skipped: u64,
    /// Returns whether to go on; `None` to go on to the end.
    go_on: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Files<'a> {
    /// Lists what is at and below `paths`, sorted. A path may be a link; links below it are not
    /// followed, and special files never opened.
    ///
    /// # Errors
    ///
    /// Fails if a path is absent or a folder cannot be read.
    pub fn below<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> io::Result<Self> {
        Self::default().with(paths)
    }

    /// Lists what is at and below `paths` like [`Files::below`] as long as `go_on`, which is asked before each
    /// file, here and in each method that opens files. What is not to go on fails with `TimedOut`.
    ///
    /// # Errors
    ///
    /// Fails as [`Files::below`] does, and if it is not to go on.
    pub fn below_while<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        go_on: &'a dyn Fn() -> bool,
    ) -> io::Result<Self> {
        Self { go_on: Some(go_on), ..Self::default() }.with(paths)
    }

    /// Takes the files at `paths` without looking at them, each once, to work on them as long as `go_on`, as
    /// [`Files::below_while`] does.
    pub fn at(paths: Vec<PathBuf>, go_on: &'a dyn Fn() -> bool) -> Self {
        let mut files = Self { paths, go_on: Some(go_on), ..Self::default() };
        files.paths.sort();
        files.paths.dedup();
        files
    }

    /// Adds what is at and below `paths`.
    fn with<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> io::Result<Self> {
        for path in paths {
            self.add(path.as_ref())?;
        }
        for paths in [&mut self.paths, &mut self.folders] {
            paths.sort();
            paths.dedup();
        }
        Ok(self)
    }

    pub(crate) fn check(&self) -> io::Result<()> {
        let goes_on = self.go_on.is_none_or(|go_on| go_on());
        if goes_on { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }

    /// Adds what is at and below `path`.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let wrong = |error| with_path(path, &error);
        let kind = fs::metadata(path).map_err(wrong)?.file_type();
        if kind.is_file() && path.is_symlink() {
            // Listed paths are opened without following a link in their place.
            self.paths.push(fs::canonicalize(path).map_err(wrong)?);
            return Ok(());
        }
        // A stack, read from its end: a deep tree cannot overflow it.
        let mut left = vec![(path.to_owned(), kind)];
        while let Some((entry, kind)) = left.pop() {
            self.check()?;
            if kind.is_dir() {
                match entries(&entry) {
                    Ok(entries) => left.extend(entries),
                    // It was removed since its parent was read.
                    Err(error) if has_gone(&error) => {}
                    Err(error) => return Err(with_path(&entry, &error)),
                }
                if entry != path {
                    self.folders.push(entry);
                }
            } else if kind.is_file() {
                self.paths.push(entry);
            } else {
                self.skipped += 1;
            }
        }
        Ok(())
    }

    /// Returns the files, sorted.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns the number of links and special files, which were left out.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns the pages of the files and how many of them are in memory. It opens each file, and
    /// so loads its name and inode.
    ///
    /// # Errors
    ///
    /// Fails with `Unsupported` if the system reports the pages of no file.
    pub fn pages(&self) -> io::Result<Pages> {
        let mut sum = Pages::default();
        self.visit_each(&self.paths, |path| Pages::count_at(path).map(|pages| sum += pages))?;
        Ok(sum)
    }

    /// Returns how many names of the files, and of the folders below the paths, a look-up finds in
    /// memory. It loads nothing. Removed files count as not cached. A folder that was given as a
    /// path does not count: it may be held by a process that works in it.
    ///
    /// # Errors
    ///
    /// Fails with `Unsupported` if the system cannot find out without loading.
    pub fn names(&self) -> io::Result<Names> {
        let paths = self.paths.iter().chain(&self.folders);
        names::cached(paths.map(PathBuf::as_path))
    }

    /// Reads the files, in order, from start to end. Returns the bytes read.
    ///
    /// # Errors
    ///
    /// Fails if a file that still exists cannot be read.
    pub fn warm(&self) -> io::Result<u64> {
        let (mut buffer, mut bytes) = (vec![0; crate::BUFFER], 0);
        self.visit_ahead(true, |path| {
            let file = open(path, false)?.file;
            for start in (0_u64..).step_by(PART) {
                self.check()?;
                let part = Span { start, end: Some(start + PART as u64) };
                let read = warm(&file, part, &mut buffer)?;
                bytes += read;
                if read < PART as u64 {
                    break;
                }
            }
            Ok(true)
        })?;
        Ok(bytes)
    }

    /// Reads of each file that is not whole in memory those parts of [`crate::BUFFER`] bytes that are
    /// not. Returns the pages that are then in memory, as [`Files::pages`] does.
    ///
    /// # Errors
    ///
    /// Fails if a file that still exists cannot be read, and with `Unsupported` if the system reports
    /// the pages of no file.
    pub fn warm_missing(&self) -> io::Result<Pages> {
        let (mut sum, mut buffer) = (Pages::default(), Vec::new());
        self.visit_ahead(false, |path| {
            let mut pages = Pages::count_at(path)?;
            let is_missing = pages.resident + pages.unknown < pages.total;
            if is_missing {
                buffer.resize(crate::BUFFER, 0);
                warm_missing(&open(path, false)?.file, &mut buffer)?;
                pages = Pages::count_at(path)?;
            }
            sum += pages;
            Ok(is_missing)
        })?;
        Ok(sum)
    }

    /// Writes dirty pages back and drops the files' pages, as far as the kernel agrees:
    /// [`Files::pages`] shows what stayed. If many files are dirty, their whole file system may be
    /// flushed.
    ///
    /// # Errors
    ///
    /// Fails if a file that still exists cannot be opened or flushed, or the system cannot drop its
    /// pages.
    pub fn evict(&self) -> io::Result<()> {
        let mut evictor = Evictor::default();
        self.visit_each(&self.paths, |path| evictor.evict(&open(path, false)?.file, Span::ALL))
    }

    /// Visits all files in groups of [`AHEAD`]. `visit` returns whether a file was not in memory: if one of a
    /// group was not, the system is asked, before the next group is visited, to read the one after that.
    /// `is_missing` is the answer for the group before the first.
    fn visit_ahead(
        &self,
        mut is_missing: bool,
        mut visit: impl FnMut(&Path) -> io::Result<bool>,
    ) -> io::Result<()> {
        let groups = self.paths.chunks(AHEAD);
        for (group, next) in groups.clone().zip(groups.skip(1).chain([&[][..]])) {
            if is_missing {
                for path in next {
                    read_ahead(path);
                }
            }
            is_missing = false;
            self.visit_each(group, |path| visit(path).map(|missing| is_missing |= missing))?;
        }
        Ok(())
    }

    /// Visits files, and skips those that were removed since they were listed.
    pub(crate) fn visit_each(
        &self,
        paths: &[PathBuf],
        mut visit: impl FnMut(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        paths.iter().try_for_each(|path| match self.check().and_then(|()| visit(path)) {
            Err(error) if has_gone(&error) => Ok(()),
            done => done.map_err(|error| with_path(path, &error)),
        })
    }
}

/// Returns a folder's entries, sorted by name.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, fs::FileType)>> {
    let read = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.file_type()?))
    };
    let mut entries: Vec<_> = fs::read_dir(folder)?.map(read).collect::<io::Result<_>>()?;
    entries.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(root: &Path, path: &Path) -> (Vec<String>, Vec<String>, u64) {
        let listing = Files::below([path]).unwrap();
        let names = |paths: Vec<PathBuf>| {
            let name = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
            paths.iter().map(name).collect()
        };
        (names(listing.paths), names(listing.folders), listing.skipped)
    }

    #[test]
    fn regular_files_come_in_sorted_order_and_once() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for file in ["b", "a/2", "a/1", "a/0/x", "a-", "c"] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let (files, folders, _) = listed(root, root);
        assert_eq!(files, ["a/0/x", "a/1", "a/2", "a-", "b", "c"]);
        assert_eq!(folders, ["a", "a/0"]);
        assert_eq!(listed(root, &root.join("b")).0, ["b"]);
        let twice = Files::below([root.join("c"), root.to_owned(), root.join("a")]).unwrap();
        assert_eq!(twice.paths().len(), 6);
        assert!(Files::below([root.join("absent")]).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_next_files_are_read_ahead_as_long_as_some_are_missing() {
        let root = tempfile::tempdir().unwrap();
        let paths = (0..4 * AHEAD).map(|number| root.path().join(number.to_string()));
        paths.for_each(|path| fs::write(path, [1; 5000]).unwrap());
        let files = Files::below([root.path()]).unwrap();
        let resident = |path: &Path| Pages::count_at(path).unwrap().resident;
        let asked = |is_missing: bool| {
            files.evict().unwrap();
            let mut asked = Vec::new();
            let visit = |path: &Path| {
                asked.push(resident(path) > 0);
                // Those of the first group are missing, and no others.
                Ok(is_missing && asked.len() <= AHEAD)
            };
            files.visit_ahead(is_missing, visit).unwrap();
            asked.iter().filter(|asked| **asked).count()
        };
        files.evict().unwrap();
        if files.pages().unwrap().resident > 0 {
            return; // A file system in memory.
        }
        assert_eq!(asked(false), 0);
        // The second group before the first is read, and the third as that was missing. Other programs may
        // empty the caches at any time.
        assert!((0..20).any(|_| asked(true) == 2 * AHEAD));
    }

    #[test]
    #[cfg(unix)]
    fn links_and_special_files_are_skipped() {
        use std::os::unix::{fs::symlink, net::UnixListener};

        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("store")).unwrap();
        fs::write(at("store/file"), "x").unwrap();
        symlink("file", at("store/link")).unwrap();
        symlink(".", at("store/circle")).unwrap();
        let _socket = UnixListener::bind(at("store/socket")).unwrap();
        symlink("store", at("way")).unwrap();
        assert_eq!(listed(root.path(), &at("store")), (vec!["store/file".to_owned()], vec![], 3));
        assert_eq!(listed(root.path(), &at("way")).0, ["way/file"]);
        assert_eq!(listed(root.path(), &at("store/socket")), (vec![], vec![], 1));
    }
}
