//! `storemark run`: operations on values under keys.

mod calibration;
mod copies;
mod draw;
mod epoch;
pub(super) mod filling;
mod fit;
mod forecast;
mod job;
mod listing;
mod memory_limit;
mod prepare;
mod refusals;
mod request;
mod requests;
mod room;
mod sample;
pub(super) mod source;
mod store_preparation;
mod stores;
mod survey;
mod warming;

use std::{collections::HashSet, sync::Arc, time::Duration};

use model::{
    BlobWork, Cache, Case, DatasetSummary, Environment, Error, ErrorKind, Filesystem, Finding,
    FindingKind, Operation, Plan, Result, Sample, Server, Work, Workload, record::Line,
};

use super::{
    Complaints, Experiment, Loss, Output, Prepared, Scratches, Trial, environment,
    request::{ExperimentPart, Preparation, Request},
    store_cache::StoreCache,
    values::{TrialInput, ValuesTrial},
};
use crate::{
    Recorder, Silent, Stop,
    budget::{Budget, shares},
    dataset::{Part, Pool, Use, derive},
    store::{ReadyStore, cache_state},
    workers::{blobs::StoreRequest, processes::Processes, worker_process::Launch},
    workload::{OpStream, PassInput, drawn},
};
pub(super) use calibration::own_loop;
use epoch::PageLooks;
pub use forecast::{Forecast, RunForecast, forecast};
use job::{BlobTarget, Job};
use listing::Listing;
use memory_limit::MemoryLimiter;
pub use memory_limit::equal_cache;
pub use request::{BlobsRequest, Coverage, Data, Hosts};
pub use requests::RequestForecast;
pub use room::Room;
use source::Source;
pub use stores::Needs;
use stores::{PreparedTarget, Sampled, Stores};
pub(crate) use survey::{Survey, survey};

impl ExperimentPart for BlobsRequest {
    fn check(&self, request: &Request, stop: &Stop) -> Result<()> {
        refusals::check(Job::new(request, self, &Silent, stop))
    }

    /// Makes the data and the stores ready, and finds out how long passes are.
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, cache, progress, stop } = preparation;
        let job = Job::new(request, self, progress, stop);
        let (caches, unreachable) = cache_state::reachable(&self.caches)?;
        let (blobs, round) = ready(job, caches, cache)?;
        let Blobs { stores, limiter, .. } = &blobs;
        let experiment = stores.data(self);
        let targets = stores.targets.iter().map(|target| target.planned.clone()).collect();
        let plan = Plan {
            baseline: stores.baseline,
            memory: limiter.as_ref().map(|limiter| limiter.planned),
            hosts: blobs.hosts.clone(),
            ..request.plan(experiment, targets, blobs.workloads.clone(), blobs.caches.clone())
        };
        // What measures all takes is said with a sample of what fits: no second advice.
        let fitted = stores.sampled.is_some_and(|of| of.seconds.is_some());
        Ok(Prepared {
            environment: blobs.environment(&plan)?,
            findings: blobs.findings(unreachable),
            trials: blobs.trials(&plan),
            stores: stores.targets.iter().map(|target| target.facts.clone()).collect(),
            left_out: stores.failed.clone(),
            round: Some(round),
            shorter: (!fitted).then_some("a smaller --count"),
            plan,
            experiment: Box::new(blobs),
        })
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.targets.iter_mut().map(|target| &mut target.label).collect()
    }
}

/// Lists the keys of `source`, where not all of them have to be read, and makes it a sample if filling
/// stores with all would take too long. Also returns what was listed before that.
fn listed(job: Job<'_>, source: &mut Source) -> Result<Listed> {
    if matches!(job.part.data, Data::Generated(_)) {
        // What fits nowhere is not worth listing.
        let wanted = job.part.coverage.amount(source.amount(job.stop)?);
        room::check_room(job, &job.operations(), wanted)?;
    }
    if job.touches_all() {
        let all = source.amount(job.stop)?;
        return Ok((None, fit::choose_sample(job, source, all, None)?, None));
    }
    let within = job.share(shares::LISTING).filter(|_| job.draws_keys());
    let listing = source.list(job, within)?;
    let sampled = fit::choose_sample(job, source, listing.all, Some(&listing))?;
    if sampled.is_none() {
        return Ok((Some(listing), None, None));
    }
    let before = listing.summary();
    Ok((Some(source.list(job, None)?), sampled, Some(before)))
}

