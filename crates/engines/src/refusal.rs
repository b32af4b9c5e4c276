//! Errors that several engines answer with.

use model::{Error, Key, KeyKind, Result};

/// A key of the kind that the store does not hold.
#[cold]
pub(crate) fn wrong_kind(key: Key<'_>, held: KeyKind) -> Error {
    Error::usage(format!("the store's keys are {held}; {key} is of the kind {}", key.kind()))
}

/// A write to a store that was opened to read.
#[cold]
pub(crate) fn read_only() -> Error {
    Error::usage("the store was opened to read; nothing was written")
}

/// A length as the address space has it.
#[inline]
pub(crate) fn size(length: u64) -> Result<usize> {
    usize::try_from(length).map_err(|_| too_long(length))
}

#[cold]
fn too_long(length: u64) -> Error {
    Error::unsupported(format!("a value of {length} bytes does not fit into memory"))
}
