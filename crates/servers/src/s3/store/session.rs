//! One worker's use of objects.

use std::{cmp::min, ops::ControlFlow, sync::atomic::Ordering::Relaxed};

use kit::{first::stop_after, refusal};
use model::{
    Access, ErrorKind, How, Item, Key, KeyKind, Meta, OwnedKey, Put, Result, Scan, Session,
    ValueType, Visitor,
};

use super::{ASKS, FORBIDS, ObjectStore, UNKNOWN};
use crate::s3::{
    client::S3Client,
    names::{self, Form},
    parallel::in_parallel,
    sums::{self, Header},
};

/// The header of a put that writes only if there is no such object.
const ABSENT: Header<'static> = ("if-none-match", std::borrow::Cow::Borrowed("*"));

/// A key with the length of its value, as a list has them.
pub(super) type Listed = (OwnedKey, u64);

/// The bytes of the values that are read at once, unless one alone has more.
const AT_ONCE: u64 = 256 << 20;

/// Returns how many of the next `keys` are read at once: `most`, or as many as memory should have together.
fn at_once(keys: &[Listed], most: usize) -> usize {
    let mut bytes: u64 = 0;
    let fits = |(_, length): &&Listed| {
        bytes = bytes.saturating_add(*length);
        bytes <= AT_ONCE
    };
    keys.iter().take(most).take_while(fits).count().max(1)
}

pub(super) struct ObjectSession<'s> {
    pub(super) store: &'s ObjectStore,
    pub(super) client: S3Client<'s>,
    /// The key of the current object.
    object: String,
}

impl<'s> ObjectSession<'s> {
    pub(super) fn new(store: &'s ObjectStore) -> Self {
        let client = S3Client::new(&store.link, store.transfer);
        Self { store, client, object: String::new() }
    }

    #[inline]
    fn select(&mut self, key: Key<'_>) -> Result<()> {
        names::object(&self.store.link.prefix, key, self.store.form, &mut self.object)
    }

    fn select_to_write(&mut self, key: Key<'_>) -> Result<()> {
        if self.store.access == Access::Read {
            return Err(refusal::read_only());
        }
        self.select(key)
    }

    fn exists(&self) -> Result<bool> {
        Ok(self.client.head(&self.object)?.is_some())
    }

    fn write(&self, value: &[u8], put: &Put) -> Result<bool> {
        let headers: Vec<_> = put.meta.map(sums::of_file).into_iter().collect();
        match put.how {
            How::Upsert => self.client.put(&self.object, value, &headers),
            How::Update => Ok(self.exists()? && self.client.put(&self.object, value, &headers)?),
            How::Insert => self.insert(value, headers),
        }
    }

    /// Writes a value if there is no such object: in one request, if the service is known to check
    /// that.
    fn insert(&self, value: &[u8], mut headers: Vec<Header<'_>>) -> Result<bool> {
        let in_one = value.len() <= self.client.transfer().part;
        let known = self.store.conditional.load(Relaxed);
        if in_one && known == FORBIDS {
            headers.push(ABSENT);
            return self.client.put(&self.object, value, &headers);
        }
        if self.exists()? {
            return Ok(false);
        }
        let written = self.client.put(&self.object, value, &headers)?;
        if in_one && known == UNKNOWN {
            // The second put is harmless: the same bytes are there if the service does not check.
            headers.push(ABSENT);
            let again = self.client.put(&self.object, value, &headers);
            let found = if matches!(again, Ok(false)) { FORBIDS } else { ASKS };
            self.store.conditional.store(found, Relaxed);
        }
        Ok(written)
    }

