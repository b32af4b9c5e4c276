//! The one schedule of all experiments: rounds of trials in fresh random order until every interval
//! is narrow enough or the time is spent. What fails is left out from there on, and the others go
//! on.

mod eta;
mod stopping;

use std::{
    collections::HashSet,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use model::{
    Error, ErrorKind, Finding, FindingKind, Plan, Result, Rounds,
    record::{End, Ended, FORMAT, Header, Line, Record},
    units::show_duration,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Progress, Recorder, Stop,
    dataset::{Use, derive, shuffle},
    experiment::{
        At, Experiment, Loss, Output, Prepared, Trial, ageing,
        blobs::{self, StoreCache},
        request::{ExperimentRequest, Request},
        rows, tasks,
    },
};
use eta::Eta;

/// What the record does not contain.
pub struct Outcome {
    /// Why no further round was run.
    pub ended: Ended,
    /// How long the rounds took.
    pub measuring: Duration,
    /// Labels of the targets that failed, in a trial or before; each is a finding too.
    pub failed: Vec<String>,
    /// What each store's engine complains of, by target, if a check was asked for.
    pub integrity: Vec<(String, Vec<String>)>,
}

/// Measures what was asked for and finishes the record; what was measured until an error is in it.
/// If `recorder` has no record after an error, nothing was measured.
pub fn measure(
    request: &Request,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    measure_with(&mut StoreCache::default(), request, recorder, progress, stop)
}

/// The same, as one of several runs: with the data and stores that the one before it left in
/// `stores`, as far as they fit.
pub fn measure_with(
    stores: &mut StoreCache,
    request: &Request,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    let prepared = match &request.experiment {
        ExperimentRequest::Blobs(part) => blobs::prepare(request, part, stores, progress, stop),
        ExperimentRequest::Rows(part) => rows::prepare(request, part, stop),
        ExperimentRequest::Tasks(part) => tasks::prepare(request, part, stop),
        ExperimentRequest::Ageing(part) => ageing::prepare(request, part, progress, stop),
    }?;
    let outcome = run(request, prepared, recorder, (began, progress, stop));
    finish(outcome, recorder, began)
}

/// Runs a prepared experiment.
fn run(
    request: &Request,
    prepared: Prepared<'_>,
    recorder: &mut Recorder,
    (began, progress, stop): (Instant, &dyn Progress, &Stop),
) -> Result<Outcome> {
    let Prepared { mut experiment, plan, environment, stores, findings, left_out, round } =
        prepared;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (spec, point) = (request.spec.clone(), request.point.clone());
    let header = Header { format: FORMAT, started, environment, plan: plan.clone(), spec, point };
    recorder.begin(header)?;
    // If there are none, the trials make them.
    let before = !stores.is_empty();
    let known = stores.iter().map(|facts| facts.target).collect();
    stores.into_iter().try_for_each(|facts| recorder.push(Line::Store(facts)))?;
    recorder.note(findings)?;
    if before {
        note(recorder, checks::of_stores)?;
    }
    let start = Instant::now();
    let mut schedule = Schedule { plan: &plan, began, progress, stop, lost: Vec::new(), known };
    let ended = match schedule.rounds(&mut *experiment, round, recorder) {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Ended::Interrupted),
        ended => ended,
    };
    let (measuring, lost) = (start.elapsed(), schedule.lost_targets());
    let noted = if before { Ok(()) } else { note(recorder, checks::of_stores) };
    let checked = ended.and_then(|ended| Ok((ended, experiment.integrity(&lost)?)));
    let whole = checked.is_ok() && lost.is_empty() && left_out.is_empty();
    let closed = experiment.close(whole);
    let (ended, integrity) = checked?;
    noted.and(closed)?;
    let failed = plan.targets.iter().enumerate().filter(|(target, _)| lost.contains(target));
    let failed = failed.map(|(_, target)| target.label.clone());
    Ok(Outcome {
        ended,
        measuring,
        failed: left_out.into_iter().chain(failed).collect(),
        integrity,
    })
}

/// Adds what only the whole record shows, and its last line.
fn finish(outcome: Result<Outcome>, recorder: &mut Recorder, began: Instant) -> Result<Outcome> {
    let noted = note(recorder, checks::of_record);
    let reason = match &outcome {
        Ok(outcome) => outcome.ended.clone(),
        Err(error) => Ended::Failed(error.to_string()),
    };
    let seconds = began.elapsed().as_secs_f64();
    let written = recorder.push(Line::End(End { reason, seconds }));
    outcome.and_then(|outcome| noted.and(written).map(|()| outcome))
}

