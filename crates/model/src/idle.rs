//! The session that does nothing: what is measured through it is the tool itself.

use crate::{Key, Put, Result, Scan, Session, Visitor};

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

    fn scan(&mut self, _: Scan<'_>, _: &mut Visitor<'_>) -> Result<()> {
        Ok(())
    }
}
