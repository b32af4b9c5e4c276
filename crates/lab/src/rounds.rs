//! Rounds of trials that make their stores anew: every target in each of its workloads once a
//! round, in fresh random order. What fails is left out from there on.

use std::{
    collections::HashSet,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use model::{
    ErrorKind, Finding, FindingKind, Library, Plan, Result, Rounds, Sample, StoreFacts,
    record::{Ended, FORMAT, Header, Line},
    units::show_duration,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Outcome, Progress, Recorder, Stop,
    course::Course,
    dataset::shuffle,
    host, precise,
    seed::{Use, derive},
};

/// A trial of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Index into the plan's targets.
    pub(crate) target: usize,
    /// Index into the plan's workloads: the first that the trial is about.
    pub(crate) workload: usize,
}

/// What a trial gave.
pub(crate) struct Tried {
    /// One for each workload, in their order; what tells their place is left to the caller.
    pub(crate) samples: Vec<Sample>,
    pub(crate) facts: StoreFacts,
}

/// What is measured in rounds.
pub(crate) trait Trials {
    /// Those of a round.
    fn places(&self) -> Vec<Place>;

    /// Runs one.
    fn trial(&mut self, place: Place) -> Result<Tried>;

    /// What makes a round shorter, for people.
    fn shorter(&self) -> &'static str;
}

/// The first line of a record, of stores that stand in `folders`.
pub(crate) fn header(
    plan: Plan,
    folders: &[std::path::PathBuf],
    libraries: impl Iterator<Item = Library>,
) -> Header {
    let mut environment = host::environment(folders);
    for library in libraries {
        if !environment.libraries.contains(&library) {
            environment.libraries.push(library);
        }
    }
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Header { format: FORMAT, started, environment, plan, spec: None, point: None }
}

/// The rounds of a record that has begun.
pub(crate) struct Shuffled<'a> {
    pub(crate) plan: &'a Plan,
    /// Since when the time of the run counts.
    pub(crate) began: Instant,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) stop: &'a Stop,
    failed: HashSet<Place>,
    /// Targets whose facts are in the record.
    known: HashSet<usize>,
}

impl<'a> Shuffled<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        began: Instant,
        progress: &'a dyn Progress,
        stop: &'a Stop,
    ) -> Self {
        Self { plan, began, progress, stop, failed: HashSet::new(), known: HashSet::new() }
    }

    /// Goes on until the plan's rounds are run, or the user stops it.
    pub(crate) fn run(
        &mut self,
        trials: &mut dyn Trials,
        recorder: &mut Recorder,
    ) -> Result<Outcome> {
        let start = Instant::now();
        let ended = match self.until_ended(trials, recorder) {
            Err(error) if error.kind() == ErrorKind::Interrupted => Ended::Interrupted,
            ended => ended?,
        };
        let (measuring, failed) = (start.elapsed(), self.failed_labels());
        Ok(Outcome { ended, measuring, failed, integrity: Vec::new() })
    }

    /// Labels of the targets of which a trial failed.
    fn failed_labels(&self) -> Vec<String> {
        let failed: HashSet<usize> = self.failed.iter().map(|place| place.target).collect();
        let targets = self.plan.targets.iter().enumerate();
        targets.filter(|(i, _)| failed.contains(i)).map(|(_, t)| t.label.clone()).collect()
    }

    fn until_ended(&mut self, trials: &mut dyn Trials, recorder: &mut Recorder) -> Result<Ended> {
        let mut course = Course::new(self.plan.rounds, self.began, self.progress);
        let mut longest = Duration::ZERO;
        for round in 0.. {
            let start = Instant::now();
            course.round(round);
            self.round(round, &course, trials, recorder)?;
            if self.shuffled(round, trials.places()).is_empty() {
                return Ok(Ended::Failed("a trial failed of every target".to_owned()));
            }
            longest = longest.max(start.elapsed());
            if round == 0 {
                self.foretell(longest, trials.shorter());
            }
            let elapsed = self.began.elapsed();
            if let Some(ended) =
                precise::ended(&self.plan.rounds, round + 1, longest, elapsed, recorder.record())
            {
                return Ok(ended);
            }
        }
        Ok(Ended::Rounds)
    }

    /// Says it when the least number of rounds will take longer than the time.
    fn foretell(&self, round: Duration, shorter: &str) {
        let Rounds { min, max, seconds, .. } = self.plan.rounds;
        if max.is_none() && (round * min).as_secs_f64() > seconds {
            self.progress.say(&format!(
                "one round takes about {}, and {min} are run at least; {shorter} limit it",
                show_duration(round)
            ));
        }
    }

    fn round(
        &mut self,
        round: u32,
        course: &Course<'_>,
        trials: &mut dyn Trials,
        recorder: &mut Recorder,
    ) -> Result<()> {
        let places = self.shuffled(round, trials.places());
        let all = places.len();
        for (position, place) in (0..).zip(places) {
            self.stop.check()?;
            course.trial(position, all, "");
            match trials.trial(place) {
                Ok(tried) => self.note(recorder, place, tried, round, position)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(error) => {
                    self.failed.insert(place);
                    let doubt = FindingKind::TrialFailed { why: error.to_string() };
                    let finding = Finding::target(doubt, &self.plan.targets[place.target].label);
                    recorder.note([finding.in_workload(place.workload).in_round(round)])?;
                }
            }
        }
        Ok(())
    }

    /// Notes what a trial gave.
    fn note(
        &mut self,
        recorder: &mut Recorder,
        Place { target, workload }: Place,
        tried: Tried,
        round: u32,
        position: u32,
    ) -> Result<()> {
        if self.known.insert(target) {
            recorder.push(Line::Store(StoreFacts { target, ..tried.facts }))?;
        }
        for (workload, sample) in (workload..).zip(tried.samples) {
            let sample = Sample { round, position, target, workload, ..sample };
            let header = recorder.record().map(|record| &record.header);
            let doubts =
                header.map_or_else(Vec::new, |header| checks::of_sample(header, &sample, None));
            recorder.push(Line::Sample(Box::new(sample)))?;
            recorder.note(doubts)?;
        }
        Ok(())
    }

    /// In fresh random order; what failed once is left out.
    fn shuffled(&self, round: u32, mut places: Vec<Place>) -> Vec<Place> {
        places.retain(|place| !self.failed.contains(place));
        let seed = derive(self.plan.seed, Use::Trials, round.into());
        shuffle(&mut places, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        places
    }
}
