//! Opening files, and what that shows.

use std::{
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread::{self, Builder},
};

use super::CrawlOptions;
use crate::{Pages, open};

/// The number of files that a thread takes at a time.
const PART: usize = 256;

/// A file that was opened, with what that showed.
pub(super) struct Look {
    pub(super) name_was_cached: Option<bool>,
    pub(super) metadata: Metadata,
    pub(super) seen: Seen,
}

/// The pages of an opened file, or the file itself if it is still needed.
pub(super) enum Seen {
    /// Counted and closed again: nothing else is wanted.
    Pages(Pages),
    /// Still needed.
    File(File),
}

impl Look {
    pub(super) fn open(path: &Path, options: &CrawlOptions) -> io::Result<Self> {
        let opened = open(path, options.follow)?;
        let metadata = opened.file.metadata()?;
        let seen = if metadata.is_file() && options.only_counts() {
            Seen::Pages(Pages::count_sized(&opened.file, metadata.len(), options.span)?)
        } else {
            Seen::File(opened.file)
        };
        Ok(Self { name_was_cached: opened.name_was_cached, metadata, seen })
    }
}

/// Opens many files whose pages are only counted, so that none stays open, with two threads: nearly all of the
/// time is spent in system calls and, if names are not cached, waiting for the disk.
pub(super) fn open_all(paths: &[PathBuf], options: &CrawlOptions) -> Vec<io::Result<Look>> {
    let parts = Mutex::new(paths.chunks(PART).enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let look = |(at, part): (usize, &[PathBuf])| {
        let looks = part.iter().map(|path| Look::open(path, options));
        (at, looks.collect::<Vec<_>>())
    };
    let work = || std::iter::from_fn(next).map(look).collect::<Vec<_>>();
    let mut done = thread::scope(|scope| {
        // If a second thread cannot start, the first one does all the work.
        let is_long = paths.len() > PART;
        let more = if is_long { Builder::new().spawn_scoped(scope, work).ok() } else { None };
        let mut done = work();
        let more = more.map(|more| more.join().expect("looking at a file does not panic"));
        done.extend(more.unwrap_or_default());
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, looks)| looks).collect()
}
