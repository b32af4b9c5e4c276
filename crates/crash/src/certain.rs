//! What is on the disk for certain when the power is cut, because it was flushed.

use std::collections::{BTreeSet, HashMap};

use crate::{Inode, Operation, Record};

/// What the flushes before a cut made certain.
#[derive(Debug, Default)]
pub(crate) struct Certain {
    /// The number of operations whose metadata is certain if all metadata is in one journal.
    journal: usize,
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
    /// of the file's metadata or the last write that extended the file. What followed is not certain: the
    /// system may have written all that the flush asks for before. fdatasync(2) leaves out changes that
    /// the data can be read without.
    pub(crate) fn at(record: &Record, cut: usize) -> Self {
        let prepared = record.prepared();
        let mut certain = Self { journal: prepared, prepared, ..Self::default() };
        // The last change of the metadata of an inode, and the last one that fdatasync(2) needs.
        let (mut changed, mut needed) = (HashMap::new(), HashMap::new());
        let mut sizes: HashMap<Inode, u64> = HashMap::new();
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
                        needed.insert(*inode, number);
                        changed.insert(*inode, number);
                    }
                }
                Operation::Flush { inode, data_only } => {
                    let last = if *data_only { &needed } else { &changed };
                    let last = last.get(inode).copied().unwrap_or(0);
                    certain.journal = certain.journal.max(last);
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

    /// Returns the number of operations whose metadata is certain: by one journal, or without the logs
    /// of files.
    pub(crate) fn journal(&self, has_file_logs: bool) -> usize {
        if has_file_logs { self.prepared } else { self.journal }
    }

    /// Returns the number of operations after which the content of a file is not certain.
    pub(crate) fn content(&self, inode: Inode) -> usize {
        self.flushed.get(&inode).copied().unwrap_or(0).max(self.prepared)
    }

    /// Returns whether operation `number` is certain if a flush writes only what concerns its own file or
    /// folder, with its names, as btrfs does.
    pub(crate) fn is_logged(&self, number: usize, operation: &Operation) -> bool {
        let after = |last: Option<&usize>| last.is_some_and(|last| *last > number);
        number < self.prepared
            || operation
                .touched()
                .iter()
                .any(|inode| after(self.flushed.get(inode)) || after(self.folders.get(inode)))
    }

    /// Returns the changes of metadata before `cut` that are lost: all from operation `journal` on, or, if
    /// each file has a log of its own, those of them that no flush has written.
    pub(crate) fn lost_metadata(
        &self,
        record: &Record,
        cut: usize,
        journal: usize,
        has_file_logs: bool,
    ) -> BTreeSet<usize> {
        let operations = record.operations()[..cut].iter().enumerate().skip(journal);
        let lost = operations.filter(|(number, operation)| {
            operation.is_metadata() && !(has_file_logs && self.is_logged(*number, operation))
        });
        lost.map(|(number, _)| number).collect()
    }

    /// Returns whether operation `number` is certain if a flush makes only its own file or folder so.
    pub(crate) fn is_by_itself(&self, number: usize, operation: &Operation) -> bool {
        let folders = operation.folders();
        if folders.is_empty() {
            return self.is_logged(number, operation);
        }
        let after = |last: Option<&usize>| last.is_some_and(|last| *last > number);
        number < self.prepared || folders.iter().any(|folder| after(self.folders.get(folder)))
    }
}
