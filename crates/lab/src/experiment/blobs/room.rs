//! Whether there is room for scratch stores, found out before anything is written.

use std::{collections::BTreeMap, path::PathBuf};

use model::{Error, Memory, Result, units::show_size};

use super::{BlobTarget, prepare::Preparation};
use crate::{Amount, dataset::Entry};

impl Preparation<'_> {
    /// What scratch stores take, by their folder: as much again where updates may fill a journal.
    pub(super) fn needed(&self, amount: Amount) -> BTreeMap<PathBuf, u64> {
        let mut needed = BTreeMap::<PathBuf, u64>::new();
        for target in &self.job.part.targets {
            for operation in self.missing() {
                if target.engine.capabilities().persistent && self.is_scratch(target, operation) {
                    let factor = if operation.writes() { 2 } else { 1 };
                    let room = amount.room(&target.engine.fill()).saturating_mul(factor);
                    let sum = needed.entry(self.parent(target)).or_default();
                    *sum = sum.saturating_add(room);
                }
            }
        }
        needed
    }

    pub(super) fn check_space(&self, amount: Amount) -> Result<()> {
        if self.job.part.short_of_room {
            return Ok(());
        }
        for (parent, needed) in self.needed(amount) {
            if let Some(free) = host::shortage(&parent, needed)? {
                return Err(Error::usage(format!(
                    "scratch stores take about {}, {} has {} free: --scratch DIR names another \
                     place, a smaller --keys or data takes less",
                    show_size(needed),
                    parent.display(),
                    show_size(free)
                )));
            }
        }
        Ok(())
    }

    /// What fits into no memory would be taken up until the system ends this process, or others.
    pub(super) fn check_memory(&self, amount: Amount) -> Result<()> {
        let held = |target: &&BlobTarget| {
            let engine = target.engine.capabilities();
            engine.retains && !engine.persistent && !engine.remote
        };
        let stores = self.job.part.targets.iter().filter(held).count() * self.missing().count();
        let keys = amount.count.saturating_mul(size_of::<Entry>() as u64);
        let needed = amount.bytes.saturating_mul(stores as u64).saturating_add(keys);
        let Memory { available_bytes, swap_bytes, .. } = host::memory();
        let free = available_bytes.map(|bytes| bytes.saturating_add(swap_bytes.unwrap_or(0)));
        match free.filter(|free| *free < needed) {
            None => Ok(()),
            Some(free) => Err(Error::usage(format!(
                "keys and stores in memory take {} at least, {} are available: a smaller --keys or \
                 data takes less",
                show_size(needed),
                show_size(free)
            ))),
        }
    }
}
