//! The record of a program's operations, and the bytes that it wrote.

use std::{collections::HashMap, fs::File, io, os::unix::fs::FileExt, path::Path};

use crate::{Inode, Operation, Spooled};

/// The operations of a program in their order. The bytes that it wrote are in a file, so that the
/// memory of a record is a hundred bytes an operation however much was written.
#[derive(Debug)]
pub struct Record {
    operations: Vec<Operation>,
    /// The operations that change the content of a file, by file.
    contents: HashMap<Inode, Vec<usize>>,
    spool: File,
    spooled: u64,
    /// The number of operations that prepared the folder: what they did is on the disk.
    prepared: usize,
}

impl Record {
    /// Creates an empty record whose bytes are kept in a new file at `spool`.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be created.
    pub fn create(spool: &Path) -> io::Result<Self> {
        let spool = File::options().read(true).write(true).create_new(true).open(spool)?;
        Ok(Self { operations: vec![], contents: HashMap::new(), spool, spooled: 0, prepared: 0 })
    }

    /// Adds an operation.
    pub fn add(&mut self, operation: Operation) {
        if let Some(inode) = operation.content_of() {
            self.contents.entry(inode).or_default().push(self.operations.len());
        }
        self.operations.push(operation);
    }

    /// Adds a write of these bytes.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be kept, for instance because the disk is full; then nothing is added.
    pub fn add_write(&mut self, inode: Inode, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.spool.write_all_at(bytes, self.spooled)?;
        let data = Spooled { start: self.spooled, len: bytes.len() as u64 };
        self.spooled += data.len;
        self.add(Operation::Write { inode, offset, data });
        Ok(())
    }

    /// Declares that all operations so far prepared the folder, and are on the disk.
    pub fn set_prepared(&mut self) {
        self.prepared = self.operations.len();
    }

    /// Returns the number of operations that prepared the folder: the first possible cut.
    pub fn prepared(&self) -> usize {
        self.prepared
    }

    /// Returns the number of the flush that failed, and its file; `None` if none did.
    pub fn failed_flush(&self) -> Option<(usize, Inode)> {
        self.operations.iter().enumerate().find_map(|(number, operation)| match operation {
            Operation::FailedFlush { inode } => Some((number, *inode)),
            _ => None,
        })
    }

    /// Returns the operations.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the number of bytes written.
    pub fn bytes(&self) -> u64 {
        self.spooled
    }

    /// Returns the numbers of the operations before `cut` that change the content of a file.
    pub(crate) fn contents(&self, inode: Inode, cut: usize) -> &[usize] {
        let all = self.contents.get(&inode).map_or(&[][..], Vec::as_slice);
        &all[..all.partition_point(|number| *number < cut)]
    }

    /// Returns the files that were written to, in the order of their numbers.
    pub(crate) fn written(&self) -> Vec<Inode> {
        let mut files: Vec<_> = self.contents.keys().copied().collect();
        files.sort_unstable();
        files
    }

    /// Returns the acknowledgements before `cut`.
    pub fn acknowledged(&self, cut: usize) -> impl Iterator<Item = &str> {
        self.operations[..cut].iter().filter_map(|operation| match operation {
            Operation::Acknowledge { text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Reads bytes of the spool.
    pub(crate) fn read(&self, start: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.spool.read_exact_at(buffer, start)
    }
}
