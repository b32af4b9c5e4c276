//! What is on the disk for certain when the power is cut, because it was flushed.

use std::collections::HashMap;

use crate::{Inode, Operation, Record};

/// What the flushes before a cut made certain.
#[derive(Debug, Default)]
pub(crate) struct Certain {
    /// The number of operations whose metadata is certain if all metadata is in one journal.
    pub(crate) journal: usize,
    /// The last flush of each file, as the number of its operation.
    flushed: HashMap<Inode, usize>,
    /// The last flush of each folder.
    folders: HashMap<Inode, usize>,
    /// The operations before this one prepared the folder.
    prepared: usize,
}

impl Certain {
    /// Determines what is certain when the power is cut before operation `cut`.
    ///
    /// The journal is written as ext4 and XFS do: the flush of a file writes it up to the last change
    /// of the file's metadata, and wholly if the file grew since its last flush. fdatasync(2) leaves out
    /// changes that the data can be read without.
    pub(crate) fn at(record: &Record, cut: usize) -> Self {
        let prepared = record.prepared();
        let mut certain = Self { journal: prepared, prepared, ..Self::default() };
        // The last change of the metadata of an inode, and the last one that fdatasync(2) needs.
        let (mut changed, mut needed) = (HashMap::new(), HashMap::new());
        let mut sizes: HashMap<Inode, u64> = HashMap::new();
        let mut grown: HashMap<Inode, bool> = HashMap::new();
        for (number, operation) in record.operations()[..cut].iter().enumerate() {
            for inode in operation.touched() {
                changed.insert(inode, number + 1);
            }
            match operation {
                Operation::Create { inode, .. } | Operation::Allocate { inode, .. } => {
                    needed.insert(*inode, number + 1);
                }
                Operation::Truncate { inode, size } => {
                    needed.insert(*inode, number + 1);
                    sizes.insert(*inode, *size);
                }
                Operation::Write { inode, offset, data } => {
                    let size = sizes.entry(*inode).or_default();
                    if offset + data.len > *size {
                        *size = offset + data.len;
                        grown.insert(*inode, true);
                    }
                }
                Operation::Flush { inode, data_only } => {
                    let last = if *data_only { &needed } else { &changed };
                    let last = last.get(inode).copied().unwrap_or(0);
                    let grown = grown.insert(*inode, false).unwrap_or(false);
                    certain.journal = certain.journal.max(if grown { number } else { last });
                    certain.flushed.insert(*inode, number);
                }
                Operation::FlushFolder { inode } => {
                    let last = changed.get(inode).copied().unwrap_or(0);
                    certain.journal = certain.journal.max(last);
                    certain.folders.insert(*inode, number);
                }
                _ => {}
            }
        }
        certain
    }

    /// Returns the number of operations after which the content of a file is not certain.
    pub(crate) fn content(&self, inode: Inode) -> usize {
        self.flushed.get(&inode).copied().unwrap_or(0).max(self.prepared)
    }

    /// Returns whether operation `number` is certain if a flush makes only its own file or folder so.
    pub(crate) fn is_by_itself(&self, number: usize, operation: &Operation) -> bool {
        let after = |last: Option<&usize>| last.is_some_and(|last| *last > number);
        let folders = operation.folders();
        number < self.prepared
            || if folders.is_empty() {
                let touched = operation.touched();
                touched
                    .iter()
                    .any(|inode| after(self.flushed.get(inode)) || after(self.folders.get(inode)))
            } else {
                folders.iter().any(|folder| after(self.folders.get(folder)))
            }
    }
}
