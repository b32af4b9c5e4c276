//! The rounds: every target, on the file system that it is put on.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use model::Result;

use super::{
    request::{QueueRequest, QueueTarget},
    trial::Trial,
};
use crate::{
    Outcome, Progress, Recorder, Stop,
    host::Scratch,
    rounds::{Place, Shuffled, Trials, Tried, header},
    seed::{Use, derive},
};

/// Runs what was asked for. What was measured until an error stands in `recorder`; a target whose
/// trial fails is left out from there on, and the others go on. The caller writes the last line.
pub fn queue(
    mut request: QueueRequest,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    let class = request.durability;
    let targets = std::mem::take(&mut request.targets);
    request.targets = targets.into_iter().map(|t| t.with_class(class)).collect::<Result<_>>()?;
    let scratches = scratches(&request)?;
    let plan = request.plan();
    let libraries = request.targets.iter().filter_map(|target| target.engine.library());
    let folders: Vec<PathBuf> = scratches.iter().map(|(parent, _)| parent.clone()).collect();
    recorder.begin(header(plan.clone(), &folders, libraries))?;
    let mut trials = QueueTrials { request: &request, scratches, made: 0, stop };
    let outcome = Shuffled::new(&plan, began, progress, stop).run(&mut trials, recorder);
    drop(trials);
    if let Some(record) = recorder.record() {
        let doubts = checks::of_stores(record);
        recorder.note(doubts)?;
    }
    outcome
}

impl QueueRequest {
    fn parent<'a>(&'a self, target: &'a QueueTarget) -> &'a Path {
        target.site.as_ref().map_or(&self.scratch, |site| &site.path)
    }
}

/// One in each folder that stores are put into.
fn scratches(request: &QueueRequest) -> Result<Vec<(PathBuf, Scratch)>> {
    let mut scratches: Vec<(PathBuf, Scratch)> = Vec::new();
    for target in &request.targets {
        let parent = request.parent(target);
        if !scratches.iter().any(|(of, _)| of == parent) {
            scratches.push((parent.to_owned(), Scratch::new_in(parent)?));
        }
    }
    Ok(scratches)
}

struct QueueTrials<'a> {
    request: &'a QueueRequest,
    /// Dropped, they are removed with all that a failed trial left.
    scratches: Vec<(PathBuf, Scratch)>,
    /// Queues made so far.
    made: u64,
    stop: &'a Stop,
}

impl Trials for QueueTrials<'_> {
    fn places(&self) -> Vec<Place> {
        (0..self.request.targets.len()).map(|target| Place { target, workload: 0 }).collect()
    }

    fn trial(&mut self, place: Place) -> Result<Tried> {
        let request = self.request;
        let target = &request.targets[place.target];
        let parent = request.parent(target);
        let scratch = self.scratches.iter().find(|(of, _)| of == parent);
        let (_, scratch) = scratch.expect("each target's folder has one");
        self.made += 1;
        let place = scratch.path().join(format!("{}-{}", target.engine.name(), self.made));
        let seed = derive(request.seed, Use::Payloads, self.made);
        Trial { request, target, place: &place, seed, stop: self.stop }.run()
    }

    fn shorter(&self) -> &'static str {
        "fewer --tasks or targets"
    }
}