type Listed = (Option<Listing>, Option<Sampled>, Option<DatasetSummary>);

/// Makes the stores ready that an earlier run has not left in `cache`, and finds out how long a round
/// takes.
fn ready<'a>(
    job: Job<'a>,
    caches: Vec<Cache>,
    cache: &'a mut StoreCache,
) -> Result<(Blobs<'a>, Duration)> {
    let (source, stores) = with_stores(job, cache)?;
    if !caches.contains(&Cache::Warm) && !stores.targets.iter().any(PreparedTarget::has_files) {
        return Err(refusals::none_can_be_cold());
    }
    let summary = stores.dataset.summary();
    // Generated before the limit holds: it is the tool's memory, not a target's.
    let seed = derive(job.request.seed, Use::Pool, 0);
    let pool = Pool::new(seed, summary.largest, job.part.data.random_percent());
    let hosts = job.part.hosts.as_ref().map(|hosts| hosts.names.clone()).unwrap_or_default();
    let processes = start_workers(job, &stores, &hosts, &pool)?;
    processes.as_ref().map_or(Ok(()), |processes| check_there(processes, &stores))?;
    let limiter = MemoryLimiter::set(job, summary.largest, processes.as_ref())?;
    let caches = match &limiter {
        Some(limiter) => limiter.states(caches),
        None => stores.states(caches),
    };
    let count = summary.count;
    let workloads: Vec<_> =
        job.part.work.iter().map(|work| job.workload(*work, count, count)).collect();
    // A source that is no longer needed may be a copy.
    let writes_later = job.operations().len() > 1;
    let mut blobs = Blobs {
        job,
        cache,
        source: Some(source).filter(|_| writes_later),
        alone: vec![None; workloads.len()],
        workloads,
        caches,
        ops: Vec::new(),
        limiter,
        processes,
        hosts,
        pool,
        stores,
        page_looks: PageLooks::default(),
    };
    let round = blobs.calibrate_first()?;
    Ok((blobs, round))
}

/// Makes the stores ready that an earlier run has not left in `cache`. Also returns where their values come from.
fn with_stores(job: Job<'_>, cache: &mut StoreCache) -> Result<(Source, Stores)> {
    let kept = Stores::take(cache, job);
    let mut source = Source::open(job)?;
    let listed_part = source.limit(job)?;
    if job.fills_stores() {
        source.fetch(job)?;
    }
    let (listing, sampled, before) = match &kept {
        Some(kept) if listed_part.is_some() => (None, kept.sampled, None),
        Some(kept) => (None, fit::repeat_sample(kept, &mut source, job.stop)?, None),
        None => listed(job, &mut source)?,
    };
    let chosen = listing.as_ref().filter(|_| sampled.is_some());
    let chosen = chosen.map(|listing| listing.dataset.clone());
    let mut stores = prepare::stores(job, &source, listing, kept)?;
    stores.chosen = chosen.or(stores.chosen);
    stores.sampled = sampled.or_else(|| source.sampled(job.request.seed));
    if let Some(part) = listed_part.filter(|part| !part.is_whole) {
        let keys = part.all.count;
        stores.findings.push(Finding::run(FindingKind::KeysNotListed { keys }));
    }
    if let Some(before) = before {
        stores.findings.extend(prepare::missed_value(&before, &stores.dataset.summary()));
    }
    let has_half = job.draws_keys() && stores.dataset.entries().len() > 1;
    stores.half = sampled.filter(|_| has_half).map(|_| stores.dataset.half());
    Ok((source, stores))
}

