//! The columns of a key, and the name that is made of their values: one text as it is, one integer in
//! digits, bytes in hexadecimal, and several columns with `/` in between (`5/10/12`). In a text among
//! several, `/` and `%` are written as `%2F` and `%25`, so that each name is that of one key.

use std::borrow::Cow;

use model::{Error, Key, KeyKind, Result};

/// The most columns of a key.
pub const MOST: usize = 8;

/// The type of a column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyColumn {
    /// An integer.
    Integer,
    /// A text, as UTF-8.
    Text,
    /// Bytes.
    Blob,
}

/// A parameter of a statement.
pub trait KeyParameter<'k>: Copy {
    /// A parameter that no column takes.
    const NONE: Self;

    /// Creates the parameter of an integer.
    fn integer(number: i64) -> Self;

    /// Creates the parameter of a text.
    fn text(text: &'k [u8]) -> Self;

    /// Creates the parameter of bytes.
    fn bytes(bytes: &'k [u8]) -> Self;
}

impl KeyColumn {
    /// Returns the type's name, which is that of `SQLite`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Text => "text",
            Self::Blob => "blob",
        }
    }
}

/// A parameter of no statement.
#[derive(Clone, Copy)]
struct Unused;

impl KeyParameter<'_> for Unused {
    const NONE: Self = Self;

    fn integer(_: i64) -> Self {
        Self
    }

    fn text(_: &[u8]) -> Self {
        Self
    }

    fn bytes(_: &[u8]) -> Self {
        Self
    }
}

/// The columns of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyColumns {
    /// One integer.
    Integer,
    /// One text.
    Text,
    /// One column of bytes, or several columns; at most [`MOST`].
    Others(Cow<'static, [KeyColumn]>),
}

/// The values of a key, in the order of its columns.
#[derive(Clone, Copy)]
pub struct KeyValues<P> {
    values: [P; MOST],
    count: usize,
}

impl<P: Copy> KeyValues<P> {
    #[inline]
    fn one<'k>(value: P) -> Self
    where
        P: KeyParameter<'k>,
    {
        let mut values = [P::NONE; MOST];
        values[0] = value;
        Self { values, count: 1 }
    }

    /// Returns the values as parameters.
    #[inline]
    pub fn as_slice(&self) -> &[P] {
        &self.values[..self.count]
    }

    /// Returns the values as parameters, one after the other.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = P> + '_ {
        self.as_slice().iter().copied()
    }
}

impl KeyColumns {
    /// Returns the columns of these types.
    pub fn new(columns: Vec<KeyColumn>) -> Self {
        match columns[..] {
            [KeyColumn::Integer] => Self::Integer,
            [KeyColumn::Text] => Self::Text,
            _ => Self::Others(columns.into()),
        }
    }

    /// Returns the kind of the keys.
    pub fn kind(&self) -> KeyKind {
        if *self == Self::Integer { KeyKind::Integers } else { KeyKind::Names }
    }

    /// Returns the number of columns.
    pub fn count(&self) -> usize {
        if let Self::Others(columns) = self { columns.len() } else { 1 }
    }

    /// Checks that a key has such values.
    ///
    /// # Errors
    ///
    /// Fails if it does not.
    pub fn check(&self, key: Key<'_>) -> Result<()> {
        self.values::<Unused>(key, &mut Vec::new()).map(drop)
    }

    /// Returns the values of `key`. What they need in other bytes than the key's is put into `room`.
    ///
    /// # Errors
    ///
    /// Fails if the key does not have such values.
    #[inline]
    pub fn values<'k, P: KeyParameter<'k>>(
        &self,
        key: Key<'k>,
        room: &'k mut Vec<u8>,
    ) -> Result<KeyValues<P>> {
        match (key, self) {
            (Key::Int(key), Self::Integer) => Ok(KeyValues::one(P::integer(key))),
            (Key::Name(name), Self::Text) => Ok(KeyValues::one(P::text(name))),
            (Key::Name(name), Self::Others(columns)) => {
                several(columns, name, room).ok_or_else(|| no_key(key, columns))
            }
            _ => Err(wrong_kind(key, self.kind())),
        }
    }
}

#[cold]
fn wrong_kind(key: Key<'_>, keys: KeyKind) -> Error {
    Error::usage(format!("key {key}: this database's keys are {keys}"))
}

#[cold]
fn no_key(key: Key<'_>, columns: &[KeyColumn]) -> Error {
    let form: Vec<_> = columns.iter().map(|column| column.name()).collect();
    Error::usage(format!("key {key}: this table's keys are {}", form.join("/")))
}

/// Returns the values of the columns of which `name` is made; `None` if it is not.
fn several<'k, P: KeyParameter<'k>>(
    columns: &[KeyColumn],
    name: &'k [u8],
    room: &'k mut Vec<u8>,
) -> Option<KeyValues<P>> {
    let alone = columns.len() == 1;
    let parts = || name.split(move |byte| *byte == b'/' && !alone);
    if parts().count() != columns.len() {
        return None;
    }
    room.clear();
    let mut ends = [0; MOST];
    for ((part, column), end) in parts().zip(columns).zip(&mut ends) {
        match column {
            KeyColumn::Integer => {}
            KeyColumn::Text => unescape(part, room)?,
            KeyColumn::Blob => unhex(part, room)?,
        }
        *end = room.len();
    }
    let (mut values, mut start, room) = ([P::NONE; MOST], 0, &*room);
    for ((part, column), (value, end)) in parts().zip(columns).zip(values.iter_mut().zip(ends)) {
        *value = match column {
            KeyColumn::Integer => P::integer(str::from_utf8(part).ok()?.parse().ok()?),
            KeyColumn::Text => P::text(&room[start..end]),
            KeyColumn::Blob => P::bytes(&room[start..end]),
        };
        start = end;
    }
    Some(KeyValues { values, count: columns.len() })
}

fn unescape(part: &[u8], into: &mut Vec<u8>) -> Option<()> {
    let mut rest = part;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        into.extend_from_slice(&rest[..at]);
        into.push(match rest.get(at + 1..at + 3)? {
            b"2F" => b'/',
            b"25" => b'%',
            _ => return None,
        });
        rest = &rest[at + 3..];
    }
    into.extend_from_slice(rest);
    Some(())
}

fn unhex(part: &[u8], into: &mut Vec<u8>) -> Option<()> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = part.as_chunks() else { return None };
    for [high, low] in pairs {
        into.push(digit(*high)? << 4 | digit(*low)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused_with_the_form_of_one() {
        let columns = KeyColumns::new(vec![KeyColumn::Integer, KeyColumn::Blob]);
        for name in ["", "1", "1/0", "1/0g", "1/00/00", "x/00", "1/0A"] {
            let error = columns.check(Key::Name(name.as_bytes())).unwrap_err();
            assert!(error.to_string().ends_with("keys are integer/blob"), "{error}");
        }
        assert!(columns.check(Key::Int(1)).is_err());
    }
}
