//! Copies of a scratch store, for epochs to take in turn. How the files of one happen to lie in memory
//! and on the device changes its times by some percent, which is no property of the engine.

use std::{path::Path, time::Duration};

use model::{Fill, Operation, Result};

use super::{Job, PreparedTarget};
use crate::{Amount, budget::shares, store::ReadyStore};

/// The number of copies of a store with the first one: all of them or none, as fewer would not show
/// how much they differ.
const COPIES: u32 = 5;

/// The largest number of bytes of the copies, all of which are to stay in memory.
const BYTES: u64 = 256 << 20;
/// The largest part of the remaining memory that the copies take.
const MEMORY: u64 = 16;

/// Returns the copy that is read in a round, if there are [`COPIES`]. In each three rounds with
/// slices of different lengths it is another one.
pub(super) fn turn(round: u32) -> u32 {
    (round + round / 3) % COPIES
}

impl Job<'_> {
    /// Returns how many more stores are filled like one with `amount` in it in `folder`, which took
    /// the time `took`.
    pub(super) fn more_copies(
        &self,
        amount: Amount,
        filled: &Fill,
        folder: &Path,
        took: Duration,
    ) -> Result<u32> {
        let in_turns = self.part.work.iter().any(|work| self.takes_turns(*work));
        let bytes = amount.room(filled).saturating_mul(u64::from(COPIES) - 1);
        let free = host::memory().available_bytes.map_or(u64::MAX, |bytes| bytes / MEMORY);
        let own = shares::COPYING / self.part.targets.len() as f64;
        let in_time = self.budget.part(own).fits(took.saturating_mul(COPIES - 1));
        let fits = bytes <= BYTES.min(free) && in_time;
        let wanted = in_turns && self.part.copies && self.part.memory.is_none() && fits;
        // Other stores are still to be made.
        let room = wanted && host::shortage(folder, bytes.saturating_mul(4))?.is_none();
        Ok(if room { COPIES - 1 } else { 0 })
    }
}

impl PreparedTarget {
    /// Returns the store that is read in a round.
    pub(super) fn in_round(&self, round: u32) -> &ReadyStore {
        match turn(round) as usize % (self.copies.len() + 1) {
            0 => self.store(Operation::Read),
            copy => &self.copies[copy - 1],
        }
    }
}
