//! Batches of files that are handed to a worker together.

/// The approximate number of files in a batch: files that follow each other share frames.
const FILES: usize = 128;
const BYTES: u64 = 4 << 20;

/// A batch that collects files until it is full.
pub(crate) struct Batch<T> {
    files: Vec<T>,
    bytes: u64,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { files: Vec::new(), bytes: 0 }
    }
}

impl<T> Batch<T> {
    /// Adds a file of so many bytes.
    pub(crate) fn push(&mut self, file: T, bytes: u64) {
        self.files.push(file);
        self.bytes += bytes;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.files.len() >= FILES || self.bytes >= BYTES
    }

    /// Returns the files, and starts the next batch.
    pub(crate) fn take(&mut self) -> Vec<T> {
        self.bytes = 0;
        std::mem::take(&mut self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_files_and_one_large_file_are_a_batch() {
        let mut batch = Batch::default();
        for number in 0..FILES {
            assert!(!batch.is_full());
            batch.push(number, 1);
        }
        assert!(batch.is_full());
        assert_eq!(batch.take(), (0..FILES).collect::<Vec<_>>());
        assert!(batch.is_empty());
        batch.push(7, BYTES);
        assert!(batch.is_full());
        assert_eq!(batch.take(), [7]);
        assert!(!batch.is_full());
    }
}
