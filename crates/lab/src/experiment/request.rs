//! What the user wants measured, resolved to engines and paths but not yet looked at.

use std::{ffi::OsString, path::PathBuf};

use host::Placement;
use model::{
    Batch, Blobs, Cache, DatasetSpec, Durability, Engine, Error, Experiment, Facet, Generated,
    Operation, Order, Owner, Plan, PlannedTarget, Result, Rounds, Rows, Settings, Tasks, Workload,
    record::Point, rows::Style, spec::RunSpec, without_password,
};

use crate::workload::BlobWork;

/// A comparison: what all experiments have in common, and the part of one of them.
pub struct Request {
    pub experiment: ExperimentRequest,
    /// Index into the targets of the one the others are compared with.
    pub baseline: usize,
    /// Durability class to set every target up for.
    pub durability: Option<Durability>,
    /// When to stop.
    pub rounds: Rounds,
    /// Drives everything random.
    pub seed: u64,
    /// Where scratch stores go; absent: next to the user's store, or the current directory.
    pub scratch: Option<PathBuf>,
    /// The user's own words for it, which the record carries.
    pub spec: Option<RunSpec>,
    /// Which run of a sweep this is.
    pub point: Option<Point>,
}

/// The part of an experiment.
pub enum ExperimentRequest {
    Blobs(BlobsRequest),
    Rows(RowsRequest),
    Tasks(TasksRequest),
    Ageing(AgeingRequest),
}

/// `storemark run`: values under keys.
#[expect(clippy::struct_excessive_bools, reason = "independent wishes, named one by one")]
pub struct BlobsRequest {
    /// Where scratch stores get their data.
    pub data: Data,
    pub targets: Vec<Target<dyn Blobs>>,
    /// What is done with each; a workload each. Either all draw their keys or none does.
    pub work: Vec<BlobWork>,
    /// The cache states in which each is measured.
    pub caches: Vec<Cache>,
    /// Operations of a pass; absent: every key once, more often where that takes no time.
    pub count: Option<u64>,
    /// Largest integer key to touch.
    pub max_key: Option<i64>,
    /// First integer key of a fixed order.
    pub start: Option<i64>,
    /// Operations per commit.
    pub batch: Batch,
    /// Workers of each process.
    pub threads: u32,
    /// Worker processes; absent: this one works itself.
    pub processes: Option<WorkerProcesses>,
    /// Memory for all that works for a target; absent: all there is.
    pub memory: Option<u64>,
    /// Make every pass long enough to show how it goes over time, and time all its operations.
    pub over_time: bool,
    /// Write to the user's own stores instead of scratch copies.
    pub in_place: bool,
    /// Run each engine's own integrity check at the end.
    pub integrity_check: bool,
    /// Go on where a file system seems to have too little room.
    pub short_of_room: bool,
}

/// `storemark rows`: a table of two integers is filled, summed and changed.
pub struct RowsRequest {
    pub targets: Vec<RowTarget>,
    /// Rows that each process inserts.
    pub rows: u64,
    /// Rows of a transaction, where a target has no number of its own.
    pub batch: u64,
    /// How many processes, on which databases.
    pub groups: Vec<Group>,
    /// Starts a worker process: see [`WorkerProcesses::command`].
    pub worker: Vec<OsString>,
    /// What was to be measured but cannot be: a label, and why.
    pub missing: Vec<(String, String)>,
}

/// `storemark queue`: tasks are created, changed and deleted.
pub struct TasksRequest {
    pub targets: Vec<Target<dyn Tasks>>,
    /// Workers at once.
    pub workers: u32,
    /// Tasks that each processes, one after the other.
    pub tasks: u64,
    /// Times that the output of a task is rewritten.
    pub rewrites: u64,
    /// Bytes of an output.
    pub output: u64,
}

/// `storemark age`: objects are replaced again and again in scratch stores.
pub struct AgeingRequest {
    pub targets: Vec<Target<dyn Blobs>>,
    /// How many objects there are, and how large they are.
    pub data: Generated,
    /// Storage ages at which reads are measured, ascending.
    pub ages: Vec<u32>,
    /// The cache states in which they are.
    pub caches: Vec<Cache>,
}

/// Processes that do the work.
#[derive(Clone)]
pub struct WorkerProcesses {
    pub count: u32,
    /// Starts one: a program and its arguments, which end up in [`serve`](crate::serve) with this
    /// process at the other end of standard input and output.
    pub command: Vec<OsString>,
}

/// Processes that work on rows at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub processes: u32,
    /// Each has a database of its own; otherwise all work on one.
    pub own_databases: bool,
}

