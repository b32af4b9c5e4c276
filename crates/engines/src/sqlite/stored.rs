//! Converts a row to an item, and a value of any type to a parameter.

use model::{Error, Item, Key, KeyKind, Meta, Result, ValueType};

use super::ffi::{Parameter, Statement};

/// The bits of a mode that show the kind of file.
pub(super) const KIND: u32 = 0o170_000;
/// The bits of the mode of a regular file.
pub(super) const REGULAR: u32 = 0o100_000;

/// Returns `value` as SQLite stores a value of this type.
pub(super) fn value(value: &[u8], of: ValueType) -> Result<Parameter<'_>> {
    let number = || {
        let wrong = |_| Error::usage(format!("{of} has 8 bytes, not {}", value.len()));
        value.try_into().map_err(wrong)
    };
    Ok(match of {
        ValueType::Bytes => Parameter::Blob(value),
        ValueType::Text => Parameter::Text(value),
        ValueType::Integer => Parameter::Integer(i64::from_le_bytes(number()?)),
        ValueType::Real => Parameter::Real(f64::from_le_bytes(number()?)),
        ValueType::Null => Parameter::Null,
    })
}

/// Returns the item in a row of a scan: key, the value or else its length and type, and the table's
/// facts. `number` is for the bytes of a number.
pub(super) fn item<'r>(
    row: &'r Statement,
    keys: KeyKind,
    number: &'r mut [u8; 8],
) -> Result<Item<'r>> {
    let shown = row.kind(1);
    let value = match shown {
        ValueType::Integer => {
            *number = row.integer(1).to_le_bytes();
            &number[..]
        }
        ValueType::Real => {
            *number = row.real(1).to_le_bytes();
            &number[..]
        }
        _ => row.blob(1),
    };
    let (length, of) = match row.kind(3) {
        ValueType::Null => (value.len() as u64, shown),
        _ => (row.integer(2).unsigned_abs(), type_called(row.text(3))),
    };
    if keys == KeyKind::Integers {
        return Ok(Item {
            key: Key::Int(row.integer(0)),
            value,
            length,
            meta: None,
            value_type: of,
        });
    }
    let key = Key::Name(row.text(0));
    if matches!(of, ValueType::Bytes | ValueType::Text) {
        check_uncompressed(key, length, row.integer(4))?;
    }
    Ok(Item { key, value, length, meta: meta(row, key)?, value_type: of })
}

/// Returns the type with this name in SQLite's `typeof`.
fn type_called(name: &[u8]) -> ValueType {
    match name {
        b"text" => ValueType::Text,
        b"integer" => ValueType::Integer,
        b"real" => ValueType::Real,
        b"null" => ValueType::Null,
        _ => ValueType::Bytes,
    }
}

/// Returns mode and time; `None` if the row has neither. If one is missing, it is as in a new row.
fn meta(row: &Statement, key: Key<'_>) -> Result<Option<Meta>> {
    let number = |column, what| match row.kind(column) {
        ValueType::Null => Ok(None),
        ValueType::Integer => Ok(Some(row.integer(column))),
        found => Err(Error::corrupt(format!("its {what} is {found}, not a whole number")).at(key)),
    };
    let (mode, seconds) = (number(5, "mode")?, number(6, "time")?);
    if mode.is_none() && seconds.is_none() {
        return Ok(None);
    }
    let mode = u32::try_from(mode.unwrap_or(0o100_644))
        .map_err(|_| Error::corrupt("its mode is out of range").at(key))?;
    let mode = if mode & KIND == 0 { mode | REGULAR } else { mode };
    Ok(Some(Meta { mode, seconds: seconds.unwrap_or(0), nanoseconds: 0 }))
}

/// Checks that a value is not compressed. In an archive of another program, a value shorter than
/// its `sz` is deflated. As in SQLite's shell, a value without an `sz` is taken as it is.
fn check_uncompressed(key: Key<'_>, stored: u64, length: i64) -> Result<()> {
    if length <= 0 || stored == length.unsigned_abs() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "{key} is compressed in this archive ({stored} of {length} bytes); storemark works on \
         uncompressed archives: extract it with `sqlite3 -A` and import the folder"
    )))
}
