//! The files that list a tree's tables. The library believes them, whatever they hold, and fails or
//! asks for any amount of memory; but next to them is their checksum.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

/// Refuses the database at `location` if a list of tables is not as it was written.
pub(super) fn check(location: &Path) -> Result<()> {
    let folder = location.join("keyspaces");
    let trees = fs::read_dir(&folder).map_err(|e| Error::io(folder.display(), e))?;
    for tree in trees {
        let tree = tree.map_err(|e| Error::io(folder.display(), e))?.path();
        if tree.join("current").is_file() {
            check_tree(&tree)?;
        }
    }
    Ok(())
}

/// `current` has the number of the list, its checksum, and 0 for its kind (XXH3 of 128 bits).
fn check_tree(tree: &Path) -> Result<()> {
    let read = |path: PathBuf| fs::read(&path).map_err(|e| Error::io(path.display(), e));
    let current = read(tree.join("current"))?;
    let damaged = |name: &str| {
        Error::corrupt(format!(
            "{}: is damaged: its checksum is another",
            tree.join(name).display()
        ))
    };
    let (id, rest) = current.split_first_chunk().ok_or_else(|| damaged("current"))?;
    let (checksum, kind) = rest.split_first_chunk().ok_or_else(|| damaged("current"))?;
    let list = format!("v{}", u64::from_le_bytes(*id));
    let same = xxh3_128(&read(tree.join(&list))?) == u128::from_le_bytes(*checksum);
    if same && kind == [0] { Ok(()) } else { Err(damaged(&list)) }
}
