//! Lists of a store's objects.

use std::ops::ControlFlow;

use kit::lock;
use model::{Entry, Error, Key, Result};

use super::{
    ObjectStore,
    session::{Listed, ObjectSession},
    spread,
};
use crate::s3::names::{self, Form};

/// The most parts of a store of which keys are listed.
const MOST_PARTS: usize = 64;

/// A part of the keys of a store, in key order.
pub(super) struct SomeKeys {
    pub(super) keys: Vec<Listed>,
    /// Whether these are all keys.
    pub(super) is_whole: bool,
}

impl ObjectSession<'_> {
    /// Visits pages of keys with the lengths of their values, in the order of objects' keys. A list of
    /// all objects notes those that are no values.
    pub(super) fn list(
        &self,
        after: &str,
        limit: u64,
        visit: &mut dyn FnMut(Vec<Listed>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let most = usize::try_from(limit).unwrap_or(usize::MAX).max(1);
        let (mut token, mut left_out) = (None, Vec::new());
        loop {
            let page = self.client.list(after, token.as_deref(), most)?;
            let objects = page.contents.into_iter().map(|one| (one.key, one.size.unwrap_or(0)));
            if visit(self.values(objects, &mut left_out)?)?.is_break() {
                return Ok(());
            }
            match page.next_continuation_token {
                Some(next) => token = Some(next),
                None => break,
            }
        }
        if after.is_empty() {
            *lock::hold(&self.store.left_out) = Some(left_out);
        }
        Ok(())
    }

    /// Returns the keys of objects with the lengths of their values, and adds objects that are no values
    /// to `left_out`.
    fn values(
        &self,
        objects: impl Iterator<Item = (String, u64)>,
        left_out: &mut Vec<Entry>,
    ) -> Result<Vec<Listed>> {
        let ObjectStore { form, link, .. } = self.store;
        let mut keys = Vec::with_capacity(objects.size_hint().0);
        for (object, length) in objects {
            let name = object.strip_prefix(&link.prefix).unwrap_or_default();
            if let Some(kind) = names::left_out(name).filter(|_| *form == Form::Plain) {
                let name = name.as_bytes().to_vec();
                left_out.push(Entry { name, kind, content: Vec::new() });
            } else if *form == Form::Plain || !name.ends_with('/') {
                // Some services list folders.
                keys.push((names::key(name, *form).ok_or_else(|| self.foreign(name))?, length));
            }
        }
        Ok(keys)
    }

    fn foreign(&self, name: &str) -> Error {
        let (shown, keys) = (&self.store.link.shown, self.store.form.keys());
        Error::corrupt(format!("the object {name:?} is none of the {keys} of storemark")).at(shown)
    }

    /// Lists keys with lengths in order. Names are listed whole: escaped ones have another order as
    /// objects, and some services list in an order of their own.
    pub(super) fn list_sorted(&self, from: Option<Key<'_>>, limit: u64) -> Result<Vec<Listed>> {
        let mut all = Vec::new();
        self.list("", u64::MAX, &mut |keys| {
            all.extend(
                keys.into_iter().filter(|(key, _)| from.is_none_or(|from| key.as_key() >= from)),
            );
            Ok(ControlFlow::Continue(()))
        })?;
        all.sort_unstable();
        all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(all)
    }

    /// Lists all keys if they are at most about `most`, or else keys from many parts of the store.
    pub(super) fn list_some(&self, most: u64) -> Result<SomeKeys> {
        let (mut keys, mut is_whole) = (Vec::new(), true);
        self.list("", u64::MAX, &mut |page| {
            keys.extend(page);
            is_whole = (keys.len() as u64) < most;
            Ok(if is_whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if !is_whole {
            let parts = usize::try_from(most / 1000).unwrap_or(usize::MAX).clamp(1, MOST_PARTS);
            let ask = |after: &str, most| {
                let page = self.client.list(after, None, most)?.contents.into_iter();
                Ok(page.map(|one| (one.key, one.size.unwrap_or(0))).collect())
            };
            let spread = spread::pages(&self.store.link.prefix, parts, &ask)?;
            // The first keys must not outnumber the others.
            keys.truncate(keys.len() / spread.len().max(1));
            for page in spread {
                keys.extend(self.values(page.into_iter(), &mut Vec::new())?);
            }
        }
        keys.sort_unstable();
        keys.dedup_by(|one, other| one.0 == other.0);
        Ok(SomeKeys { keys, is_whole })
    }

    /// Returns the object after which a list starts that is to show `from`.
    pub(super) fn list_start(&self, from: i64) -> Result<String> {
        let ObjectStore { form, link, .. } = self.store;
        let mut after = String::new();
        if let Some(before) = from.checked_sub(1) {
            names::object(&link.prefix, Key::Int(before), *form, &mut after)?;
        }
        Ok(after)
    }
}
