//! The one schedule of all experiments: rounds of trials in balanced order until every verdict is
//! settled or the time is spent. What fails or is settled is left out from there on, and the others
//! go on.

mod ending;
mod rehearsal;

use std::{
    collections::HashSet,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use model::{
    Error, ErrorKind, Finding, FindingKind, Plan, Result, Rounds,
    record::{End, Ended, FORMAT, Header, Line, Record},
    units::{duration_of, longer_option, show_duration},
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use rehearsal::Expected;

use crate::{
    Progress, Recorder, Silent, Stop,
    dataset::{Use, derive, shuffle},
    experiment::{
        Complaints, Experiment, Loss, Output, Prepared, Trial, blobs::StoreCache, check_class,
        request::Request,
    },
    workload::interleaved::balanced_orders,
};

/// What the record does not contain.
pub struct Outcome {
    /// Why no further round was run.
    pub ended: Ended,
    /// How long the rounds took.
    pub measuring: Duration,
    /// Labels of the targets that failed, in a trial or before; each is a finding too.
    pub failed: Vec<String>,
    /// What each store's engine complains of, by target, if a check was asked for.
    pub integrity: Complaints,
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
    let measure = || {
        let expected = rehearsal::expected(request, stop, |part| {
            progress.stage("trying a small part", None);
            let Outcome { ended, measuring, .. } =
                measure(part, &mut Recorder::new(None), &Silent, stop)?;
            match ended {
                Ended::Time => Err(Error::overdue()),
                Ended::Interrupted => Err(Error::interrupted()),
                _ => Ok(measuring),
            }
        })?;
        let mut prepared = request.prepare(stores, progress, stop)?;
        match expected {
            Expected::Nothing => {}
            Expected::Round(round) => prepared.round = Some(round),
            Expected::Longer(part) => progress.say(&format!(
                "already a small part of a round takes more than {}: too few rounds for a verdict \
                 may fit{}",
                show_duration(part),
                advice("use more --time", prepared.shorter)
            )),
        }
        let outcome = run(request, prepared, recorder, (began, progress, stop));
        finish(outcome, recorder, began)
    };
    stop.within(request.time(), measure)
}

/// Runs a prepared experiment.
fn run(
    request: &Request,
    prepared: Prepared<'_>,
    recorder: &mut Recorder,
    (began, progress, stop): (Instant, &dyn Progress, &Stop),
) -> Result<Outcome> {
    let Prepared { mut experiment, plan, environment, trials, stores, .. } = prepared;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (spec, point) = (request.spec.clone(), request.point.clone());
    stores.iter().try_for_each(|facts| check_class(&plan, facts.target, facts))?;
    let header = Header { format: FORMAT, started, environment, plan: plan.clone(), spec, point };
    recorder.begin(header)?;
    // If there are none, the trials make them.
    let before = !stores.is_empty();
    stores.into_iter().try_for_each(|facts| recorder.push(Line::Store(facts)))?;
    recorder.note(prepared.findings)?;
    if before {
        note(recorder, checks::of_stores)?;
    }
    let start = Instant::now();
    let (plan, shorter) = (&plan, prepared.shorter);
    let mut schedule = Schedule {
        plan,
        trials,
        lost: HashSet::new(),
        shorter,
        began,
        start,
        run: 0,
        progress,
        stop,
    };
    let ended = match schedule.runs(&mut *experiment, prepared.round, recorder) {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Ended::Interrupted),
        Err(error) if error.kind() == ErrorKind::Overdue => Ok(Ended::Time),
        ended => ended,
    };
    let (measuring, lost) = (start.elapsed(), schedule.lost);
    let noted = if before { Ok(()) } else { note(recorder, checks::of_stores) };
    let finished = experiment.finish(ended.is_ok().then_some(&lost));
    let (ended, integrity) = (ended?, finished?);
    noted?;
    let failed = plan.targets.iter().enumerate().filter(|(target, _)| lost.contains(target));
    let failed = failed.map(|(_, target)| target.label.clone());
    let failed = prepared.left_out.into_iter().chain(failed).collect();
    Ok(Outcome { ended, measuring, failed, integrity })
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

/// What to do about a long round: more time, or what makes it shorter.
fn advice(time: &str, shorter: Option<&str>) -> String {
    shorter.map_or_else(String::new, |shorter| format!("; {time}, or {shorter} to shorten it"))
}

struct Schedule<'a> {
    plan: &'a Plan,
    /// Those of a round that none has failed of.
    trials: Vec<Trial>,
    /// Targets a trial of which failed.
    lost: HashSet<usize>,
    shorter: Option<&'static str>,
    /// Since when the time of the run counts.
    began: Instant,
    /// When the first round started.
    start: Instant,
    /// The run that its rounds belong to.
    run: u32,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl Schedule<'_> {
    /// All runs that the plan asks for; why the last ended. `expected`: how long a round will take,
    /// if that is known before the first.
    fn runs(
        &mut self,
        experiment: &mut dyn Experiment,
        expected: Option<Duration>,
        recorder: &mut Recorder,
    ) -> Result<Ended> {
        expected.inspect(|expected| self.warn(*expected));
        let (mut round, mut ended) = (0, Ended::Rounds);
        for run in 0..self.plan.rounds.runs {
            if run > 0 {
                experiment.start_run()?;
            }
            self.run = run;
            ended = self.rounds(&mut round, experiment, expected, recorder)?;
            if self.trials.is_empty() {
                break;
            }
        }
        Ok(ended)
    }

    /// The rounds of a run, which are numbered from `next` on.
    fn rounds(
        &mut self,
        next: &mut u32,
        experiment: &mut dyn Experiment,
        expected: Option<Duration>,
        recorder: &mut Recorder,
    ) -> Result<Ended> {
        let (rounds, first) = (self.share(), *next);
        let mut longest = Duration::ZERO;
        for round in first.. {
            *next = round + 1;
            let start = Instant::now();
            experiment.start_round(round)?;
            self.round(round, experiment, recorder)?;
            if self.trials.is_empty() {
                return Ok(Ended::Failed("a trial failed of every target".to_owned()));
            }
            longest = longest.max(start.elapsed());
            if round == 0 && expected.is_none() {
                self.warn(longest);
            }
            let (done, elapsed) = (*next - first, self.began.elapsed());
            let record = recorder.record();
            if let Some(ended) = ending::ended(&rounds, done, longest, elapsed, record) {
                return Ok(ended);
            }
        }
        Ok(Ended::Rounds)
    }

    /// When this run is to stop: it has as much of the time that is left as each after it.
    fn share(&self) -> Rounds {
        let Rounds { seconds, runs, .. } = self.plan.rounds;
        let spent = self.began.elapsed().as_secs_f64();
        let share = (seconds - spent).max(0.0) / f64::from(runs - self.run);
        Rounds { seconds: spent + share, ..self.plan.rounds }
    }

    /// Says it if the least number of rounds does not fit into the time.
    fn warn(&self, round: Duration) {
        let Rounds { min, max, seconds, runs, .. } = self.plan.rounds;
        let min = min.saturating_mul(runs);
        if max.is_none() && round.saturating_mul(min).as_secs_f64() > seconds {
            let needed = round.saturating_mul(min.saturating_add(1));
            let time = longer_option(needed, duration_of(seconds));
            self.progress.say(&format!(
                "one round takes about {}: fewer than the {min} that a verdict needs fit into {}{}",
                show_duration(round),
                show_duration(duration_of(seconds)),
                advice(&format!("use --time {time}"), self.shorter)
            ));
        }
    }

    /// Runs the trials of the targets that are not settled.
    fn round(
        &mut self,
        round: u32,
        experiment: &mut dyn Experiment,
        recorder: &mut Recorder,
    ) -> Result<()> {
        let open = ending::open(self.plan, recorder.record());
        let trials = self.in_order(round);
        for (position, trial) in (0..).zip(&trials) {
            let goes_on = |target| self.has(target, trial) && open(target, trial);
            let Some(trial) = trial.retain(goes_on) else { continue };
            self.stop.check()?;
            self.show(&trial, round, f64::from(position) / trials.len() as f64);
            let (target, run, failed) = (trial.target(), self.run, Vec::new());
            let mut output =
                Output { recorder: &mut *recorder, target, run, round, position, failed };
            let run = experiment.run(&trial, &mut output);
            let failed = output.failed;
            self.take_out(&trial, round, (run, failed), experiment, recorder)?;
        }
        Ok(())
    }

    /// Whether a target has not failed in such a trial.
    fn has(&self, target: usize, trial: &Trial) -> bool {
        let like = |of: &&Trial| of.is_like(trial);
        self.trials.iter().filter(like).any(|of| of.targets.contains(&target))
    }

    /// The trials of a round. Over as many rounds as there are trials each comes at every place, and
    /// after every other one, equally often; then all are shuffled again.
    fn in_order(&self, round: u32) -> Vec<Trial> {
        let mut trials = self.trials.clone();
        if trials.is_empty() {
            return trials;
        }
        let orders = balanced_orders(trials.len());
        let (cycle, place) = (round as usize / orders.len(), round as usize % orders.len());
        let seed = derive(self.plan.seed, Use::Trials, cycle as u64);
        shuffle(&mut trials, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        orders[place].iter().map(|trial| trials[*trial].clone()).collect()
    }

    /// Shows that a trial starts when that `part` of the round has passed.
    fn show(&self, trial: &Trial, round: u32, part: f64) {
        let what = match &trial.targets[..] {
            [target] => format!(", {}", self.plan.targets[*target].label),
            _ => String::new(),
        };
        let (measuring, spent) = (self.start.elapsed(), self.began.elapsed());
        let left = ending::left(&self.plan.rounds, f64::from(round) + part, measuring, spent);
        self.progress.rounds(&format!("round {}{what}", round + 1), left);
    }

    /// Leaves out what failed, unless that ends the run. If it is not known through which of several
    /// targets, each is tried alone from now on.
    fn take_out(
        &mut self,
        trial: &Trial,
        round: u32,
        (run, mut failed): (Result<()>, Vec<(usize, Error)>),
        experiment: &mut dyn Experiment,
        recorder: &mut Recorder,
    ) -> Result<()> {
        match (run, &trial.targets[..]) {
            (Ok(()), _) => {}
            (Err(error), _) if error.is_stopped() => return Err(error),
            (Err(error), [target]) => failed.push((*target, error)),
            (Err(_), _) => {
                self.split(trial);
                return experiment.recover();
            }
        }
        let none = failed.is_empty();
        for (target, error) in failed {
            self.leave_out((target, trial), round, error, experiment, recorder)?;
        }
        if none { Ok(()) } else { experiment.recover() }
    }

    /// Makes a trial of each target of one over several.
    fn split(&mut self, trial: &Trial) {
        let (like, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.trials).into_iter().partition(|of| of.is_like(trial));
        let targets = like.into_iter().flat_map(|of| of.targets);
        let alone = targets.map(|target| Trial { targets: vec![target], ..trial.clone() });
        self.trials = others.into_iter().chain(alone).collect();
    }

    fn leave_out(
        &mut self,
        (target, trial): (usize, &Trial),
        round: u32,
        error: Error,
        experiment: &dyn Experiment,
        recorder: &mut Recorder,
    ) -> Result<()> {
        let Some(loss) = experiment.loss(target, &error) else { return Err(error) };
        let left = |of: Trial| match loss {
            Loss::Trial if !of.is_like(trial) => Some(of),
            _ => of.retain(|other| other != target),
        };
        self.trials = std::mem::take(&mut self.trials).into_iter().filter_map(left).collect();
        self.lost.insert(target);
        let kind = FindingKind::TrialFailed { why: error.to_string() };
        let finding = Finding::target(kind, &self.plan.targets[target].label);
        let all = trial.workloads.len() == self.plan.workloads.len();
        let finding = finding.in_round(round);
        let own = if all { finding } else { finding.in_workload(trial.workloads.start) };
        recorder.note([own])
    }
}
