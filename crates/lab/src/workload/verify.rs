//! Checks and repairs around a pass, outside the clock.

use std::collections::HashMap;

use model::{Action, Error, How, Mode, Operation, Put, Result, Session};

use super::{
    op::Op,
    pass::{Pass, PassInput, counts, index},
};

/// The number of writes of each worker that are read back after an update pass.
const READ_BACK: u64 = 1000;

/// The number of keys that are put right in one batch after a pass.
const RESTORED: usize = 1000;

/// The number of values of each worker that are read before the first update of a run.
const LOOKED_AT: u64 = 64;

impl PassInput<'_> {
    /// Reads back the last writes of each worker in `pass`, and returns the key of one that is not
    /// there as it was written, or is there though it was removed.
    pub(crate) fn read_back(
        &self,
        session: &mut dyn Session,
        pass: &Pass,
    ) -> Result<Option<String>> {
        let mut buffer = self.buffer();
        for (worker, count) in counts(&self.workload, pass.count).enumerate() {
            let first = count.saturating_sub(READ_BACK);
            let last = (0..).zip(self.ops(pass, worker, count)).skip(index(first));
            // A later position wins over an earlier one with the same key.
            let written: HashMap<_, _> = last
                .filter(|(_, op)| op.action.writes())
                .map(|(position, op)| (op.key, (position, op)))
                .collect();
            for (position, op) in written.into_values() {
                if !self.holds(session, pass, position, &op, &mut buffer)? {
                    return Ok(Some(op.key.to_string()));
                }
            }
        }
        Ok(None)
    }

    /// Returns the share of the first values that `pass` will write which exist already.
    pub(crate) fn written_before(&self, session: &mut dyn Session, pass: &Pass) -> Result<f64> {
        let mut buffer = self.buffer();
        let (mut same, mut looked) = (0_u64, 0_u64);
        for (worker, count) in counts(&self.workload, pass.count).enumerate() {
            let ops = (0..).zip(self.ops(pass, worker, count.min(LOOKED_AT)));
            // Nothing written to an empty value is nothing that could be skipped.
            let changes = |op: &Op<'_>| op.action != Action::Delete && op.size > 0;
            for (position, op) in ops.filter(|(_, op)| changes(op)) {
                same += u64::from(self.holds(session, pass, position, &op, &mut buffer)?);
                looked += 1;
            }
        }
        Ok(same as f64 / looked.max(1) as f64)
    }

    /// Reports whether the key of `op` is as the operation leaves it at `position` of `pass`.
    fn holds(
        &self,
        session: &mut dyn Session,
        pass: &Pass,
        position: u64,
        op: &Op<'_>,
        buffer: &mut [u8],
    ) -> Result<bool> {
        let found = session.get(op.key, buffer)?;
        if op.action == Action::Delete {
            return Ok(found.is_none());
        }
        let expected = self.pool.slice(pass.salt, position, op.size);
        Ok(found.and_then(|length| buffer.get(..length)) == Some(expected))
    }

    /// Reports whether the operations change which keys exist.
    pub(crate) fn changes_keys(&self) -> bool {
        matches!(self.work.operation, Operation::Mix(mix) if mix.changes_keys())
    }

    /// Removes what `pass` inserted and puts back what it deleted, in the same lengths.
    pub(crate) fn restore(&self, session: &mut dyn Session, pass: &Pass) -> Result<()> {
        let Some(ops) = &self.ops else { return Ok(()) };
        let changed = ops.changed(self.dataset, counts(&self.workload, pass.count));
        for (part, changed) in (0..).zip(changed.chunks(RESTORED)) {
            self.stop.check()?;
            session.begin(Mode::Write)?;
            for (position, one) in (part * RESTORED as u64..).zip(changed) {
                let done = if one.added {
                    session.delete(one.key)?
                } else {
                    let value = self.pool.slice(!pass.salt, position, one.size);
                    session.put(one.key, value, &Put::new(How::Insert))?
                };
                if !done {
                    let there = if one.added { "is not there" } else { "is still there" };
                    return Err(Error::corrupt(format!("key {} {there}", one.key)));
                }
            }
            session.commit()?;
        }
        Ok(())
    }
}
