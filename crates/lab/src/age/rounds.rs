//! The rounds: every target lives once a round, in fresh random order.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use model::{
    Cache, ErrorKind, Experiment, Finding, FindingKind, Plan, Result,
    record::{Ended, Header, Line},
    units::show_duration,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    life::{self, Step},
    request::{AgeRequest, planned_caches},
    trial::{Life, Told, options},
};
use crate::{
    Outcome, Progress, Recorder, Stop,
    course::Course,
    dataset::{Generator, shuffle},
    host::Scratch,
    payload::Pool,
    pilot, precise, rounds,
    seed::{Use, derive},
    state,
};

/// Runs what was asked for. What was measured until an error stands in `recorder`; a target whose
/// life ends early is left out from there on, and the others go on. The caller writes the last
/// line.
pub fn age(
    request: &AgeRequest,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    Generator::new(request.data)?;
    let (caches, unreachable) = state::reachable(&request.caches)?;
    let plans = request.targets.iter().map(|target| request.planned(target));
    let targets = plans.collect::<Result<Vec<_>>>()?;
    request.check_room()?;
    let scratch = Scratch::new_in(&request.scratch)?;
    let pool = Pool::new(
        derive(request.data.seed, Use::Pool, 0),
        request.data.size + request.data.variance,
        request.data.random_percent,
    );
    let mut lives = AgeRounds {
        request,
        caches,
        pool: &pool,
        scratch,
        failed: HashSet::new(),
        known: HashSet::new(),
        began,
        progress,
        stop,
    };
    let steps = lives.life(0)?;
    let plan = Plan {
        seed: request.data.seed,
        experiment: Experiment::Ageing { data: request.data, summary: steps[0].live.summary() },
        targets,
        baseline: request.baseline,
        workloads: request.workloads(),
        caches: planned_caches(&lives.caches),
        durability: Some(request.durability),
        memory: None,
        rounds: request.rounds,
    };
    recorder.begin(lives.header(&plan, &steps)?)?;
    recorder.note(unreachable.into_iter().map(Finding::run))?;
    let start = Instant::now();
    let ended = match lives.run(&plan, recorder) {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ended::Interrupted,
        ended => ended?,
    };
    if let Some(record) = recorder.record() {
        let doubts = checks::of_stores(record);
        recorder.note(doubts)?;
    }
    let failed = lives.failed_labels();
    Ok(Outcome { ended, measuring: start.elapsed(), failed, integrity: Vec::new() })
}

struct AgeRounds<'a> {
    request: &'a AgeRequest,
    /// Of the reads, those that can be reached.
    caches: Vec<Cache>,
    pool: &'a Pool,
    scratch: Scratch,
    /// Targets whose life ended early.
    failed: HashSet<usize>,
    /// Targets whose facts are in the record.
    known: HashSet<usize>,
    began: Instant,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl AgeRounds<'_> {
    /// What every target goes through in a round.
    fn life(&self, round: u32) -> Result<Vec<Step>> {
        let AgeRequest { data, ages, .. } = self.request;
        life::draw(data, ages, derive(data.seed, Use::Ageing, round.into()), self.pool, self.stop)
    }

    fn header(&self, plan: &Plan, steps: &[Step]) -> Result<Header> {
        let libraries = self.request.targets.iter().filter_map(|target| target.engine.library());
        let folder = self.scratch.path().to_owned();
        let mut header = rounds::header(plan.clone(), &[folder], libraries);
        header.environment.loop_ns = pilot::own_loop(&steps[0].live, self.pool, self.stop)?;
        Ok(header)
    }

    fn run(&mut self, plan: &Plan, recorder: &mut Recorder) -> Result<Ended> {
        let mut course = Course::new(plan.rounds, self.began, self.progress);
        let mut longest = Duration::ZERO;
        for round in 0.. {
            let start = Instant::now();
            course.round(round);
            self.round(plan, round, &course, recorder)?;
            if self.failed.len() == plan.targets.len() {
                return Ok(Ended::Failed("a trial failed of every target".to_owned()));
            }
            longest = longest.max(start.elapsed());
            if round == 0 {
                self.foretell(longest);
            }
            let elapsed = self.began.elapsed();
            if let Some(ended) =
                precise::ended(&plan.rounds, round + 1, longest, elapsed, recorder.record())
            {
                return Ok(ended);
            }
        }
        Ok(Ended::Rounds)
    }

    /// Says it when the least number of rounds will take longer than the time.
    fn foretell(&self, round: Duration) {
        let rounds = self.request.rounds;
        if rounds.max.is_none() && (round * rounds.min).as_secs_f64() > rounds.seconds {
            self.progress.say(&format!(
                "one round takes about {}, and {} are run at least; a smaller --volume or fewer \
                 --ages limit it",
                show_duration(round),
                rounds.min
            ));
        }
    }

    fn round(
        &mut self,
        plan: &Plan,
        round: u32,
        course: &Course<'_>,
        recorder: &mut Recorder,
    ) -> Result<()> {
        let steps = self.life(round)?;
        let targets = self.shuffled(round);
        let all = targets.len();
        for (position, target) in (0..).zip(targets) {
            self.stop.check()?;
            course.trial(position, all, &format!(", {} ages", plan.targets[target].label));
            match self.live(plan, &steps, round, position, target, recorder) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(error) => {
                    self.failed.insert(target);
                    let doubt = FindingKind::TrialFailed { why: error.to_string() };
                    let label = &plan.targets[target].label;
                    recorder.note([Finding::target(doubt, label).in_round(round)])?;
                }
            }
        }
        Ok(())
    }

    fn live(
        &mut self,
        plan: &Plan,
        steps: &[Step],
        round: u32,
        position: u32,
        target: usize,
        recorder: &mut Recorder,
    ) -> Result<()> {
        let requested = &self.request.targets[target];
        let life = Life {
            target: requested,
            index: target,
            round,
            position,
            options: options(plan.targets[target].settings.clone()),
            workloads: &plan.workloads,
            steps,
            caches: &self.caches,
            pool: self.pool,
            progress: self.progress,
            stop: self.stop,
        };
        let name = format!("{round}-{target}");
        let folder = self.scratch.folder(&name, requested.engine.account())?;
        let known = &mut self.known;
        life.run(&folder, &mut |told| match told {
            Told::Facts(facts) if known.insert(target) => recorder.push(Line::Store(facts)),
            Told::Facts(_) => Ok(()),
            Told::Tried(tried) => {
                let header = recorder.record().map(|record| &record.header);
                let doubts = header.map_or_else(Vec::new, |header| {
                    checks::of_sample(header, &tried.sample, tried.written_before)
                });
                recorder.push(Line::Sample(Box::new(tried.sample)))?;
                recorder.note(doubts)
            }
        })
    }

    /// Indices of targets in fresh random order; what failed once is left out.
    fn shuffled(&self, round: u32) -> Vec<usize> {
        let all = 0..self.request.targets.len();
        let mut targets: Vec<_> = all.filter(|target| !self.failed.contains(target)).collect();
        let seed = derive(self.request.data.seed, Use::Trials, round.into());
        shuffle(&mut targets, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        targets
    }

    fn failed_labels(&self) -> Vec<String> {
        let targets = self.request.targets.iter().enumerate();
        targets.filter(|(i, _)| self.failed.contains(i)).map(|(_, t)| t.label.clone()).collect()
    }
}
