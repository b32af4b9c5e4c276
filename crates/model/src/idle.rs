//! The session that does nothing: what is measured through it is the tool itself.

use crate::{Item, Key, Mode, Put, Result, Session, Visit};

/// Finds every key with an empty value, and keeps nothing.
pub struct Idle;

impl Session for Idle {
    fn get(&mut self, _: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
        Ok(Some(0))
    }

    fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
        Ok(true)
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Ok(true)
    }

    fn begin(&mut self, _: Mode) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn scan_from(
        &mut self,
        _: Option<Key<'_>>,
        _: u64,
        _: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        Ok(())
    }
}
