//! Names of files: kvtest's for integer keys, and back, where only the name that kvtest would print
//! for a key is read as that key; and names of files that are written next to their target and then
//! renamed, `.storemark-<process>-<session>-<n>.tmp`.

use std::io::Write;

const HEAD: &[u8] = b".storemark-";
const TAIL: &[u8] = b".tmp";

/// Appends `printf("%06d", key)`.
pub(crate) fn flat(key: i64, out: &mut Vec<u8>) {
    append_padded(key, 6, out);
}

/// Appends `printf("%02d/%02d/%02d", key/10000, (key/100)%100, key%100)`. As in C, division
/// truncates and the remainder takes the sign of the key.
pub(super) fn tree(key: i64, out: &mut Vec<u8>) {
    append_padded(key / 10_000, 2, out);
    out.push(b'/');
    append_padded(key / 100 % 100, 2, out);
    out.push(b'/');
    append_padded(key % 100, 2, out);
}

pub(crate) fn parse_flat(name: &[u8]) -> Option<i64> {
    let key = number(name)?;
    prints_as(key, flat, name).then_some(key)
}

pub(super) fn parse_tree(name: &[u8]) -> Option<i64> {
    let mut parts = name.split(|byte| *byte == b'/').map(number);
    let (high, middle, low) = (parts.next()??, parts.next()??, parts.next()??);
    let key = high.checked_mul(10_000)?.checked_add(middle.checked_mul(100)?)?.checked_add(low)?;
    prints_as(key, tree, name).then_some(key)
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn prints_as(key: i64, print: impl Fn(i64, &mut Vec<u8>), name: &[u8]) -> bool {
    let mut canonical = Vec::with_capacity(32);
    print(key, &mut canonical);
    canonical == name
}

/// Appends `printf("%0<width>d", value)`: the width includes the sign. It is written by hand,
/// because it is part of every read.
fn append_padded(value: i64, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let mut left = value.unsigned_abs();
    while left > 0 {
        at -= 1;
        digits[at] = b'0' + u8::try_from(left % 10).expect("a digit is below 10");
        left /= 10;
    }
    let sign = usize::from(value < 0);
    let start = at.min(digits.len() - (width - sign));
    out.extend_from_slice(&b"-"[..sign]);
    out.extend_from_slice(&digits[start..]);
}

/// Writes the `n`-th temporary name of a session into `out`, in the folder of `path`. Both end in a
/// zero byte.
pub(super) fn next_to(path: &[u8], session: u32, n: u64, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(folder(path));
    write!(out, ".storemark-{}-{session}-{n}.tmp\0", std::process::id())
        .expect("writing to memory does not fail");
}

/// Returns the folder part of `path`, with the slash; it is empty at the top.
pub(super) fn folder(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    &path[..end]
}

/// Returns whether the last part of `path` is a temporary name of any process.
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
    use proptest::prelude::*;

    use super::*;

    fn name(print: fn(i64, &mut Vec<u8>), key: i64) -> String {
        let mut out = Vec::new();
        print(key, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_are_what_printf_prints() {
        for (key, in_flat, in_tree) in [
            (0, "000000", "00/00/00"),
            (1, "000001", "00/00/01"),
            (123_456, "123456", "12/34/56"),
            (12_345_678, "12345678", "1234/56/78"),
            (-1, "-00001", "00/00/-1"),
            (-100, "-00100", "00/-1/00"),
            (-12_345, "-12345", "-1/-23/-45"),
            (-1_234_567, "-1234567", "-123/-45/-67"),
            (i64::MAX, "9223372036854775807", "922337203685477/58/07"),
            (i64::MIN, "-9223372036854775808", "-922337203685477/-58/-8"),
        ] {
            assert_eq!(name(flat, key), in_flat);
            assert_eq!(name(tree, key), in_tree);
        }
    }

    #[test]
    fn other_spellings_of_a_number_are_no_keys() {
        for wrong in
            ["", "1", "00001", "0000001", "+00001", "-000001", "00000a", "-00000", "0x0001"]
        {
            assert_eq!(parse_flat(wrong.as_bytes()), None, "{wrong}");
        }
        for wrong in ["00/00", "00/00/1", "0/00/01", "00/00/001", "00/00/100", "00/00/01/00"] {
            assert_eq!(parse_tree(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_key_survives_its_name(key: i64) {
            prop_assert_eq!(name(flat, key), format!("{key:06}"));
            prop_assert_eq!(parse_flat(name(flat, key).as_bytes()), Some(key));
            prop_assert_eq!(parse_tree(name(tree, key).as_bytes()), Some(key));
        }

        #[test]
        fn every_small_key_survives_its_name(key in -2_000_000..2_000_000_i64) {
            prop_assert_eq!(parse_flat(name(flat, key).as_bytes()), Some(key));
            prop_assert_eq!(parse_tree(name(tree, key).as_bytes()), Some(key));
        }

        #[test]
        fn a_name_that_is_read_is_the_name_that_is_printed(text in "-?[0-9]{1,7}(/-?[0-9]{1,3}){0,3}") {
            if let Some(key) = parse_flat(text.as_bytes()) {
                prop_assert_eq!(name(flat, key), text.clone());
            }
            if let Some(key) = parse_tree(text.as_bytes()) {
                prop_assert_eq!(name(tree, key), text);
            }
        }
    }

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
