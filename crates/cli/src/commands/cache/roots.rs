//! The paths to begin with.

use std::{
    ffi::OsStr,
    fs, io,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use model::{Error, Result};

use crate::args::CacheOptions;

/// A path from which to begin.
pub(super) struct Root {
    pub(super) path: PathBuf,
    /// Asked before the path was looked at, which loads its name.
    pub(super) name_was_cached: Option<bool>,
}

impl Root {
    fn new(path: PathBuf) -> Self {
        Self { name_was_cached: pagecache::name_is_cached(&path), path }
    }
}

/// The list's paths, then those of the command line, which must all exist.
pub(super) fn given(options: &CacheOptions) -> Result<Vec<Root>> {
    let mut roots: Vec<_> = match &options.list {
        Some(list) => listed(list, options.null)?,
        None => Vec::new(),
    };
    for path in &options.paths {
        let root = Root::new(path.into());
        fs::symlink_metadata(path).map_err(|e| Error::io(root.path.display(), e))?;
        roots.push(root);
    }
    Ok(roots)
}

fn listed(list: &Path, by_zeros: bool) -> Result<Vec<Root>> {
    let mut text = Vec::new();
    let read = match list.to_str() {
        Some("-") => io::stdin().read_to_end(&mut text),
        _ => fs::File::open(list).and_then(|mut file| file.read_to_end(&mut text)),
    };
    read.map_err(|error| Error::io(list.display(), error))?;
    let end = if by_zeros { 0 } else { b'\n' };
    let paths = text.split(|byte| *byte == end).filter(|path| !path.is_empty());
    Ok(paths.map(|path| Root::new(OsStr::from_bytes(path).into())).collect())
}
