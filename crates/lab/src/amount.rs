//! How much there is to store, and the room it takes.

use std::ops::ControlFlow;

use model::{Fill, Result, Store};

use crate::Stop;

/// The block size of nearly all file systems, in bytes.
const BLOCK: u64 = 4096;

/// Values and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Values.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Amount {
    /// All that `store` holds.
    pub(crate) fn of(store: &dyn Store, stop: &Stop) -> Result<Self> {
        let mut amount = Self::default();
        store.session()?.list(&mut |_, length| {
            stop.check()?;
            amount.count += 1;
            amount.bytes += length;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(amount)
    }

    /// What a store of it takes on disk: a quarter more than the bytes; a value with blocks of its
    /// own fills the last by half.
    pub(crate) fn room(self, fill: &Fill) -> u64 {
        let more =
            if fill.whole_blocks { self.count.saturating_mul(BLOCK / 2) } else { self.bytes / 4 };
        self.bytes.saturating_add(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_values_in_files_take_blocks() {
        let amount = Amount { count: 1000, bytes: 1000 };
        let fill = |whole_blocks| Fill { settings: &[], sessions: 1, whole_blocks };
        assert_eq!(amount.room(&fill(false)), 1250);
        assert_eq!(amount.room(&fill(true)), 2_049_000);
    }
}
