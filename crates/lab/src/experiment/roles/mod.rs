//! `storemark run --roles`: sessions with different work use a store at the same time, and each role
//! is measured alone, too.

mod growth;
mod maintenance;
mod trial;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{
    Access, Batch, Blobs, Cache, Error, Facet, Finding, FindingKind, Meanwhile, OpenOptions, Order,
    Result, Role, RoleWork, RolesData, Store, StoreFacts, Workload,
};

use super::{
    Complaints, Experiment, Output, Prepared, Scratches, Trial,
    blobs::{self, filling::fill, source::Source},
    environment,
    request::{ExperimentPart, Preparation, Request, ResolvedTarget},
};
use crate::{
    Progress, Stop,
    copy::clone_store,
    dataset::{Dataset, Pool, Use, check_bytes, derive},
    store::{ReadyStore, check},
    workers::{processes::Processes, roles::RoleSessions, worker_process::Launch},
    workload::nanoseconds,
};
use trial::RolesTrial;

/// The request of `storemark run --roles`: sessions with different work on one store.
#[derive(Clone)]
pub struct RolesRequest {
    /// The targets.
    pub targets: Vec<ResolvedTarget<dyn Blobs>>,
    /// The source of the values.
    pub data: blobs::Data,
    /// The roles, at least one.
    pub roles: Vec<Role>,
    /// The law by which keys are drawn; `None` if each is as likely as any other.
    pub distribution: Option<Order>,
    /// The length of a pass; `None` if it follows from the time of the run.
    pub pass: Option<Duration>,
    /// The maintenance during further passes.
    pub meanwhile: Vec<Meanwhile>,
    /// Whether each session is in a process of its own.
    pub processes: bool,
}

impl ExperimentPart for RolesRequest {
    fn check(&self, request: &Request, _: &Stop) -> Result<()> {
        self.targets.iter().try_for_each(|target| self.check_target(target))?;
        request.plan_scratch(&self.targets, Facet::Blobs)?;
        self.targets.iter().try_for_each(|target| host::check_scratch(&request.parent(target)))
    }

    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, progress, stop, .. } = preparation;
        let targets = request.plan_scratch(&self.targets, Facet::Blobs)?;
        let place = (request.scratch.as_deref(), progress, stop);
        let source = Source::open_data(&self.data, &self.targets, place)?;
        let amount = source.amount(stop)?;
        if amount.count == 0 {
            return Err(Error::usage("the data has no value that could be read"));
        }
        let (scratches, folders) = self.scratches(request)?;
        let dataset = source.dataset(amount.count, progress, stop)?;
        let summary = dataset.summary();
        let libraries = self.targets.iter().filter_map(ResolvedTarget::library);
        let environment = environment(&folders, libraries);
        let experiment = RolesData {
            dataset: self.data.spec(),
            summary,
            roles: self.roles.clone(),
            distribution: self.distribution,
            pass_ns: nanoseconds(self.pass_length(request)),
            meanwhile: self.meanwhile.clone(),
            processes: self.processes,
        };
        let workloads = experiment.work().map(|work| self.workload(work)).collect();
        let plan = request.plan(experiment.clone(), targets, workloads, vec![Cache::Warm]);
        let seed = derive(request.seed, Use::Pool, 0);
        let pool = Pool::new(seed, summary.largest, self.data.random_percent());
        let sessions = self.roles.iter().map(|role| role.sessions).sum();
        let processes = if self.processes {
            let launches = Launch::here(&request.worker, sessions);
            Some(Processes::start(&launches, Some((&dataset, pool.spec())), stop)?)
        } else {
            None
        };
        let stores = self.targets.iter().map(|_| None).collect();
        let roles = RolesExperiment {
            request,
            part: self,
            data: experiment,
            source,
            dataset,
            pool,
            scratches,
            stores,
            processes,
            made: 0,
            progress,
            stop,
        };
        let mut findings = request.moved(&self.targets);
        findings.extend(self.targets.iter().filter_map(copied));
        let shorter = "a shorter --pass, or fewer roles or targets";
        let round = self.overlong_round(request);
        Ok(Prepared { findings, round, ..Prepared::new(roles, plan, environment, shorter) })
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.targets.iter_mut().map(|target| &mut target.label).collect()
    }
}

/// The share of the time of a run that passes take; the rest fills stores and opens them.
const PASSES: f64 = 0.7;
/// The same with maintenance, which works alone in each round, too.
const PASSES_WITH_MAINTENANCE: f64 = 0.4;
/// The shortest and the longest pass that is chosen.
const LENGTHS: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];
/// The length of a pass in runs of a given number of rounds.
const USUAL: Duration = Duration::from_secs(1);
/// The number of times that a held transaction fits into a pass.
const HELD: u32 = 2;

