//! A throughput pass of one worker by itself, without stores, rounds and records around it: what
//! the bench `own_cost` holds against a bare loop.

use std::time::Duration;

use model::{Batch, Key, KeyKind, Operation, Result, Session, Work, Workload, Ycsb};

use crate::{
    Stop,
    dataset::Dataset,
    pass::{Leg, Passed, Round},
    payload::Pool,
    worker::{Tally, Turn},
};

/// What passes are drawn from: the keys from 1 on, all values of the same length.
pub struct Drill {
    workload: Workload,
    dataset: Dataset,
    pool: Pool,
    stop: Stop,
}

impl Drill {
    /// Passes of `count` operations of `ycsb` on `keys` keys, as many in a batch.
    pub fn new(ycsb: Ycsb, keys: u32, count: u64) -> Result<Self> {
        let mut dataset = Dataset::new(KeyKind::Integers);
        for key in 1..=keys {
            dataset.push_sized(Key::Int(key.into()), RECORD)?;
        }
        let workload = Workload {
            work: Work::Blobs {
                operation: Operation::Mix(ycsb.mix()),
                order: ycsb.order(),
                rate: None,
            },
            count,
            batch: Batch::All,
            threads: 1,
            processes: 1,
        };
        let pool = Pool::new(0, Ycsb::RECORD, 100);
        Ok(Self { workload, dataset, pool, stop: Stop::new() })
    }

    /// Draws all operations of a pass.
    pub fn draw(&self, seed: u64) -> Result<Drawn<'_>> {
        Round::new(&self.workload, &self.dataset, &self.pool, seed, &self.stop).map(Drawn)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a thousand bytes")]
const RECORD: u32 = Ycsb::RECORD as u32;

/// A pass whose operations are drawn.
pub struct Drawn<'a>(Round<'a>);

impl Drawn<'_> {
    /// Its operations in their order.
    pub fn turns(&self) -> impl Iterator<Item = Turn<'_>> {
        self.0.turns(0, self.0.workload.count)
    }

    /// What the operation at `position` of the pass that `salt` names writes.
    #[inline]
    pub fn payload(&self, salt: u64, position: u64, size: u32) -> &[u8] {
        self.0.pool.slice(salt, position, size)
    }

    /// Makes the pass, as a run does; how long it took, and what came of it.
    pub fn pass(
        &self,
        session: &mut dyn Session,
        buffer: &mut [u8],
        salt: u64,
    ) -> Result<(Duration, Tally)> {
        let worked = self.0.pass(&self.leg(salt), 0, 0, session, buffer)?;
        let passed = Passed::gather(vec![worked]);
        Ok((passed.wall, passed.tally))
    }

    /// Removes what the pass has inserted.
    pub fn restore(&self, session: &mut dyn Session, salt: u64) -> Result<()> {
        self.0.restore(session, &self.leg(salt))
    }

    fn leg(&self, salt: u64) -> Leg {
        Leg { count: self.0.workload.count, salt, clocked: false }
    }
}