/// Refuses stores that another host does not see as this one does.
fn check_there(processes: &Processes<'_>, stores: &Stores) -> Result<()> {
    for target in &stores.targets {
        for ready in target.stores().filter(|ready| ready.retains()) {
            // A private server runs while its store is open.
            let looked = ready.with(|_| processes.try_reads(&StoreRequest::new(ready)));
            looked.map_err(|error| {
                let hint = if target.facts.server == Some(Server::Started) {
                    "its server runs on this machine only; name one that every host reaches"
                } else {
                    "every host must reach a target: use a server's address, or --scratch DIR with a \
                     folder that all hosts share"
                };
                let error = error.context(&target.planned.label);
                Error::usage(format!("{error}; {hint}"))
            })?;
        }
    }
    Ok(())
}

/// Starts the worker processes, at most as many as there are keys; on `hosts` if there are any.
fn start_workers<'a>(
    job: Job<'a>,
    stores: &Stores,
    hosts: &[String],
    pool: &Pool,
) -> Result<Option<Processes<'a>>> {
    if !job.has_workers() {
        return Ok(None);
    }
    let keys = stores.dataset.entries().len() as u64;
    let count = job.workload(job.part.work[0], 0, keys).processes;
    let values = Some((&stores.dataset, pool.spec()));
    let each = job.part.processes.unwrap_or(1);
    let mut launches = match &job.part.hosts {
        Some(of) => of.launches(hosts, each),
        None => Launch::here(&job.request.worker, count),
    };
    launches.truncate(count as usize);
    Processes::start(&launches, values, job.stop).map(Some)
}

/// The longest time for flushing one file system.
const FLUSHING: Duration = Duration::from_millis(300);

struct Blobs<'a> {
    job: Job<'a>,
    /// Takes the stores for the next run.
    cache: &'a mut StoreCache,
    /// The source of stores that are written to; `None` if they exist already, or none is needed.
    source: Option<Source>,
    /// The workloads of the plan.
    workloads: Vec<Workload>,
    /// The most operations of a target that takes no turns, by workload; `None` for the workload's.
    alone: Vec<Option<u64>>,
    caches: Vec<Cache>,
    /// By workload: the operations of the round, if they are drawn.
    ops: Vec<Option<Arc<OpStream>>>,
    /// Dropped before the processes, which it holds.
    limiter: Option<MemoryLimiter>,
    processes: Option<Processes<'a>>,
    /// Other hosts that run those, without the ones that were lost.
    hosts: Vec<String>,
    pool: Pool,
    stores: Stores,
    page_looks: PageLooks,
}

