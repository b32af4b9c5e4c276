//! The file of a database, flushed or not.

use std::{fs::File, io, ops::Bound};

use redb::{BackendError, StorageBackend, backends::FileBackend};

use crate::forward::forward;

/// redb's own file, whose flush can be left out. All else is unchanged, so that a commit without
/// its flush is the same commit: the pages are with the system before the header is, and a
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

    forward! { file:
        fn len(&self) -> io::Result<u64>;
        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
        fn set_len(&self, len: u64) -> io::Result<()>;
        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;
        fn close(&self) -> io::Result<()>;
        fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError>;
        fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError>;
        fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError>;
        fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError>;
        fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError>;
        fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError>;
    }
}
