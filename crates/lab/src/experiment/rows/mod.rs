//! `storemark rows`: a table of two integers is filled, summed and changed, by one process or
//! several.

mod servers;
mod trial;

use std::path::PathBuf;

use host::Scratch;
use model::{
    Batch, Cache, Experiment as Data, Facet, Finding, FindingKind, Owner, PlannedTarget, Result,
    Settings, Work, Workload, rows::Operation,
};

use super::{
    At, Experiment, Output, Prepared, Trial, environment,
    request::{Group, Request, RowTarget, RowsRequest},
};
use crate::Stop;
use servers::Servers;
use trial::RowTrial;

/// Names under which a planned target has what the engine has no setting for.
const STYLE: &str = "style";
const BATCH: &str = "batch";

/// Operations of each group.
const OPERATIONS: usize = Operation::ALL.len();

pub(crate) fn prepare<'a>(
    request: &'a Request,
    part: &'a RowsRequest,
    stop: &'a Stop,
) -> Result<Prepared<'a>> {
    let settings = |target: &RowTarget| target.target.settings_for(Facet::Rows, request.durability);
    let settings = part.targets.iter().map(settings).collect::<Result<Vec<_>>>()?;
    let servers = Servers::new(Scratch::new_in(&request.scratch())?);
    let folder = servers.folder();
    let targets = part.targets.iter().zip(&settings);
    let targets = targets.map(|(target, settings)| target.planned(settings.clone()));
    let (experiment, caches) = (Data::Rows { rows: part.rows }, vec![Cache::Warm]);
    let plan = request.plan(experiment, targets.collect(), part.workloads(), caches);
    let libraries = part.targets.iter().filter_map(|target| target.target.engine.library());
    let environment = environment(std::slice::from_ref(&folder), libraries);
    let rows = Rows { part, settings, servers, folder, stop };
    Ok(Prepared { findings: missing(part), ..Prepared::new(rows, plan, environment) })
}

/// What was to be measured but cannot be.
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
    part: &'a RowsRequest,
    /// By target: those of the durability class with those asked for on top.
    settings: Vec<Settings>,
    servers: Servers,
    folder: PathBuf,
    stop: &'a Stop,
}

impl Experiment for Rows<'_> {
    fn trials(&self) -> Vec<Trial> {
        let groups = || self.part.groups.iter().enumerate();
        let of = |(target, asked): (usize, &RowTarget)| {
            let fitting = groups().filter(|(_, group)| asked.unfit(**group).is_none());
            let trial =
                |(group, _)| Trial { target, workload: OPERATIONS * group, cache: Cache::Warm };
            fitting.map(trial).collect::<Vec<_>>()
        };
        self.part.targets.iter().enumerate().flat_map(of).collect()
    }

    fn run(&mut self, trial: Trial, _: At, output: &mut Output<'_>) -> Result<()> {
        let (part, stop) = (self.part, self.stop);
        let (target, settings) = (&part.targets[trial.target], &self.settings[trial.target]);
        let group = part.groups[trial.workload / OPERATIONS];
        let store = self.servers.store(target, settings)?;
        let folder = &self.folder;
        let run = RowTrial { part, target, settings, group, store, folder, stop }.run();
        if run.is_err() {
            self.servers.discard(target, settings);
        }
        let (facts, samples) = run?;
        output.facts(facts)?;
        (trial.workload..).zip(samples).try_for_each(|(workload, sample)| {
            output.sample(model::Sample { workload, ..sample }, None)
        })
    }

    fn loss(&self, _: Trial, error: &model::Error) -> Option<super::Loss> {
        (error.kind() != model::ErrorKind::Interrupted).then_some(super::Loss::Trial)
    }

    fn shorter(&self) -> &'static str {
        "fewer --rows, targets or styles"
    }

    fn close(self: Box<Self>, _: bool) -> Result<()> {
        self.servers.close()
    }
}

impl Group {
    fn databases(self) -> u32 {
        if self.own_databases { self.processes } else { 1 }
    }

    /// The database of a process.
    fn database(self, process: u32) -> u32 {
        if self.own_databases { process } else { 0 }
    }
}

impl RowTarget {
    fn batch(&self, part: &RowsRequest) -> u64 {
        self.batch.unwrap_or(part.batch)
    }

    /// Why it cannot work in `group`, whose processes may have to share a database.
    fn unfit(&self, group: Group) -> Option<&'static str> {
        let apart = group.own_databases || group.processes == 1;
        self.target.engine.alone(&self.target.settings).filter(|_| !apart)
    }

    fn planned(&self, mut settings: Settings) -> PlannedTarget {
        settings.set(STYLE, self.style);
        if let Some(batch) = self.batch {
            settings.set(BATCH, batch);
        }
        let user = self.target.location.is_some();
        self.target.planned(settings, if user { Owner::User } else { Owner::Scratch })
    }
}

impl RowsRequest {
    /// The workloads of the plan: the operations of each group, one after the other.
    fn workloads(&self) -> Vec<Workload> {
        let of = |group: &Group| {
            let Group { processes, own_databases } = *group;
            let batch = Batch::Of(self.batch);
            Operation::ALL.map(|operation| Workload {
                work: Work::Rows { operation, own_databases },
                count: self.operations(operation, Group { processes, own_databases }),
                batch,
                threads: 1,
                processes,
            })
        };
        self.groups.iter().flat_map(of).collect()
    }

    /// Rows that all processes of a group touch together: on one database, each sums and changes
    /// those of all.
    fn operations(&self, operation: Operation, group: Group) -> u64 {
        let all = self.rows * u64::from(group.processes);
        let each_all = operation != Operation::Insert && !group.own_databases;
        if each_all { all * u64::from(group.processes) } else { all }
    }
}
