//! The file of a database, flushed or not.

use std::{fs::File, io, ops::Bound};

use redb::{BackendError, StorageBackend, backends::FileBackend};

/// redb's own file, but that a flush can be left out. All else is done as ever, so that a commit
/// without its flush is the same commit: the pages are with the system before the header is, and a
/// killed process leaves what it committed.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    file: FileBackend,
    flush: bool,
}

impl DatabaseFile {
    pub(super) fn new(file: File, flush: bool) -> Result<Self, redb::DatabaseError> {
        Ok(Self { file: FileBackend::new(file)?, flush })
    }
}

impl StorageBackend for DatabaseFile {
    fn sync_data(&self) -> io::Result<()> {
        if self.flush { self.file.sync_data() } else { Ok(()) }
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
