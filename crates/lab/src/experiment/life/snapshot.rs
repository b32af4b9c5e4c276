//! The files of a store at one moment, and what an incremental backup must copy later.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use model::{BackupBytes, Result};

use crate::{Stop, dataset::checksum};

/// The bytes of a block: the smallest that file systems, devices and most engines write, and so the
/// most favourable one for a store. A backup with larger blocks copies more.
const BLOCK: usize = 4096;
/// The bytes that are read at once: whole blocks.
const BUFFER: usize = BLOCK * 64;

pub(super) struct Snapshot(HashMap<PathBuf, FileBlocks>);

struct FileBlocks {
    length: u64,
    modified: Option<SystemTime>,
    /// A checksum of each block, the last of which may be shorter.
    blocks: Vec<u32>,
}

impl Snapshot {
    /// Reads the states of the files at and below `paths`.
    pub(super) fn take(paths: &[PathBuf], stop: &Stop) -> Result<Self> {
        let mut files = HashMap::new();
        for path in paths {
            host::walk(path, &mut |path, meta| {
                if meta.is_file() {
                    let state = FileBlocks {
                        length: meta.len(),
                        modified: meta.modified().ok(),
                        blocks: blocks(path, stop)?,
                    };
                    files.insert(path.to_owned(), state);
                }
                Ok(())
            })?;
        }
        stop.check()?;
        Ok(Self(files))
    }

    /// Returns the bytes that a backup must copy which has the files as they were at `before`.
    pub(super) fn since(&self, before: &Self) -> BackupBytes {
        let mut bytes = BackupBytes::default();
        for (path, now) in &self.0 {
            let then = before.0.get(path);
            let same = |then: &FileBlocks| {
                then.length == now.length
                    && then.modified.is_some()
                    && then.modified == now.modified
            };
            bytes.files += if then.is_some_and(same) { 0 } else { now.length };
            bytes.blocks += now.changed(then);
        }
        bytes
    }
}

impl FileBlocks {
    /// Returns the bytes of the blocks that differ.
    fn changed(&self, then: Option<&Self>) -> u64 {
        let then = then.map_or(&[][..], |then| &then.blocks);
        let changed = (0_u64..).zip(&self.blocks).filter(|(place, block)| {
            usize::try_from(*place).ok().and_then(|place| then.get(place)) != Some(*block)
        });
        changed.map(|(place, _)| (self.length - place * BLOCK as u64).min(BLOCK as u64)).sum()
    }
}

/// Returns the checksums of a file's blocks; empty if the walk is to end, which it then reports
/// itself.
fn blocks(path: &Path, stop: &Stop) -> io::Result<Vec<u32>> {
    let (mut file, mut buffer, mut blocks) = (File::open(path)?, vec![0; BUFFER], Vec::new());
    while stop.check().is_ok() {
        let mut length = 0;
        while length < BUFFER {
            match file.read(&mut buffer[length..])? {
                0 => break,
                more => length += more,
            }
        }
        blocks.extend(buffer[..length].chunks(BLOCK).map(checksum));
        if length < BUFFER {
            break;
        }
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, FileTimes},
        time::Duration,
    };

    use super::*;

    /// What a backup copies after `change` of a folder with a file of 10,000 bytes and one of 100.
    fn copied(change: impl FnOnce(&Path)) -> BackupBytes {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().to_owned()];
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(folder.path().join("deep/large"), vec![1; 10_000]).unwrap();
        fs::write(folder.path().join("small"), vec![2; 100]).unwrap();
        let before = Snapshot::take(&paths, &Stop::new()).unwrap();
        change(folder.path());
        Snapshot::take(&paths, &Stop::new()).unwrap().since(&before)
    }

    /// Writes a file as if some time had passed.
    fn rewrite(path: &Path, bytes: &[u8]) {
        let later = SystemTime::now() + Duration::from_secs(10);
        fs::write(path, bytes).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_times(FileTimes::new().set_modified(later)).unwrap();
    }

    fn bytes(files: u64, blocks: u64) -> BackupBytes {
        BackupBytes { files, blocks }
    }

    #[test]
    fn what_did_not_change_is_not_copied() {
        assert_eq!(copied(|_| ()), bytes(0, 0));
        assert_eq!(copied(|folder| fs::remove_file(folder.join("small")).unwrap()), bytes(0, 0));
    }

    #[test]
    fn whole_files_or_changed_blocks_are_copied() {
        let mut changed = vec![1; 10_000];
        changed[5000] = 7;
        assert_eq!(
            copied(|folder| rewrite(&folder.join("deep/large"), &changed)),
            bytes(10_000, 4096)
        );
        changed[9000] = 7;
        // The last block has the rest.
        let last = 10_000 - 8192;
        assert_eq!(
            copied(|folder| rewrite(&folder.join("deep/large"), &changed)),
            bytes(10_000, 4096 + last)
        );
    }

    #[test]
    fn new_files_and_longer_ones_are_copied() {
        assert_eq!(
            copied(|folder| fs::write(folder.join("new"), [3; 5000]).unwrap()),
            bytes(5000, 5000)
        );
        let longer = [vec![1; 10_000], vec![5; 10_000]].concat();
        // What follows the 2,000 bytes of the last block, and that block.
        assert_eq!(
            copied(|folder| rewrite(&folder.join("deep/large"), &longer)),
            bytes(20_000, 20_000 - 8192)
        );
    }

    /// By rsync's rule; the blocks show that there is nothing new.
    #[test]
    fn a_file_that_was_only_touched_is_copied_whole() {
        assert_eq!(copied(|folder| rewrite(&folder.join("small"), &[2; 100])), bytes(100, 0));
    }
}