/// A target: an engine by the facet that is measured, and where its stores are.
pub struct Target<E: ?Sized + 'static> {
    /// Its name in tables.
    pub label: String,
    pub engine: &'static E,
    /// The user's own store; absent: a scratch store.
    pub location: Option<PathBuf>,
    /// Where on a server its scratch stores are made, with the password.
    pub address: Option<String>,
    /// Settings asked for, checked; they win over those of the durability class.
    pub settings: Settings,
    /// The file system that its scratch stores are placed on; absent: no choice was given.
    pub placement: Option<Placement>,
}

/// A target of the rows experiment.
pub struct RowTarget {
    pub target: Target<dyn Rows>,
    /// How rows are handed over.
    pub style: Style,
    /// Rows of a transaction, where it has a number of its own.
    pub batch: Option<u64>,
}

/// Where scratch stores get their data.
#[derive(Clone)]
pub enum Data {
    /// Generated from a seed.
    Generated(Generated),
    /// A store that is only read: a user's directory.
    Store { engine: &'static dyn Blobs, path: PathBuf, settings: Settings },
    /// The first target that has a location.
    Targets,
}

impl Request {
    /// Reads every key of each target at random, warm, by one worker; the first target is the
    /// baseline.
    pub fn reading(data: Data, targets: Vec<Target<dyn Blobs>>, rounds: Rounds, seed: u64) -> Self {
        let read = BlobWork { operation: Operation::Read, order: Order::Permutation, rate: None };
        let blobs = BlobsRequest {
            data,
            targets,
            work: vec![read],
            caches: vec![Cache::Warm],
            count: None,
            max_key: None,
            start: None,
            batch: Batch::All,
            threads: 1,
            processes: None,
            memory: None,
            over_time: false,
            in_place: false,
            integrity_check: false,
            short_of_room: false,
        };
        Self {
            experiment: ExperimentRequest::Blobs(blobs),
            baseline: 0,
            durability: None,
            rounds,
            seed,
            scratch: None,
            spec: None,
            point: None,
        }
    }

    /// The plan of an experiment with these targets and workloads.
    pub(crate) fn plan(
        &self,
        experiment: Experiment,
        targets: Vec<PlannedTarget>,
        workloads: Vec<Workload>,
        caches: Vec<Cache>,
    ) -> Plan {
        let Self { seed, baseline, durability, rounds, .. } = *self;
        let memory = None;
        Plan { seed, experiment, targets, baseline, workloads, caches, durability, memory, rounds }
    }

    /// Where scratch stores go that are not next to anything.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    /// The part of `storemark run`, if it is one.
    pub fn blobs(&self) -> Option<&BlobsRequest> {
        if let ExperimentRequest::Blobs(blobs) = &self.experiment { Some(blobs) } else { None }
    }
}

impl Data {
    pub(crate) fn spec(&self) -> DatasetSpec {
        match self {
            Self::Generated(spec) => DatasetSpec::Generated(*spec),
            Self::Store { path, .. } => DatasetSpec::Directory { path: path.display().to_string() },
            Self::Targets => DatasetSpec::Targets,
        }
    }
}

impl<E: Engine + ?Sized> Target<E> {
    /// A scratch store of `engine` with its default settings.
    pub fn scratch(label: &str, engine: &'static E) -> Self {
        let (location, address, placement) = (None, None, None);
        let (label, settings) = (label.to_owned(), Settings::default());
        Self { label, engine, location, address, settings, placement }
    }

    /// Settings for `class` with those asked for on top.
    pub(crate) fn settings_for(&self, facet: Facet, class: Option<Durability>) -> Result<Settings> {
        let Some(class) = class else { return Ok(self.settings.clone()) };
        let of_class = self.engine.class_settings(facet, class)?;
        match self.engine.unsupported_reason(class, &self.settings) {
            None => Ok(of_class.overlaid(&self.settings)),
            Some(why) => {
                Err(Error::usage(format!("{} cannot give durability {class}: {why}", self.label)))
            }
        }
    }

    /// Where the scratch store `name` is if it is not on disk: on a server, or nowhere.
    pub(crate) fn table(&self, name: &str) -> PathBuf {
        let table = |address| format!("{address}/storemark_{name}");
        self.address.as_ref().map_or_else(PathBuf::new, |address| table(address).into())
    }

    pub(crate) fn planned(&self, settings: Settings, owner: Owner) -> PlannedTarget {
        let path = || self.location.as_ref().map(|path| path.display().to_string());
        let address = self.address.as_deref().map(without_password);
        PlannedTarget {
            label: self.label.clone(),
            engine: self.engine.name().to_owned(),
            location: address.or_else(path).unwrap_or_default(),
            settings,
            owner,
            on: self.placement.as_ref().map(|placement| placement.name.clone()),
        }
    }
}
