//! Names of files that are written next to their target and then renamed:
//! `.storemark-<process>-<session>-<n>.tmp`.

use std::io::Write;

const HEAD: &[u8] = b".storemark-";
const TAIL: &[u8] = b".tmp";

/// Puts the `n`-th temporary name of a session into `out`, in the folder of `path`. Both end in a
/// zero byte.
pub(super) fn next_to(path: &[u8], session: u32, n: u64, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(folder(path));
    write!(out, ".storemark-{}-{session}-{n}.tmp\0", std::process::id())
        .expect("writing to memory does not fail");
}

/// The folder part of `path`, with the slash; empty at the top.
pub(super) fn folder(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    &path[..end]
}

/// Whether the last part of `path` is a temporary name of any process.
pub(super) fn is_temporary(path: &[u8]) -> bool {
    let name = &path[folder(path).len()..];
    let Some(middle) = name.strip_prefix(HEAD).and_then(|rest| rest.strip_suffix(TAIL)) else {
        return false;
    };
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let mut parts = middle.split(|byte| *byte == b'-');
    parts.by_ref().take(3).filter(|part| is_number(part)).count() == 3 && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_stands_beside_and_is_recognised() {
        let mut out = Vec::new();
        for path in [&b"a\0"[..], b"a/b/c\0"] {
            next_to(path, 3, 4, &mut out);
            assert_eq!(out.pop(), Some(0));
            assert_eq!(folder(&out), folder(path));
            assert!(is_temporary(&out));
        }
    }

    #[test]
    fn a_users_names_are_not_taken_for_temporary() {
        for name in [".storemark.tmp", ".storemark-1-2.tmp", ".storemark-1-2-3-4.tmp", "a.tmp"] {
            assert!(!is_temporary(name.as_bytes()), "{name}");
        }
        assert!(!is_temporary(b".storemark-1-2-3.tmp/file"));
        assert!(!is_temporary(b".storemark-1--3.tmp"));
    }
}
