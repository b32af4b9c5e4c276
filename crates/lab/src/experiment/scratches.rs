//! Scratch folders, one for each folder that scratch stores are placed in.

use std::path::PathBuf;

use host::Scratch;
use model::Result;

/// Dropped, they are removed with all that is in them.
#[derive(Default)]
pub(super) struct Scratches(Vec<(PathBuf, bool, Scratch)>);

impl Scratches {
    /// The one in `parent` for stores that are written to, or that are only read.
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

    /// Removes those of stores that are written to.
    pub(super) fn keep_read(&mut self) {
        self.0.retain(|(_, written, _)| !written);
    }
}
