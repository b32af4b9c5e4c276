//! The rounds: shuffled blocks of trials until every interval is narrow enough or the time is
//! spent.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use model::{
    Cache, Case, DatasetSpec, Environment, Error, ErrorKind, Experiment, Filesystem, Finding,
    FindingKind, Library, MemoryLimit, Operation, Owner, Plan, Result, Workload,
    record::{Ended, Header, Line},
    units::show_duration,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Outcome, Progress, Recorder, Stop,
    course::Course,
    crew::Crew,
    dataset::shuffle,
    host,
    limit::{self, Limit},
    pass::Round,
    payload::Pool,
    pilot::{self, Pilot},
    precise,
    prepare::Preparation,
    prepared::{Prepared, PreparedTarget},
    request::{Processes, Request, Work},
    seed::{Use, derive},
    sharing,
    shelf::StoreCache,
    state,
    trial::{self, Place, Tried},
};

/// The same, as one of several runs: on what the one before it left in `shelf`, as far as that
/// fits.
pub fn run_on(
    shelf: &mut StoreCache,
    request: &Request,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    sharing::check(request)?;
    limit::check_early(request)?;
    let (caches, unreachable) = state::reachable(&request.caches)?;
    let mut preparation = Preparation::new(request, progress, stop);
    let mut prepared = preparation.run(shelf.take(request))?;
    if !caches.contains(&Cache::Warm) && !prepared.targets.iter().any(PreparedTarget::has_files) {
        return Err(Error::usage("none of the targets has files, so that none can be cold"));
    }
    let largest = prepared.dataset.summary().largest;
    let (pool_seed, random) = pool(request, &prepared);
    let pool = Pool::new(pool_seed, largest, random);
    let mut crew = crew(request, &prepared, stop)?;
    let mut limit = Limit::set(request, &prepared, crew.as_ref())?;
    let caches = match &limit {
        Some(limit) => limit.states(caches),
        None => caches,
    };
    let pilot = piloted(request, &caches, &mut prepared, &pool, (&mut crew, limit.as_ref()), stop)?;
    let memory = limit.as_ref().map(|limit| limit.planned);
    let plan = plan(request, &prepared, pilot.workloads, caches, memory);
    if pilot.round * plan.rounds.min > Duration::from_secs_f64(plan.rounds.seconds)
        && plan.rounds.max.is_none()
    {
        progress.say(&format!(
            "one round takes about {}, and {} are run at least; --count limits it",
            show_duration(pilot.round),
            plan.rounds.min
        ));
    }
    recorder.begin(header(request, &plan, &prepared, &pool, stop)?)?;
    for target in &prepared.targets {
        recorder.push(Line::Store(target.facts.clone()))?;
    }
    let found = std::mem::take(&mut prepared.findings);
    recorder.note(found.iter().cloned())?;
    recorder.note(unreachable.into_iter().map(Finding::run))?;
    recorder.note(without_files(&plan, &prepared))?;
    recorder.note(limit.iter_mut().flat_map(|limit| std::mem::take(&mut limit.doubts)))?;
    if let Some(record) = recorder.record() {
        let doubts = checks::of_stores(record);
        recorder.note(doubts)?;
    }
    let start = Instant::now();
    let failed = vec![false; plan.targets.len()];
    let mut rounds =
        Rounds { request, plan: &plan, prepared, pool, limit, crew, failed, began, progress, stop };
    let ended = match rounds.run(recorder) {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ended::Interrupted,
        other => other?,
    };
    let measuring = start.elapsed();
    let integrity = if request.integrity_check { rounds.integrity()? } else { Vec::new() };
    let failed = rounds.failed_labels();
    if failed.is_empty() {
        shelf.put(request, rounds.prepared, found, preparation.into_scratches());
    }
    Ok(Outcome { ended, measuring, failed, integrity })
}

