//! Lists folders, each before those in it.

use std::{
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
    sync::mpsc::SyncSender,
};

use super::jobs::{Event, FoundEntry, Listing};
use crate::{
    entry::{Kind, Stat},
    os::{self, Filesystems},
};

/// Lists `root` and all below it until the receiver is gone.
pub(super) fn walk(root: &Path, out: &SyncSender<Event>) {
    let (mut left, mut filesystems) = (vec![PathBuf::new()], Filesystems::default());
    while let Some(folder) = left.pop() {
        let found = list(&root.join(&folder), &mut filesystems);
        let inside = found.iter().flatten().flatten().rev();
        let folders = inside.filter(|found| found.stat.kind == Kind::Folder);
        left.extend(folders.map(|found| folder.join(&found.name)));
        if out.send(Event::Listing(Listing { folder, found })).is_err() {
            return;
        }
    }
    // Nobody listens after an error.
    let _ = out.send(Event::Walked);
}

/// The entries of a folder; for one that cannot be read, its name and the reason.
type Entries = Vec<Result<FoundEntry, (std::ffi::OsString, String)>>;

fn list(folder: &Path, filesystems: &mut Filesystems) -> io::Result<Entries> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_cached_key(DirEntry::file_name);
    let mut found = |entry| read_entry(entry, filesystems).map_err(|why| (entry.file_name(), why));
    Ok(entries.iter().map(&mut found).collect())
}

fn read_entry(entry: &DirEntry, filesystems: &mut Filesystems) -> Result<FoundEntry, String> {
    let failed = |e: io::Error| format!("cannot be read: {e}");
    let meta = entry.metadata().map_err(failed)?;
    let stat = os::stat(&meta).ok_or("device, socket or pipe: not backed up")?;
    let stat = Stat { filesystem: filesystems.number(&entry.path(), &meta), ..stat };
    let link = (stat.kind == Kind::Link).then(|| fs::read_link(entry.path()));
    let target = link.transpose().map_err(failed)?;
    let target = target.map(|target| os::bytes(target.into_os_string()));
    Ok(FoundEntry { name: entry.file_name(), stat, target })
}