impl Request {
    /// Returns the part of `storemark run --roles`, if it is one.
    pub fn roles(&self) -> Option<&RolesRequest> {
        self.experiment.part()
    }
}

impl RolesRequest {
    /// Creates the request of roles in threads, without maintenance.
    pub fn new(
        targets: Vec<ResolvedTarget<dyn Blobs>>,
        data: blobs::Data,
        roles: Vec<Role>,
    ) -> Self {
        Self {
            targets,
            data,
            roles,
            distribution: None,
            pass: None,
            meanwhile: Vec::new(),
            processes: false,
        }
    }

    /// Returns the passes of a round of one target.
    pub fn passes(&self) -> u32 {
        let roles = u32::try_from(self.roles.len()).unwrap_or(u32::MAX);
        let maintained = u32::try_from(self.meanwhile.len()).unwrap_or(u32::MAX);
        roles.saturating_add(u32::from(roles > 1)).saturating_add(maintained)
    }

    /// Returns the workload of a role's work, with the sessions that the role has.
    fn workload(&self, work: RoleWork) -> Workload {
        let Role { batch, sessions, .. } = self.roles[work.role];
        let workload = Workload { batch: Batch::Of(batch), ..Workload::alone(work, 0) };
        if self.processes {
            Workload { processes: sessions, ..workload }
        } else {
            Workload { threads: sessions, ..workload }
        }
    }

    /// Returns the length of a pass: what was asked for, or what lets as many rounds as a verdict
    /// needs fit into the time.
    pub fn pass_length(&self, request: &Request) -> Duration {
        if let Some(pass) = self.pass {
            return pass;
        }
        let held = self.roles.iter().filter_map(|role| role.held_ns).max().unwrap_or(0);
        let held = Duration::from_nanos(held).saturating_mul(HELD);
        let Some(time) = request.time() else { return USUAL.max(held) };
        let targets = u32::try_from(self.targets.len()).unwrap_or(u32::MAX);
        let passes = self.passes().saturating_mul(targets).saturating_mul(request.rounds.min);
        let maintained = !self.meanwhile.is_empty();
        let share = if maintained { PASSES_WITH_MAINTENANCE } else { PASSES };
        let each = time.mul_f64(share) / passes.max(1);
        each.clamp(LENGTHS[0], LENGTHS[1]).max(held)
    }

    /// Returns the time of a round's passes alone, if the least number of rounds does not fit.
    fn overlong_round(&self, request: &Request) -> Option<Duration> {
        let targets = u32::try_from(self.targets.len()).unwrap_or(u32::MAX);
        let passes = self.passes().saturating_mul(targets);
        let round = self.pass_length(request).saturating_mul(passes);
        let time = request.time()?;
        (round.saturating_mul(request.rounds.min) > time).then_some(round)
    }

    /// Makes the scratch folders of all targets, each on the file system of the store that is copied there
    /// or where `--scratch` asks for it. Also returns their paths.
    ///
    /// # Errors
    ///
    /// Fails if a store is too large to be copied there.
    fn scratches(&self, request: &Request) -> Result<(Scratches, Vec<PathBuf>)> {
        let (mut scratches, mut folders) = (Scratches::default(), Vec::new());
        for target in &self.targets {
            let folder = scratches.in_folder(request.parent(target), true)?.path();
            if !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_owned());
            }
            if let Some(own) = target.own_store() {
                own.check_copy_fits(folder)?;
            }
        }
        Ok((scratches, folders))
    }

    /// Fails, with the name of the target, if its engine cannot do what a role asks for.
    pub(crate) fn check_target(&self, target: &ResolvedTarget<dyn Blobs>) -> Result<()> {
        let (engine, can) = (target.engine, target.engine.capabilities());
        let refused = |why: String| Err(Error::usage(why).at(&target.label));
        if can.written_once {
            return refused("is an archive, which is written once".to_owned());
        }
        let writers = self.roles.iter().filter(|role| role.mix.writes());
        let writers: u32 = writers.map(|role| role.sessions).sum();
        if writers > 1 && !can.concurrent_writes {
            return refused(format!("admits one session that writes; these roles have {writers}"));
        }
        if let Some(role) =
            self.roles.iter().find(|role| role.deferred && !engine.declaration().defers)
        {
            return refused(format!(
                "starts every transaction that may write as a writer; leave out deferred in {}",
                role.name
            ));
        }
        let holds = self.roles.iter().find(|role| role.held_ns.is_some() && !role.mix.writes());
        if let Some(role) = holds.filter(|_| !can.snapshots) {
            return refused(format!("has no snapshot that {} could hold", role.name));
        }
        let known = engine.declaration().maintenance;
        let has = |what| known.iter().any(|(kind, _)| *kind == what);
        if let Some(Meanwhile { what, .. }) = self.meanwhile.iter().find(|of| !has(of.what)) {
            let all: Vec<_> = known.iter().map(|(kind, _)| kind.as_str()).collect();
            let all = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
            return refused(format!("cannot do {what} while sessions work; it can do {all}"));
        }
        if !self.processes {
            return Ok(());
        }
        if !can.processes {
            return refused("admits one process; leave out --processes".to_owned());
        }
        match engine.writes_alone(&target.settings) {
            Some(why) if writers > 0 => refused(why),
            _ => Ok(()),
        }
    }
}

