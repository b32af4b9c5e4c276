//! Keys in ascending order, each with a mark.

use model::{Error, Key, OwnedKey, Result};

/// Adds a key, which must come after all others. Merging relies on their order, so that a damaged
/// store must not go unnoticed.
pub(crate) fn push_sorted<M>(rows: &mut Vec<(OwnedKey, M)>, key: Key<'_>, mark: M) -> Result<()> {
    if let Some((last, _)) = rows.last()
        && last.as_key() >= key
    {
        let last = last.as_key();
        return Err(Error::corrupt(format!("keys are out of order: {key} comes after {last}")));
    }
    rows.push((key.into(), mark));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let mut rows = Vec::new();
        for (key, mark) in [("a", 1), ("a/b", 2), ("b", 3)] {
            push_sorted(&mut rows, Key::Name(key.as_bytes()), mark).unwrap();
        }
        assert_eq!((rows[1].0.as_key(), rows[1].1), (Key::Name(b"a/b"), 2));
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn keys_out_of_order_are_damage() {
        let mut rows = Vec::new();
        push_sorted(&mut rows, Key::Int(2), ()).unwrap();
        for key in [2, 1] {
            let error = push_sorted(&mut rows, Key::Int(key), ()).unwrap_err();
            assert_eq!(error.kind(), model::ErrorKind::Corrupt);
        }
    }
}
