//! What can be measured. An experiment says which trials a round has and how one is run; the
//! [`schedule`](crate::schedule) says when.

pub(crate) mod ageing;
pub(crate) mod blobs;
mod meter;
mod output;
pub(crate) mod request;
pub(crate) mod rows;
pub(crate) mod tasks;
mod values;

use std::{collections::HashSet, path::PathBuf, time::Duration};

use model::{Cache, Environment, Error, ErrorKind, Finding, Library, Plan, Result, StoreFacts};

pub(crate) use output::{At, Output};

/// An experiment whose stores are prepared.
pub(crate) struct Prepared<'a> {
    pub(crate) experiment: Box<dyn Experiment + 'a>,
    pub(crate) plan: Plan,
    pub(crate) environment: Environment,
    /// What is known of stores before the first round.
    pub(crate) stores: Vec<StoreFacts>,
    pub(crate) findings: Vec<Finding>,
    /// Labels of the targets that failed already.
    pub(crate) left_out: Vec<String>,
    /// How long a round will take, if something was tried.
    pub(crate) round: Option<Duration>,
}

impl<'a> Prepared<'a> {
    /// An experiment whose trials make their stores.
    fn new(experiment: impl Experiment + 'a, plan: Plan, environment: Environment) -> Self {
        let (stores, findings, left_out, round) = Default::default();
        let experiment = Box::new(experiment);
        Self { experiment, plan, environment, stores, findings, left_out, round }
    }
}

/// A part of a round that is run at one go, over one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Index into the plan's targets.
    pub(crate) target: usize,
    /// Index into the plan's workloads: the first that the trial is about.
    pub(crate) workload: usize,
    pub(crate) cache: Cache,
}

/// What is left out once a trial failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Trial,
    Target,
}

/// Labels of targets with what their engines' own integrity checks found wrong.
pub(crate) type Complaints = Vec<(String, Vec<String>)>;

/// What the schedule runs.
pub(crate) trait Experiment {
    /// The trials of a round, in a fixed order.
    fn trials(&self) -> Vec<Trial>;

    /// Draws what all trials of a round have in common.
    fn start_round(&mut self, _round: u32) -> Result<()> {
        Ok(())
    }

    /// Runs a trial, and outputs its samples as they are measured.
    fn run(&mut self, trial: Trial, at: At, output: &mut Output<'_>) -> Result<()>;

    /// What a failed trial costs; `None`: the run.
    fn loss(&self, _trial: Trial, error: &Error) -> Option<Loss> {
        (error.kind() != ErrorKind::Interrupted).then_some(Loss::Target)
    }

    /// Adds to a finding about a failed trial where in the plan that is.
    fn place(&self, trial: Trial, finding: Finding) -> Finding {
        finding.in_workload(trial.workload)
    }

    /// After a trial failed: makes the others possible.
    fn recover(&mut self) -> Result<()> {
        Ok(())
    }

    /// What the user can change to make a round shorter.
    fn shorter(&self) -> &'static str;

    /// What is shown of a trial while it runs, after the number of its round.
    fn progress(&self, _trial: Trial) -> String {
        String::new()
    }

    /// Runs the integrity checks that were asked for, but not of the targets in `lost`.
    fn integrity(&self, _lost: &HashSet<usize>) -> Result<Complaints> {
        Ok(Vec::new())
    }

    /// Closes what is open; `whole`: all of it was measured and no target failed.
    fn close(self: Box<Self>, _whole: bool) -> Result<()> {
        Ok(())
    }
}

/// Where it runs: on the file systems of `folders`, with the libraries of engines.
fn environment(folders: &[PathBuf], libraries: impl Iterator<Item = Library>) -> Environment {
    let mut environment = host::environment(folders);
    for library in libraries {
        if !environment.libraries.contains(&library) {
            environment.libraries.push(library);
        }
    }
    environment
}