/// The worker processes that were asked for, no more than there are keys.
fn crew<'a>(request: &Request, prepared: &Prepared, stop: &'a Stop) -> Result<Option<Crew<'a>>> {
    let Some(processes) = &request.processes else { return Ok(None) };
    let keys = prepared.dataset.summary().count;
    let count = request.workload(request.work[0], 0, keys).processes;
    let processes = Processes { count, ..processes.clone() };
    Crew::start(&processes, &prepared.dataset, pool(request, prepared), stop).map(Some)
}

/// New processes in place of those that went with a failed trial. Keys come to them in the order
/// in which they stand.
fn renew<'a>(
    crew: &mut Option<Crew<'a>>,
    limit: Option<&Limit>,
    request: &Request,
    prepared: &Prepared,
    stop: &'a Stop,
) -> Result<()> {
    *crew = self::crew(request, prepared, stop)?;
    let ids = crew.as_ref().map(Crew::ids).unwrap_or_default();
    limit.map_or(Ok(()), |limit| limit.admit(&ids))
}

/// The pilot of all targets that do not fail in it.
fn piloted<'a>(
    request: &Request,
    caches: &[Cache],
    prepared: &mut Prepared,
    pool: &Pool,
    (crew, limit): (&mut Option<Crew<'a>>, Option<&Limit>),
    stop: &'a Stop,
) -> Result<Pilot> {
    loop {
        let with = (crew.as_ref(), limit);
        match pilot::workloads(request, caches, prepared, pool, with, stop) {
            Ok(pilot) => return Ok(pilot),
            Err(pilot::Failed { target: None, error }) => return Err(error),
            Err(pilot::Failed { target: Some(target), error }) => {
                prepared.leave_out(target, error)?;
                renew(crew, limit, request, prepared, stop)?;
            }
        }
    }
}

/// What the pool of payloads is made from: a seed, and how many percent of it are random.
fn pool(request: &Request, prepared: &Prepared) -> (u64, u8) {
    let random = match &prepared.spec {
        DatasetSpec::Generated(made) => made.random_percent,
        _ => 100,
    };
    (derive(request.seed, Use::Pool, 0), random)
}

fn plan(
    request: &Request,
    prepared: &Prepared,
    workloads: Vec<Workload>,
    caches: Vec<Cache>,
    memory: Option<MemoryLimit>,
) -> Plan {
    Plan {
        seed: request.seed,
        experiment: Experiment::Blobs {
            dataset: prepared.spec.clone(),
            summary: prepared.dataset.summary(),
            available: prepared.available,
        },
        targets: prepared.targets.iter().map(|target| target.planned.clone()).collect(),
        baseline: prepared.baseline,
        workloads,
        caches,
        durability: request.durability,
        memory,
        rounds: request.rounds,
    }
}

/// A store without files is never cold.
fn without_files(plan: &Plan, prepared: &Prepared) -> Vec<Finding> {
    let cold = plan.caches.iter().any(|cache| *cache != Cache::Warm);
    let targets = prepared.targets.iter().filter(|target| cold && !target.has_files());
    targets.map(|target| Finding::target(FindingKind::AlwaysWarm, &target.planned.label)).collect()
}

fn header(
    request: &Request,
    plan: &Plan,
    prepared: &Prepared,
    pool: &Pool,
    stop: &Stop,
) -> Result<Header> {
    let paths: Vec<_> = prepared
        .targets
        .iter()
        .flat_map(PreparedTarget::stores)
        .filter(|ready| ready.engine.capabilities().persistent)
        .map(|ready| ready.path.clone())
        .collect();
    let mut environment = host::environment(&paths);
    let stores = prepared.targets.iter().flat_map(PreparedTarget::stores);
    let mut libraries: Vec<Library> = stores.filter_map(|ready| ready.engine.library()).collect();
    libraries.dedup();
    environment.libraries = libraries;
    environment.loop_ns = pilot::own_loop(&prepared.dataset, pool, stop)?;
    if plan.first_update().is_some() {
        time_flushes(&mut environment, prepared, stop)?;
    }
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (format, plan) = (model::record::FORMAT, plan.clone());
    let (spec, point) = (request.spec.clone(), request.point.clone());
    Ok(Header { format, started, environment, plan, spec, point })
}

