//! Errors that several engines return.

use std::{fmt, io};

use model::{Error, Key, KeyKind, Result};

/// Creates the error of a key of another kind than the store's.
#[cold]
pub fn wrong_kind(key: Key<'_>, held: KeyKind) -> Error {
    Error::usage(format!("the store's keys are {held}; {key} is of the kind {}", key.kind()))
}

/// Creates the error of a write to a store that was opened to read.
#[cold]
pub fn read_only() -> Error {
    Error::usage("the store was opened to read; nothing was written")
}

/// Checks that a value is not longer than the engine's limit.
pub fn check_value(key: Key<'_>, length: u64, longest: u64) -> Result<()> {
    if length <= longest {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the value of {key} has {length} bytes; accepted: {longest} at most"
    )))
}

/// Checks that a name is neither longer than the engine's keys nor empty.
pub fn check_name(key: Key<'_>, longest: usize) -> Result<()> {
    match key {
        Key::Name(name) if !(1..=longest).contains(&name.len()) => Err(Error::unsupported(
            format!("the name {key} has {} bytes; accepted: 1 to {longest}", name.len()),
        )),
        _ => Ok(()),
    }
}

/// Returns the error of a library that could not read a file of its store: one that is missing,
/// empty or cut short is damage.
#[cold]
pub fn damaged_file(path: impl fmt::Display, cause: io::Error) -> Error {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, UnexpectedEof};

    match cause.kind() {
        NotFound | InvalidInput | InvalidData | UnexpectedEof => Error::corrupt(format!(
            "is damaged: one of its files is missing, empty or cut short ({cause})"
        ))
        .at(&path),
        _ => Error::io(path, cause),
    }
}

/// Converts a length to the width of the address space.
#[inline]
pub fn size(length: u64) -> Result<usize> {
    usize::try_from(length).map_err(|_| too_long(length))
}

#[cold]
fn too_long(length: u64) -> Error {
    Error::unsupported(format!("a value of {length} bytes does not fit into memory"))
}
