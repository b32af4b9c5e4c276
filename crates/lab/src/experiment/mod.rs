//! The experiments. Each defines which trials a round has and how one is run; the
//! [`schedule`](crate::schedule) decides when.

pub(crate) mod age;
pub(crate) mod backup;
pub(crate) mod blobs;
pub(crate) mod life;
mod meter;
pub(crate) mod queue;
pub(crate) mod request;
pub(crate) mod roles;
pub(crate) mod rows;
mod scratches;
pub(crate) mod store_cache;
mod values;

use std::{collections::HashSet, ops::Range, path::PathBuf, time::Duration};

use model::{
    Cache, Case, Environment, Error, Finding, Library, Plan, Result, Sample, StoreFacts, Work,
    record::Line,
};

use crate::{Recorder, budget::Budget};
use scratches::Scratches;

/// An experiment whose stores are prepared.
pub(crate) struct Prepared<'a> {
    pub(crate) experiment: Box<dyn Experiment + 'a>,
    pub(crate) plan: Plan,
    pub(crate) environment: Environment,
    /// The trials of a round, in a fixed order.
    pub(crate) trials: Vec<Trial>,
    /// The facts about stores before the first round.
    pub(crate) stores: Vec<StoreFacts>,
    pub(crate) findings: Vec<Finding>,
    /// Labels of the targets that failed already.
    pub(crate) left_out: Vec<String>,
    /// How long a round will take, if something was tried.
    pub(crate) round: Option<Duration>,
    /// What the user can change to make a round shorter; `None` if that was said already.
    pub(crate) shorter: Option<&'static str>,
}

impl<'a> Prepared<'a> {
    /// Creates an experiment whose trials create their stores, one trial for each target in a
    /// round.
    pub(crate) fn new(
        experiment: impl Experiment + 'a,
        plan: Plan,
        environment: Environment,
        shorter: &'static str,
    ) -> Self {
        let all = 0..plan.workloads.len();
        let trial = |target| Trial::for_target(target, all.clone(), None);
        let trials = (0..plan.targets.len()).map(trial).collect();
        Self {
            experiment: Box::new(experiment),
            plan,
            environment,
            trials,
            stores: Vec::new(),
            findings: Vec::new(),
            left_out: Vec::new(),
            round: None,
            shorter: Some(shorter),
        }
    }
}

/// A part of a round that is run at one go, over one target or over several that take turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Indices into the plan's targets.
    pub(crate) targets: Vec<usize>,
    /// Indices into the plan's workloads.
    pub(crate) workloads: Range<usize>,
    /// Absent: all of the plan.
    pub(crate) cache: Option<Cache>,
}

impl Trial {
    /// Creates a trial over one target.
    pub(crate) fn for_target(target: usize, workloads: Range<usize>, cache: Option<Cache>) -> Self {
        Self { targets: vec![target], workloads, cache }
    }

    /// Reports whether the trial is about the same cases as `other`.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (&self.workloads, self.cache) == (&other.workloads, other.cache)
    }

    /// Reports whether the trial measures `case`.
    pub(crate) fn is_about(&self, case: Case) -> bool {
        self.cache.is_none_or(|cache| cache == case.cache)
            && self.workloads.contains(&case.workload)
    }

    /// Returns the target of a trial over a single one.
    pub(crate) fn target(&self) -> usize {
        self.targets[0]
    }

    /// Returns the trial over those of its targets that `keep` accepts; `None` if there are none.
    pub(crate) fn retain(&self, keep: impl Fn(usize) -> bool) -> Option<Self> {
        let targets: Vec<_> = self.targets.iter().copied().filter(|target| keep(*target)).collect();
        (!targets.is_empty()).then(|| Self { targets, ..self.clone() })
    }
}

/// What is left out after a failed trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Trial,
    Target,
}

/// The labels of targets with what their engines' own integrity checks found wrong.
pub(crate) type Complaints = Vec<(String, Vec<String>)>;

/// An experiment that the schedule runs.
pub(crate) trait Experiment {
    /// Starts fresh processes for another run of the same.
    fn start_run(&mut self) -> Result<()> {
        Ok(())
    }

