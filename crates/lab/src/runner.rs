//! The rounds: shuffled blocks of trials until every interval is narrow enough or the time is
//! spent.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use model::{
    Cache, Case, Doubt, Environment, Error, ErrorKind, Filesystem, Finding, Library, Operation,
    Owner, Plan, Result, Workload,
    record::{Ended, Header, Line},
    units::show_duration,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Progress, Recorder, Stop,
    dataset::shuffle,
    host,
    pass::Round,
    payload::Pool,
    pilot, precise,
    prepare::{Preparation, Prepared, PreparedTarget},
    request::Request,
    seed::{Use, derive},
    state,
    trial::{self, Place, Tried},
    validity,
};

/// How a run ended.
pub struct Outcome {
    /// Why no further round was run.
    pub ended: Ended,
    /// How long the rounds took.
    pub measuring: Duration,
    /// What each store's engine complains of, by target, where a check was asked for.
    pub integrity: Vec<(String, Vec<String>)>,
}

/// Runs what was asked for. What was measured until an error stands in `recorder`. The caller
/// writes the last line, after it added what it finds in the record as a whole.
pub fn run(
    request: &Request,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    let (caches, unreachable) = state::reachable(&request.caches)?;
    let mut preparation = Preparation::new(request, progress, stop);
    let mut prepared = preparation.run()?;
    if !caches.contains(&Cache::Warm) && !prepared.targets.iter().any(PreparedTarget::has_files) {
        return Err(Error::usage("none of the targets has files, so that none can be cold"));
    }
    let largest = prepared.dataset.summary().largest;
    let pool = Pool::new(derive(request.seed, Use::Pool, 0), largest);
    let pilot = pilot::workloads(request, &caches, &prepared, &pool, stop)?;
    let plan = plan(request, &prepared, pilot.workloads, caches);
    if pilot.round * plan.rounds.min > Duration::from_secs_f64(plan.rounds.seconds)
        && plan.rounds.max.is_none()
    {
        progress.say(&format!(
            "one round takes about {}, and {} are run at least; --count limits it",
            show_duration(pilot.round),
            plan.rounds.min
        ));
    }
    recorder.begin(header(&plan, &prepared, &pool, stop)?)?;
    for target in &prepared.targets {
        recorder.push(Line::Store(target.facts.clone()))?;
    }
    recorder.doubt(std::mem::take(&mut prepared.findings))?;
    recorder.doubt(unreachable.into_iter().map(Finding::run))?;
    recorder.doubt(without_files(&plan, &prepared))?;
    if let Some(record) = recorder.record() {
        let doubts = validity::before(record);
        recorder.doubt(doubts)?;
    }
    let start = Instant::now();
    let mut rounds = Rounds { request, plan: &plan, prepared, pool, began, progress, stop };
    let ended = match rounds.run(recorder) {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ended::Interrupted,
        other => other?,
    };
    let measuring = start.elapsed();
    if let Some(record) = recorder.record() {
        let doubts = validity::after(record);
        recorder.doubt(doubts)?;
    }
    let integrity = if request.integrity_check { rounds.integrity()? } else { Vec::new() };
    Ok(Outcome { ended, measuring, integrity })
}

fn plan(
    request: &Request,
    prepared: &Prepared,
    workloads: Vec<Workload>,
    caches: Vec<Cache>,
) -> Plan {
    Plan {
        seed: request.seed,
        dataset: prepared.spec.clone(),
        summary: prepared.dataset.summary(),
        available: prepared.available,
        targets: prepared.targets.iter().map(|target| target.planned.clone()).collect(),
        baseline: request.baseline,
        workloads,
        caches,
        durability: request.durability,
        rounds: request.rounds,
    }
}

/// A store without files is never cold.
fn without_files(plan: &Plan, prepared: &Prepared) -> Vec<Finding> {
    let cold = plan.caches.iter().any(|cache| *cache != Cache::Warm);
    let targets = prepared.targets.iter().filter(|target| cold && !target.has_files());
    targets.map(|target| Finding::target(Doubt::AlwaysWarm, &target.planned.label)).collect()
}

fn header(plan: &Plan, prepared: &Prepared, pool: &Pool, stop: &Stop) -> Result<Header> {
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
    if plan.workloads.iter().any(|workload| workload.operation == Operation::Update) {
        time_flushes(&mut environment, prepared, stop)?;
    }
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(Header { format: model::record::FORMAT, started, environment, plan: plan.clone() })
}

