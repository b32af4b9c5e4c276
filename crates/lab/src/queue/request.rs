//! What the user wants measured of a queue, resolved to engines but not yet made.

use std::path::PathBuf;

use model::{
    Batch, Cache, Durability, Experiment, Facet, Owner, Plan, PlannedTarget, Result, Rounds,
    Settings, Tasks, Work, Workload,
};

use host::Placement as Site;

/// A comparison as asked for.
pub struct QueueRequest {
    /// What is compared.
    pub targets: Vec<QueueTarget>,
    /// Index into `targets` of the one the others are compared with.
    pub baseline: usize,
    /// Workers at once.
    pub workers: u32,
    /// Tasks that each sees through, one after the other.
    pub tasks: u64,
    /// Times that the output of a task is rewritten.
    pub rewrites: u64,
    /// Bytes of an output.
    pub output: u64,
    /// Durability class to set every target up for.
    pub durability: Option<Durability>,
    /// When to stop.
    pub rounds: Rounds,
    /// Drives the order of trials, ids and outputs.
    pub seed: u64,
    /// Where the stores of targets without a site go.
    pub scratch: PathBuf,
}

/// A target as asked for.
pub struct QueueTarget {
    /// What stands in tables.
    pub label: String,
    /// Its engine.
    pub engine: &'static dyn Tasks,
    /// Settings asked for, checked; they win over those of the durability class.
    pub settings: Settings,
    /// The file system that it is put on; absent: no choice was given.
    pub site: Option<Site>,
}

impl QueueTarget {
    /// With the settings of the class that was asked for.
    pub(super) fn with_class(mut self, class: Option<Durability>) -> Result<Self> {
        if let Some(class) = class {
            let settings = self.engine.class_settings(Facet::Tasks, class)?;
            self.settings = settings.overlaid(&self.settings);
        }
        Ok(self)
    }

    fn planned(&self) -> PlannedTarget {
        PlannedTarget {
            label: self.label.clone(),
            engine: self.engine.name().to_owned(),
            location: String::new(),
            settings: self.settings.clone(),
            owner: Owner::Scratch,
            on: self.site.as_ref().map(|site| site.name.clone()),
        }
    }
}

impl QueueRequest {
    pub(super) fn plan(&self) -> Plan {
        let workload = Workload {
            work: Work::Tasks,
            count: self.tasks * u64::from(self.workers),
            batch: Batch::Of(1),
            threads: self.workers,
            processes: 1,
        };
        let Self { tasks, rewrites, output, .. } = *self;
        Plan {
            seed: self.seed,
            experiment: Experiment::Tasks { tasks, rewrites, output },
            targets: self.targets.iter().map(QueueTarget::planned).collect(),
            baseline: self.baseline,
            workloads: vec![workload],
            caches: vec![Cache::Warm],
            durability: self.durability,
            memory: None,
            rounds: self.rounds,
        }
    }
}
