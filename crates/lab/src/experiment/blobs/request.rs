//! The request of `storemark run`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use model::{
    Batch, BlobWork, Blobs, BlobsData, Cache, DatasetSpec, Generated, Operation, Order, Plan,
    Rounds, Workload,
};

use crate::{
    Amount, StoreLocation,
    experiment::request::{Request, ResolvedTarget},
    workers::worker_process::{Launch, SILENCE},
};

/// The request of `storemark run`: values under keys.
#[expect(clippy::struct_excessive_bools, reason = "independent wishes, named one by one")]
#[derive(Clone)]
pub struct BlobsRequest {
    /// The source of the data of scratch stores.
    pub data: Data,
    /// How much of it is measured.
    pub coverage: Coverage,
    /// The targets.
    pub targets: Vec<ResolvedTarget<dyn Blobs>>,
    /// The work on each target, a workload for each. Either all draw their keys or none does.
    pub work: Vec<BlobWork>,
    /// The cache states in which each is measured.
    pub caches: Vec<Cache>,
    /// Operations of a pass; `None` for every key once, or more often if that takes no time.
    pub count: Option<u64>,
    /// The plan that is run again: where it did the same on as many keys, passes have its counts.
    pub repeated: Option<Plan>,
    /// Largest integer key to touch.
    pub max_key: Option<i64>,
    /// First integer key of a fixed order.
    pub start: Option<i64>,
    /// Operations per commit; `None` for [`Batch::usual`].
    pub batch: Option<Batch>,
    /// Workers of each process.
    pub threads: u32,
    /// Worker processes that work at the same time; `None` for one worker process or this one.
    pub processes: Option<u32>,
    /// Other hosts, each of which runs that many processes; `None` for this one.
    pub hosts: Option<Hosts>,
    /// Memory for all that works for a target; `None` for all of it.
    pub memory: Option<u64>,
    /// Make every pass long enough to show how it goes over time, and time all its operations.
    pub over_time: bool,
    /// Write to the user's own stores instead of scratch copies.
    pub in_place: bool,
    /// Run each engine's own integrity check at the end.
    pub integrity_check: bool,
    /// Read several copies of each scratch store in turn, where there is time and room for them:
    /// differences that where files happen to be makes are then in the intervals.
    pub copies: bool,
    /// Go on where a file system seems to have too little room.
    pub short_of_room: bool,
    /// Leave out a target that cannot have the data, as one that failed: the user did not name it.
    pub leaves_out: bool,
}

impl Request {
    /// Reads every key of each target at random, warm, by one worker; the first target is the
    /// baseline.
    pub fn reading(
        data: Data,
        targets: Vec<ResolvedTarget<dyn Blobs>>,
        rounds: Rounds,
        seed: u64,
    ) -> Self {
        let read = BlobWork { operation: Operation::Read, order: Order::Permutation, rate: None };
        let blobs = BlobsRequest {
            data,
            coverage: Coverage::All,
            targets,
            work: vec![read],
            caches: vec![Cache::Warm],
            count: None,
            repeated: None,
            max_key: None,
            start: None,
            batch: None,
            threads: 1,
            processes: None,
            hosts: None,
            memory: None,
            over_time: false,
            in_place: false,
            integrity_check: false,
            copies: true,
            short_of_room: false,
            leaves_out: false,
        };
        Self::new(blobs, rounds, seed)
    }

    /// Returns the part of `storemark run`, if it is one.
    pub fn blobs(&self) -> Option<&BlobsRequest> {
        self.experiment.part()
    }

    /// Changes the part of `storemark run`, if it is one.
    pub fn change_blobs(&mut self, change: impl FnOnce(&mut BlobsRequest)) {
        if let Some(part) = self.experiment.part_mut() {
            change(part);
        }
    }

    /// Gives passes as many operations as those of an earlier `plan`, where they do the same, on as
    /// large a sample, or on all of the data.
    pub fn repeat(&mut self, plan: Option<Plan>) {
        self.change_blobs(|blobs| {
            let sample =
                |of: &BlobsData| of.sampled_from.map(|_| Coverage::Sample(of.summary.count));
            let measured = plan
                .as_ref()
                .map(|plan| plan.experiment.blobs().and_then(sample).unwrap_or(Coverage::All));
            if let (Coverage::ALL_THAT_FITS, Some(measured)) = (blobs.coverage, measured) {
                blobs.coverage = measured;
            }
            blobs.repeated = plan;
        });
    }
}

impl BlobsRequest {
    /// Returns the store that the data are in; `None` if they are generated.
    pub(super) fn source_location(&self) -> Option<StoreLocation> {
        self.data.location(&self.targets)
    }

    /// Returns the files and folders of the user that are measured, or from which data is read.
    pub fn existing(&self) -> Vec<PathBuf> {
        let targets = self.targets.iter();
        let stores = targets.filter_map(|target| Some((target.engine, target.location.as_ref()?)));
        let data = match &self.data {
            Data::Store(place) => Some((place.engine, &place.path)),
            Data::Generated(_) | Data::Targets => None,
        };
        stores.chain(data).flat_map(|(engine, path)| engine.files(path)).collect()
    }
}

/// The hosts that run the worker processes.
#[derive(Clone)]
pub struct Hosts {
    /// Their names.
    pub names: Vec<String>,
    /// The command that a shell runs to start a worker on `{host}`.
    pub launch: String,
    /// Whether the run goes on without a host that is lost.
    pub go_on: bool,
    /// How long a host may take to start a worker, or send nothing; `None` for the usual limit.
    pub limit: Option<Duration>,
}

