//! What the user wants measured of ageing stores.

use std::path::PathBuf;

use model::{
    Batch, Cache, Durability, Error, Generated, Operation, Owner, PlannedTarget, Result, Rounds,
    Work, Workload, units::show_size,
};

use crate::{host, request::Requested};

/// A comparison as asked for.
pub struct AgeRequest {
    /// What is compared, each in a scratch store of its own.
    pub targets: Vec<Requested>,
    /// Index into `targets` of the one the others are compared with.
    pub baseline: usize,
    /// How many objects live, and how large they are; its seed drives everything random.
    pub data: Generated,
    /// Storage ages at which reads are measured, ascending.
    pub ages: Vec<u32>,
    /// The cache states in which they are.
    pub caches: Vec<Cache>,
    /// Durability class to set every target up for.
    pub durability: Durability,
    /// When to stop.
    pub rounds: Rounds,
    /// Where scratch stores go.
    pub scratch: PathBuf,
}

impl AgeRequest {
    /// In the order in which a life goes through them: the objects are written once, then read;
    /// replaced until the next age, then read.
    pub(super) fn workloads(&self) -> Vec<Workload> {
        let workload = |operation, age, count| Workload {
            work: Work::Ageing { operation, age },
            count,
            batch: if operation == Operation::Read { Batch::All } else { Batch::Of(1) },
            threads: 1,
            processes: 1,
        };
        let all = self.data.count;
        let mut workloads = vec![workload(Operation::Insert, 0, all)];
        let mut before = 0;
        for &age in &self.ages {
            if age > before {
                // About as many: it is bytes that make the age.
                let count = all.saturating_mul(u64::from(age - before));
                workloads.push(workload(Operation::Update, age, count));
                before = age;
            }
            workloads.push(workload(Operation::Read, age, all));
        }
        workloads
    }

    pub(super) fn planned(&self, target: &Requested) -> Result<PlannedTarget> {
        Ok(PlannedTarget {
            label: target.label.clone(),
            engine: target.engine.name().to_owned(),
            location: String::new(),
            settings: target.settings_for(Some(self.durability))?,
            owner: Owner::Scratch,
            on: None,
        })
    }

    /// Finds out before anything is written whether there is room: a quarter more than the live
    /// objects, as one target is there at a time. An engine that takes more as it ages may still
    /// fill the disk; then its life ends, and the others go on.
    pub(super) fn check_room(&self) -> Result<()> {
        let live = self.data.count.saturating_mul(self.data.size);
        let needed = live.saturating_add(live / 4);
        let Some(free) = host::shortage(&self.scratch, needed)? else { return Ok(()) };
        Err(Error::usage(format!(
            "{} of live objects take {} or more as they age, {} has {} free: a smaller --volume takes \
             less, --scratch DIR names another place",
            show_size(live),
            show_size(needed),
            self.scratch.display(),
            show_size(free)
        )))
    }
}

/// Those of the reads, and the one that writes begin in: of a store that is in use.
pub(super) fn planned_caches(reads: &[Cache]) -> Vec<Cache> {
    let writes = (!reads.contains(&Cache::Warm)).then_some(Cache::Warm);
    reads.iter().copied().chain(writes).collect()
}
