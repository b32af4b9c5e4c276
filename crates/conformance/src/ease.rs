//! Shorthand of the checks.

use std::ops::ControlFlow;

use model::{Error, Item, OwnedKey, Put, Scan, Session};

use crate::fault::{Checked, Fault, holds};

/// Returns bytes that differ from key to key.
pub fn bytes(n: i64, length: usize) -> Vec<u8> {
    let mut state = n.cast_unsigned() ^ 0x9E37_79B9_7F4A_7C15;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    })
    .take(length)
    .collect()
}

/// What checks do with a session.
pub trait Ease {
    /// Puts a value.
    fn write(&mut self, key: &OwnedKey, value: &[u8]) -> Checked;
    /// Returns a value; `None` if there is none.
    fn value(&mut self, key: &OwnedKey) -> Checked<Option<Vec<u8>>>;
    /// Returns all items in the order of a scan.
    fn items(&mut self) -> Checked<Vec<(OwnedKey, Vec<u8>)>>;
    /// Returns so many items from a key on.
    fn items_from(&mut self, from: &OwnedKey, limit: u64) -> Checked<Vec<(OwnedKey, Vec<u8>)>>;
    /// Removes a key that exists.
    fn remove(&mut self, key: &OwnedKey) -> Checked;
}

impl Ease for dyn Session + '_ {
    fn write(&mut self, key: &OwnedKey, value: &[u8]) -> Checked {
        let named = |error: Error| {
            let (key, length) = (key.as_key(), value.len());
            Fault::from(error).within(format!("putting {length} bytes as key {key}"))
        };
        let written = self.put(key.as_key(), value, &Put::default()).map_err(named)?;
        holds(written, format_args!("putting key {} is answered with no", key.as_key()))
    }

    fn value(&mut self, key: &OwnedKey) -> Checked<Option<Vec<u8>>> {
        let mut buffer = vec![0; 1 << 21];
        let named = |error| Fault::from(error).within(format!("getting key {}", key.as_key()));
        let Some(length) = self.get(key.as_key(), &mut buffer).map_err(named)? else {
            return Ok(None);
        };
        buffer.truncate(length);
        Ok(Some(buffer))
    }

    fn items(&mut self) -> Checked<Vec<(OwnedKey, Vec<u8>)>> {
        scanned(self, Scan::ALL)
    }

    fn items_from(&mut self, from: &OwnedKey, limit: u64) -> Checked<Vec<(OwnedKey, Vec<u8>)>> {
        scanned(self, Scan { from: Some(from.as_key()), limit, ..Scan::ALL })
    }

    fn remove(&mut self, key: &OwnedKey) -> Checked {
        let deleted = self.delete(key.as_key())?;
        holds(
            deleted,
            format_args!("deleting key {}, which exists, is answered with no", key.as_key()),
        )
    }
}

fn scanned(session: &mut dyn Session, scan: Scan<'_>) -> Checked<Vec<(OwnedKey, Vec<u8>)>> {
    let mut items = Vec::new();
    let shown = session.scan(scan, &mut |Item { key, value, .. }| {
        items.push((key.into(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    });
    shown.map_err(|error| Fault::from(error).within("a scan"))?;
    Ok(items)
}
