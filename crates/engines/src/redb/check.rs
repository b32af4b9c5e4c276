//! Runs redb's own check of a file, which repairs what it can, over the file in memory, so that the
//! file stays as it is.

use std::{collections::BTreeMap, fs::File, io, ops::Range, path::Path, sync::Mutex};

use redb::{Builder, DatabaseError, StorageBackend};

use kit::lock;

use crate::at;

/// Returns what is wrong with the database at `path`; nothing if all of its pages have their
/// checksums.
pub(super) fn complaints(path: &Path, cache: usize) -> io::Result<Vec<String>> {
    let mut builder = Builder::new();
    builder.set_cache_size(cache);
    // The first takes any damaged file, but falls back in silence to an older commit that is whole.
    let opened =
        builder.set_check_integrity_on_open(true).create_with_backend(Overlay::open(path)?);
    if let Err(error) = opened.and_then(redb::Database::close) {
        return Ok(vec![error.to_string()]);
    }
    let mut checked = || -> Result<bool, DatabaseError> {
        let overlay = Overlay::open(path).map_err(redb::StorageError::Io)?;
        builder.set_check_integrity_on_open(false).create_with_backend(overlay)?.check_integrity()
    };
    Ok(match checked() {
        Ok(true) => Vec::new(),
        Ok(false) => {
            vec!["its last commit is damaged; redb would go back to an older one".to_owned()]
        }
        Err(error) => vec![error.to_string()],
    })
}

const BLOCK: usize = 4096;

/// A file under what was written to it, which stays in memory.
#[derive(Debug)]
struct Overlay {
    file: File,
    written: Mutex<OverlayState>,
}

/// The length of the file and the blocks that were written over it, by their numbers.
#[derive(Debug)]
struct OverlayState {
    length: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl Overlay {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let written = OverlayState { length: file.metadata()?.len(), blocks: BTreeMap::new() };
        Ok(Self { file, written: Mutex::new(written) })
    }

    /// Returns the block of this number as it is in the file, zeros after its end.
    fn original(&self, number: u64) -> io::Result<Vec<u8>> {
        let start = number * BLOCK as u64;
        let there = self.file.metadata()?.len().saturating_sub(start);
        let there = usize::try_from(there).unwrap_or(BLOCK).min(BLOCK);
        let mut block = vec![0; BLOCK];
        at::read(&self.file, &mut block[..there], start)?;
        Ok(block)
    }
}

/// Returns the parts of `length` bytes from `offset` on: the number of the block of each, where it
/// is in the block, and where among the bytes.
fn split_blocks(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (u64, Range<usize>, Range<usize>)> {
    let (mut number, block) = (offset / BLOCK as u64, offset % BLOCK as u64);
    let mut start = usize::try_from(block).unwrap_or(0);
    let mut done = 0;
    std::iter::from_fn(move || {
        let count = (BLOCK - start).min(length - done);
        let part = (number, start..start + count, done..done + count);
        (number, start, done) = (number + 1, 0, done + count);
        (count > 0).then_some(part)
    })
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(lock::hold(&self.written).length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = lock::hold(&self.written);
        if offset + out.len() as u64 > written.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (number, from, to) in split_blocks(offset, out.len()) {
            match written.blocks.get(&number) {
                Some(block) => out[to].copy_from_slice(&block[from]),
                None => out[to].copy_from_slice(&self.original(number)?[from]),
            }
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        lock::hold(&self.written).length = length;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = lock::hold(&self.written);
        for (number, to, from) in split_blocks(offset, data.len()) {
            let block = match written.blocks.remove(&number) {
                Some(block) => Ok(block),
                None => self.original(number),
            };
            let mut block = block?;
            block[to].copy_from_slice(&data[from]);
            written.blocks.insert(number, block);
        }
        Ok(())
    }
}