impl Blobs<'_> {
    /// Returns every case on each target that can be in its cache state.
    fn trials(&self, plan: &Plan) -> Vec<Trial> {
        plan.cases().flat_map(|case| self.trials_of(case)).collect()
    }

    /// Returns a trial of each target, and one of all that take turns.
    fn trials_of(&self, case: Case) -> Vec<Trial> {
        let Case { workload, cache } = case;
        let targets = &self.stores.targets;
        let able = (0..targets.len()).filter(|n| !cache.is_cold() || targets[*n].has_files());
        let (together, alone): (Vec<_>, Vec<_>) =
            able.partition(|n| self.takes_turns(case, &targets[*n]));
        let trial =
            |targets| Trial { targets, workloads: workload..workload + 1, cache: Some(cache) };
        let together = (!together.is_empty()).then_some(together);
        alone.into_iter().map(|n| vec![n]).chain(together).map(trial).collect()
    }

    fn environment(&self, plan: &Plan) -> Result<Environment> {
        let stores = || self.stores.targets.iter().flat_map(PreparedTarget::stores);
        let on_disk = stores().filter(|ready| ready.engine.capabilities().persistent);
        let paths: Vec<_> = on_disk.map(|ready| ready.path.clone()).collect();
        let mut environment = environment(&paths, stores().filter_map(ReadyStore::library));
        environment.loop_ns = own_loop(&self.stores.dataset, &self.pool, self.job.stop)?;
        if plan.first_workload(Work::updates).is_some() {
            self.time_flushes(&mut environment)?;
        }
        Ok(environment)
    }

    /// Measures how fast the file systems flush on which scratch stores will be updated; a failure
    /// is left out.
    fn time_flushes(&self, environment: &mut Environment) -> Result<()> {
        let Job { request, part, .. } = self.job;
        let scratch = |target: &&BlobTarget| {
            target.engine.capabilities().persistent
                && self.job.is_scratch(target, Operation::Update)
        };
        for folder in part.targets.iter().filter(scratch).map(|target| request.parent(target)) {
            let folder = &*folder;
            let here = host::filesystems(&[folder.to_owned()]);
            let same =
                |other: &&mut Filesystem| here.first().is_some_and(|f| f.mount == other.mount);
            let found = environment.filesystems.iter_mut().find(same);
            if let Some(filesystem) = found.filter(|filesystem| filesystem.flush.is_none()) {
                filesystem.flush = host::flush_latency(folder, FLUSHING, self.job.stop).ok();
                self.job.stop.check()?;
            }
        }
        Ok(())
    }

    /// Returns the findings that are known before anything is measured.
    fn findings(&self, unreachable: Vec<FindingKind>) -> Vec<Finding> {
        let cold = self.caches.iter().any(|cache| *cache != Cache::Warm);
        let without_files = self.stores.targets.iter().filter(|t| cold && !t.has_files());
        let always_warm =
            without_files.map(|t| Finding::target(FindingKind::AlwaysWarm, &t.planned.label));
        let mut findings = self.stores.findings.clone();
        findings.extend(unreachable.into_iter().map(Finding::run));
        let sampled = self.stores.sampled;
        findings.extend(sampled.iter().flat_map(Sampled::findings).map(Finding::run));
        findings.extend(always_warm);
        let Job { request, part, .. } = self.job;
        let is_scratch = |target: &&BlobTarget| {
            self.job
                .operations()
                .into_iter()
                .any(|operation| self.job.is_scratch(target, operation))
        };
        findings.extend(request.moved(part.targets.iter().filter(is_scratch)));
        let adopted = request.adopted_from.clone().zip(request.durability);
        findings.extend(
            adopted
                .map(|(server, class)| Finding::run(FindingKind::ClassOfServer { class, server })),
        );
        findings.extend(self.limiter.iter().flat_map(|limiter| limiter.findings.clone()));
        findings
    }

    /// Calibrates what can be measured before the first round; the others when their turn comes.
    fn calibrate_first(&mut self) -> Result<Duration> {
        let mut round = Duration::ZERO;
        let own = |work: &BlobWork| shares::weight(work.operation.writes());
        let all: f64 = self.job.part.work.iter().map(own).sum();
        for index in 0..self.workloads.len() {
            let work = self.job.part.work[index];
            if self.stores.targets.iter().any(|target| target.has_store(work.operation)) {
                let budget = self.job.budget.part(own(&work) / all);
                let (longer, mut failed) = self.calibrate(index, budget)?;
                round += longer;
                failed.sort_by_key(|(target, _)| *target);
                for (gone, (target, error)) in failed.into_iter().enumerate() {
                    self.stores.leave_out(target - gone, error)?;
                }
            }
        }
        Ok(round)
    }

    fn draw(&mut self, round: u32) -> Result<()> {
        let seed = derive(self.job.request.seed, Use::Picks, round.into());
        let drawn = |workload| drawn(workload, &self.stores.dataset, seed);
        self.ops = self.workloads.iter().map(drawn).collect::<Result<_>>()?;
        Ok(())
    }

    /// Returns the host whose worker ended by itself; `None` if none did.
    fn lost_host(&self) -> Option<String> {
        self.processes.as_ref()?.lost_host()
    }

    /// Notes that a trial failed because a host was lost, and goes on without the host if that was
    /// asked for.
    fn go_on(&mut self, error: Error, output: &mut Output<'_>) -> Result<()> {
        let Some(host) = self.lost_host() else { return Err(error) };
        self.hosts.retain(|other| *other != host);
        let goes_on = self.job.part.hosts.as_ref().is_some_and(|hosts| hosts.go_on);
        let left = if goes_on { u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) } else { 0 };
        let why = error.to_string().trim_start_matches(&format!("host {host}: ")).to_owned();
        let lost = Finding::run(FindingKind::HostLost { host, why, left });
        output.recorder.note([lost.in_round(output.round)])?;
        if left == 0 {
            return Err(error);
        }
        let processes = left.saturating_mul(self.job.part.processes.unwrap_or(1));
        for workload in &mut self.workloads {
            workload.processes = processes.min(workload.processes);
        }
        self.recover()?;
        self.draw(output.round)
    }

    /// Runs one trial of `workload`, whose operations are `ops`.
    fn trial(
        &self,
        target: usize,
        workload: Workload,
        ops: Option<Arc<OpStream>>,
        trial: TrialInput,
    ) -> Result<(Sample, Option<f64>)> {
        let (stop, Stores { dataset, targets, .. }) = (self.job.stop, &self.stores);
        let input = PassInput::new(workload, dataset, &self.pool, ops, stop)?;
        let ready = targets[target].store(input.work.operation);
        // A store that only this process can have open is worked on here.
        let shared = self.job.shares_stores() || ready.can_be_shared();
        let shared = shared && ready.engine.program().is_none();
        let processes = self.processes.as_ref().filter(|_| shared);
        let run = || ValuesTrial { ready, input: &input, trial, processes }.run();
        let in_program = ready.engine.program().is_some();
        let tried = if in_program { self.job.answered(run) } else { run() };
        if workload.work.writes() && self.job.part.in_place {
            // The store that is read is the same.
            targets[target].stores().for_each(|ready| ready.filled.set(false));
        } else if workload.work.writes() {
            // It is as all writes find it: nobody reads it to be measured.
            ready.filled.set(trial.cache == Cache::Warm && tried.is_ok());
        }
        self.limiter.as_ref().map_or(Ok(()), MemoryLimiter::check).and(tried)
    }
}

