//! The stores and the data that the rounds need.

use std::{cmp::Ordering, iter, path::PathBuf};

use model::{
    Blobs, BlobsData, Cache, DatasetSpec, DatasetSummary, Error, ErrorKind, Facet, Finding,
    FindingKind, Operation, PlannedTarget, Result, SampledFrom, Secret, Settings, StoreFacts,
};

use super::{BlobTarget, BlobsRequest, Coverage, Job, Scratches};
use crate::{
    Amount, Request,
    dataset::Dataset,
    experiment::{store_cache::StoreCache, values::part_of},
    store::ReadyStore,
};

/// All that the rounds need.
pub(super) struct Stores {
    pub(super) dataset: Dataset,
    /// The contents of each store, before `--max-id`.
    pub(super) all: Amount,
    /// Whether all keys of the user's stores are compared with each other.
    pub(super) is_compared: bool,
    /// If the dataset is a sample.
    pub(super) sampled: Option<Sampled>,
    /// Its values, if they were chosen among some that were listed.
    pub(super) chosen: Option<Dataset>,
    /// Half of a sample, which some rounds touch alone.
    pub(super) half: Option<Dataset>,
    pub(super) targets: Vec<PreparedTarget>,
    /// Index into `targets` of the one that the others are compared with: the first, if the one
    /// that was asked for is left out.
    pub(super) baseline: usize,
    pub(super) findings: Vec<Finding>,
    /// Labels of the targets that are left out.
    pub(super) failed: Vec<String>,
    /// The folders of the scratch stores; dropped after them.
    pub(super) scratches: Scratches,
}

/// The sample that is measured instead of all of the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) from: SampledFrom,
    pub(super) count: u64,
    /// The number of values among which it was chosen, if the lengths of the others are not known.
    pub(super) listed: Option<u64>,
    pub(super) seed: u64,
    /// Seconds that all take, if that is why.
    pub(super) seconds: Option<f64>,
}

impl Sampled {
    pub(super) fn findings(&self) -> impl Iterator<Item = FindingKind> + use<> {
        let Self { from: SampledFrom { count: all, .. }, count, listed, seconds, .. } = *self;
        let drawn = listed.map(|listed| FindingKind::LengthsDrawn { listed, keys: all });
        iter::once(FindingKind::Sampled { count, all, seconds }).chain(drawn)
    }
}

/// A target with the stores its workloads work on.
pub(super) struct PreparedTarget {
    pub(super) planned: PlannedTarget,
    pub(super) facts: StoreFacts,
    pub(super) read: Option<ReadyStore>,
    /// Others like `read`, filled in the same way.
    pub(super) copies: Vec<ReadyStore>,
    pub(super) update: Option<ReadyStore>,
}

/// The number of rounds of which one touches half of a sample.
const HALF_ROUNDS: u32 = 4;

impl Stores {
    /// Returns the keys of a round, and whether they are half of a sample, as in some rounds.
    pub(super) fn keys_in(&self, round: u32) -> (&Dataset, bool) {
        let half = self.half.as_ref().filter(|_| round % HALF_ROUNDS == HALF_ROUNDS - 1);
        half.map_or((&self.dataset, false), |half| (half, true))
    }

    /// Summarises what the stores hold, as far as the keys that were drawn show it.
    fn summary(&self, part: &BlobsRequest) -> DatasetSummary {
        let measured = self.dataset.summary();
        if self.drawn(part).is_none() {
            return measured;
        }
        let Amount { count, bytes } = self.all;
        let share = count as f64 / measured.count as f64;
        let half_in = measured.half_in.map(|half| part_of(half, share));
        DatasetSummary { count, bytes, half_in, ..measured }
    }

    /// Describes the data of `part` as a plan does.
    pub(super) fn data(&self, part: &BlobsRequest) -> BlobsData {
        BlobsData {
            dataset: part.data.spec(),
            summary: self.summary(part),
            available: self.all.count,
            sampled_from: self.sampled.map(|sampled| sampled.from),
            drawn: self.drawn(part),
        }
    }

    /// Returns how many keys were drawn; `None` if all that `part` asks for are measured.
    pub(super) fn drawn(&self, part: &BlobsRequest) -> Option<u64> {
        let count = self.dataset.entries().len() as u64;
        (part.max_key.is_none() && count < self.all.count).then_some(count)
    }

    /// Returns `caches` for these stores: one that is larger than memory cannot be warm, and is measured as it
    /// was found. A sample of it can.
    pub(super) fn states(&self, caches: Vec<Cache>) -> Vec<Cache> {
        let was_noted = |target: &PreparedTarget| {
            target.read.as_ref().is_some_and(|ready| ready.found.borrow().is_some())
        };
        let as_found = self.sampled.is_none() && self.targets.iter().any(was_noted);
        let state = |cache| if as_found && cache == Cache::Warm { Cache::AsFound } else { cache };
        caches.into_iter().map(state).collect()
    }

    /// Leaves out a target that failed, unless it is the only one.
    pub(super) fn leave_out(&mut self, target: usize, error: Error) -> Result<()> {
        let label = self.targets[target].planned.label.clone();
        if self.targets.len() == 1 {
            return Err(error.at(&label));
        }
        self.targets.remove(target);
        for (place, target) in self.targets.iter_mut().enumerate() {
            target.facts.target = place;
        }
        self.baseline = match self.baseline.cmp(&target) {
            Ordering::Less => self.baseline,
            Ordering::Equal => 0,
            Ordering::Greater => self.baseline - 1,
        };
        self.findings.retain(|finding| finding.target.as_ref() != Some(&label));
        self.note_failed(&label, &error);
        Ok(())
    }

