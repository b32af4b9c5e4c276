//! How values are stored: those of integers as they are; each value of a name is followed by its
//! mode and time, whose nanoseconds are all ones if there are none.

use model::{Error, KeyKind, Meta, Result};

use crate::meta;

/// The column family or keyspace that holds a store's dataset is named after the kind of its keys.
pub(crate) const COLUMNS: [&str; 2] = ["integers", "names"];

pub(crate) fn name_of(keys: KeyKind) -> &'static str {
    match keys {
        KeyKind::Integers => COLUMNS[0],
        KeyKind::Names => COLUMNS[1],
    }
}

pub(crate) fn kind_of(column: &str) -> Option<KeyKind> {
    [KeyKind::Integers, KeyKind::Names].into_iter().find(|keys| name_of(*keys) == column)
}

const META: usize = 16;
const NO_META: u32 = u32::MAX;

pub(super) fn wrap<V: for<'a> From<&'a [u8]>>(
    value: &[u8],
    meta: Option<Meta>,
    keys: KeyKind,
) -> V {
    if keys == KeyKind::Integers {
        return V::from(value);
    }
    let meta = meta.unwrap_or(Meta { nanoseconds: NO_META, ..Meta::default() });
    V::from(&[value, &meta::bytes(meta)].concat()[..])
}

/// How many of `length` stored bytes are the value's own.
#[inline]
pub(super) fn own(length: u64, keys: KeyKind) -> Result<u64> {
    match keys {
        KeyKind::Integers => Ok(length),
        KeyKind::Names => length.checked_sub(META as u64).ok_or_else(cut_short),
    }
}

/// The value in what is stored, and its meta.
#[inline]
pub(super) fn unwrap(stored: &[u8], keys: KeyKind) -> Result<(&[u8], Option<Meta>)> {
    if keys == KeyKind::Integers {
        return Ok((stored, None));
    }
    let (value, tail) = stored.split_last_chunk::<META>().ok_or_else(cut_short)?;
    let meta = meta::of(tail).filter(|meta| meta.nanoseconds != NO_META);
    Ok((value, meta))
}

#[cold]
fn cut_short() -> Error {
    Error::corrupt("a named value without the 16 bytes of its mode and time")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_come_back_with_their_meta(
            value: Vec<u8>, mode: u32, seconds: i64, nanoseconds in 0..1_000_000_000_u32, none: bool,
        ) {
            let meta = (!none).then_some(Meta { mode, seconds, nanoseconds });
            let stored: Box<[u8]> = wrap(&value, meta, KeyKind::Names);
            prop_assert_eq!(unwrap(&stored, KeyKind::Names).unwrap(), (&value[..], meta));
            prop_assert_eq!(own(stored.len() as u64, KeyKind::Names).unwrap(), value.len() as u64);
        }
    }

    #[test]
    fn what_is_no_such_value_is_an_error() {
        assert!(unwrap(b"fifteen bytes..", KeyKind::Names).is_err());
        assert!(own(15, KeyKind::Names).is_err());
    }
}
