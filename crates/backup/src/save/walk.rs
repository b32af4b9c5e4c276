//! Lists folders, each before those in it.

use std::{
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
    sync::mpsc::SyncSender,
};

use super::jobs::{Event, Found, Listing};
use crate::{entry::Kind, os};

/// Lists `root` and all below it until nobody listens.
pub(super) fn walk(root: &Path, out: &SyncSender<Event>) {
    let mut left = vec![PathBuf::new()];
    while let Some(folder) = left.pop() {
        let found = list(&root.join(&folder));
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

type Entries = Vec<Result<Found, (std::ffi::OsString, String)>>;

/// What is in a folder, by name.
fn list(folder: &Path) -> io::Result<Entries> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_cached_key(DirEntry::file_name);
    Ok(entries.iter().map(|entry| found(entry).map_err(|why| (entry.file_name(), why))).collect())
}

fn found(entry: &DirEntry) -> Result<Found, String> {
    let failed = |e: io::Error| format!("cannot be read: {e}");
    let stat = os::stat(&entry.metadata().map_err(failed)?);
    let stat = stat.ok_or("device, socket or pipe: not backed up")?;
    let link = (stat.kind == Kind::Link).then(|| fs::read_link(entry.path()));
    let target = link.transpose().map_err(failed)?;
    let target = target.map(|target| os::bytes(target.into_os_string()));
    Ok(Found { name: entry.file_name(), stat, target })
}