/// Adds the findings of the record so far.
fn note(recorder: &mut Recorder, find: fn(&Record) -> Vec<Finding>) -> Result<()> {
    let findings = recorder.record().map(find).unwrap_or_default();
    recorder.note(findings)
}

struct Schedule<'a> {
    plan: &'a Plan,
    /// Since when the time of the run counts.
    began: Instant,
    progress: &'a dyn Progress,
    stop: &'a Stop,
    /// Trials that are left out because they failed, or another of the same target did.
    lost: Vec<Trial>,
    /// Targets whose facts are in the record.
    known: HashSet<usize>,
}

impl Schedule<'_> {
    /// `expected`: how long a round will take, if that is known before the first.
    fn rounds(
        &mut self,
        experiment: &mut dyn Experiment,
        expected: Option<Duration>,
        recorder: &mut Recorder,
    ) -> Result<Ended> {
        expected.inspect(|expected| self.warn(*expected, experiment.shorter()));
        let mut eta = Eta::new(self.plan.rounds, self.began, self.progress);
        let mut longest = Duration::ZERO;
        for round in 0.. {
            let start = Instant::now();
            eta.round(round);
            self.round(round, &eta, experiment, recorder)?;
            if experiment.trials().iter().all(|trial| self.lost.contains(trial)) {
                return Ok(Ended::Failed("a trial failed of every target".to_owned()));
            }
            longest = longest.max(start.elapsed());
            if round == 0 && expected.is_none() {
                self.warn(longest, experiment.shorter());
            }
            let (rounds, elapsed) = (&self.plan.rounds, self.began.elapsed());
            let record = recorder.record();
            if let Some(ended) = stopping::ended(rounds, round + 1, longest, elapsed, record) {
                return Ok(ended);
            }
        }
        Ok(Ended::Rounds)
    }

    /// Says it if the least number of rounds will take longer than the time.
    fn warn(&self, round: Duration, shorter: &str) {
        let Rounds { min, max, seconds, .. } = self.plan.rounds;
        if max.is_none() && (round * min).as_secs_f64() > seconds {
            self.progress.say(&format!(
                "one round takes about {}, and at least {min} are run; use {shorter} to shorten it",
                show_duration(round)
            ));
        }
    }

    fn round(
        &mut self,
        round: u32,
        eta: &Eta<'_>,
        experiment: &mut dyn Experiment,
        recorder: &mut Recorder,
    ) -> Result<()> {
        experiment.start_round(round)?;
        let trials = self.shuffled(round, experiment.trials());
        let all = trials.len();
        for (position, trial) in (0..).zip(trials) {
            if self.lost.contains(&trial) {
                continue;
            }
            self.stop.check()?;
            eta.trial(position, all, &experiment.progress(trial));
            let (at, known) = (At { round, position }, &mut self.known);
            let mut output = Output { recorder: &mut *recorder, known, target: trial.target, at };
            if let Err(error) = experiment.run(trial, at, &mut output) {
                self.failed(trial, round, error, experiment, recorder)?;
            }
        }
        Ok(())
    }

    /// Leaves out what failed, unless that ends the run.
    fn failed(
        &mut self,
        trial: Trial,
        round: u32,
        error: Error,
        experiment: &mut dyn Experiment,
        recorder: &mut Recorder,
    ) -> Result<()> {
        let Some(loss) = experiment.loss(trial, &error) else { return Err(error) };
        let is_lost = |other: &Trial| match loss {
            Loss::Trial => *other == trial,
            Loss::Target => other.target == trial.target,
        };
        self.lost.extend(experiment.trials().into_iter().filter(is_lost));
        let kind = FindingKind::TrialFailed { why: error.to_string() };
        let finding = Finding::target(kind, &self.plan.targets[trial.target].label);
        recorder.note([experiment.place(trial, finding.in_round(round))])?;
        experiment.recover()
    }

    fn lost_targets(&self) -> HashSet<usize> {
        self.lost.iter().map(|trial| trial.target).collect()
    }

    /// In fresh random order; what failed once is left out.
    fn shuffled(&self, round: u32, mut trials: Vec<Trial>) -> Vec<Trial> {
        trials.retain(|trial| !self.lost.contains(trial));
        let seed = derive(self.plan.seed, Use::Trials, round.into());
        shuffle(&mut trials, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        trials
    }
}