    /// Adds findings, each once: an earlier run may have left the same.
    pub(super) fn note(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
    }

    /// Notes that a target is left out.
    pub(super) fn note_failed(&mut self, label: &str, error: &Error) {
        self.findings
            .push(Finding::target(FindingKind::NotUsable { why: error.to_string() }, label));
        self.failed.push(label.to_owned());
    }
}

impl PreparedTarget {
    /// Returns `error`, or that a user's own store was written to while it was read.
    pub(super) fn blame(&self, error: Error) -> Error {
        match &self.read {
            Some(ready) => ready.blame(error),
            None => error,
        }
    }

    /// Returns the store that `operation` works on. Updates have their own, so that reads are
    /// measured on a store as it was filled.
    pub(super) fn store(&self, operation: Operation) -> &ReadyStore {
        let own = if operation.writes() { &self.update } else { &self.read };
        own.as_ref().expect("a store is made for every operation of the plan")
    }

    /// Reports whether the store that `operation` works on is ready.
    pub(super) fn has_store(&self, operation: Operation) -> bool {
        let own = if operation.writes() { &self.update } else { &self.read };
        own.is_some()
    }

    /// Reports whether its stores are on disk.
    pub(super) fn has_files(&self) -> bool {
        self.stores().any(|ready| ready.held.is_none())
    }

    /// Reports whether workers of a program open its stores.
    pub(super) fn has_program(&self) -> bool {
        self.stores().any(|ready| ready.engine.program().is_some())
    }

    pub(super) fn stores(&self) -> impl Iterator<Item = &ReadyStore> {
        self.read.iter().chain(&self.copies).chain(&self.update)
    }
}

/// Reports whether `error` is that of one target, so that others can be measured without it. A plugin or a
/// program may also be unable to do what it is asked for, or lose values.
pub(super) fn fails_alone(error: &Error, in_program: bool) -> bool {
    use ErrorKind::{Busy, Corrupt, Differs, Failed, Missing, Unsupported};

    let of_program = || matches!(error.kind(), Busy | Corrupt | Differs | Missing | Unsupported);
    error.kind() == Failed || in_program && of_program()
}

/// Adds the layout of a folder of files, as it is in effect, to the `settings` to open it with.
pub(super) fn keep_layout(engine: &dyn Blobs, settings: &mut Settings, in_effect: &Settings) {
    let capabilities = engine.capabilities();
    if capabilities.paths && !capabilities.remote {
        *settings = settings.clone().overlaid(&in_effect.stored(engine.settings(Facet::Blobs)));
    }
}

/// The needs of a run: what decides how a dataset and stores are created, and how those that are
/// read are opened.
#[derive(PartialEq)]
pub struct Needs {
    data: DatasetSpec,
    max_key: Option<i64>,
    coverage: Coverage,
    reads: bool,
    scratch: Option<PathBuf>,
    targets: Vec<Need>,
}

/// The needs of a target: engine, location, address, settings, and the folder that it is placed on.
type Need = (&'static str, Option<PathBuf>, Option<Secret>, Settings, Option<PathBuf>);

impl Stores {
    /// Takes those that the last run left, if `job` can be run on them. Others are removed.
    pub(super) fn take(cache: &mut StoreCache, job: Job<'_>) -> Option<Self> {
        let (needs, stores): (Needs, Self) = cache.take()?;
        (Needs::new(job.request)? == needs).then_some(stores)
    }

    /// Keeps what was made ready for `job`, if it `is_whole`: all of its targets are still there. Stores that
    /// are written to are left to be removed: another run would start where this one has left them.
    pub(super) fn keep(mut self, cache: &mut StoreCache, job: Job<'_>, is_whole: bool) {
        let updated = self.targets.iter_mut().filter_map(|target| target.update.take());
        let updated: Vec<_> = updated.collect();
        cache.leave((updated, self.scratches.take_written()));
        match Needs::new(job.request).filter(|_| is_whole) {
            Some(needs) => cache.put((needs, self)),
            None => cache.leave(self),
        }
    }
}

impl Needs {
    /// Returns the needs of `request`; `None` if nothing that it runs on can be used again.
    pub fn new(request: &Request) -> Option<Self> {
        let part = request.blobs()?;
        // What is written in place is not as it was found.
        if part.in_place {
            return None;
        }
        let need = |target: &BlobTarget| {
            let settings = target.settings_for(Facet::Blobs, request.durability).ok()?;
            let placement = target.placement.as_ref().map(|placement| placement.path.clone());
            let (location, address) = (target.location.clone(), target.address.clone());
            Some((target.engine.name(), location, address, settings, placement))
        };
        Some(Self {
            data: part.data.spec(),
            max_key: part.max_key,
            coverage: part.coverage,
            reads: part.work.iter().any(|work| !work.operation.writes()),
            scratch: request.scratch.clone(),
            targets: part.targets.iter().map(need).collect::<Option<_>>()?,
        })
    }
}
