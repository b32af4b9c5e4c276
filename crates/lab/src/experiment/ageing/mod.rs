//! `storemark age`: objects are replaced again and again by others of other sizes, and reads, writes
//! and fragments are measured at storage ages on the way.

mod history;
mod trial;

use std::fs;

use host::Scratch;
use model::{
    Access, Batch, Cache, Error, Experiment as Data, Facet, Finding, KeyKind, OpenOptions,
    Operation, Owner, Result, Settings, Work, Workload, units::show_size,
};

use super::{
    At, Experiment, Output, Prepared, Trial,
    blobs::own_loop,
    environment,
    request::{AgeingRequest, Request, Target},
};
use crate::{
    Progress, Stop,
    dataset::{Generator, Pool, Use, derive},
    store::{ReadyStore, cache_state},
};
use history::AgeStep;
use trial::AgeingTrial;

pub(crate) fn prepare<'a>(
    request: &'a Request,
    part: &'a AgeingRequest,
    progress: &'a dyn Progress,
    stop: &'a Stop,
) -> Result<Prepared<'a>> {
    Generator::new(part.data)?;
    let (caches, unreachable) = cache_state::reachable(&part.caches)?;
    let settings = |target: &Target<_>| target.settings_for(Facet::Blobs, request.durability);
    let settings = part.targets.iter().map(settings).collect::<Result<Vec<_>>>()?;
    check_room(request, part)?;
    let scratch = Scratch::new_in(&request.scratch())?;
    let pool = Pool::new(
        derive(request.seed, Use::Pool, 0),
        part.data.size + part.data.variance,
        part.data.random_percent,
    );
    let workloads = workloads(part);
    let (ages, folder) = (Vec::new(), scratch.path().to_owned());
    let mut ageing =
        Ageing { request, part, caches, settings, workloads, pool, scratch, ages, progress, stop };
    ageing.start_round(0)?;
    let live = &ageing.ages[0].live;
    let libraries = part.targets.iter().filter_map(|target| target.engine.library());
    let mut environment = environment(&[folder], libraries);
    environment.loop_ns = own_loop(live, &ageing.pool, stop)?;
    let targets = part.targets.iter().zip(&ageing.settings);
    let targets = targets.map(|(target, s)| target.planned(s.clone(), Owner::Scratch)).collect();
    let experiment = Data::Ageing { data: part.data, summary: live.summary() };
    let caches = planned_caches(&ageing.caches);
    let plan = request.plan(experiment, targets, ageing.workloads.clone(), caches);
    let findings = unreachable.into_iter().map(Finding::run).collect();
    Ok(Prepared { findings, ..Prepared::new(ageing, plan, environment) })
}

/// In the order in which a store goes through them: the objects are written once, then read;
/// replaced until the next age, then read.
fn workloads(part: &AgeingRequest) -> Vec<Workload> {
    let workload = |operation, age, count| Workload {
        work: Work::Ageing { operation, age },
        count,
        batch: if operation == Operation::Read { Batch::All } else { Batch::Of(1) },
        threads: 1,
        processes: 1,
    };
    let all = part.data.count;
    let mut workloads = vec![workload(Operation::Insert, 0, all)];
    let mut before = 0;
    for &age in &part.ages {
        if age > before {
            // About as many: it is bytes that make the age.
            let count = all.saturating_mul(u64::from(age - before));
            workloads.push(workload(Operation::Update, age, count));
            before = age;
        }
        workloads.push(workload(Operation::Read, age, all));
    }
    workloads
}

/// Those of the reads, and the one that writes start in: of a store that is in use.
fn planned_caches(reads: &[Cache]) -> Vec<Cache> {
    let writes = (!reads.contains(&Cache::Warm)).then_some(Cache::Warm);
    reads.iter().copied().chain(writes).collect()
}

/// Finds out before anything is written whether there is room: a quarter more than the live
/// objects, as one target is there at a time. An engine that takes more as it ages may still fill
/// the disk; then its trial fails, and the others go on.
fn check_room(request: &Request, part: &AgeingRequest) -> Result<()> {
    let live = part.data.count.saturating_mul(part.data.size);
    let needed = live.saturating_add(live / 4);
    let scratch = request.scratch();
    let Some(free) = host::shortage(&scratch, needed)? else { return Ok(()) };
    Err(Error::usage(format!(
        "{} of live objects take {} or more as they age, {} has {} free: a smaller --volume takes \
         less, --scratch DIR names another place",
        show_size(live),
        show_size(needed),
        scratch.display(),
        show_size(free)
    )))
}

struct Ageing<'a> {
    request: &'a Request,
    part: &'a AgeingRequest,
    /// Of the reads, those that can be reached.
    caches: Vec<Cache>,
    /// By target: those of the durability class with those asked for on top.
    settings: Vec<Settings>,
    workloads: Vec<Workload>,
    pool: Pool,
    scratch: Scratch,
    /// What every target goes through in this round.
    ages: Vec<AgeStep>,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl Ageing<'_> {
    /// An empty store in a folder of its own.
    fn make(&self, trial: Trial, at: At) -> Result<ReadyStore> {
        let target = &self.part.targets[trial.target];
        let name = format!("{}-{}", at.round, trial.target);
        let folder = self.scratch.folder(&name, target.engine.account())?;
        let settings = self.settings[trial.target].clone();
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        Ok(ReadyStore::new(target.engine, folder.join(target.engine.name()), options))
    }
}

impl Experiment for Ageing<'_> {
    fn trials(&self) -> Vec<Trial> {
        let trial = |target| Trial { target, workload: 0, cache: Cache::Warm };
        (0..self.part.targets.len()).map(trial).collect()
    }

    fn start_round(&mut self, round: u32) -> Result<()> {
        let seed = derive(self.request.seed, Use::Ageing, round.into());
        self.ages = history::draw(&self.part.data, &self.part.ages, seed, &self.pool, self.stop)?;
        Ok(())
    }

    fn run(&mut self, trial: Trial, at: At, output: &mut Output<'_>) -> Result<()> {
        let Self { workloads, ages, caches, pool, progress, stop, .. } = &*self;
        let ready = self.make(trial, at)?;
        let folder = ready.path.parent().unwrap_or(&ready.path).to_owned();
        let (progress, stop) = (*progress, *stop);
        let trial = AgeingTrial { workloads, ages, caches, pool, progress, stop, at };
        let run = trial.run(ready, output);
        // A server's store is closed by now, whatever came of it.
        let removed = fs::remove_dir_all(&folder);
        // What its removal leaves to the file system is not the next store's to flush.
        let removed = removed
            .map_err(|e| Error::io(folder.display(), e))
            .and_then(|()| host::sync(self.scratch.path()));
        run.and(removed)
    }

    /// It is about all workloads.
    fn place(&self, _: Trial, finding: Finding) -> Finding {
        finding
    }

    fn shorter(&self) -> &'static str {
        "a smaller --volume or fewer --ages"
    }

    fn progress(&self, trial: Trial) -> String {
        format!(", {} ages", self.part.targets[trial.target].label)
    }
}
