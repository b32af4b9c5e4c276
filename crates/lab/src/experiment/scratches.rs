//! Scratch folders, one for each folder that scratch stores are placed in, and one for each trial.

use std::{fs, path::PathBuf};

use host::Scratch;
use model::{Blobs, Error, Result};

use super::request::ResolvedTarget;

/// Calls `work` with a new folder for a target, which is removed afterwards. A server's store is
/// closed by then, whatever the outcome.
pub(super) fn in_folder<T>(
    target: &ResolvedTarget<dyn Blobs>,
    scratch: &Scratch,
    name: &str,
    work: impl FnOnce(PathBuf) -> Result<T>,
) -> Result<T> {
    let folder = scratch.folder(name, target.engine.account())?;
    let done = work(folder.clone());
    // The next trial must not flush what this removal leaves to the file system.
    let removed = fs::remove_dir_all(&folder).map_err(|e| Error::io(folder.display(), e));
    let removed = removed.and_then(|()| host::sync(scratch.path()));
    done.and_then(|done| removed.map(|()| done))
}

/// The scratch folders of an experiment, which are removed with everything in them when it is
/// dropped.
#[derive(Default)]
pub(super) struct Scratches(Vec<(PathBuf, bool, Scratch)>);

impl Scratches {
    /// Returns the scratch in `parent` for stores that are written to, or for those that are only
    /// read.
    pub(super) fn in_folder(&mut self, parent: PathBuf, written: bool) -> Result<&Scratch> {
        let is_it = |(of, to, _): &(PathBuf, bool, _)| (of, *to) == (&parent, written);
        let place = if let Some(place) = self.0.iter().position(is_it) {
            place
        } else {
            let scratch = Scratch::new_in(&parent)?;
            self.0.push((parent, written, scratch));
            self.0.len() - 1
        };
        Ok(&self.0[place].2)
    }

    /// Takes those of stores that are written to.
    pub(super) fn take_written(&mut self) -> Self {
        Self(self.0.extract_if(.., |(_, written, _)| *written).collect())
    }
}
