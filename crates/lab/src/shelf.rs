//! What a run of a sweep leaves to the next one that needs the same: the dataset, and the stores
//! that were only read.

use std::path::PathBuf;

use model::{DatasetSpec, Finding, Operation, Settings};

use crate::{
    dataset::Dataset,
    prepare::{self, Scratches},
    prepared::Prepared,
    ready::Ready,
    request::{Request, Requested},
};

/// Keeps what the last run made ready. Dropping it removes that.
#[derive(Default)]
pub struct StoreCache(Option<(Needs, Kept)>);

/// What is kept.
pub(crate) struct Kept {
    pub(crate) dataset: Dataset,
    /// Keys before `--max-id`.
    pub(crate) available: u64,
    /// The store that is read, if any, of each target.
    pub(crate) reads: Vec<Option<Ready>>,
    /// What was found when those were checked.
    pub(crate) doubts: Vec<Finding>,
    /// Where they stand; dropped after them.
    pub(crate) scratches: Scratches,
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
    site: Option<PathBuf>,
}

impl StoreCache {
    /// What `request` can be run on. What it cannot is removed.
    pub(crate) fn take(&mut self, request: &Request) -> Option<Kept> {
        let (needs, kept) = self.0.take()?;
        (Needs::of_blobs(request)? == needs).then_some(kept)
    }

    /// Keeps what was made ready for `request`, all of whose targets are still there, but for stores
    /// that are written to: another run would begin where this one has left them.
    pub(crate) fn put(
        &mut self,
        request: &Request,
        prepared: Prepared,
        doubts: Vec<Finding>,
        mut scratches: Scratches,
    ) {
        let Some(needs) = Needs::of_blobs(request) else { return };
        let Prepared { dataset, available, targets, .. } = prepared;
        let reads = targets.into_iter().map(|target| target.read).collect();
        scratches.retain(|(_, operation, _)| !operation.writes());
        let kept = Kept { dataset, available, reads, doubts, scratches };
        self.0 = Some((needs, kept));
    }
}

impl Needs {
    /// Those of `request`; `None`: nothing that it is run on can be used again.
    pub fn of(request: &crate::Request) -> Option<Self> {
        request.blobs().and_then(|part| Self::of_blobs(&crate::measure::blobs(request, part)))
    }

    /// Those of `request`; `None`: nothing that it is run on can be used again.
    fn of_blobs(request: &Request) -> Option<Self> {
        // What is written in place is not as it was found.
        if request.in_place {
            return None;
        }
        let need = |target: &Requested| {
            Some(Need {
                engine: target.engine.name(),
                location: target.location.clone(),
                address: target.address.clone(),
                settings: target.settings_for(request.durability).ok()?,
                site: target.site.as_ref().map(|site| site.path.clone()),
            })
        };
        Some(Self {
            data: request.data.spec(),
            max_key: request.max_key,
            reads: prepare::operations(request).contains(&Operation::Read),
            scratch: request.scratch.clone(),
            targets: request.targets.iter().map(need).collect::<Option<_>>()?,
        })
    }
}