    /// Prepares what trials like `trial` need, which have this budget. Returns the targets that
    /// cannot take part.
    fn start_case(
        &mut self,
        _trial: &Trial,
        _budget: Budget,
        _recorder: &mut Recorder,
    ) -> Result<Vec<(usize, Error)>> {
        Ok(Vec::new())
    }

    /// Draws what all trials of a round have in common, which are like `trial`.
    fn start_round(&mut self, _round: u32, _trial: &Trial) -> Result<()> {
        Ok(())
    }

    /// Runs a trial, and outputs its samples as they are measured, or that one of several targets
    /// failed. An error is about all of its targets.
    fn run(&mut self, trial: &Trial, output: &mut Output<'_>) -> Result<()>;

    /// Returns what it costs that a target failed in a trial; `None` for the whole run.
    fn loss(&self, _target: usize, _error: &Error) -> Option<Loss> {
        Some(Loss::Target)
    }

    /// Returns `error`, with which a trial of the target failed, or what is to blame for it.
    fn blame(&self, _target: usize, error: Error) -> Error {
        error
    }

    /// Returns what is only known after the last round.
    fn last_findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Restores the stores after a failed trial, so that the others can run.
    fn recover(&mut self) -> Result<()> {
        Ok(())
    }

    /// Runs the integrity checks that were asked for, except those of the targets in `lost`, and
    /// closes what is open. `_lost` is `None` if the rounds ended with an error.
    fn finish(self: Box<Self>, _lost: Option<&HashSet<usize>>) -> Result<Complaints> {
        Ok(Vec::new())
    }
}

/// The record, as one trial sees it.
pub(crate) struct Output<'a> {
    pub(crate) recorder: &'a mut Recorder,
    /// The target of the samples that come next.
    pub(crate) target: usize,
    pub(crate) run: u32,
    pub(crate) round: u32,
    /// The position of the trial, counted from 0 within the round.
    pub(crate) position: u32,
    /// Targets that failed.
    pub(crate) failed: Vec<(usize, Error)>,
}

impl Output<'_> {
    /// Records what is known of a store. Later rounds, which create it again, record nothing.
    pub(crate) fn facts(&mut self, facts: StoreFacts) -> Result<()> {
        let stores = self.recorder.record().map_or(&[][..], |record| &record.stores);
        if stores.iter().any(|known| known.target == self.target) {
            return Ok(());
        }
        let plan = self.recorder.record().map(|record| &record.header.plan);
        plan.map_or(Ok(()), |plan| check_class(plan, self.target, &facts))?;
        self.recorder.push(Line::Store(StoreFacts { target: self.target, ..facts }))
    }

    /// Records a sample, whose workload and cache state are set; `written_before` is the share of
    /// the first values to be written that existed already.
    pub(crate) fn sample(&mut self, sample: Sample, written_before: Option<f64>) -> Result<()> {
        let Self { target, run, round, position, .. } = *self;
        let sample = Sample { run, round, position, target, ..sample };
        let header = self.recorder.record().map(|record| &record.header);
        let findings = header
            .map_or_else(Vec::new, |header| checks::of_sample(header, &sample, written_before));
        self.recorder.push(Line::Sample(Box::new(sample)))?;
        self.recorder.note(findings)
    }
}

/// Refuses a store that is written to and does not give the class that was asked for, by its settings
/// as read back.
pub(crate) fn check_class(plan: &Plan, target: usize, facts: &StoreFacts) -> Result<()> {
    // A limit of the machine is compared with as it is.
    let compared = plan.first_workload(Work::writes).is_some() && !plan.targets[target].reference;
    let asked = plan.durability.filter(|_| compared);
    let (Some(asked), gives) = (asked, facts.durability) else { return Ok(()) };
    if gives >= asked {
        return Ok(());
    }
    let label = &plan.targets[target].label;
    Err(Error::usage(format!(
        "{label}: cannot give durability {asked}: with its own settings it gives {gives}; leave them \
         out, or use --durability {gives}"
    )))
}

/// Describes the machine: the file systems of `folders`, and the libraries of engines.
fn environment(folders: &[PathBuf], libraries: impl Iterator<Item = Library>) -> Environment {
    let mut environment = host::environment(folders);
    for library in libraries {
        if !environment.libraries.contains(&library) {
            environment.libraries.push(library);
        }
    }
    environment
}
