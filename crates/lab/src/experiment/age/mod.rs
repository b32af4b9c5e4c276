//! `storemark age`: objects are replaced again and again by others of other sizes, and reads, writes
//! and fragments are measured at storage ages on the way.

mod history;

use std::time::{Duration, Instant};

use host::Scratch;
use model::{
    Access, AgeData, AgeMeasured, AgeWork, Batch, Blobs, Cache, DatasetSummary, Error, Facet,
    FileBytes, Finding, Fragments, Generated, KeyKind, OpenOptions, Operation, Result, Sample,
    StoreFacts, Work, Workload, units::show_size,
};

use super::{
    Experiment, Output, Prepared, Trial,
    blobs::own_loop,
    environment,
    request::{ExperimentPart, ExperimentRequest, Preparation, Request, ResolvedTarget, one_in},
    scratches::in_folder,
    values::{TrialInput, ValuesTrial},
};
use crate::{
    Progress, Stop,
    dataset::{Generator, Pool, Use, derive},
    store::{
        ReadyStore, cache_state,
        check::{self, Reading},
        file_bytes,
    },
    workload::{PassInput, nanoseconds},
};
use history::AgeStep;

/// The request of `storemark age`: objects are replaced again and again in scratch stores.
#[derive(Clone)]
pub struct AgeRequest {
    /// The targets.
    pub targets: Vec<ResolvedTarget<dyn Blobs>>,
    /// The number of objects, and their sizes.
    pub data: Generated,
    /// Storage ages at which reads are measured, ascending.
    pub ages: Vec<u32>,
    /// The cache states of the reads.
    pub caches: Vec<Cache>,
}

impl ExperimentPart for AgeRequest {
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, progress, stop, .. } = preparation;
        Generator::new(self.data)?;
        let (caches, unreachable) = cache_state::reachable(&self.caches)?;
        let targets = request.plan_scratch(&self.targets, Facet::Blobs)?;
        check_room(request, self)?;
        let scratch = Scratch::new_in(&request.scratch(&self.targets))?;
        let largest = self.data.size + self.data.variance;
        let pool = Pool::new(derive(request.seed, Use::Pool, 0), largest, self.data.random_percent);
        let ages = draw(request, self, 0, &pool, stop)?;
        let folder = scratch.path().to_owned();
        let libraries = self.targets.iter().filter_map(ResolvedTarget::library);
        let mut environment = environment(&[folder], libraries);
        environment.loop_ns = own_loop(&ages[0].live, &pool, stop)?;
        let experiment = AgeData { data: self.data, summary: ages[0].live.summary() };
        let plan = request.plan(experiment, targets, workloads(self), planned_caches(&caches));
        let workloads = plan.workloads.clone();
        let age =
            Age { request, part: self, caches, workloads, pool, scratch, ages, progress, stop };
        let unreachable = unreachable.into_iter().map(Finding::run);
        let findings = request.moved(&self.targets).into_iter().chain(unreachable).collect();
        let shorter = "a smaller --volume or fewer --ages";
        Ok(Prepared { findings, ..Prepared::new(age, plan, environment, shorter) })
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.targets.iter_mut().map(|target| &mut target.label).collect()
    }

    fn one_of(&self, parts: u32) -> Option<ExperimentRequest> {
        let data = Generated { count: one_in(self.data.count, parts), ..self.data };
        Some(Self { data, ..self.clone() }.into())
    }
}

/// Draws the steps of every target in a round.
fn draw(
    request: &Request,
    part: &AgeRequest,
    round: u32,
    pool: &Pool,
    stop: &Stop,
) -> Result<Vec<AgeStep>> {
    let seed = derive(request.seed, Use::Age, round.into());
    history::draw(&part.data, &part.ages, seed, pool, stop)
}

