//! What `--version` tells beside the program's own version.

use std::fmt::Write;

use engines::registry;

/// The versions of the engines that are part of this program, a line each. Servers are asked by
/// `storemark engines`.
pub(super) fn long() -> String {
    let mut text = env!("CARGO_PKG_VERSION").to_owned();
    // Writing to a string does not fail.
    for library in registry::linked() {
        let _ = write!(text, "\n{} {}", library.name, library.version);
    }
    text
}