    /// Shows keys, with their values if these are wanted, until the visitor has enough.
    fn show(
        &self,
        keys: &[Listed],
        values: bool,
        visit: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>> {
        let value_type = ValueType::Bytes;
        if !values {
            for (key, length) in keys {
                let item =
                    Item { key: key.as_key(), value: &[], length: *length, meta: None, value_type };
                if visit(item)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let mut rest = keys;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(at_once(rest, self.client.transfer().concurrency));
            let found = in_parallel(some.iter(), some.len(), |(key, length)| {
                self.value(key.as_key(), *length)
            })?;
            for ((key, _), found) in some.iter().zip(found) {
                // The object may have been deleted since it was listed.
                let Some((value, meta)) = found else { continue };
                let (key, length) = (key.as_key(), value.len() as u64);
                if visit(Item { key, value: &value, length, meta, value_type })?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            rest = others;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns a whole value, which was `length` bytes long; `None` if there is none.
    fn value(&self, key: Key<'_>, length: u64) -> Result<Option<(Vec<u8>, Option<Meta>)>> {
        let mut object = String::new();
        names::object(&self.store.link.prefix, key, self.store.form, &mut object)?;
        let mut value = vec![0; refusal::size(length)?];
        loop {
            let Some((length, kept)) = self.client.get(&object, &mut value)? else {
                return Ok(None);
            };
            // It may have grown meanwhile.
            let fits = length <= value.len();
            value.resize(length, 0);
            if fits {
                return Ok(Some((value, sums::file(&kept))));
            }
        }
    }

    fn explain_error<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| match error.kind() {
            ErrorKind::Failed | ErrorKind::Usage => self.store.explain(error),
            _ => error,
        })
    }
}

impl Session for ObjectSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        if into.is_empty() {
            let length = self.length(key)?;
            return length.map(refusal::size).transpose();
        }
        self.select(key)?;
        let found = self.explain_error(self.client.get(&self.object, into))?;
        Ok(found.map(|(length, _)| length))
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        self.select(key)?;
        let found = self.explain_error(self.client.head(&self.object))?;
        Ok(found.map(|(length, _)| length))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.select_to_write(key)?;
        self.explain_error(self.write(value, put))
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.select_to_write(key)?;
        let delete = || Ok(self.exists()? && self.client.delete(&self.object).map(|()| true)?);
        self.explain_error(delete())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let held = self.store.form.keys();
        if let Some(from) = scan.from.filter(|from| from.kind() != held) {
            return Err(refusal::wrong_kind(from, held));
        }
        if scan.limit == 0 {
            return Ok(());
        }
        let visit = &mut stop_after(scan.limit, visit);
        let done = if held == KeyKind::Names {
            let keys = self.list_sorted(scan.from, scan.limit)?;
            self.show(&keys, scan.values, visit).map(drop)
        } else {
            let from = scan.from.map_or(i64::MIN, |from| match from {
                Key::Int(from) => from,
                Key::Name(_) => i64::MIN,
            });
            let after = self.list_start(from)?;
            let mut left = scan.limit;
            self.list(&after, scan.limit, &mut |mut keys| {
                keys.truncate(usize::try_from(min(left, keys.len() as u64)).unwrap_or(usize::MAX));
                left -= keys.len() as u64;
                let going = self.show(&keys, scan.values, visit)?;
                Ok(if left == 0 { ControlFlow::Break(()) } else { going })
            })
        };
        self.explain_error(done)
    }

    fn visit_each(&mut self, keys: &[(OwnedKey, u64)], visit: &mut Visitor<'_>) -> Result<()> {
        let shown = self.show(keys, true, visit).map(drop);
        self.explain_error(shown)
    }

    fn scan_some(&mut self, most: u64, visit: &mut Visitor<'_>) -> Result<Option<bool>> {
        if self.store.form != Form::Plain {
            return Ok(None);
        }
        let some = self.explain_error(self.list_some(most))?;
        let _ = self.show(&some.keys, false, visit)?;
        Ok(Some(some.is_whole))
    }

    fn has_value(&mut self, item: &Item<'_>) -> Result<Option<bool>> {
        self.select(item.key)?;
        let Some((length, headers)) = self.explain_error(self.client.head(&self.object))? else {
            return Ok(Some(false));
        };
        let kept = sums::file(&headers);
        let has_meta = item.meta.is_none_or(|meta| kept.is_none_or(|kept| kept == meta));
        if length != item.length || !has_meta {
            return Ok(Some(false));
        }
        Ok(sums::is_same(item.value, &headers))
    }

    fn statistics(&self) -> Vec<(&'static str, i64)> {
        self.client.statistics()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_values_are_read_at_once_as_memory_should_have() {
        let count = |lengths: &[u64]| {
            let keys: Vec<Listed> =
                lengths.iter().map(|length| (OwnedKey::Int(1), *length)).collect();
            at_once(&keys, 4)
        };
        assert_eq!(count(&[1; 9]), 4);
        assert_eq!(count(&[1; 3]), 3);
        assert_eq!(count(&[AT_ONCE, 1]), 1);
        assert_eq!(count(&[AT_ONCE / 2, AT_ONCE / 2, 1]), 2);
        assert_eq!(count(&[u64::MAX, u64::MAX]), 1);
    }
}
