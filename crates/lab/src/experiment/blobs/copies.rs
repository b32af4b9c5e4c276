//! Copies of a scratch store, for epochs to take in turn. How the files of one happen to lie in memory
//! and on the device changes its times by some percent, which is no property of the engine.

use std::time::Duration;

use super::Job;
use crate::{Amount, store::ReadyStore};

/// Copies of a store with the first one.
const COPIES: u32 = 5;
/// Fewer would not show how far they differ.
const FEWEST: u32 = 3;

/// Making the others of one store takes this part of the time that is left at most.
const SHARE: f64 = 0.05;
/// And they hold so many bytes at most, all of which are to stay in memory.
const BYTES: u64 = 256 << 20;
/// And this part of the memory that is left.
const MEMORY: u64 = 16;

/// The copy that is read in a round, of up to [`COPIES`]. In each three rounds with slices of different
/// lengths it is another one.
pub(super) fn turn(round: u32) -> u32 {
    (round + round / 3) % COPIES
}

impl Job<'_> {
    /// How many more stores are filled like one with `amount` in it, which took so long.
    pub(super) fn more_copies(&self, amount: Amount, fill: Duration) -> u32 {
        let in_turns = self.part.work.iter().any(|work| self.takes_turns(*work));
        if !in_turns || self.part.memory.is_some() {
            return 0;
        }
        let free = host::memory().available_bytes.map_or(u64::MAX, |bytes| bytes / MEMORY);
        let fits = |more: u32| {
            let time = fill.saturating_mul(more);
            let bytes = amount.bytes.saturating_mul(more.into());
            bytes <= BYTES.min(free) && self.left().is_none_or(|left| time <= left.mul_f64(SHARE))
        };
        (FEWEST..=COPIES).rev().map(|copies| copies - 1).find(|more| fits(*more)).unwrap_or(0)
    }
}

impl super::PreparedTarget {
    /// The store that is read in a round.
    pub(super) fn in_round(&self, round: u32) -> &ReadyStore {
        match turn(round) as usize % (self.copies.len() + 1) {
            0 => self.store(model::Operation::Read),
            copy => &self.copies[copy - 1],
        }
    }
}
