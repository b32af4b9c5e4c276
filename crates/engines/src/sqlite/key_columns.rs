//! The columns of a key, and the name that stands for their values: one text as it is, one integer in
//! digits, bytes in hexadecimal, and several columns with `/` in between (`5/10/12`). In a text among
//! several, `/` and `%` are written as `%2F` and `%25`, so that each name stands for one key.

use std::borrow::Cow;

use model::{Error, Key, KeyKind, Result};

use super::ffi::Parameter;

/// The most columns of a key.
pub(super) const MOST: usize = 8;

/// The type of a column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyColumn {
    Integer,
    Text,
    Blob,
}

impl KeyColumn {
    /// Returns the type's name in SQLite's `typeof`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Text => "text",
            Self::Blob => "blob",
        }
    }
}

/// The columns of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyColumns {
    /// One integer.
    Integer,
    /// One text.
    Text,
    /// One column of bytes, or several columns; at most [`MOST`].
    Others(Cow<'static, [KeyColumn]>),
}

/// The values of a key, in the order of its columns.
pub(crate) struct KeyValues<'k> {
    values: [Parameter<'k>; MOST],
    count: usize,
}

impl<'k> KeyValues<'k> {
    #[inline]
    fn one(value: Parameter<'k>) -> Self {
        let mut values = [Parameter::Null; MOST];
        values[0] = value;
        Self { values, count: 1 }
    }

    /// Returns the values as parameters.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Parameter<'k>> + '_ {
        self.values[..self.count].iter().copied()
    }
}

impl KeyColumns {
    /// Returns the columns of these types.
    pub(super) fn new(columns: Vec<KeyColumn>) -> Self {
        match columns[..] {
            [KeyColumn::Integer] => Self::Integer,
            [KeyColumn::Text] => Self::Text,
            _ => Self::Others(columns.into()),
        }
    }

    /// Returns the kind of the keys.
    pub(super) fn kind(&self) -> KeyKind {
        if *self == Self::Integer { KeyKind::Integers } else { KeyKind::Names }
    }

    /// Returns the number of columns.
    pub(super) fn count(&self) -> usize {
        if let Self::Others(columns) = self { columns.len() } else { 1 }
    }

    /// Returns the values of `key`. What they need in other bytes than the key's is put into `room`.
    ///
    /// # Errors
    ///
    /// Fails if the key does not stand for such values.
    #[inline]
    pub(crate) fn values<'k>(&self, key: Key<'k>, room: &'k mut Vec<u8>) -> Result<KeyValues<'k>> {
        match (key, self) {
            (Key::Int(key), Self::Integer) => Ok(KeyValues::one(Parameter::Integer(key))),
            (Key::Name(name), Self::Text) => Ok(KeyValues::one(Parameter::Text(name))),
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

/// Returns the values of the columns that `name` stands for; `None` if it does not.
fn several<'k>(
    columns: &[KeyColumn],
    name: &'k [u8],
    room: &'k mut Vec<u8>,
) -> Option<KeyValues<'k>> {
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
    let (mut values, mut start, room) = ([Parameter::Null; MOST], 0, &*room);
    for ((part, column), (value, end)) in parts().zip(columns).zip(values.iter_mut().zip(ends)) {
        *value = match column {
            KeyColumn::Integer => Parameter::Integer(str::from_utf8(part).ok()?.parse().ok()?),
            KeyColumn::Text => Parameter::Text(&room[start..end]),
            KeyColumn::Blob => Parameter::Blob(&room[start..end]),
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

/// Returns the expression for the name of a key of `columns` with these quoted names.
pub(super) fn shown(columns: &[(KeyColumn, String)]) -> String {
    let alone = columns.len() == 1;
    let of = |(column, name): &(KeyColumn, String)| match column {
        KeyColumn::Integer | KeyColumn::Text if alone => name.clone(),
        KeyColumn::Integer => format!("CAST({name} AS TEXT)"),
        KeyColumn::Text => format!("replace(replace({name},'%','%25'),'/','%2F')"),
        KeyColumn::Blob => format!("lower(hex({name}))"),
    };
    columns.iter().map(of).collect::<Vec<_>>().join("||'/'||")
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::*;
    use crate::sqlite::ffi::{Connection, LINKED, Open};

    #[derive(Debug, PartialEq)]
    enum Value {
        Integer(i64),
        Text(Vec<u8>),
        Blob(Vec<u8>),
    }

    fn value(of: Parameter<'_>) -> Value {
        match of {
            Parameter::Integer(number) => Value::Integer(number),
            Parameter::Text(text) => Value::Text(text.to_vec()),
            Parameter::Blob(blob) => Value::Blob(blob.to_vec()),
            Parameter::Null | Parameter::Real(_) => panic!("no key has it"),
        }
    }

    fn names_of(number: i64, text: &str, blob: &[u8]) -> Vec<(KeyColumns, Vec<u8>)> {
        let db = Connection::open(&LINKED, "".as_ref(), Open::Memory).unwrap();
        db.execute("CREATE TABLE t(a, b, c)").unwrap();
        let values =
            [Parameter::Integer(number), Parameter::Text(text.as_bytes()), Parameter::Blob(blob)];
        db.prepare("INSERT INTO t VALUES(?1,?2,?3)").unwrap().run(values).unwrap();
        let [a, b, c] = [
            (KeyColumn::Integer, "a".to_owned()),
            (KeyColumn::Text, "b".to_owned()),
            (KeyColumn::Blob, "c".to_owned()),
        ];
        let named = |columns: Vec<(KeyColumn, String)>| {
            let mut name = Vec::new();
            let sql = format!("SELECT {} FROM t", shown(&columns));
            let mut statement = db.prepare(&sql).unwrap();
            statement
                .rows([], |row| {
                    name = row.text(0).to_vec();
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
            (KeyColumns::new(columns.into_iter().map(|(column, _)| column).collect()), name)
        };
        vec![named(vec![b.clone()]), named(vec![c.clone()]), named(vec![a, b, c])]
    }

    proptest! {
        #[test]
        fn a_name_stands_for_the_values_that_it_was_made_from(
            number in any::<i64>(),
            text in "[^\0]{0,9}",
            blob in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let all = [
                Value::Integer(number),
                Value::Text(text.clone().into_bytes()),
                Value::Blob(blob.clone()),
            ];
            for ((columns, name), wanted) in
                names_of(number, &text, &blob).iter().zip([&all[1..2], &all[2..], &all[..]])
            {
                let mut room = Vec::new();
                let values = columns.values(Key::Name(name), &mut room).unwrap();
                let found: Vec<_> = values.iter().map(value).collect();
                prop_assert_eq!(&found[..], wanted);
            }
        }
    }

    #[test]
    fn what_is_no_key_is_refused_with_the_form_of_one() {
        let columns = KeyColumns::new(vec![KeyColumn::Integer, KeyColumn::Blob]);
        for name in ["", "1", "1/0", "1/0g", "1/00/00", "x/00", "1/0A"] {
            let error = columns.values(Key::Name(name.as_bytes()), &mut Vec::new()).err().unwrap();
            assert!(error.to_string().ends_with("keys are integer/blob"), "{error}");
        }
        assert!(columns.values(Key::Int(1), &mut Vec::new()).is_err());
    }
}
