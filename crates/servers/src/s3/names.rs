//! Keys of a store as keys of objects.
//!
//! Integers have 19 digits, so that a list has them in order; a negative one starts with a `-` and
//! counts from the least. Names are as they are, but for bytes that XML or a path of a URL cannot hold:
//! these are written `%XX`, and so is `%`.

use std::fmt::Write;

use kit::refusal::wrong_kind;
use model::{Error, Key, KeyKind, OwnedKey, Result};

use crate::server::percent_decode;

/// The most bytes of an object's key.
const LONGEST: usize = 1024;

/// Writes the object's key of `key` below `prefix` into `object`.
pub(super) fn object(prefix: &str, key: Key<'_>, held: KeyKind, object: &mut String) -> Result<()> {
    object.clear();
    object.push_str(prefix);
    match (key, held) {
        (Key::Int(key), KeyKind::Integers) => {
            let (sign, digits) = if key < 0 { ("-", key ^ i64::MIN) } else { ("", key) };
            // Writing to a string cannot fail.
            let _ = write!(object, "{sign}{digits:019}");
            Ok(())
        }
        (Key::Name(name), KeyKind::Names) => {
            escape(name, object);
            Ok(())
        }
        _ => Err(wrong_kind(key, held)),
    }
}

/// Returns the key of an object, whose key below the prefix is `object`; `None` if storemark gives
/// it to no object.
pub(super) fn key(object: &str, held: KeyKind) -> Option<OwnedKey> {
    match held {
        KeyKind::Integers => {
            let digits = object.strip_prefix('-').unwrap_or(object);
            let number: i64 = digits.parse().ok()?;
            let whole = digits.len() == 19 && digits.bytes().all(|byte| byte.is_ascii_digit());
            let negative = digits.len() < object.len();
            whole.then_some(OwnedKey::Int(if negative { number | i64::MIN } else { number }))
        }
        KeyKind::Names => percent_decode(object).map(|name| OwnedKey::Name(name.into())),
    }
}

/// Checks that a name is a path below a prefix: servers and clients change others on their way.
pub(super) fn check(prefix: &str, name: &[u8]) -> Result<()> {
    let shown = Key::Name(name);
    if name.split(|byte| *byte == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
        return Err(Error::unsupported(format!(
            "the name {shown} has an empty part, a \".\" or a \"..\", which object stores and their \
             clients change"
        )));
    }
    let mut object = prefix.to_owned();
    escape(name, &mut object);
    if object.len() <= LONGEST {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the name {shown} makes an object's key of {} bytes; accepted: {LONGEST} at most",
        object.len()
    )))
}

fn escape(name: &[u8], object: &mut String) {
    let escaped = |object: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _ = write!(object, "%{byte:02X}");
        }
    };
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            if char.is_control() || matches!(char, '%' | '\u{FFFE}' | '\u{FFFF}') {
                escaped(object, char.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                object.push(char);
            }
        }
        escaped(object, chunk.invalid());
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn integer_name(number: i64) -> String {
        let mut text = String::new();
        object("", Key::Int(number), KeyKind::Integers, &mut text).unwrap();
        text
    }

    #[test]
    fn small_integers_read_as_numbers() {
        assert_eq!(integer_name(42), "0000000000000000042");
        assert_eq!(integer_name(i64::MIN), "-0000000000000000000");
    }

    #[test]
    fn keys_of_other_objects_are_none() {
        for other in ["", "1", "x", "-", "00000000000000000000", "+000000000000000001", "%4"] {
            assert_eq!(key(other, KeyKind::Integers), None, "{other}");
        }
        assert_eq!(key("a%4", KeyKind::Names), None);
    }

    #[test]
    fn names_that_are_no_paths_are_refused() {
        for name in ["", "/a", "a/", "a//b", "./a", "a/../b", ".."] {
            assert!(check("p/", name.as_bytes()).is_err(), "{name}");
        }
        check("p/", b".hidden/..more").unwrap();
        assert!(check("p/", &[b'a'; 1022]).is_ok() && check("p/", &[b'a'; 1023]).is_err());
    }

    #[test]
    fn what_can_be_read_is_left_as_it_is() {
        let mut text = String::new();
        escape("grüße/a b+c\"%\n".as_bytes(), &mut text);
        assert_eq!(text, "grüße/a b+c\"%25%0A");
    }

    proptest! {
        #[test]
        fn integers_keep_their_order_and_come_back(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(integer_name(a).cmp(&integer_name(b)), a.cmp(&b));
            prop_assert_eq!(key(&integer_name(a), KeyKind::Integers), Some(OwnedKey::Int(a)));
        }

        #[test]
        fn names_come_back(name in vec(any::<u8>(), 0..20)) {
            let mut text = String::new();
            object("p/", Key::Name(&name), KeyKind::Names, &mut text).unwrap();
            let found = key(text.strip_prefix("p/").unwrap(), KeyKind::Names);
            prop_assert_eq!(found, Some(OwnedKey::Name(name.into())));
        }
    }
}