/// Returns that a copy of the user's own store is measured.
fn copied(target: &ResolvedTarget<dyn Blobs>) -> Option<Finding> {
    target.location.as_ref()?;
    let why = "roles work in copies only".to_owned();
    Some(Finding::target(FindingKind::ScratchCopy { why, updated: true }, &target.label))
}

pub(super) struct RolesExperiment<'a> {
    request: &'a Request,
    part: &'a RolesRequest,
    data: RolesData,
    source: Source,
    /// In key order.
    dataset: Dataset,
    pool: Pool,
    scratches: Scratches,
    /// The filled store of each target, as far as it has one.
    stores: Vec<Option<ReadyStore>>,
    processes: Option<Processes<'a>>,
    /// The number of stores that were created so far.
    made: u64,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl RolesExperiment<'_> {
    /// Returns whether the roles leave other keys than there were.
    fn changes_keys(&self) -> bool {
        self.part.roles.iter().any(|role| role.mix.changes_keys())
    }

    /// Returns the filled store of a target, or the copy of the user's own, and how long making it took if
    /// it was made now.
    fn store(&mut self, target: usize) -> Result<(ReadyStore, Option<u64>)> {
        if let Some(ready) = self.stores[target].take() {
            return Ok((ready, None));
        }
        let of = &self.part.targets[target];
        self.made += 1;
        let scratch = self.scratches.in_folder(self.request.parent(of), true)?;
        let folder = scratch.folder(&self.made.to_string(), of.engine.account())?;
        let settings = of.settings_for(Facet::Blobs, self.request.durability)?;
        let options = OpenOptions { settings, access: Access::Write, keys: self.dataset.keys() };
        let name = of.location.as_deref().and_then(Path::file_name);
        let path = folder.join(name.unwrap_or(of.engine.name().as_ref()));
        let mut ready = ReadyStore::new(of.engine, path, options);
        let start = Instant::now();
        let Some(own) = &of.location else {
            fill(&mut ready, &self.source, self.progress, self.stop)?;
            return Ok((ready, Some(nanoseconds(start.elapsed()))));
        };
        clone_store(of.engine, own, &ready.path, self.progress, self.stop)?;
        host::sync(&ready.path)?;
        let copied = nanoseconds(start.elapsed());
        let same = |store: &dyn Store| {
            check::same_keys(&self.dataset, &mut *store.session()?, check_bytes, self.stop)
        };
        ready.with(same)?;
        Ok((ready, Some(copied)))
    }

    /// Closes a store, and removes its files.
    fn remove(ready: ReadyStore) -> Result<()> {
        let folder = ready.path.parent().map(std::path::Path::to_owned);
        ready.held.map_or(Ok(()), model::Store::close)?;
        let Some(folder) = folder else { return Ok(()) };
        std::fs::remove_dir_all(&folder).map_err(|e| Error::io(folder.display(), e))
    }
}

impl Experiment for RolesExperiment<'_> {
    fn run(&mut self, _: &Trial, output: &mut Output<'_>) -> Result<()> {
        let target = output.target;
        let (ready, fill_ns) = self.store(target)?;
        let facts = ready.facts(self.dataset.summary().bytes)?;
        output.facts(StoreFacts { fill_ns, ..facts })?;
        let seed = derive(self.request.seed, Use::Trials, output.round.into());
        let sessions = RoleSessions {
            roles: &self.part.roles,
            values: (&self.dataset, &self.pool),
            draw: (self.part.distribution.unwrap_or(Order::Random), seed),
            stop: self.stop,
        };
        let trial = RolesTrial { of: self, ready: &ready, sessions, seed };
        trial.run(output)?;
        if self.changes_keys() {
            return Self::remove(ready);
        }
        self.stores[target] = Some(ready);
        Ok(())
    }

    /// Starts worker processes again if one has ended.
    fn recover(&mut self) -> Result<()> {
        if let Some(processes) = &mut self.processes {
            let sessions = self.part.roles.iter().map(|role| role.sessions).sum();
            let launches = Launch::here(&self.request.worker, sessions);
            let values = Some((&self.dataset, self.pool.spec()));
            *processes = Processes::start(&launches, values, self.stop)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: Option<&HashSet<usize>>) -> Result<Complaints> {
        // Workers have no store open between trials.
        drop(self.processes);
        self.stores.into_iter().flatten().try_for_each(Self::remove)?;
        Ok(Vec::new())
    }
}
