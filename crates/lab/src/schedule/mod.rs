//! The one schedule of all experiments: rounds of trials in balanced order until every verdict is
//! settled or the time is spent. What fails or is settled is left out from there on, and the others
//! go on.

mod ending;
#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use model::{
    Error, ErrorKind, Finding, FindingKind, Plan, Requests, Result, Rounds,
    record::{End, Ended, FORMAT, Header, Line, Record},
    requests_sent,
    units::{duration_of, longer_option, show_duration},
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Progress, Recorder, Silent, Stop,
    budget::{Budget, Expected, rehearse, shares},
    dataset::{Use, derive, shuffle},
    experiment::{
        Complaints, Experiment, Loss, Output, Prepared, Trial, check_class, request::Request,
        store_cache::StoreCache,
    },
    workload::turns::balanced_orders,
};
use ending::Times;

/// The results that the record does not contain.
pub struct Outcome {
    /// Why no further round was run.
    pub ended: Ended,
    /// How long the rounds took.
    pub measuring: Duration,
    /// Labels of the targets that failed, in a trial or before; each is a finding too.
    pub failed: Vec<String>,
    /// The damage that each store's engine reports, by target, if a check was asked for.
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

/// Measures as one of several runs, with the data and stores that the one before it left in
/// `stores`, as far as they fit.
///
/// # Errors
///
/// Fails as [`measure`] does.
pub fn measure_with(
    stores: &mut StoreCache,
    request: &Request,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    stores.remove_used();
    let (budget, sent) = (Budget::new(request.time()), requests_sent());
    let measure = || {
        let expected = rehearse(request.time(), stop, |parts| {
            let Some(part) = request.one_of(parts) else { return Ok(None) };
            progress.stage("trying a small part", None);
            let Outcome { ended, measuring, .. } =
                measure(&part, &mut Recorder::new(None), &Silent, stop)?;
            match ended {
                Ended::Time => Err(Error::overdue()),
                Ended::Requests => Err(Error::overspent()),
                Ended::Interrupted => Err(Error::interrupted()),
                _ => Ok(Some(measuring)),
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
        let outcome = run(request, prepared, recorder, (budget, progress, stop));
        finish(outcome, recorder, (budget.spent(), sent))
    };
    stop.within(request.time(), measure)
}

fn run(
    request: &Request,
    prepared: Prepared<'_>,
    recorder: &mut Recorder,
    (budget, progress, stop): (Budget, &dyn Progress, &Stop),
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
    let mut schedule = Schedule {
        plan: &plan,
        experiment: &mut *experiment,
        recorder,
        cases: by_case(trials),
        lost: HashSet::new(),
        expected: prepared.round,
        shorter: prepared.shorter,
        budget,
        start,
        run: 0,
        progress,
        stop,
    };
    let ended = match schedule.runs() {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Ended::Interrupted),
        Err(error) if error.kind() == ErrorKind::Overdue => Ok(Ended::Time),
        Err(error) if error.kind() == ErrorKind::Overspent => Ok(Ended::Requests),
        ended => ended,
    };
    let (measuring, lost) = (start.elapsed(), schedule.lost);
    let noted = if before { Ok(()) } else { note(recorder, checks::of_stores) };
    let noted = noted.and_then(|()| recorder.note(experiment.last_findings()));
    let finished = experiment.finish(ended.is_ok().then_some(&lost));
    let (ended, integrity) = (ended?, finished?);
    noted?;
    let failed = plan.targets.iter().enumerate().filter(|(target, _)| lost.contains(target));
    let failed = failed.map(|(_, target)| target.label.clone());
    let failed = prepared.left_out.into_iter().chain(failed).collect();
    Ok(Outcome { ended, measuring, failed, integrity })
}

/// Adds what only the whole record shows, and its last line.
fn finish(
    outcome: Result<Outcome>,
    recorder: &mut Recorder,
    (took, sent): (Duration, Requests),
) -> Result<Outcome> {
    let reason = match &outcome {
        Ok(outcome) => outcome.ended.clone(),
        Err(error) => Ended::Failed(error.to_string()),
    };
    let seconds = took.as_secs_f64();
    let requests = Some(requests_sent() - sent).filter(|requests| requests.count() > 0);
    let written = recorder.end(End { reason, seconds, requests }, checks::of_record);
    outcome.and_then(|outcome| written.map(|()| outcome))
}

/// Adds the findings of the record so far.
fn note(recorder: &mut Recorder, find: fn(&Record) -> Vec<Finding>) -> Result<()> {
    let findings = recorder.record().map(find).unwrap_or_default();
    recorder.note(findings)
}

/// Returns what to do about a long round: more time, or what makes it shorter.
fn advice(time: &str, shorter: Option<&str>) -> String {
    shorter.map_or_else(String::new, |shorter| format!("; {time}, or {shorter} to shorten it"))
}

/// The trials about the same cases: they have rounds of their own, so that decided cases do not
/// hold up the others.
struct CaseRounds {
    /// The trials of a round without the targets that have failed.
    trials: Vec<Trial>,
    /// The number of the next round.
    next: u32,
    /// The longest round so far, without the first once there are more.
    longest: Duration,
    /// Whether another round could still show something.
    open: bool,
}

/// Groups trials that are about the same cases, in the order in which they are given.
fn by_case(trials: Vec<Trial>) -> Vec<CaseRounds> {
    let mut cases: Vec<CaseRounds> = Vec::new();
    for trial in trials {
        let like = |case: &&mut CaseRounds| case.trials.iter().any(|other| other.is_like(&trial));
        if let Some(case) = cases.iter_mut().find(like) {
            case.trials.push(trial);
        } else {
            let (next, longest, open) = (0, Duration::ZERO, true);
            cases.push(CaseRounds { trials: vec![trial], next, longest, open });
        }
    }
    cases
}

struct Schedule<'a> {
    plan: &'a Plan,
    experiment: &'a mut dyn Experiment,
    recorder: &'a mut Recorder,
    cases: Vec<CaseRounds>,
    /// Targets a trial of which failed.
    lost: HashSet<usize>,
    /// How long a round will take, if that is known before the first.
    expected: Option<Duration>,
    /// What makes a round shorter, unless that was said already.
    shorter: Option<&'static str>,
    /// The time of all runs.
    budget: Budget,
    /// When the first round started.
    start: Instant,
    /// The run that its rounds belong to.
    run: u32,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl CaseRounds {
    /// Notes how long the last round took, and returns how long the next may take. The first round may
    /// have filled stores in addition, so it counts only as long as it is the only one.
    fn note_round(&mut self, round: Duration) -> Duration {
        self.longest = if self.next == 2 { round } else { self.longest.max(round) };
        self.longest
    }
}

impl Schedule<'_> {
    /// Makes all runs that the plan asks for; returns why the last one ended.
    fn runs(&mut self) -> Result<Ended> {
        self.expected.inspect(|expected| self.warn(*expected));
        for run in 0..self.plan.rounds.runs {
            if run > 0 {
                self.experiment.start_run()?;
            }
            self.run = run;
            self.all_cases()?;
            if self.cases.iter().all(|case| case.trials.is_empty()) {
                return Ok(Ended::Failed("a trial failed of every target".to_owned()));
            }
        }
        Ok(match self.plan.rounds.max {
            Some(_) => Ended::Rounds,
            None if self.cases.iter().any(|case| case.open) => Ended::Time,
            None => Ended::Precise,
        })
    }

    /// Makes one run: each case has its share of the time that is left, and what others leave over
    /// goes to those that need more of it.
    fn all_cases(&mut self) -> Result<()> {
        for place in 0..self.cases.len() {
            let further: f64 = self.cases[place..].iter().map(|case| self.weight(case)).sum();
            let share = self.share(self.weight(&self.cases[place]) / further);
            self.rounds(place, share)?;
        }
        if self.plan.rounds.max.is_some() || self.plan.rounds.runs > 1 {
            return Ok(());
        }
        while let Some(place) = self.next_open() {
            let open = self.cases.iter().filter(|case| case.open).count();
            let share = self.share(1.0 / open as f64);
            self.rounds(place, share)?;
        }
        Ok(())
    }

    /// Returns the case with the fewest rounds of those another round of which fits into the time.
    fn next_open(&self) -> Option<usize> {
        let fits = |case: &CaseRounds| case.open && self.budget.fits(case.longest);
        let open = (0..self.cases.len()).filter(|place| fits(&self.cases[*place]));
        open.min_by_key(|place| self.cases[*place].next)
    }

    /// Runs rounds of a case until `share` ends them.
    fn rounds(&mut self, place: usize, share: Budget) -> Result<()> {
        let first = self.cases[place].next;
        self.prepare(place, share)?;
        for round in first.. {
            let Some(trial) = self.cases[place].trials.first().cloned() else { break };
            self.cases[place].next = round + 1;
            let start = Instant::now();
            self.experiment.start_round(round, &trial)?;
            if !self.round(place, round)? {
                break;
            }
            let longest = self.cases[place].note_round(start.elapsed());
            if round == 1 && self.expected.is_none() {
                self.warn(longest);
            }
            // What was measured before counts: a case may go on when others are over.
            let done = if self.plan.rounds.runs > 1 { round + 1 - first } else { round + 1 };
            let others_wait = self.others_wait(place);
            let times = Times { longest, share, all: self.budget, others_wait };
            let ended =
                ending::ended(&self.plan.rounds, done, &times, self.recorder.record(), &trial);
            if let Some(ended) = ended {
                self.cases[place].open = ended == Ended::Time;
                return Ok(());
            }
        }
        self.cases[place].open = false;
        Ok(())
    }

    /// Makes ready what the rounds of a case need that was not needed before.
    fn prepare(&mut self, place: usize, budget: Budget) -> Result<()> {
        let Some(trial) = self.cases[place].trials.first().cloned() else { return Ok(()) };
        for (target, error) in self.experiment.start_case(&trial, budget, self.recorder)? {
            let kind = FindingKind::NotUsable { why: error.to_string() };
            self.leave_out((target, &trial), 0, Loss::Trial, kind)?;
        }
        Ok(())
    }

    fn weight(&self, case: &CaseRounds) -> f64 {
        let work = |trial: &Trial| self.plan.workloads[trial.workloads.start].work;
        shares::weight(case.trials.first().is_some_and(|trial| work(trial).writes()))
    }

    /// Reports whether a case after this one has no rounds yet.
    fn others_wait(&self, place: usize) -> bool {
        self.cases[place + 1..].iter().any(|case| case.next == 0 && !case.trials.is_empty())
    }

    /// Starts the budget of a case that has this `part` of the remaining time of this run.
    fn share(&self, part: f64) -> Budget {
        self.budget.part(part / f64::from(self.plan.rounds.runs - self.run))
    }

    /// Says it if the least number of rounds does not fit into the time.
    fn warn(&self, round: Duration) {
        let (Rounds { max, seconds, .. }, min) = (self.plan.rounds, self.plan.rounds.min_total());
        if max.is_none() && round.saturating_mul(min).as_secs_f64() > seconds {
            let needed = round.saturating_mul(min.saturating_add(1));
            let time = longer_option(needed, duration_of(seconds));
            let all = match self.plan.rounds.runs {
                1 => format!("{min} that a verdict needs"),
                runs => format!("{min} of {runs} runs"),
            };
            self.progress.say(&format!(
                "one round takes about {}: fewer than the {all} fit into {}{}",
                show_duration(round),
                show_duration(duration_of(seconds)),
                advice(&format!("use --time {time}"), self.shorter)
            ));
        }
    }

    /// Runs the trials of the targets that are not settled. Returns whether there was any: all that
    /// are open may have failed.
    fn round(&mut self, place: usize, round: u32) -> Result<bool> {
        let mut any = false;
        let open = ending::open(self.plan, self.recorder.record());
        let trials = self.in_order(place, round);
        for (position, trial) in (0..).zip(&trials) {
            let needs = |target| self.has(target, trial) && open(target, trial);
            // Others are compared with the baseline.
            let is_compared = (0..self.plan.targets.len()).any(needs);
            let is_baseline = |target| target == self.plan.baseline && self.has(target, trial);
            let goes_on = |target| needs(target) || is_compared && is_baseline(target);
            let Some(trial) = trial.retain(goes_on) else { continue };
            any = true;
            self.stop.check()?;
            self.show(&trial, round, f64::from(position) / trials.len() as f64);
            let (target, run, failed) = (trial.target(), self.run, Vec::new());
            let mut output =
                Output { recorder: self.recorder, target, run, round, position, failed };
            let run = self.experiment.run(&trial, &mut output);
            let failed = output.failed;
            self.take_out(&trial, round, (run, failed))?;
        }
        Ok(any)
    }

    /// Reports whether a target has not failed in such a trial.
    fn has(&self, target: usize, trial: &Trial) -> bool {
        let trials = self.cases.iter().flat_map(|case| &case.trials);
        trials.filter(|of| of.is_like(trial)).any(|of| of.targets.contains(&target))
    }

    /// Returns the trials of a round in their order. Over as many rounds as there are trials each
    /// comes at every place, and after every other one, equally often; then all are shuffled again.
    fn in_order(&self, place: usize, round: u32) -> Vec<Trial> {
        let mut trials = self.cases[place].trials.clone();
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
        let Rounds { max, runs, .. } = self.plan.rounds;
        let passed: f64 =
            self.cases.iter().map(|case| f64::from(case.next)).sum::<f64>() - 1.0 + part;
        let all = max.map(|max| f64::from(max) * f64::from(runs) * self.cases.len() as f64);
        let left = match all {
            None => self.budget.limit(),
            Some(all) => ending::time_of(all - passed, passed, self.start.elapsed()),
        };
        self.progress.rounds(&format!("round {}{what}", round + 1), left);
    }

    /// Leaves out what failed, unless that ends the run. If it is not known through which of several
    /// targets, each is tried alone from now on.
    fn take_out(
        &mut self,
        trial: &Trial,
        round: u32,
        (run, mut failed): (Result<()>, Vec<(usize, Error)>),
    ) -> Result<()> {
        match (run, &trial.targets[..]) {
            (Ok(()), _) => {}
            (Err(error), _) if error.is_stopped() => return Err(error),
            (Err(error), [target]) => failed.push((*target, error)),
            (Err(_), _) => {
                self.split(trial);
                return self.experiment.recover();
            }
        }
        let none = failed.is_empty();
        for (target, error) in failed {
            let error = self.experiment.blame(target, error);
            let Some(loss) = self.experiment.loss(target, &error) else { return Err(error) };
            let kind = FindingKind::TrialFailed { why: error.to_string() };
            self.leave_out((target, trial), round, loss, kind)?;
        }
        if none { Ok(()) } else { self.experiment.recover() }
    }

    /// Makes a trial of each target of one over several.
    fn split(&mut self, trial: &Trial) {
        let like = |case: &&mut CaseRounds| case.trials.iter().any(|of| of.is_like(trial));
        for case in self.cases.iter_mut().filter(like) {
            let targets = std::mem::take(&mut case.trials).into_iter().flat_map(|of| of.targets);
            let alone = targets.map(|target| Trial { targets: vec![target], ..trial.clone() });
            case.trials = alone.collect();
        }
    }

    /// Takes a target out of all trials, or of those like `trial`, and records why.
    fn leave_out(
        &mut self,
        (target, trial): (usize, &Trial),
        round: u32,
        loss: Loss,
        kind: FindingKind,
    ) -> Result<()> {
        let left = |of: Trial| match loss {
            Loss::Trial if !of.is_like(trial) => Some(of),
            _ => of.retain(|other| other != target),
        };
        for case in &mut self.cases {
            case.trials = std::mem::take(&mut case.trials).into_iter().filter_map(left).collect();
        }
        self.lost.insert(target);
        let finding = Finding::target(kind, &self.plan.targets[target].label).in_round(round);
        let all = trial.workloads.len() == self.plan.workloads.len();
        let own = if all { finding } else { finding.in_workload(trial.workloads.start) };
        self.recorder.note([own])
    }
}
