//! A pass of one worker by itself, without stores, rounds and records around it: the
//! bench `own_cost` compares it with a bare loop.

use std::time::Duration;

use host::RunClock;
use model::{BlobWork, Key, KeyKind, Operation, Result, Session, Workload, Ycsb};

use super::{
    op::{Op, Tally},
    pass::{Pass, PassInput, Timing, drawn},
};
use crate::{
    Stop,
    dataset::{Dataset, Pool},
};

/// A source of passes: the keys from 1 on, all values of the same length.
pub struct Probe {
    workload: Workload,
    dataset: Dataset,
    pool: Pool,
    stop: Stop,
}

impl Probe {
    /// Creates passes of `count` operations of `ycsb` on `keys` keys, with as many in a batch.
    ///
    /// # Errors
    ///
    /// Fails if the dataset is too large.
    pub fn new(ycsb: Ycsb, keys: u32, count: u64) -> Result<Self> {
        let mut dataset = Dataset::new(KeyKind::Integers);
        for key in 1..=keys {
            dataset.push_sized(Key::Int(key.into()), RECORD)?;
        }
        let (operation, order) = (Operation::Mix(ycsb.mix()), ycsb.order());
        let work = BlobWork { operation, order, rate: None };
        let workload = Workload::alone(work, count);
        let pool = Pool::new(0, Ycsb::RECORD, 100);
        Ok(Self { workload, dataset, pool, stop: Stop::new() })
    }

    /// Draws all operations of a pass.
    ///
    /// # Errors
    ///
    /// Fails if the keys are more than can be drawn.
    pub fn draw(&self, seed: u64) -> Result<ProbePass<'_>> {
        let ops = drawn(&self.workload, &self.dataset, seed)?;
        PassInput::new(self.workload, &self.dataset, &self.pool, ops, &self.stop).map(ProbePass)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a thousand bytes")]
const RECORD: u32 = Ycsb::RECORD as u32;

/// A pass whose operations are drawn.
pub struct ProbePass<'a>(PassInput<'a>);

impl ProbePass<'_> {
    /// Returns the operations in their order.
    pub fn ops(&self) -> impl Iterator<Item = Op<'_>> {
        self.0.ops(&self.whole(0), 0, self.0.workload.count)
    }

    /// Returns what the operation at `position` of the pass that `salt` identifies writes.
    #[inline]
    pub fn payload(&self, salt: u64, position: u64, size: u32) -> &[u8] {
        self.0.pool.slice(salt, position, size)
    }

    /// Makes the pass, as a run does; returns how long it took, and its result.
    ///
    /// # Errors
    ///
    /// Fails if an operation fails.
    pub fn pass(
        &self,
        session: &mut dyn Session,
        buffer: &mut [u8],
        salt: u64,
    ) -> Result<(Duration, Tally)> {
        let clock = RunClock::of_this_thread();
        let done = self.0.run(&self.whole(salt), 0, 0, session, buffer, &clock)?;
        let wall_ns = done.end_ns - done.start_ns;
        Ok((Duration::from_nanos(wall_ns), done.outcome.tally))
    }

    /// Removes what the pass has inserted.
    ///
    /// # Errors
    ///
    /// Fails if an operation fails.
    pub fn restore(&self, session: &mut dyn Session, salt: u64) -> Result<()> {
        self.0.restore(session, &self.whole(salt))
    }

    fn whole(&self, salt: u64) -> Pass {
        Pass { skip: 0, count: self.0.workload.count, salt, timing: Timing::Some }
    }
}
