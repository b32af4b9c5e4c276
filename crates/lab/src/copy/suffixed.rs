//! A source whose keys get an ending, such as `.jpg` for files.

use std::{io::Write, ops::ControlFlow};

use model::{
    Entry, Error, Item, Key, KeyKind, OwnedKey, Put, Result, Scan, Session, Store, Visitor,
};

/// A store to be read, each of whose keys is a name with the same ending; an integer is in digits.
pub(crate) struct Suffixed<'s> {
    pub(crate) store: &'s dyn Store,
    pub(crate) suffix: &'s str,
}

impl Store for Suffixed<'_> {
    fn keys(&self) -> KeyKind {
        KeyKind::Names
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let (session, suffix, keys) = (self.store.session()?, self.suffix, self.store.keys());
        Ok(Box::new(SuffixedSession { session, suffix, keys }))
    }

    fn has_parts(&self) -> bool {
        self.store.has_parts()
    }

    fn left_out(&self) -> Result<Vec<Entry>> {
        self.store.left_out()
    }
}

struct SuffixedSession<'s> {
    session: Box<dyn Session + 's>,
    suffix: &'s str,
    /// The kind of the keys without the ending.
    keys: KeyKind,
}

fn with_suffix(key: Key<'_>, suffix: &str) -> Vec<u8> {
    let mut name = match key {
        Key::Int(number) => number.to_string().into_bytes(),
        Key::Name(name) => name.to_vec(),
    };
    name.extend_from_slice(suffix.as_bytes());
    name
}

/// Returns the key that got the ending.
fn without_suffix(key: Key<'_>, suffix: &str, keys: KeyKind) -> Option<OwnedKey> {
    let Key::Name(name) = key else { return None };
    let name = name.strip_suffix(suffix.as_bytes())?;
    match keys {
        KeyKind::Names => Some(Key::Name(name).into()),
        KeyKind::Integers => std::str::from_utf8(name).ok()?.parse().ok().map(OwnedKey::Int),
    }
}

#[cold]
fn only_scanned() -> Error {
    Error::unsupported("keys with an ending are only read one after the other")
}

impl Session for SuffixedSession<'_> {
    fn get(&mut self, _: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
        Err(only_scanned())
    }

    fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
        Err(only_scanned())
    }

    fn read_parts(&mut self, key: Key<'_>, to: &mut dyn Write) -> Result<()> {
        let own = without_suffix(key, self.suffix, self.keys).ok_or_else(only_scanned)?;
        self.session.read_parts(own.as_key(), to)
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Err(only_scanned())
    }

    /// Visits items in the order of their new names, in which `a.b.jpg` is before `a.jpg`; but with their
    /// values in the order of the source, which reads each once.
    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let (suffix, mut named) = (self.suffix, Vec::new());
        self.session.scan(scan, &mut |item| {
            let name = with_suffix(item.key, suffix);
            if scan.values {
                return visit(Item { key: Key::Name(&name), ..item });
            }
            named.push((name, item.length, item.meta, item.value_type));
            Ok(ControlFlow::Continue(()))
        })?;
        named.sort_unstable_by(|(name, ..), (other, ..)| name.cmp(other));
        for (name, length, meta, value_type) in named {
            let item = Item { key: Key::Name(&name), value: &[], length, meta, value_type };
            if visit(item)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
