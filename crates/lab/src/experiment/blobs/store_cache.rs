//! What a run of a sweep leaves to the next one that needs the same: the dataset, and the stores
//! that were only read.

use std::path::PathBuf;

use model::{DatasetSpec, Facet, Finding, Settings};

use super::{BlobTarget, Job, prepare::Scratches, stores::Stores};
use crate::{
    Request,
    dataset::Dataset,
    experiment::request::{BlobsRequest, ExperimentRequest},
    store::ReadyStore,
};

/// Keeps what the last run made ready. Dropping it removes that.
#[derive(Default)]
pub struct StoreCache(Option<(Needs, Kept)>);

/// What is kept.
pub(super) struct Kept {
    pub(super) dataset: Dataset,
    /// Keys before `--max-id`.
    pub(super) available: u64,
    /// The store that is read, if any, of each target.
    pub(super) reads: Vec<Option<ReadyStore>>,
    /// What was found when those were checked.
    pub(super) findings: Vec<Finding>,
    /// What holds them; dropped after them.
    pub(super) scratches: Scratches,
}

/// All that decides how a dataset and stores are made, and how those that are read are opened.
#[derive(PartialEq)]
pub struct Needs {
    data: DatasetSpec,
    max_key: Option<i64>,
    reads: bool,
    scratch: Option<PathBuf>,
    targets: Vec<Need>,
}

#[derive(PartialEq)]
struct Need {
    engine: &'static str,
    location: Option<PathBuf>,
    address: Option<String>,
    settings: Settings,
    placement: Option<PathBuf>,
}

impl StoreCache {
    /// What `job` can be run on. What it cannot is removed.
    pub(super) fn take(&mut self, job: Job<'_>) -> Option<Kept> {
        let (needs, kept) = self.0.take()?;
        (Needs::of(job.request)? == needs).then_some(kept)
    }

    /// Keeps what was made ready for `job`, all of whose targets are still there, except stores
    /// that are written to: another run would start where this one has left them.
    pub(super) fn put(
        &mut self,
        job: Job<'_>,
        stores: Stores,
        findings: Vec<Finding>,
        mut scratches: Scratches,
    ) {
        let Some(needs) = Needs::of(job.request) else { return };
        let Stores { dataset, available, targets, .. } = stores;
        let reads = targets.into_iter().map(|target| target.read).collect();
        scratches.retain(|(_, operation, _)| !operation.writes());
        self.0 = Some((needs, Kept { dataset, available, reads, findings, scratches }));
    }
}

impl Needs {
    /// Those of `request`; `None`: nothing that it is run on can be used again.
    pub fn of(request: &Request) -> Option<Self> {
        let ExperimentRequest::Blobs(part) = &request.experiment else { return None };
        // What is written in place is not as it was found.
        if part.in_place {
            return None;
        }
        let need = |target: &BlobTarget| {
            Some(Need {
                engine: target.engine.name(),
                location: target.location.clone(),
                address: target.address.clone(),
                settings: target.settings_for(Facet::Blobs, request.durability).ok()?,
                placement: target.placement.as_ref().map(|placement| placement.path.clone()),
            })
        };
        Some(Self {
            data: part.data.spec(),
            max_key: part.max_key,
            reads: reads(part),
            scratch: request.scratch.clone(),
            targets: part.targets.iter().map(need).collect::<Option<_>>()?,
        })
    }
}

fn reads(part: &BlobsRequest) -> bool {
    part.work.iter().any(|work| !work.operation.writes())
}
