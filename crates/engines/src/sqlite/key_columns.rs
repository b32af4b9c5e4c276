//! The columns of a key in SQLite, whose names [`kit::key_columns`] describes.

pub(crate) use kit::key_columns::KeyColumns;
use kit::key_columns::KeyParameter;
pub(super) use kit::key_columns::{KeyColumn, MOST};

use super::ffi::Parameter;

/// The values of a key, in the order of its columns.
pub(crate) type KeyValues<'k> = kit::key_columns::KeyValues<Parameter<'k>>;

impl<'k> KeyParameter<'k> for Parameter<'k> {
    const NONE: Self = Self::Null;

    #[inline]
    fn integer(number: i64) -> Self {
        Self::Integer(number)
    }

    #[inline]
    fn text(text: &'k [u8]) -> Self {
        Self::Text(text)
    }

    #[inline]
    fn bytes(bytes: &'k [u8]) -> Self {
        Self::Blob(bytes)
    }
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

    use model::Key;
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
}
