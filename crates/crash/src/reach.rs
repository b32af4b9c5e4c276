//! Decides whether the model `ordered` can leave a state.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
};

use crate::{
    Inode, Loss, Operation, Record, State,
    certain::Certain,
    loss::BLOCK,
    state::{contents, read_contents},
};

impl Record {
    /// Returns whether `ordered` can leave these files when the power is cut before operation `cut`: some
    /// end of the journal is lost, and each block of a file is of some time since its last flush.
    ///
    /// # Errors
    ///
    /// Fails if the record's bytes cannot be read.
    pub fn reaches(&self, cut: usize, found: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<bool> {
        let certain = Certain::at(self, cut);
        for has_file_logs in [false, true] {
            for journal in certain.journal(has_file_logs)..=cut {
                let metadata = certain.lost_metadata(self, cut, journal, has_file_logs);
                let loss = Loss { metadata, unit: BLOCK, ..Loss::default() };
                if self.reaches_with(cut, &loss, &certain, found)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn reaches_with(
        &self,
        cut: usize,
        loss: &Loss,
        certain: &Certain,
        found: &BTreeMap<PathBuf, Vec<u8>>,
    ) -> io::Result<bool> {
        let state = State::new(self, cut, loss);
        let names: BTreeSet<_> = state.paths().iter().map(|(path, _)| path).collect();
        if !names.into_iter().eq(found.keys()) {
            return Ok(false);
        }
        for (path, inode) in state.paths() {
            if state.is_file(*inode)
                && !self.reaches_file(cut, loss, certain.content(*inode), *inode, &found[path])?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a file can have the content `found` after the operations up to `cut`, if those since
    /// `flushed` are not certain: each block, and the length, as it was at some time in between.
    fn reaches_file(
        &self,
        cut: usize,
        loss: &Loss,
        flushed: usize,
        inode: Inode,
        found: &[u8],
    ) -> io::Result<bool> {
        let is_write = |number: &usize| {
            matches!(self.operations()[*number], Operation::Write { .. }) && *number >= flushed
        };
        let writes = self.contents(inode, cut).iter().copied().filter(is_write);
        let times: Vec<_> = writes.chain([cut]).collect();
        let blocks = found.len().div_ceil(BLOCK as usize);
        for longest in &times {
            let mut explained = vec![false; blocks];
            let mut is_as_long = false;
            for lost in &times {
                let mut loss = loss.clone();
                loss.sizes.insert(inode, *longest);
                loss.units.extend((0..blocks as u64).map(|block| ((inode, block), *lost)));
                let bytes = read_contents(self, &contents(self, cut, &loss, inode))?;
                if bytes.len() != found.len() {
                    break;
                }
                is_as_long = true;
                let pairs = bytes.chunks(BLOCK as usize).zip(found.chunks(BLOCK as usize));
                pairs.zip(&mut explained).for_each(|((one, other), done)| *done |= one == other);
            }
            if is_as_long && explained.iter().all(|done| *done) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
