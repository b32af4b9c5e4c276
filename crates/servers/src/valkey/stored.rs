//! The keys of a store as the server has them: a prefix of the store's own, then the key.

use std::io::Write;

use kit::refusal::wrong_kind;
use model::{Error, Key, KeyKind, OwnedKey, Result};

/// The strings of a store; a key of the store's own name has the kind of its keys.
pub(super) struct Stored {
    pub(super) keys: KeyKind,
    prefix: Vec<u8>,
    /// The hash with mode and time of names.
    pub(super) metas: Vec<u8>,
}

impl Stored {
    pub(super) fn new(name: &str, keys: KeyKind) -> Self {
        let [prefix, metas] = [":", ".meta"].map(|end| format!("{name}{end}").into_bytes());
        Self { keys, prefix, metas }
    }

    /// Writes the server's name of `key` into `room`.
    pub(super) fn write(&self, key: Key<'_>, room: &mut Vec<u8>) -> Result<()> {
        room.clear();
        room.extend_from_slice(&self.prefix);
        match (key, self.keys) {
            (Key::Int(key), KeyKind::Integers) => {
                write!(room, "{key}").expect("a vector takes all bytes");
            }
            (Key::Name(name), KeyKind::Names) => room.extend_from_slice(name),
            (key, held) => return Err(wrong_kind(key, held)),
        }
        Ok(())
    }

    /// Returns the key that the server calls `stored`.
    pub(super) fn key(&self, stored: &[u8]) -> Result<OwnedKey> {
        let wrong =
            || Error::corrupt(format!("the key {} is none of the store", stored.escape_ascii()));
        let key = stored.strip_prefix(&*self.prefix).ok_or_else(wrong)?;
        match self.keys {
            KeyKind::Names => Ok(OwnedKey::Name(key.into())),
            KeyKind::Integers => {
                let text = std::str::from_utf8(key).ok();
                text.and_then(|text| text.parse().ok()).map(OwnedKey::Int).ok_or_else(wrong)
            }
        }
    }

    /// Returns the pattern that matches its keys, and no others.
    pub(super) fn pattern(&self) -> Vec<u8> {
        pattern(&self.prefix)
    }

    /// Returns whether the key `stored` is the store's.
    pub(super) fn is_own(&self, stored: &[u8]) -> bool {
        let name = &self.prefix[..self.prefix.len() - 1];
        stored.starts_with(&self.prefix) || stored == name || stored == self.metas
    }
}

/// Returns the pattern that matches all that starts with `prefix`.
fn pattern(prefix: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::new();
    for byte in prefix {
        if b"*?[]\\".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    pattern.push(b'*');
    pattern
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_comes_back(number in any::<i64>(), name in any::<Vec<u8>>()) {
            for (kind, key) in
                [(KeyKind::Integers, Key::Int(number)), (KeyKind::Names, Key::Name(&name))]
            {
                let (stored, mut room) = (Stored::new("kv", kind), Vec::new());
                stored.write(key, &mut room).unwrap();
                prop_assert_eq!(stored.key(&room).unwrap(), OwnedKey::from(key));
            }
        }
    }

    #[test]
    fn only_its_own_keys_are_of_a_store() {
        let stored = Stored::new("kv", KeyKind::Integers);
        for own in [&b"kv"[..], b"kv:", b"kv:1", b"kv.meta"] {
            assert!(stored.is_own(own));
        }
        for other in [&b"kv1"[..], b"kv.meta2", b"other", b""] {
            assert!(!stored.is_own(other));
        }
        for odd in [&b"kv"[..], b"kv:x", b"kv:"] {
            assert!(stored.key(odd).is_err());
        }
        assert_eq!(Stored::new("a*[b", KeyKind::Names).pattern(), b"a\\*\\[b:*");
    }
}
