//! `storemark queue`: tasks are created, changed and deleted, on the file system that each target
//! is placed on.

mod trial;

use std::path::PathBuf;

use host::Scratch;
use model::{Batch, Cache, Experiment as Data, Facet, Owner, Result, Settings, Work, Workload};

use super::{
    At, Experiment, Output, Prepared, Trial, environment,
    request::{Request, Target, TasksRequest},
};
use crate::{
    Stop,
    dataset::{Use, derive},
};
use trial::TaskTrial;

type TaskTarget = Target<dyn model::Tasks>;

pub(crate) fn prepare<'a>(
    request: &'a Request,
    part: &'a TasksRequest,
    stop: &'a Stop,
) -> Result<Prepared<'a>> {
    let settings = |target: &TaskTarget| target.settings_for(Facet::Tasks, request.durability);
    let settings = part.targets.iter().map(settings).collect::<Result<Vec<_>>>()?;
    let mut tasks = Tasks { request, part, settings, scratches: Vec::new(), made: 0, stop };
    tasks.make_scratches()?;
    let TasksRequest { tasks: count, rewrites, output, workers, .. } = *part;
    let workload = Workload {
        work: Work::Tasks,
        count: count * u64::from(workers),
        batch: Batch::Of(1),
        threads: workers,
        processes: 1,
    };
    let targets = part.targets.iter().zip(&tasks.settings);
    let targets = targets.map(|(target, s)| target.planned(s.clone(), Owner::Scratch)).collect();
    let experiment = Data::Tasks { tasks: count, rewrites, output };
    let plan = request.plan(experiment, targets, vec![workload], vec![Cache::Warm]);
    let folders: Vec<_> = tasks.scratches.iter().map(|(parent, _)| parent.clone()).collect();
    let libraries = part.targets.iter().filter_map(|target| target.engine.library());
    let environment = environment(&folders, libraries);
    Ok(Prepared::new(tasks, plan, environment))
}

struct Tasks<'a> {
    request: &'a Request,
    part: &'a TasksRequest,
    /// By target: those of the durability class with those asked for on top.
    settings: Vec<Settings>,
    /// One in each folder that stores are placed in. Dropped, they are removed with all that a
    /// failed trial left.
    scratches: Vec<(PathBuf, Scratch)>,
    /// Queues made so far.
    made: u64,
    stop: &'a Stop,
}

impl Tasks<'_> {
    fn make_scratches(&mut self) -> Result<()> {
        for target in &self.part.targets {
            let parent = self.parent(target);
            if !self.scratches.iter().any(|(of, _)| *of == parent) {
                let scratch = Scratch::new_in(&parent)?;
                self.scratches.push((parent, scratch));
            }
        }
        Ok(())
    }

    fn parent(&self, target: &TaskTarget) -> PathBuf {
        let placed = target.placement.as_ref().map(|placement| placement.path.clone());
        placed.unwrap_or_else(|| self.request.scratch())
    }
}

impl Experiment for Tasks<'_> {
    fn trials(&self) -> Vec<Trial> {
        let trial = |target| Trial { target, workload: 0, cache: Cache::Warm };
        (0..self.part.targets.len()).map(trial).collect()
    }

    fn run(&mut self, trial: Trial, _: At, output: &mut Output<'_>) -> Result<()> {
        let (part, settings) = (self.part, &self.settings[trial.target]);
        let target = &part.targets[trial.target];
        let parent = self.parent(target);
        let scratch = self.scratches.iter().find(|(of, _)| *of == parent);
        let (_, scratch) = scratch.expect("each target's folder has one");
        self.made += 1;
        let path = scratch.path().join(format!("{}-{}", target.engine.name(), self.made));
        let queue = target.engine.create(&path, settings)?;
        let seed = derive(self.request.seed, Use::Payloads, self.made);
        let run = TaskTrial { part, queue: &*queue, path: &path, seed, stop: self.stop };
        let (facts, sample) = run.run()?;
        // What is not known to be left refuses this.
        queue.remove()?;
        output.facts(facts)?;
        output.sample(sample, None)
    }

    fn shorter(&self) -> &'static str {
        "fewer --tasks or targets"
    }
}
