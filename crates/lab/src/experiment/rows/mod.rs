//! `storemark rows`: a table of two integers is filled, summed and changed, by one process or
//! several.

mod trial;

use std::{collections::HashSet, fs, path::PathBuf};

use host::Scratch;
use model::{
    Batch, Cache, Error, Facet, Finding, FindingKind, Owner, PlannedTarget, Result, RowsData,
    RowsWork, Sample, Settings, Workload,
    rows::{RowOperation, RowStore, Style},
};

use super::{
    Complaints, Experiment, Loss, Output, Prepared, Trial, environment,
    request::{ExperimentPart, ExperimentRequest, Preparation, Request, ResolvedTarget, one_in},
};
use crate::Stop;
use trial::RowTrial;

/// The request of `storemark rows`: a table of two integers is filled, summed and changed.
#[derive(Clone)]
pub struct RowsRequest {
    /// The targets.
    pub targets: Vec<RowTarget>,
    /// Rows that each process inserts.
    pub rows: u64,
    /// Rows of a transaction, where a target has no number of its own.
    pub batch: u64,
    /// How many processes, on which databases.
    pub groups: Vec<Group>,
    /// The targets that cannot be measured: a label, and the reason.
    pub missing: Vec<(String, String)>,
}

/// A group of processes that work on rows at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of processes.
    pub processes: u32,
    /// Whether each process has a database of its own; otherwise all work on one.
    pub own_databases: bool,
}

/// A target of the rows experiment.
#[derive(Clone)]
pub struct RowTarget {
    /// The target.
    pub target: ResolvedTarget<dyn model::Rows>,
    /// How rows are handed over.
    pub style: Style,
    /// Rows of a transaction, where it has a number of its own.
    pub batch: Option<u64>,
}

/// The names under which a planned target has what the engine has no setting for.
const STYLE: &str = "style";
const BATCH: &str = "batch";

/// The number of operations of each group.
const OPERATIONS: usize = RowOperation::ALL.len();

impl ExperimentPart for RowsRequest {
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, stop, .. } = preparation;
        let targets =
            self.targets.iter().map(|target| target.planned(request)).collect::<Result<_>>()?;
        let (experiment, caches) = (RowsData { rows: self.rows }, vec![Cache::Warm]);
        let plan = request.plan(experiment, targets, self.workloads(), caches);
        let measured = || self.targets.iter().map(|of| &of.target);
        let scratch = Scratch::new_in(&request.scratch(measured()))?;
        let folder = scratch.path().to_owned();
        let servers = Servers { scratch, stores: Vec::new(), started: 0 };
        let libraries = self.targets.iter().filter_map(|target| target.target.library());
        let environment = environment(std::slice::from_ref(&folder), libraries);
        let rows = Rows { request, part: self, servers, folder, stop };
        let findings = [request.moved(measured()), missing(self)].concat();
        let prepared = Prepared::new(rows, plan, environment, "fewer --rows, targets or styles");
        Ok(Prepared { trials: self.trials(), findings, ..prepared })
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.targets.iter_mut().map(|row| &mut row.target.label).collect()
    }

    fn one_of(&self, parts: u32) -> Option<ExperimentRequest> {
        let rows = one_in(self.rows, parts);
        Some(Self { rows, ..self.clone() }.into())
    }
}

/// Returns a finding for each target that was to be measured but cannot be.
fn missing(part: &RowsRequest) -> Vec<Finding> {
    let finding = |why: String, label: &str| Finding::target(FindingKind::NotUsable { why }, label);
    let missing = part.missing.iter().map(|(label, why)| finding(why.clone(), label));
    let alone = part.targets.iter().filter_map(|target| {
        let why = part.groups.iter().find_map(|group| target.unfit(*group))?;
        let why = format!("several processes on one database: {why}");
        Some(finding(why, &target.target.label))
    });
    missing.chain(alone).collect()
}

struct Rows<'a> {
    request: &'a Request,
    part: &'a RowsRequest,
    servers: Servers,
    folder: PathBuf,
    stop: &'a Stop,
}

impl Experiment for Rows<'_> {
    fn run(&mut self, trial: &Trial, output: &mut Output<'_>) -> Result<()> {
        let Self { request, part, stop, .. } = *self;
        let first = trial.workloads.start;
        let (target, group) = (&part.targets[trial.target()], part.groups[first / OPERATIONS]);
        let settings = &target.target.settings_for(Facet::Rows, request.durability)?;
        let store = self.servers.store(target, settings)?;
        let folder = &self.folder;
        let run = RowTrial {
            part,
            worker: &request.worker,
            target,
            settings,
            group,
            store,
            folder,
            stop,
        }
        .run();
        if run.is_err() {
            self.servers.discard(target, settings);
        }
        let (facts, samples) = run?;
        output.facts(facts)?;
        let mut samples = (first..).zip(samples);
        samples.try_for_each(|(workload, of)| output.sample(Sample { workload, ..of }, None))
    }

    fn loss(&self, _: usize, _: &Error) -> Option<Loss> {
        Some(Loss::Trial)
    }

    fn finish(self: Box<Self>, _: Option<&HashSet<usize>>) -> Result<Complaints> {
        self.servers.close().map(|()| Vec::new())
    }
}

