//! The limit of a server on the bytes of a statement.

use model::Error;

use super::dialect::Dialect;

/// More than a statement needs in a packet in addition to key and value.
pub(super) const AROUND: u64 = 1024;

#[cold]
pub(super) fn too_long<D: Dialect>(length: u64, longest: u64) -> Error {
    let packet = D::PACKET.unwrap_or_default();
    let needed = (length + AROUND).next_multiple_of(1024);
    Error::usage(format!(
        "a value of {length} bytes does not fit into {packet}, which is {} bytes on this server; \
         SET GLOBAL {packet}={needed} (at most 1 GiB) allows it",
        longest + AROUND
    ))
}