impl Hosts {
    /// Starts `each` workers on each of `names`.
    pub(super) fn launches(&self, names: &[String], each: u32) -> Vec<Launch> {
        let of = |name: &String| {
            let line = self.launch.replace("{host}", name);
            let command = ["sh", "-c", &line].map(OsString::from).to_vec();
            let limit = self.limit.unwrap_or(SILENCE);
            vec![Launch { command, host: Some(name.clone()), limit, program: None }; each as usize]
        };
        names.iter().flat_map(of).collect()
    }
}

/// The part of the data that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All values.
    All,
    /// At most this many values, stratified by size.
    Sample(u64),
    /// At most this many, or if these do not fit into the time as many as do, stratified by size.
    Fitting(u64),
}

impl Coverage {
    /// The coverage of all values that fit into the time.
    pub const ALL_THAT_FITS: Self = Self::Fitting(u64::MAX);

    /// Returns how many of the values that were listed are measured, if each read of one is charged for.
    pub(crate) fn sample(self, listed: Amount) -> u64 {
        /// The values that are enough to compare stores by.
        const ENOUGH: u64 = 1_000;
        /// The bytes that a sample takes in memory and on its way.
        const BYTES: u64 = 64 << 20;
        let mean = listed.bytes.div_ceil(listed.count.max(1)).max(1);
        let enough = ENOUGH.min((BYTES / mean).max(1));
        match self {
            Self::Sample(count) => count,
            Self::Fitting(count) => enough.min(count),
            Self::All => enough,
        }
    }

    /// Returns how much of `all` is measured, as far as it is known without trying.
    pub(crate) fn amount(self, all: Amount) -> Amount {
        match self {
            Self::Sample(count) | Self::Fitting(count) if count < all.count => {
                let bytes = u128::from(all.bytes) * u128::from(count) / u128::from(all.count);
                Amount { count, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) }
            }
            _ => all,
        }
    }
}

/// The source of the data of scratch stores.
#[derive(Clone)]
pub enum Data {
    /// Generated from a seed.
    Generated(Generated),
    /// A store that is only read: a user's directory.
    Store(StoreLocation),
    /// The first target that has a location.
    Targets,
}

impl Data {
    /// Returns the path of the store that the data are in, with the settings that find them there;
    /// `None` if they are in none.
    pub fn store_name(&self) -> Option<String> {
        let Self::Store(place) = self else { return None };
        let StoreLocation { engine, settings, .. } = place;
        let shown = place.shown();
        let is_plain = engine.capabilities().paths || settings.is_empty();
        Some(if is_plain { shown } else { format!("{shown}?{settings}") })
    }

    /// Returns the store that the data are in; `None` if they are generated, or no target has one.
    pub(in crate::experiment) fn location(
        &self,
        targets: &[ResolvedTarget<dyn Blobs>],
    ) -> Option<StoreLocation> {
        match self {
            Self::Generated(_) => None,
            Self::Store(place) => Some(place.clone()),
            Self::Targets => targets.iter().find_map(ResolvedTarget::own_store),
        }
    }

    /// Returns the percentage of random bytes in what is written.
    pub(crate) fn random_percent(&self) -> u8 {
        if let Self::Generated(spec) = self { spec.random_percent } else { 100 }
    }

    pub(crate) fn spec(&self) -> DatasetSpec {
        match self {
            Self::Generated(spec) => DatasetSpec::Generated(*spec),
            Self::Store(_) => {
                DatasetSpec::Directory { path: self.store_name().unwrap_or_default() }
            }
            Self::Targets => DatasetSpec::Targets,
        }
    }
}

impl BlobsRequest {
    /// Returns the workload of the repeated plan that does the same as this one over `keys` keys;
    /// `None` if there is none.
    pub(super) fn repeated(&self, workload: &Workload, keys: u64) -> Option<Workload> {
        let of = |plan: &&Plan| plan.experiment.summary().is_some_and(|data| data.count == keys);
        let mut earlier = self.repeated.iter().filter(of).flat_map(|plan| &plan.workloads);
        let Workload { count, slice, parts, .. } = *workload;
        earlier.find(|other| Workload { count, slice, parts, ..**other } == *workload).copied()
    }
}

#[cfg(test)]
mod tests {
    use model::{Key, KeyKind};

    use super::*;

    #[test]
    fn what_an_earlier_plan_did_on_as_many_keys_is_done_again() {
        let rounds = Rounds::within(1.0);
        let mut request = Request::reading(Data::Targets, Vec::new(), rounds, 1);
        let work = BlobWork { operation: Operation::Read, order: Order::Permutation, rate: None };
        let asked = Workload::alone(work, 0);
        let earlier = Workload { count: 700, slice: Some(9), parts: Some(3), ..asked };
        let mut data = crate::dataset::Dataset::new(KeyKind::Integers);
        (0..2_400).for_each(|key| data.push_sized(Key::Int(key), 10).unwrap());
        let experiment = BlobsData {
            dataset: DatasetSpec::Targets,
            summary: data.summary(),
            available: 2_400,
            sampled_from: None,
            drawn: None,
        };
        let plan = request.plan(experiment, Vec::new(), vec![earlier], vec![Cache::Warm]);
        request.repeat(Some(plan));
        let blobs = request.blobs().unwrap();
        assert_eq!(blobs.repeated(&asked, 2_400), Some(earlier));
        assert_eq!(blobs.repeated(&asked, 2_401), None, "other data");
        assert_eq!(blobs.repeated(&Workload { threads: 2, ..asked }, 2_400), None, "other work");
    }
}
