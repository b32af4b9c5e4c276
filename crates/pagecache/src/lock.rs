//! Keeps pages in memory.

use std::{fs::File, io};

use crate::{Span, sys};

/// A part of a file that is mapped and stays in memory for as long as this lives.
#[derive(Debug)]
pub struct Locked {
    mapping: Option<sys::Mapping>,
    bytes: u64,
    /// The offset in the file at which the bytes end.
    end: u64,
}

impl Locked {
    /// Loads what `file` has of `span` and locks it in memory.
    ///
    /// # Errors
    ///
    /// Fails if the limit on locked memory (`ulimit -l`) is reached, unless the caller is
    /// privileged, or if the file shrinks meanwhile.
    pub fn new(file: &File, span: Span) -> io::Result<Self> {
        let locked = Self::mapped(file, span)?;
        match locked.mapping.as_ref().map_or(Ok(()), sys::Mapping::lock) {
            Ok(()) => Ok(locked),
            Err(_) if file.metadata()?.len() < locked.end => {
                Err(io::Error::other("it shrank while it was being locked"))
            }
            Err(error) => Err(with_limit(&error)),
        }
    }

    /// Maps what `file` has of `span`, for [`lock_all`] to lock later.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be mapped.
    pub fn mapped(file: &File, span: Span) -> io::Result<Self> {
        let Some((offset, length)) = span.range_in(file.metadata()?.len()) else {
            return Ok(Self { mapping: None, bytes: 0, end: 0 });
        };
        let mapping = sys::Mapping::new(file, offset, length).map_err(|e| with_count(&e))?;
        Ok(Self { mapping: Some(mapping), bytes: length, end: offset + length })
    }

    /// Returns the number of bytes that are held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Loads and locks all that the process has mapped, its own memory included.
///
/// # Errors
///
/// Fails if the limit on locked memory is reached.
pub fn lock_all() -> io::Result<()> {
    sys::lock_all().map_err(|error| with_limit(&error))
}

/// Adds the limit that is the usual cause of `error`.
fn with_limit(error: &io::Error) -> io::Error {
    let limit = sys::lock_limit().map_or_else(String::new, |limit| {
        format!("; the limit is {limit} bytes (RLIMIT_MEMLOCK, see `ulimit -l`)")
    });
    io::Error::new(error.kind(), format!("cannot be locked in memory: {error}{limit}"))
}

/// Adds the other limit that is a usual cause of `error`.
fn with_count(error: &io::Error) -> io::Error {
    let too_many = cfg!(target_os = "linux") && error.kind() == io::ErrorKind::OutOfMemory;
    let limit = if too_many { "; a process maps no more files than vm.max_map_count" } else { "" };
    io::Error::new(error.kind(), format!("cannot be mapped: {error}{limit}"))
}
