//! Opening files, and what that shows.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread::{self, Builder},
};

use rustix::fs::FileType;

use super::CrawlOptions;
use crate::{Pages, open};

/// A device and an inode on it.
pub(super) type Identity = (u64, u64);

/// Files that a thread takes at a time.
const PART: usize = 256;

/// An open file.
pub(super) struct Look {
    pub(super) name_was_cached: Option<bool>,
    pub(super) identity: Identity,
    pub(super) has_more_names: bool,
    pub(super) is_regular: bool,
    pub(super) size: u64,
    pub(super) seen: Seen,
}

pub(super) enum Seen {
    /// Counted and closed again: nothing else is wanted.
    Pages(Pages),
    /// Still needed.
    File(File),
}

impl Look {
    pub(super) fn at(path: &Path, options: &CrawlOptions) -> io::Result<Self> {
        let opened = open(path, options.follow)?;
        let stat = rustix::fs::fstat(&opened.file)?;
        let is_regular = FileType::from_raw_mode(stat.st_mode).is_file();
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let seen = if is_regular && options.only_counts() {
            Seen::Pages(Pages::of_sized(&opened.file, size, options.span)?)
        } else {
            Seen::File(opened.file)
        };
        Ok(Self {
            name_was_cached: opened.name_was_cached,
            identity: identity(&stat),
            has_more_names: stat.st_nlink > 1,
            is_regular,
            size,
            seen,
        })
    }
}

/// Looks at many files, of which none is left open, with two threads: nearly all of the time is
/// spent in system calls and, where names are not cached, waiting for the disk.
pub(super) fn at_all(paths: &[PathBuf], options: &CrawlOptions) -> Vec<io::Result<Look>> {
    let next = AtomicUsize::new(0);
    let parts: Vec<_> = paths.chunks(PART).collect();
    let work = || {
        let mut done = Vec::new();
        while let Some((at, part)) = take(&next, &parts) {
            let looks = part.iter().map(|path| Look::at(path, options));
            done.push((at, looks.collect::<Vec<_>>()));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        // Without a second thread, the first one does all.
        let more =
            if parts.len() > 1 { Builder::new().spawn_scoped(scope, work).ok() } else { None };
        let mut done = work();
        let more = more.map(|more| more.join().expect("looking at a file does not panic"));
        done.extend(more.unwrap_or_default());
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, looks)| looks).collect()
}

/// The next part that no thread has taken.
fn take<'a, T>(next: &AtomicUsize, parts: &[&'a [T]]) -> Option<(usize, &'a [T])> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    parts.get(at).map(|part| (at, *part))
}

#[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "types differ by system")]
fn identity(stat: &rustix::fs::Stat) -> Identity {
    (stat.st_dev as u64, stat.st_ino as u64)
}