/// The running stores: each is started when the first trial needs it, and shared by the targets
/// that differ only in their tables.
struct Servers {
    scratch: Scratch,
    stores: Vec<(Key, Box<dyn RowStore>)>,
    started: u32,
}

/// The key of a store that targets share: engine, location, and the settings that do not belong to
/// a table.
type Key = (&'static str, Option<PathBuf>, Settings);

fn key(target: &RowTarget, settings: &Settings) -> Key {
    let engine = target.target.engine;
    let is_of_table = |name: &str| {
        engine.table_settings().iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *pattern,
        })
    };
    let Settings(mut settings) = settings.clone();
    settings.retain(|name, _| !is_of_table(name));
    (engine.name(), target.target.location.clone(), Settings(settings))
}

impl Servers {
    /// Returns the store of `target` with `settings`, and starts it if it does not run.
    fn store(&mut self, target: &RowTarget, settings: &Settings) -> Result<&dyn RowStore> {
        let key = key(target, settings);
        let place = if let Some(place) = self.stores.iter().position(|(of, _)| *of == key) {
            place
        } else {
            self.started += 1;
            let own = || self.scratch.path().join(format!("{}-{}", key.0, self.started));
            let location = key.1.clone().unwrap_or_else(own);
            let store = target.target.engine.start(&location, settings)?;
            self.stores.push((key, store));
            self.stores.len() - 1
        };
        Ok(&*self.stores[place].1)
    }

    /// Ends a store whose trial failed: what it holds is not known.
    fn discard(&mut self, target: &RowTarget, settings: &Settings) {
        let key = key(target, settings);
        let Some(index) = self.stores.iter().position(|(of, _)| *of == key) else { return };
        let (_, store) = self.stores.remove(index);
        let location = store.location();
        // It has failed already, and that was reported.
        let _ = store.close();
        if location.starts_with(self.scratch.path()) {
            let _ = fs::remove_dir_all(location);
        }
    }

    /// Ends all stores.
    fn close(self) -> Result<()> {
        self.stores.into_iter().try_for_each(|(_, store)| store.close())
    }
}

impl Group {
    /// Returns the number of processes that work on one database.
    fn processes_per_database(self) -> u32 {
        if self.own_databases { 1 } else { self.processes }
    }
}

impl RowTarget {
    fn batch(&self, part: &RowsRequest) -> u64 {
        self.batch.unwrap_or(part.batch)
    }

    /// Returns why the target cannot work in `group`, whose processes may have to share a database;
    /// `None` if it can.
    fn unfit(&self, group: Group) -> Option<&'static str> {
        self.target
            .engine
            .alone(&self.target.settings)
            .filter(|_| group.processes_per_database() > 1)
    }

    fn planned(&self, request: &Request) -> Result<PlannedTarget> {
        let owner = if self.target.location.is_some() { Owner::User } else { Owner::Scratch };
        let mut planned = self.target.planned(Facet::Rows, request.durability, owner)?;
        planned.settings.set(STYLE, self.style);
        if let Some(batch) = self.batch {
            planned.settings.set(BATCH, batch);
        }
        Ok(planned)
    }
}

impl RowsRequest {
    /// Returns the trials: each target with each group in which it can work.
    fn trials(&self) -> Vec<Trial> {
        let groups = || (0..).step_by(OPERATIONS).zip(&self.groups);
        let of = |(target, asked): (usize, &RowTarget)| {
            let fitting = groups().filter(|(_, group)| asked.unfit(**group).is_none());
            let trial = |(first, _)| Trial::for_target(target, first..first + OPERATIONS, None);
            fitting.map(trial).collect::<Vec<_>>()
        };
        self.targets.iter().enumerate().flat_map(of).collect()
    }

    /// Returns the workloads of the plan: the operations of each group, one after the other.
    fn workloads(&self) -> Vec<Workload> {
        let of = |group: &Group| {
            let Group { processes, own_databases } = *group;
            RowOperation::ALL.map(|operation| {
                let count = self.rows * u64::from(processes * touched(operation, *group));
                let workload = Workload::alone(RowsWork { operation, own_databases }, count);
                Workload { batch: Batch::Of(self.batch), processes, ..workload }
            })
        };
        self.groups.iter().flat_map(of).collect()
    }
}

/// Returns the number of processes whose rows each process of a group touches: it sums and changes
/// the rows of all that share its database.
fn touched(operation: RowOperation, group: Group) -> u32 {
    if operation == RowOperation::Insert { 1 } else { group.processes_per_database() }
}
