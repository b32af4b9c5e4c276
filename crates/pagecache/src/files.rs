//! The files of a store or of any tree, listed once.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::{Evictor, Names, Pages, Span, at, has_gone, listing::Listing, names, open, warm};

/// The regular files below some paths, and the folders. Holds none of them open.
#[derive(Debug)]
pub struct Files {
    listing: Listing,
}

impl Files {
    /// Lists what is at and below `paths`, sorted. An absent path is an error. A path may be a
    /// link; links below it are not followed, and special files never opened.
    pub fn below<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> io::Result<Self> {
        let mut listing = Listing::default();
        for path in paths {
            listing.add(path.as_ref())?;
        }
        listing.sort();
        Ok(Self { listing })
    }

    /// The files, sorted.
    pub fn paths(&self) -> &[PathBuf] {
        &self.listing.files
    }

    /// Links and special files, which were left out.
    pub fn skipped(&self) -> u64 {
        self.listing.skipped
    }

    /// The pages of the files and how many of them are in memory. Opens each file, and so loads
    /// its name and inode. `Unsupported` if the system reports no file's.
    pub fn pages(&self) -> io::Result<Pages> {
        let mut sum = Pages::default();
        for path in &self.listing.files {
            match Pages::at(path) {
                Ok(pages) => sum += pages,
                Err(error) if has_gone(&error) => {}
                Err(error) => return Err(at(path, &error)),
            }
        }
        Ok(sum)
    }

    /// How many names of the files, and of the folders below the paths, a look-up finds in
    /// memory. Loads nothing. What was removed counts as not cached. A folder that was given as
    /// a path does not count: it may be held by whoever works in it. `Unsupported` if the
    /// system cannot find out without loading.
    pub fn names(&self) -> io::Result<Names> {
        let paths = self.listing.files.iter().chain(&self.listing.folders);
        names::cached(paths.map(PathBuf::as_path))
    }

    /// Reads the files, in order, from start to end. Returns the bytes read.
    pub fn warm(&self) -> io::Result<u64> {
        let mut buffer = vec![0; crate::BUFFER];
        let mut bytes = 0;
        self.each(|file| {
            bytes += warm(file, Span::ALL, &mut buffer)?;
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Writes back what is dirty and drops the files' pages, as far as the kernel agrees:
    /// [`Files::pages`] shows what stayed. If many files are dirty, their whole file system
    /// may be flushed.
    pub fn evict(&self) -> io::Result<()> {
        let mut evictor = Evictor::default();
        self.each(|file| evictor.evict(file, Span::ALL))
    }

    fn each(&self, mut visit: impl FnMut(&File) -> io::Result<()>) -> io::Result<()> {
        for path in &self.listing.files {
            match open(path, false) {
                Ok(opened) => visit(&opened.file).map_err(|error| at(path, &error))?,
                Err(error) if has_gone(&error) => {}
                Err(error) => return Err(at(path, &error)),
            }
        }
        Ok(())
    }
}
