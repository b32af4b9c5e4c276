//! Filling the cache.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use crate::Span;

/// Bytes of the buffer that fills the cache: one size for every file of every store.
pub const BUFFER: usize = 1 << 20;

/// Reads what `file` has of `span`, from start to end. Returns the bytes read.
pub fn warm(mut file: &File, span: Span, buffer: &mut [u8]) -> io::Result<u64> {
    let Some((offset, length)) = span.of(file.metadata()?.len()) else { return Ok(0) };
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))?;
    }
    // What is appended meanwhile is read as well when all is wanted.
    let mut left = if span.end.is_none() { u64::MAX } else { length };
    let mut bytes = 0;
    while left > 0 {
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        match file.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(length) => {
                bytes += length as u64;
                left -= length as u64;
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(bytes)
}