impl Experiment for Blobs<'_> {
    fn start_run(&mut self) -> Result<()> {
        if self.processes.is_some() { self.recover() } else { Ok(()) }
    }

    /// Prepares the stores of a case. Stores that are written to are created when they are needed
    /// first: reads do not wait for them.
    fn start_case(
        &mut self,
        trial: &Trial,
        budget: Budget,
        recorder: &mut Recorder,
    ) -> Result<Vec<(usize, Error)>> {
        let index = trial.workloads.start;
        let operation = self.job.part.work[index].operation;
        if self.stores.targets.iter().any(|target| target.has_store(operation)) {
            return Ok(Vec::new());
        }
        let Some(source) = self.source.take() else { return Ok(Vec::new()) };
        let mut failed = prepare::update_stores(self.job, &source, &mut self.stores)?;
        let works = self.job.part.work.iter().enumerate();
        let writes: Vec<_> = works.filter(|(_, work)| work.operation.writes()).collect();
        for (index, _) in writes {
            failed.extend(self.calibrate(index, budget)?.1);
            let workload = self.workloads[index];
            recorder.push(Line::Workload { index, workload })?;
        }
        Ok(failed)
    }

    fn start_round(&mut self, round: u32, trial: &Trial) -> Result<()> {
        let Job { request, part, .. } = self.job;
        let (order, seed) = (part.work[0].order, derive(request.seed, Use::Keys, round.into()));
        let parts = self.workloads[trial.workloads.start].parts.unwrap_or(1);
        let own = Part::in_round(round, parts);
        let sets = [Some(&mut self.stores.dataset), self.stores.half.as_mut()];
        sets.into_iter().flatten().for_each(|set| set.arrange(order, part.start, own, seed));
        let processes = self.processes.as_ref();
        match processes.map_or(Ok(()), |them| them.arrange(order, part.start, own, seed)) {
            // The next trial fails by it.
            Err(_) if self.lost_host().is_some() => {}
            // One has ended since the last trial. New ones take the order from here.
            Err(error) if !error.is_stopped() => self.recover()?,
            arranged => arranged?,
        }
        self.draw(round)
    }

    fn run(&mut self, trial: &Trial, output: &mut Output<'_>) -> Result<()> {
        let (index, target) = (trial.workloads.start, trial.target());
        let cache = trial.cache.expect("a trial is about one cache state");
        if self.takes_turns(Case { workload: index, cache }, &self.stores.targets[target]) {
            return self.epoch(trial, output);
        }
        let (workload, ops) = (self.own_workload(index, target), self.ops[index].clone());
        if cache != Cache::Warm || workload.work.updates() {
            self.page_looks.pages_lost = true;
        }
        let (run_seed, round) = (self.job.request.seed, u64::from(output.round));
        let salt = derive(run_seed, Use::Payloads, (round << 32) | u64::from(output.position));
        let seed = derive(run_seed, Use::Picks, round);
        let first_round = round == 0;
        let input = TrialInput { cache, examines: true, salt, seed, first_round, read_back: true };
        let prepared = &self.stores.targets[target];
        let tried = self.trial(target, workload, ops, input);
        let (sample, written_before) = match tried {
            Err(error) if self.lost_host().is_some() => return self.go_on(error, output),
            tried => tried.map_err(|e| {
                e.context(format!("{} ({})", prepared.planned.label, workload.work))
            })?,
        };
        let mut sample = Sample { workload: index, ..sample };
        if let (Some(parts), Some(passes)) = (workload.parts, sample.passes_mut()) {
            passes.part = Some(Part::in_round(output.round, parts).number);
        }
        output.sample(sample, written_before)
    }

    /// Returns what a failed target costs: a server or a worker process may die by itself, a
    /// library in this process cannot.
    fn loss(&self, index: usize, error: &Error) -> Option<Loss> {
        if self.lost_host().is_some() {
            return None;
        }
        let target = &self.stores.targets[index];
        let in_worker = !self.job.request.worker.is_empty() && target.can_take_turns();
        let in_worker = in_worker || target.has_program();
        let other_process = target.facts.server.is_some() || in_worker || self.processes.is_some();
        // Once it was prepared, what looks like a wrong address is a server that has gone.
        let gone = self.is_own_failure(index, error) || error.kind() == ErrorKind::Usage;
        (gone && other_process).then_some(Loss::Target)
    }

    fn last_findings(&self) -> Vec<Finding> {
        let written = |target: &PreparedTarget| {
            let kind = FindingKind::WrittenMeanwhile { file: target.read.as_ref()?.written()? };
            Some(Finding::target(kind, &target.planned.label))
        };
        self.stores.targets.iter().filter_map(written).collect()
    }

    fn blame(&self, index: usize, error: Error) -> Error {
        self.stores.targets[index].blame(error)
    }

    /// Starts new processes in place of those that ended with a failed trial. Keys come to them in
    /// the order that they have here.
    fn recover(&mut self) -> Result<()> {
        self.processes = None;
        self.processes = start_workers(self.job, &self.stores, &self.hosts, &self.pool)?;
        let ids = self.processes.as_ref().map(Processes::ids).unwrap_or_default();
        self.limiter.as_ref().map_or(Ok(()), |limiter| limiter.admit(&ids))
    }

    fn finish(self: Box<Self>, lost: Option<&HashSet<usize>>) -> Result<Complaints> {
        let Some(lost) = lost else { return Ok(Vec::new()) };
        let Self { job, cache, stores, .. } = *self;
        let mut complaints = Vec::new();
        let targets = stores.targets.iter().enumerate();
        let asked = job.part.integrity_check;
        for (_, target) in targets.filter(|(target, _)| asked && !lost.contains(target)) {
            for ready in target.read.iter().chain(&target.update) {
                let (found, _) = ready.with(|store| store.integrity())?;
                let label = &target.planned.label;
                complaints.extend(found.map(|found| (label.clone(), found)));
            }
        }
        let is_whole = lost.is_empty() && stores.failed.is_empty();
        stores.keep(cache, job, is_whole);
        Ok(complaints)
    }
}
