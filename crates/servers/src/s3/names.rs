//! Keys of a store as keys of objects.
//!
//! Integers have 19 digits, so that a list has them in order; a negative one starts with a `-` and
//! counts from the least. Names in objects of storemark's own are as they are, but for bytes that XML or
//! a path of a URL cannot hold: these are written `%XX`, and so is `%`. Names of objects of the user are
//! their keys, unchanged.

use std::fmt::Write;

use kit::refusal::wrong_kind;
use model::{EntryKind, Error, Key, KeyKind, OwnedKey, Result};

use crate::server::percent_decode;

/// The most bytes of an object's key.
const LONGEST: usize = 1024;

/// The form of the keys of a store's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Integers of 19 digits.
    Integers,
    /// Names of any bytes, some of which are escaped.
    Escaped,
    /// Names that are UTF-8, unchanged.
    Plain,
}

impl Form {
    /// Returns the form of the objects of a store with these keys, in objects of the user or in
    /// storemark's own.
    pub(super) fn new(keys: KeyKind, is_users: bool) -> Self {
        match (keys, is_users) {
            (KeyKind::Integers, _) => Self::Integers,
            (KeyKind::Names, false) => Self::Escaped,
            (KeyKind::Names, true) => Self::Plain,
        }
    }

    pub(super) fn keys(self) -> KeyKind {
        if self == Self::Integers { KeyKind::Integers } else { KeyKind::Names }
    }
}

/// Writes the object's key of `key` below `prefix` into `object`.
pub(super) fn object(prefix: &str, key: Key<'_>, form: Form, object: &mut String) -> Result<()> {
    object.clear();
    object.push_str(prefix);
    match (key, form) {
        (Key::Int(key), Form::Integers) => {
            let (sign, digits) = if key < 0 { ("-", key ^ i64::MIN) } else { ("", key) };
            // Writing to a string cannot fail.
            let _ = write!(object, "{sign}{digits:019}");
            Ok(())
        }
        (Key::Name(name), Form::Escaped) => {
            escape(name, object);
            Ok(())
        }
        (Key::Name(name), Form::Plain) => {
            object.push_str(str::from_utf8(name).map_err(|_| not_utf8(key))?);
            Ok(())
        }
        _ => Err(wrong_kind(key, form.keys())),
    }
}

/// Returns the key of an object, whose key below the prefix is `object`; `None` if storemark gives
/// it to no object.
pub(super) fn key(object: &str, form: Form) -> Option<OwnedKey> {
    match form {
        Form::Integers => {
            let digits = object.strip_prefix('-').unwrap_or(object);
            let number: i64 = digits.parse().ok()?;
            let whole = digits.len() == 19 && digits.bytes().all(|byte| byte.is_ascii_digit());
            let negative = digits.len() < object.len();
            whole.then_some(OwnedKey::Int(if negative { number | i64::MIN } else { number }))
        }
        Form::Escaped => percent_decode(object).map(|name| OwnedKey::Name(name.into())),
        Form::Plain => Some(OwnedKey::Name(object.as_bytes().into())),
    }
}

#[cold]
fn not_utf8(name: Key<'_>) -> Error {
    Error::unsupported(format!("the name {name} is not UTF-8, as the keys of objects are"))
}

/// Returns why no request can name the object with this key below a prefix, or why it is no value;
/// `None` if it is one.
pub(super) fn left_out(object: &str) -> Option<EntryKind> {
    if object.is_empty() || object.ends_with('/') {
        return Some(EntryKind::Folder);
    }
    object.split('/').any(|part| matches!(part, "." | "..")).then_some(EntryKind::Dots)
}

/// Checks that a name can be the key of an object of the user's below a prefix.
pub(super) fn check_plain(prefix: &str, name: &[u8]) -> Result<()> {
    let shown = Key::Name(name);
    let object = str::from_utf8(name).map_err(|_| not_utf8(shown))?;
    let why = match left_out(object) {
        Some(EntryKind::Dots) => "has a \".\" or a \"..\", which clients of object stores change",
        Some(_) => "ends in \"/\", as the key of a folder does",
        None => return check_length(prefix.len() + object.len(), shown),
    };
    Err(Error::unsupported(format!("the name {shown} {why}")))
}

fn check_length(length: usize, name: Key<'_>) -> Result<()> {
    if length <= LONGEST {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the name {name} makes an object's key of {length} bytes; accepted: {LONGEST} at most"
    )))
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
    check_length(object.len(), shown)
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
        object("", Key::Int(number), Form::Integers, &mut text).unwrap();
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
            assert_eq!(key(other, Form::Integers), None, "{other}");
        }
        assert_eq!(key("a%4", Form::Escaped), None);
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
    fn keys_of_the_user_are_names_unchanged() {
        let mut text = String::new();
        for name in ["a%4", "a//b", "/a", "100%25.jpg", "a\n", "grüße"] {
            check_plain("p/", name.as_bytes()).unwrap();
            object("p/", Key::Name(name.as_bytes()), Form::Plain, &mut text).unwrap();
            let found = key(text.strip_prefix("p/").unwrap(), Form::Plain);
            assert_eq!(found, Some(OwnedKey::Name(name.as_bytes().into())));
        }
        for name in [&b"a/"[..], b"", b"../a", b"a/.", b"\xff", &[b'a'; 1023]] {
            assert!(check_plain("p/", name).is_err(), "{name:?}");
        }
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
            prop_assert_eq!(key(&integer_name(a), Form::Integers), Some(OwnedKey::Int(a)));
        }

        #[test]
        fn names_come_back(name in vec(any::<u8>(), 0..20)) {
            let mut text = String::new();
            object("p/", Key::Name(&name), Form::Escaped, &mut text).unwrap();
            let found = key(text.strip_prefix("p/").unwrap(), Form::Escaped);
            prop_assert_eq!(found, Some(OwnedKey::Name(name.into())));
        }
    }
}
