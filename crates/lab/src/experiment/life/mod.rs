//! `storemark life`: what a store costs besides reading and writing its values, from the day on which
//! it is filled to the one on which all is deleted.

mod drawn;
mod snapshot;
mod trial;

use host::Scratch;
use model::{
    Access, Batch, Blobs, Cache, DatasetSummary, Error, Facet, Finding, FindingKind, LifeData,
    OpenOptions, Result, Workload, life::LifeStep, units::show_size,
};

use super::{
    Experiment, Output, Prepared, Trial,
    age::planned_caches,
    blobs::{self, source::Source},
    environment,
    request::{ExperimentPart, Preparation, Request, ResolvedTarget},
    scratches::in_folder,
};
use crate::{
    Amount, Progress, Stop,
    dataset::{Dataset, Pool, Use, derive},
    store::{ReadyStore, cache_state},
};
use drawn::Drawn;
use trial::LifeTrial;

/// The request of `storemark life`: the whole life of scratch stores.
#[derive(Clone)]
pub struct LifeRequest {
    /// The targets.
    pub targets: Vec<ResolvedTarget<dyn Blobs>>,
    /// The source of the values; the targets have none of their own.
    pub data: blobs::Data,
    /// Days of changes, fewer if there is no room for them.
    pub days: u32,
    /// The cache states in which a store is opened to read one value.
    pub caches: Vec<Cache>,
}

/// The number of values that are deleted in one commit.
const DELETED: u64 = 100;

impl ExperimentPart for LifeRequest {
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, progress, stop, .. } = preparation;
        let (caches, unreachable) = cache_state::reachable(&self.caches)?;
        let targets = request.plan_scratch(&self.targets, Facet::Blobs)?;
        let place = (request.scratch.as_deref(), progress, stop);
        let source = Source::open_data(&self.data, &self.targets, place)?;
        let amount = source.amount(stop)?;
        let (days, fewer) = days(request, self, amount)?;
        let scratch = Scratch::new_in(&request.scratch(&self.targets))?;
        let dataset = source.dataset(amount.count, progress, stop)?;
        let summary = dataset.summary();
        let libraries = self.targets.iter().filter_map(ResolvedTarget::library);
        let environment = environment(&[scratch.path().to_owned()], libraries);
        let experiment = LifeData { dataset: self.data.spec(), summary, days };
        let workloads = workloads(self, &summary, days);
        let plan = request.plan(experiment, targets, workloads, planned_caches(&caches));
        let workloads = plan.workloads.clone();
        let seed = derive(request.seed, Use::Pool, 0);
        let pool = Pool::new(seed, summary.largest, self.data.random_percent());
        let drawn = Drawn::new(&dataset, days, request.seed);
        let life = Life {
            request,
            part: self,
            days,
            caches,
            workloads,
            source,
            dataset,
            pool,
            scratch,
            drawn,
            progress,
            stop,
        };
        let unreachable = unreachable.into_iter().map(Finding::run);
        let findings = request.moved(&self.targets).into_iter().chain(unreachable).chain(fewer);
        let shorter = "fewer values, --days or targets";
        Ok(Prepared {
            findings: findings.collect(),
            ..Prepared::new(life, plan, environment, shorter)
        })
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.targets.iter_mut().map(|target| &mut target.label).collect()
    }
}

/// Finds out before anything is written for how many days there is room, and says if they are fewer
/// than asked for.
fn days(request: &Request, part: &LifeRequest, data: Amount) -> Result<(u32, Option<Finding>)> {
    if data.count < 2 {
        return Err(Error::usage("the data has fewer than 2 values, of which half can be deleted"));
    }
    let (asked, scratch) = (part.days, request.scratch(&part.targets));
    let Some(free) = host::shortage(&scratch, needed(data, asked))? else {
        return Ok((asked, None));
    };
    let Some(days) = (1..asked).rev().find(|days| needed(data, *days) <= free) else {
        return Err(Error::usage(format!(
            "{} of values take up to {} with the changes of a day, {} has {} free: less data takes \
             less, --scratch DIR names another place",
            show_size(data.bytes),
            show_size(needed(data, 1)),
            scratch.display(),
            show_size(free)
        )));
    };
    let kind = FindingKind::DaysLeftOut { days, asked };
    Ok((days, Some(Finding::run(kind))))
}

/// Returns the bytes that a target may take: a quarter more than the data, as much again to reclaim
/// space, and what is written on each day, because an engine may not use the room of old values
/// again.
fn needed(data: Amount, days: u32) -> u64 {
    let Amount { count, bytes } = data;
    let a_day = (bytes / count).saturating_mul(drawn::changes(count));
    let least = bytes.saturating_mul(2).saturating_add(bytes / 4);
    least.saturating_add(a_day.saturating_mul(days.into()))
}

/// Returns the steps that a target may have, in their order.
fn workloads(part: &LifeRequest, data: &DatasetSummary, days: u32) -> Vec<Workload> {
    let all = data.count;
    let changes = drawn::changes(all);
    let reclaims = part.targets.iter().any(|target| target.engine.declaration().reclaim.is_some());
    let of = |step| {
        let (count, batch) = match step {
            LifeStep::Stat | LifeStep::List => (all, Batch::All),
            LifeStep::Open | LifeStep::Reclaim => (1, Batch::Of(1)),
            LifeStep::Day => (changes, Batch::Of(1)),
            LifeStep::Month => (changes * u64::from(days - 1), Batch::Of(1)),
            LifeStep::Half => (all / 2, Batch::Of(DELETED)),
            LifeStep::Rest => (all - all / 2, Batch::Of(DELETED)),
        };
        Workload { batch, ..Workload::alone(step, count) }
    };
    let has = |step: &LifeStep| match step {
        LifeStep::Month => days > 1,
        LifeStep::Reclaim => reclaims,
        _ => true,
    };
    LifeStep::ALL.into_iter().filter(has).map(of).collect()
}

struct Life<'a> {
    request: &'a Request,
    part: &'a LifeRequest,
    /// Days of changes.
    days: u32,
    /// The states in which a store is opened, those that can be reached.
    caches: Vec<Cache>,
    workloads: Vec<Workload>,
    source: Source,
    /// In key order.
    dataset: Dataset,
    pool: Pool,
    scratch: Scratch,
    /// The values that every target looks up, changes and deletes in this round.
    drawn: Drawn,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl Experiment for Life<'_> {
    fn start_round(&mut self, round: u32, _: &Trial) -> Result<()> {
        let seed = derive(self.request.seed, Use::Age, round.into());
        self.drawn = Drawn::new(&self.dataset, self.days, seed);
        Ok(())
    }

    fn run(&mut self, _: &Trial, output: &mut Output<'_>) -> Result<()> {
        let target = &self.part.targets[output.target];
        let name = format!("{}-{}", output.round, output.target);
        let settings = target.settings_for(Facet::Blobs, self.request.durability)?;
        let options = OpenOptions { settings, access: Access::Write, keys: self.dataset.keys() };
        in_folder(target, &self.scratch, &name, |folder| {
            let ready = ReadyStore::new(target.engine, folder.join(target.engine.name()), options);
            LifeTrial { of: self, ready }.run(output)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_needs_room_for_one_value_in_a_hundred() {
        let data = Amount { count: 1000, bytes: 10_000_000 };
        assert_eq!(needed(data, 1), 22_500_000 + 100_000);
        assert_eq!(needed(data, 30), 22_500_000 + 3_000_000);
        // At least one changes.
        assert_eq!(needed(Amount { count: 2, bytes: 20 }, 5), 45 + 50);
    }
}