/// Returns the workloads in the order in which a store goes through them: the objects are written
/// once, then read; replaced until the next age, then read.
fn workloads(part: &AgeRequest) -> Vec<Workload> {
    let workload = |operation, age, count| Workload {
        batch: if operation == Operation::Read { Batch::All } else { Batch::Of(1) },
        ..Workload::alone(AgeWork { operation, age }, count)
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

/// Returns the cache states of the reads, and that of the writes: warm, as in a store that is in
/// use.
pub(super) fn planned_caches(reads: &[Cache]) -> Vec<Cache> {
    let writes = (!reads.contains(&Cache::Warm)).then_some(Cache::Warm);
    reads.iter().copied().chain(writes).collect()
}

/// Finds out before anything is written whether there is room: a quarter more than the live
/// objects, as one target is there at a time. An engine that takes more as it ages may still fill
/// the disk; then its trial fails, and the others go on.
fn check_room(request: &Request, part: &AgeRequest) -> Result<()> {
    let live = part.data.count.saturating_mul(part.data.size);
    let needed = live.saturating_add(live / 4);
    let scratch = request.scratch(&part.targets);
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

struct Age<'a> {
    request: &'a Request,
    part: &'a AgeRequest,
    /// The cache states of reads that can be reached.
    caches: Vec<Cache>,
    workloads: Vec<Workload>,
    pool: Pool,
    scratch: Scratch,
    /// The steps of every target in this round.
    ages: Vec<AgeStep>,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl Experiment for Age<'_> {
    fn start_round(&mut self, round: u32, _: &Trial) -> Result<()> {
        self.ages = draw(self.request, self.part, round, &self.pool, self.stop)?;
        Ok(())
    }

    fn run(&mut self, _: &Trial, output: &mut Output<'_>) -> Result<()> {
        let target = &self.part.targets[output.target];
        let name = format!("{}-{}", output.round, output.target);
        let settings = target.settings_for(Facet::Blobs, self.request.durability)?;
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        let first_round = output.round == 0;
        in_folder(target, &self.scratch, &name, |folder| {
            let ready = ReadyStore::new(target.engine, folder.join(target.engine.name()), options);
            AgeTrial { of: self, ready, first_round }.run(output)
        })
    }
}

/// A trial of one store: created, filled, read, and its objects replaced until it has its last age.
struct AgeTrial<'a> {
    of: &'a Age<'a>,
    ready: ReadyStore,
    first_round: bool,
}

impl AgeTrial<'_> {
    /// Makes the store, and outputs its samples as it ages.
    fn run(mut self, output: &mut Output<'_>) -> Result<()> {
        let ReadyStore { engine, path, options, held, .. } = &mut self.ready;
        let store = engine.create(path, options)?;
        if engine.capabilities().persistent {
            store.close()?;
        } else {
            *held = Some(store);
        }
        self.of.ages.iter().try_for_each(|step| self.reach(step, output))
    }

    fn reach(&self, step: &AgeStep, output: &mut Output<'_>) -> Result<()> {
        let ready = &self.ready;
        let (written, written_before) = self.write(step)?;
        let check = self.check(step)?;
        let on_disk = ready.held.is_none();
        let files = on_disk.then(|| file_bytes(&ready.files())).transpose()?;
        let fragments = on_disk.then(|| fragments(ready, step)).transpose()?;
        let written = aged(written, files, fragments);
        if step.age == 0 {
            let facts = ready.facts(step.live.summary().bytes)?;
            let fill_ns = Some(written.wall_ns);
            output.facts(StoreFacts { fill_ns, check_ns: nanoseconds(check), ..facts })?;
        }
        output.sample(written, written_before)?;
        let Some(index) = self.workload(step.age, Operation::Read) else { return Ok(()) };
        let can = |cache: &&Cache| on_disk || !cache.is_cold();
        for &cache in self.of.caches.iter().filter(can) {
            self.of.stop.check()?;
            let (read, _) = self.pass(step, index, cache)?;
            output.sample(aged(read, None, None), None)?;
        }
        Ok(())
    }

    fn write(&self, step: &AgeStep) -> Result<(Sample, Option<f64>)> {
        let operation = if step.age == 0 { Operation::Insert } else { Operation::Update };
        let index = self.workload(step.age, operation).expect("the plan has all writes");
        self.pass(step, index, Cache::Warm)
    }

    /// Returns the index of a workload of the plan; `None` if the plan lacks it.
    fn workload(&self, age: u32, operation: Operation) -> Option<usize> {
        let work = Work::from(AgeWork { operation, age });
        self.of.workloads.iter().position(|workload| workload.work == work)
    }

    fn pass(&self, step: &AgeStep, index: usize, cache: Cache) -> Result<(Sample, Option<f64>)> {
        let planned = self.of.workloads[index];
        let dataset = if planned.work.writes() { &step.writes } else { &step.live };
        let workload = Workload { count: dataset.entries().len() as u64, ..planned };
        let input = PassInput::new(workload, dataset, &self.of.pool, None, self.of.stop)?;
        let trial = ValuesTrial {
            input: &input,
            ready: &self.ready,
            trial: TrialInput {
                cache,
                examines: true,
                salt: step.salt,
                seed: 0,
                first_round: self.first_round,
                read_back: true,
            },
            processes: None,
        };
        let named = |e: model::Error| e.context(format!("{} at age {}", planned.work, step.age));
        let (sample, written_before) = trial.run().map_err(named)?;
        Ok((Sample { workload: index, ..sample }, written_before))
    }

    /// Reads every live object back: what is not there as it was written ends the trial.
    fn check(&self, step: &AgeStep) -> Result<Duration> {
        let start = Instant::now();
        if self.ready.retains() {
            let Age { progress, stop, .. } = *self.of;
            let reading = Reading { until: None, most_sessions: 1, progress, stop };
            let (differs, _) = check::bytes(&step.live, &self.ready, reading)?;
            differs.map_or(Ok(()), |key| Err(check::not_as_written(&key)))?;
        }
        Ok(start.elapsed())
    }
}

/// Converts a sample of values into one at a storage age.
fn aged(sample: Sample, files: Option<FileBytes>, fragments: Option<Fragments>) -> Sample {
    let passes = sample.passes().cloned().unwrap_or_default();
    Sample { measured: AgeMeasured { passes, files, fragments }.into(), ..sample }
}

fn fragments(ready: &ReadyStore, step: &AgeStep) -> Result<Fragments> {
    let (arrangement, _) = ready.with(|store| store.arrangement())?;
    let host::Extents { files, extents } = host::extents(&ready.files())?;
    let DatasetSummary { count: objects, bytes, .. } = step.live.summary();
    Ok(Fragments { objects, bytes, files, extents, arrangement })
}
