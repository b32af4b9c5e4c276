//! Functions of macOS and the BSDs where Linux reports more.

#[cfg(any(test, target_vendor = "apple", target_os = "freebsd"))]
use std::ffi::c_char;
use std::{io, path::Path};

use model::{Cost, Filesystem};

#[cfg(target_os = "macos")]
pub(crate) use super::macos::*;
pub(crate) use super::posix::*;

/// Returns what the whole process spent, as these systems do not report it for a thread.
pub(crate) fn spent_by_thread() -> Cost {
    spent()
}

/// Returns the file system that `path` is on.
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
pub(crate) fn filesystem(path: &Path) -> Option<Filesystem> {
    let found = rustix::fs::statfs(path).ok()?;
    #[allow(clippy::useless_conversion, reason = "the flags have 32 bits on macOS, 64 on FreeBSD")]
    let options = mount_options(found.f_flags.into());
    Some(Filesystem {
        mount: text(&found.f_mntonname),
        kind: text(&found.f_fstypename),
        device: text(&found.f_mntfromname),
        options,
        ..Filesystem::default()
    })
}

#[cfg(not(any(target_vendor = "apple", target_os = "freebsd")))]
pub(crate) fn filesystem(_: &Path) -> Option<Filesystem> {
    None
}

/// Returns the text before the first zero of a field of fixed length.
#[cfg(any(test, target_vendor = "apple", target_os = "freebsd"))]
fn text(field: &[c_char]) -> String {
    let units = field.iter().take_while(|unit| **unit != 0);
    let bytes: Vec<u8> = units.flat_map(|unit| unit.to_ne_bytes()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the names of the flags of a mount that change what flushes and reads cost: `MNT_RDONLY`,
/// `MNT_SYNCHRONOUS`, `MNT_ASYNC` and `MNT_NOATIME` in `sys/mount.h`.
#[cfg(any(test, target_vendor = "apple", target_os = "freebsd"))]
fn mount_options(flags: u64) -> String {
    let is_set = |flag: u64| flags & flag != 0;
    let access = if is_set(0x1) { "ro" } else { "rw" };
    let others = [(0x2, "sync"), (0x40, "async"), (0x1000_0000, "noatime")];
    let others = others.into_iter().filter(|(flag, _)| is_set(*flag)).map(|(_, name)| name);
    std::iter::once(access).chain(others).collect::<Vec<_>>().join(",")
}

/// Returns nothing: what plays these systems is not known.
#[cfg(not(target_os = "macos"))]
pub(crate) fn emulator() -> Option<String> {
    None
}

/// Returns nothing: only on Linux are the calls of a library counted.
pub(crate) fn flush_calls() -> Option<u64> {
    None
}

/// Returns nothing: what the firmware names is not known here.
pub(crate) fn firmware() -> [Option<String>; 2] {
    [None, None]
}

/// Returns nothing, as above.
#[cfg(not(target_os = "macos"))]
pub(crate) fn hypervisor() -> Option<String> {
    None
}

/// Returns nothing: sync(2) may return before everything is on a device.
pub(crate) fn sync_filesystem(_: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(target_vendor = "apple")]
pub(crate) fn rename_new(from: &Path, to: &Path) -> Option<io::Result<()>> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(target_vendor = "apple")]
pub(crate) fn exchange(one: &Path, other: &Path) -> Option<io::Result<()>> {
    rename_with(one, other, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(target_vendor = "apple")]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::{
        fs::{CWD, renameat_with},
        io::Errno,
    };

    match renameat_with(CWD, from, CWD, to, flags) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        done => Some(done.map_err(Into::into)),
    }
}

#[cfg(not(target_vendor = "apple"))]
pub(crate) fn rename_new(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(not(target_vendor = "apple"))]
pub(crate) fn exchange(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_ends_with_a_zero_or_is_full() {
        let field = |bytes: &[u8]| {
            text(&bytes.iter().map(|byte| c_char::from_ne_bytes([*byte])).collect::<Vec<_>>())
        };
        assert_eq!(field(b"apfs\0\0rest"), "apfs");
        assert_eq!(field("/Volumes/Größe".as_bytes()), "/Volumes/Größe");
        assert_eq!((field(b""), field(b"\0")), (String::new(), String::new()));
        assert_eq!(field(b"a\xff"), "a\u{fffd}");
    }

    #[test]
    fn flags_of_a_mount_have_names() {
        assert_eq!(mount_options(0), "rw");
        assert_eq!(mount_options(0x1000_0041), "ro,async,noatime");
        // What macOS sets of the usual data volume: local, journaled, and more.
        assert_eq!(mount_options(0x0480_9000 | 0x2), "rw,sync");
    }
}