/// Longest time for flushing one file system.
const FLUSHING: Duration = Duration::from_millis(300);

/// How fast the file systems flush on which scratch stores will be updated; a failure tells
/// nothing.
fn time_flushes(environment: &mut Environment, prepared: &Prepared, stop: &Stop) -> Result<()> {
    let scratch =
        |target: &&PreparedTarget| target.has_files() && target.planned.owner != Owner::InPlace;
    let updated = prepared.targets.iter().filter(scratch).map(|t| t.store(Operation::Update));
    for folder in updated.filter_map(|ready| ready.path.parent()) {
        let here = host::filesystems(&[folder.to_owned()]);
        let same = |told: &&mut Filesystem| here.first().is_some_and(|f| f.mount == told.mount);
        let found = environment.filesystems.iter_mut().find(same);
        if let Some(filesystem) = found.filter(|told| told.flush.is_none()) {
            filesystem.flush = host::flush_latency(folder, FLUSHING, stop).ok();
            stop.check()?;
        }
    }
    Ok(())
}

struct Rounds<'a> {
    request: &'a Request,
    plan: &'a Plan,
    prepared: Prepared,
    pool: Pool,
    /// Dropped before the crew: it has its processes in it.
    limit: Option<Limit>,
    crew: Option<Crew<'a>>,
    /// By target: its server failed.
    failed: Vec<bool>,
    began: Instant,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl Rounds<'_> {
    fn run(&mut self, recorder: &mut Recorder) -> Result<Ended> {
        let mut course = Course::new(self.plan.rounds, self.began, self.progress);
        let mut longest = Duration::ZERO;
        for round in 0.. {
            let start = Instant::now();
            course.round(round);
            self.round(round, &course, recorder)?;
            if self.failed.iter().all(|failed| *failed) {
                return Ok(Ended::Failed("a trial failed of every target".to_owned()));
            }
            longest = longest.max(start.elapsed());
            let elapsed = self.began.elapsed();
            if let Some(ended) =
                precise::ended(&self.plan.rounds, round + 1, longest, elapsed, recorder.record())
            {
                return Ok(ended);
            }
        }
        Ok(Ended::Rounds)
    }

    fn round(&mut self, number: u32, course: &Course<'_>, recorder: &mut Recorder) -> Result<()> {
        let run_seed = self.request.seed;
        let seed = |purpose| derive(run_seed, purpose, u64::from(number));
        let Work { order, .. } = self.request.work[0];
        let start = self.request.start;
        self.prepared.dataset.arrange(order, start, seed(Use::Keys));
        if let Some(crew) = &self.crew {
            crew.arrange(order, start, seed(Use::Keys))?;
        }
        let rounds = self
            .plan
            .workloads
            .iter()
            .map(|workload| {
                let dataset = &self.prepared.dataset;
                let (seed, stop) = (seed(Use::Picks), self.stop);
                let round = Round::new(workload, dataset, &self.pool, seed, stop)?;
                Ok(if self.request.over_time { round.timed_in_full() } else { round })
            })
            .collect::<Result<Vec<_>>>()?;
        let trials = self.shuffled(seed(Use::Trials));
        let all = trials.len();
        for (position, (target, case)) in (0..).zip(trials) {
            if self.failed[target] {
                continue;
            }
            self.stop.check()?;
            course.trial(position, all, "");
            let salt = derive(run_seed, Use::Payloads, salt_index(number, position));
            let Case { workload, cache } = case;
            let place = Place { round: number, position, target, workload, cache, salt };
            let tried = match self.trial(place, &rounds[workload]) {
                Ok(tried) => tried,
                Err(error) if self.goes_on(target, &error) => {
                    self.failed[target] = true;
                    recorder.note([failed(&self.plan.targets[target].label, place, &error)])?;
                    let limit = self.limit.as_ref();
                    renew(&mut self.crew, limit, self.request, &self.prepared, self.stop)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let header = recorder.record().map(|record| &record.header);
            let doubts = header.map_or_else(Vec::new, |header| {
                checks::of_sample(header, &tried.sample, tried.written_before)
            });
            recorder.push(Line::Sample(Box::new(tried.sample)))?;
            recorder.note(doubts)?;
        }
        Ok(())
    }

    fn integrity(&self) -> Result<Vec<(String, Vec<String>)>> {
        let mut said = Vec::new();
        let targets = self.prepared.targets.iter().zip(&self.failed);
        for (target, _) in targets.filter(|(_, failed)| !**failed) {
            for ready in target.stores() {
                let label = &target.planned.label;
                let (complaints, _) = ready.with(|store| store.integrity())?;
                said.extend(complaints.map(|complaints| (label.clone(), complaints)));
            }
        }
        Ok(said)
    }

    fn trial(&self, place: Place, round: &Round<'_>) -> Result<Tried> {
        let target = &self.prepared.targets[place.target];
        let operation = round.work.operation;
        let tried = trial::run(place, round, target.store(operation), self.crew.as_ref());
        let tried = self.limit.as_ref().map_or(Ok(()), Limit::check).and(tried);
        let tried =
            tried.map_err(|e| e.context(format!("{} ({operation})", target.planned.label)))?;
        if operation.updates() {
            // Written in place, the store that is read is the same.
            target.stores().for_each(|ready| ready.filled.set(false));
        }
        Ok(tried)
    }

    /// Whether the other targets are measured although a trial of this one ended so: a server or a
    /// worker process may die by itself, a library in this process cannot.
    fn goes_on(&self, target: usize, error: &Error) -> bool {
        let apart = self.crew.is_some() || self.prepared.targets[target].facts.server.is_some();
        // Once it was prepared, what looks like a wrong address is a server that has gone.
        let gone = matches!(error.kind(), ErrorKind::Failed | ErrorKind::Usage);
        apart && gone
    }

    fn failed_labels(&self) -> Vec<String> {
        let targets = self.plan.targets.iter().zip(&self.failed);
        let failed = targets.filter(|(_, failed)| **failed).map(|(target, _)| &target.label);
        self.prepared.failed.iter().chain(failed).cloned().collect()
    }

    /// Every target in every case it can be in, in fresh random order.
    fn shuffled(&self, seed: u64) -> Vec<(usize, Case)> {
        let mut trials: Vec<_> = (0..self.plan.targets.len())
            .flat_map(|target| self.plan.cases().map(move |case| (target, case)))
            .filter(|(target, case)| {
                !case.cache.is_cold() || self.prepared.targets[*target].has_files()
            })
            .collect();
        shuffle(&mut trials, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        trials
    }
}

fn failed(label: &str, place: Place, error: &Error) -> Finding {
    let doubt = FindingKind::TrialFailed { why: error.to_string() };
    Finding::target(doubt, label).in_workload(place.workload).in_round(place.round)
}

fn salt_index(round: u32, position: u32) -> u64 {
    (u64::from(round) << 32) | u64::from(position)
}

impl Request {
    /// Workers of all processes together.
    pub(crate) fn workers(&self) -> u32 {
        self.threads.saturating_mul(self.processes.as_ref().map_or(1, |processes| processes.count))
    }

    /// The workload for one piece of work; `count` is settled by the pilot.
    pub(crate) fn workload(&self, work: Work, count: u64, keys: u64) -> Workload {
        let keys = u32::try_from(keys).unwrap_or(u32::MAX).max(1);
        let processes = self.processes.as_ref().map_or(1, |processes| processes.count).min(keys);
        let threads = self.threads.min(keys / processes);
        Workload { work: work.planned(), count, batch: self.batch, threads, processes }
    }
}
