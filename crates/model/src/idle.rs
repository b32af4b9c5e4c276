//! The session that does nothing: passes through it measure the tool itself.

use crate::{Key, Put, Result, Scan, Session, Visitor};

/// A session that finds every key with an empty value, and keeps nothing.
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
