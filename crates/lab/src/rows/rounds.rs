//! The rounds: every target in every group of processes.

use std::{path::PathBuf, time::Instant};

use model::{Cache, Experiment, Finding, FindingKind, Plan, Result, rows::Operation};

use super::{
    request::{RowTarget, RowsRequest},
    running::Running,
    trial::Trial,
};
use crate::{
    Outcome, Progress, Recorder, Stop, host,
    rounds::{Place, Shuffled, Trials, Tried, header},
};

/// Runs what was asked for. What was measured until an error stands in `recorder`; a target whose
/// trial fails is left out from there on, and the others go on. The caller writes the last line.
pub fn rows(
    mut request: RowsRequest,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    let class = request.durability;
    let targets = std::mem::take(&mut request.targets);
    request.targets = targets.into_iter().map(|t| t.with_class(class)).collect::<Result<_>>()?;
    let running = Running::new(host::Scratch::new_in(&request.scratch)?);
    let folder = running.folder();
    let plan = plan(&request);
    let libraries = request.targets.iter().filter_map(|target| target.engine.library());
    recorder.begin(header(plan.clone(), std::slice::from_ref(&folder), libraries))?;
    recorder.note(missing(&request))?;
    let mut trials = RowTrials { request: &request, running, folder, stop };
    let outcome = Shuffled::new(&plan, began, progress, stop).run(&mut trials, recorder);
    let closed = trials.running.close();
    if let Some(record) = recorder.record() {
        let doubts = checks::of_stores(record);
        recorder.note(doubts)?;
    }
    let outcome = outcome?;
    closed.map(|()| outcome)
}

fn plan(request: &RowsRequest) -> Plan {
    Plan {
        seed: request.seed,
        experiment: Experiment::Rows { rows: request.rows },
        targets: request.targets.iter().map(RowTarget::planned).collect(),
        baseline: request.baseline,
        workloads: request.workloads(),
        caches: vec![Cache::Warm],
        durability: request.durability,
        memory: None,
        rounds: request.rounds,
    }
}

fn missing(request: &RowsRequest) -> Vec<Finding> {
    let finding = |why: String, label: &str| Finding::target(FindingKind::NotUsable { why }, label);
    let missing = request.missing.iter().map(|(label, why)| finding(why.clone(), label));
    let alone = request.targets.iter().filter_map(|target| {
        let why = request.groups.iter().find_map(|group| target.unfit(*group))?;
        Some(finding(format!("several processes on one database: {why}"), &target.label))
    });
    missing.chain(alone).collect()
}

struct RowTrials<'a> {
    request: &'a RowsRequest,
    running: Running,
    folder: PathBuf,
    stop: &'a Stop,
}

impl Trials for RowTrials<'_> {
    fn places(&self) -> Vec<Place> {
        let groups = || self.request.groups.iter().enumerate();
        let of = |(index, target): (usize, &RowTarget)| {
            let fitting = groups().filter(|(_, group)| target.unfit(**group).is_none());
            let place =
                |(group, _)| Place { target: index, workload: Operation::ALL.len() * group };
            fitting.map(place).collect::<Vec<_>>()
        };
        self.request.targets.iter().enumerate().flat_map(of).collect()
    }

    fn trial(&mut self, place: Place) -> Result<Tried> {
        let (request, stop) = (self.request, self.stop);
        let target = &request.targets[place.target];
        let group = request.groups[place.workload / Operation::ALL.len()];
        let store = self.running.store(target)?;
        let tried = Trial { request, target, group, store, folder: &self.folder, stop }.run();
        if tried.is_err() {
            self.running.discard(target);
        }
        tried
    }

    fn shorter(&self) -> &'static str {
        "fewer --rows, targets or styles"
    }
}
