//! What the user wants measured, resolved to engines and paths but not yet looked at.

use std::path::PathBuf;

use model::{
    Batch, Blobs, Cache, Durability, Error, Facet, Result, Rounds, Settings, record::Point,
    spec::RunSpec, without_password,
};

use host::Placement as Site;

pub(crate) use crate::experiment::request::{BlobWork as Work, Data, WorkerProcesses as Processes};

/// A run as asked for.
#[expect(clippy::struct_excessive_bools, reason = "independent wishes, named one by one")]
pub struct Request {
    /// Where scratch stores get their data.
    pub data: Data,
    /// What is compared.
    pub targets: Vec<Requested>,
    /// Index into `targets` of the one the others are compared with.
    pub baseline: usize,
    /// What is done with each; a workload each. Either all draw their keys or none does.
    pub work: Vec<Work>,
    /// The cache states in which each is measured.
    pub caches: Vec<Cache>,
    /// Operations of a pass; absent: every key once, more often where that takes no time.
    pub count: Option<u64>,
    /// Largest integer key to touch.
    pub max_key: Option<i64>,
    /// First integer key of a fixed order.
    pub start: Option<i64>,
    /// Operations per commit.
    pub batch: Batch,
    /// Workers of each process.
    pub threads: u32,
    /// Worker processes; absent: this one works itself.
    pub processes: Option<Processes>,
    /// Memory for all that works for a target; absent: all there is.
    pub memory: Option<u64>,
    /// Durability class to set every target up for.
    pub durability: Option<Durability>,
    /// Make every pass long enough to show how it goes over time, and time all its operations.
    pub over_time: bool,
    /// When to stop.
    pub rounds: Rounds,
    /// Drives everything random.
    pub seed: u64,
    /// Write to the user's own stores instead of scratch copies.
    pub in_place: bool,
    /// Run each engine's own integrity check at the end.
    pub integrity_check: bool,
    /// Where scratch stores go; absent: beside the user's store, or the current directory.
    pub scratch: Option<PathBuf>,
    /// Go on where a file system seems to have too little room.
    pub short_of_room: bool,
    /// The user's own words for it, to stand in the record.
    pub spec: Option<RunSpec>,
    /// Which run of a sweep this is.
    pub point: Option<Point>,
}

/// A target as asked for.
pub struct Requested {
    /// What stands in tables.
    pub label: String,
    /// Its engine.
    pub engine: &'static dyn Blobs,
    /// The user's own store; absent: a scratch store made from the data.
    pub location: Option<PathBuf>,
    /// Where on a server its scratch stores are made, password and all.
    pub address: Option<String>,
    /// Settings asked for, checked; they win over those of the durability class.
    pub settings: Settings,
    /// The file system that its scratch stores are put on; absent: no choice was given.
    pub site: Option<Site>,
}

impl Requested {
    /// Where the scratch store `name` stands if it is not on disk: on a server, or nowhere.
    pub(crate) fn table(&self, name: &str) -> PathBuf {
        let table = |address| format!("{address}/storemark_{name}");
        self.address.as_ref().map_or_else(PathBuf::new, |address| table(address).into())
    }

    /// The location for people and records.
    pub(crate) fn shown_location(&self) -> String {
        let path = || self.location.as_ref().map(|path| path.display().to_string());
        let address = self.address.as_deref().map(without_password);
        address.or_else(path).unwrap_or_default()
    }

    /// Settings for `class` with those asked for laid over them.
    pub(crate) fn settings_for(&self, class: Option<Durability>) -> Result<Settings> {
        let Some(class) = class else { return Ok(self.settings.clone()) };
        let kept = self.engine.class_settings(Facet::Blobs, class)?;
        check_kept(&self.label, class, self.engine.unsupported_reason(class, &self.settings))?;
        Ok(kept.overlaid(&self.settings))
    }
}

/// Refuses a target whose settings withhold the class.
pub(crate) fn check_kept(label: &str, class: Durability, withheld: Option<String>) -> Result<()> {
    withheld.map_or(Ok(()), |why| {
        Err(Error::usage(format!("{label} cannot give durability {class}: {why}")))
    })
}
