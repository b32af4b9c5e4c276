//! Compares two folders: names, kinds, content, modes, times and links.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use model::{Error, Result};

use crate::{
    entry::{Kind, Stat},
    os,
    repository::StopCheck,
};

/// Returns the first differences between two folders, a line each; none if they are the same.
///
/// # Errors
///
/// Fails if a file cannot be read, or if `stop` fails.
pub fn differences(one: &Path, other: &Path, stop: StopCheck<'_>) -> Result<Vec<String>> {
    let mut comparing = Comparing { stop, files: HashMap::new(), found: Vec::new() };
    comparing.entry(one, other)?;
    Ok(comparing.found)
}

/// The device and the inode of a file.
type Inode = Option<(u64, u64)>;

/// The number of differences after which no more are looked for.
const ENOUGH: usize = 10;

/// A comparison of two folders under way.
struct Comparing<'a> {
    stop: StopCheck<'a>,
    /// The files with several names, each with the file that it is in the other folder.
    files: HashMap<Inode, Inode>,
    found: Vec<String>,
}

impl Comparing<'_> {
    fn differ(&mut self, path: &Path, what: &str) {
        self.found.push(format!("{}: {what}", path.display()));
    }

    fn entry(&mut self, one: &Path, other: &Path) -> Result<()> {
        (self.stop)()?;
        if self.found.len() >= ENOUGH {
            return Ok(());
        }
        match (stat(one)?, stat(other)?) {
            (Some(first), Some(second)) => self.compare_entries(one, other, first, second),
            (None, None) => Ok(()),
            _ => {
                self.differ(other, "is of another kind");
                Ok(())
            }
        }
    }

    fn compare_entries(
        &mut self,
        one: &Path,
        other: &Path,
        (first, inode): (Stat, Inode),
        (second, other_inode): (Stat, Inode),
    ) -> Result<()> {
        for (is_same, what) in [
            (first.kind == second.kind, "is of another kind"),
            (first.mode == second.mode, "has another mode"),
            (first.modified == second.modified, "has another time"),
        ] {
            if !is_same {
                self.differ(other, what);
                return Ok(());
            }
        }
        let is_same = match first.kind {
            Kind::Folder => return self.folders(one, other),
            Kind::Link => read_link(one)? == read_link(other)?,
            // Whether the names of a file are again names of one.
            _ => {
                let same = first.links == 1
                    || *self.files.entry(inode).or_insert(other_inode) == other_inode;
                same && same_bytes(one, other)?
            }
        };
        if !is_same {
            self.differ(other, "has other content or links");
        }
        Ok(())
    }

    fn folders(&mut self, one: &Path, other: &Path) -> Result<()> {
        let (names, others) = (names(one)?, names(other)?);
        for name in names.iter().filter(|name| !others.contains(name)) {
            self.differ(&other.join(name), "is missing");
        }
        for name in others.iter().filter(|name| !names.contains(name)) {
            self.differ(&other.join(name), "is there in addition");
        }
        let both = names.iter().filter(|name| others.binary_search(name).is_ok());
        both.into_iter().try_for_each(|name| self.entry(&one.join(name), &other.join(name)))
    }
}

fn stat(path: &Path) -> Result<Option<(Stat, Inode)>> {
    let meta = fs::symlink_metadata(path).map_err(|e| Error::io(path.display(), e))?;
    Ok(os::stat(&meta).map(|stat| (stat, host::identity(path, &meta))))
}

fn read_link(path: &Path) -> Result<PathBuf> {
    fs::read_link(path).map_err(|e| Error::io(path.display(), e))
}

/// Returns the names of what is backed up of a folder, in order.
fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>> {
    let failed = |e| Error::io(folder.display(), e);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if os::stat(&entry.metadata().map_err(failed)?).is_some() {
            names.push(entry.file_name());
        }
    }
    names.sort();
    Ok(names)
}

fn same_bytes(one: &Path, other: &Path) -> Result<bool> {
    let open = |path: &Path| File::open(path).map_err(|e| Error::io(path.display(), e));
    let (mut first, mut second) = (open(one)?, open(other)?);
    let [mut left, mut right] = [vec![0; 1 << 16], vec![0; 1 << 16]];
    loop {
        let read = |file: &mut File, room: &mut [u8]| {
            let mut filled = 0;
            while filled < room.len() {
                match file.read(&mut room[filled..])? {
                    0 => break,
                    more => filled += more,
                }
            }
            Ok::<_, io::Error>(filled)
        };
        let failed = |e| Error::io(other.display(), e);
        let (a, b) = (read(&mut first, &mut left), read(&mut second, &mut right));
        let (a, b) = (a.map_err(failed)?, b.map_err(failed)?);
        if left[..a] != right[..b] {
            return Ok(false);
        }
        if a == 0 {
            return Ok(true);
        }
    }
}