/// Longest time for flushing one file system.
const FLUSHING: Duration = Duration::from_millis(300);

/// How fast the file systems flush on which scratch stores will be updated; a failure tells
/// nothing.
fn time_flushes(environment: &mut Environment, prepared: &Prepared, stop: &Stop) -> Result<()> {
    let scratch = |target: &&PreparedTarget| target.planned.owner != Owner::InPlace;
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
    began: Instant,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl Rounds<'_> {
    fn run(&mut self, recorder: &mut Recorder) -> Result<Ended> {
        let budget = Duration::from_secs_f64(self.plan.rounds.seconds);
        let steps = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
        let mut longest = Duration::ZERO;
        for round in 0.. {
            let start = Instant::now();
            self.progress.stage(&format!("round {}", round + 1), Some(steps));
            self.round(round, recorder)?;
            longest = longest.max(start.elapsed());
            if let Some(ended) = self.ended(round + 1, longest, budget, recorder) {
                return Ok(ended);
            }
        }
        Ok(Ended::Rounds)
    }

    /// Why there is no further round, if so. A round that would not fit into the time is not
    /// begun.
    fn ended(
        &self,
        done: u32,
        longest: Duration,
        budget: Duration,
        recorder: &Recorder,
    ) -> Option<Ended> {
        let rounds = &self.plan.rounds;
        if let Some(max) = rounds.max {
            return (done >= max).then_some(Ended::Rounds);
        }
        if done < rounds.min {
            return None;
        }
        if recorder.record().is_some_and(precise::precise) {
            return Some(Ended::Precise);
        }
        (self.began.elapsed() + longest > budget).then_some(Ended::Time)
    }

    fn round(&mut self, number: u32, recorder: &mut Recorder) -> Result<()> {
        let seed = |purpose| derive(self.request.seed, purpose, u64::from(number));
        let Workload { order, .. } = self.plan.workloads[0];
        self.prepared.dataset.arrange(order, self.request.start, seed(Use::Keys));
        let rounds = self
            .plan
            .workloads
            .iter()
            .map(|workload| {
                let dataset = &self.prepared.dataset;
                Round::new(workload, dataset, &self.pool, seed(Use::Picks), self.stop)
            })
            .collect::<Result<Vec<_>>>()?;
        for (position, (target, case)) in (0..).zip(self.shuffled(seed(Use::Trials))) {
            self.stop.check()?;
            let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.progress.done(elapsed);
            let salt = derive(self.request.seed, Use::Payloads, salt_index(number, position));
            let Case { workload, cache } = case;
            let place = Place { round: number, position, target, workload, cache, salt };
            let tried = self.trial(place, &rounds[workload])?;
            let header = recorder.record().map(|record| &record.header);
            let doubts = header.map_or_else(Vec::new, |header| validity::trial(header, &tried));
            recorder.push(Line::Sample(Box::new(tried.sample)))?;
            recorder.doubt(doubts)?;
        }
        Ok(())
    }

    fn integrity(&self) -> Result<Vec<(String, Vec<String>)>> {
        let mut said = Vec::new();
        for target in &self.prepared.targets {
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
        let operation = round.workload.operation;
        let tried = trial::run(place, round, target.store(operation))
            .map_err(|e| e.context(format!("{} ({operation})", target.planned.label)))?;
        if operation == Operation::Update {
            // Written in place, the store that is read is the same.
            target.stores().for_each(|ready| ready.filled.set(false));
        }
        Ok(tried)
    }

    /// Every target in every case it can be in, in fresh random order.
    fn shuffled(&self, seed: u64) -> Vec<(usize, Case)> {
        let mut trials: Vec<_> = (0..self.plan.targets.len())
            .flat_map(|target| self.plan.cases().map(move |case| (target, case)))
            .filter(|(target, case)| {
                case.cache == Cache::Warm || self.prepared.targets[*target].has_files()
            })
            .collect();
        shuffle(&mut trials, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        trials
    }
}

fn salt_index(round: u32, position: u32) -> u64 {
    (u64::from(round) << 32) | u64::from(position)
}

impl Request {
    /// The workload for one operation; `count` is settled by the pilot.
    pub(crate) fn workload(&self, operation: Operation, count: u64, keys: u64) -> Workload {
        Workload {
            operation,
            order: self.order,
            count,
            batch: self.batch,
            threads: self.threads.min(u32::try_from(keys).unwrap_or(u32::MAX)),
        }
    }
}
