//! What the user wants measured, resolved to engines and paths but not yet looked at.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use host::Placement;
use model::{
    Blobs, Cache, Durability, Engine, Error, Experiment, Facet, Finding, FindingKind, Library,
    Operation, Order, Owner, Plan, PlannedTarget, Result, Rounds, Secret, Settings, StudyPart,
    Workload, record::Point, spec::RunSpec,
};

use super::{
    Prepared,
    ageing::{self, AgeingRequest},
    backup::{self, BackupRequest},
    blobs::{self, BlobsRequest, Coverage, Data, StoreCache},
    life::{self, LifeRequest},
    rows::{self, RowsRequest},
    tasks::{self, TasksRequest},
};
use crate::{Progress, Stop, workload::BlobWork};

/// A comparison: what all experiments have in common, and the part of one of them.
#[derive(Clone)]
pub struct Request {
    pub experiment: ExperimentRequest,
    /// Index into the targets of the one the others are compared with.
    pub baseline: usize,
    /// Durability class to set every target up for.
    pub durability: Option<Durability>,
    /// The server that the class is adopted from, which has it already: none was asked for.
    pub adopted_from: Option<String>,
    /// When to stop.
    pub rounds: Rounds,
    /// Drives everything random.
    pub seed: u64,
    /// Where scratch stores go; absent: next to the user's store, or the current directory.
    pub scratch: Option<PathBuf>,
    /// The study that it is a step of.
    pub study: Option<StudyPart>,
    /// The user's own words for it, which the record carries.
    pub spec: Option<RunSpec>,
    /// Which run of a sweep this is.
    pub point: Option<Point>,
    /// Starts a worker process: a program and its arguments, which end up in
    /// [`serve`](crate::serve) with this process at the other end of standard input and output.
    /// Empty: this process does without, as far as it can.
    pub worker: Vec<OsString>,
}

/// The part of an experiment.
#[derive(Clone)]
pub enum ExperimentRequest {
    Blobs(Box<BlobsRequest>),
    Rows(RowsRequest),
    Tasks(TasksRequest),
    Ageing(AgeingRequest),
    Backup(BackupRequest),
    Life(LifeRequest),
}

/// A target: an engine by the facet that is measured, and where its stores are.
pub struct Target<E: ?Sized + 'static> {
    /// Its name in tables.
    pub label: String,
    pub engine: &'static E,
    /// The user's own store; absent: a scratch store.
    pub location: Option<PathBuf>,
    /// Where on a server its scratch stores are made.
    pub address: Option<Secret>,
    /// Settings asked for, checked; they win over those of the durability class.
    pub settings: Settings,
    /// Whether it has the durability class of its server, whatever that of the others is.
    pub keeps_class: bool,
    /// The file system that its scratch stores are placed on; absent: no choice was given.
    pub placement: Option<Placement>,
}

impl Request {
    /// Reads every key of each target at random, warm, by one worker; the first target is the
    /// baseline.
    pub fn reading(data: Data, targets: Vec<Target<dyn Blobs>>, rounds: Rounds, seed: u64) -> Self {
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
        };
        Self::new(ExperimentRequest::Blobs(Box::new(blobs)), rounds, seed)
    }

    /// Of targets as they are, in the current directory; the first is the baseline.
    pub fn new(experiment: ExperimentRequest, rounds: Rounds, seed: u64) -> Self {
        Self {
            experiment,
            baseline: 0,
            durability: None,
            adopted_from: None,
            rounds,
            seed,
            scratch: None,
            study: None,
            spec: None,
            point: None,
            worker: Vec::new(),
        }
    }

    /// The same with one of so many `parts` of its work; `None`: it finds out by itself how long it
    /// takes.
    pub(crate) fn part(&self, parts: u32) -> Option<Self> {
        let part = |of: &mut u64| *of = (*of / u64::from(parts)).max(1);
        let mut request = self.clone();
        match &mut request.experiment {
            ExperimentRequest::Blobs(_)
            | ExperimentRequest::Backup(_)
            | ExperimentRequest::Life(_) => return None,
            ExperimentRequest::Rows(of) => part(&mut of.rows),
            ExperimentRequest::Tasks(of) => part(&mut of.tasks),
            ExperimentRequest::Ageing(of) => part(&mut of.data.count),
        }
        Some(request)
    }

    /// The plan of an experiment with these targets and workloads.
    pub(crate) fn plan(
        &self,
        experiment: Experiment,
        targets: Vec<PlannedTarget>,
        workloads: Vec<Workload>,
        caches: Vec<Cache>,
    ) -> Plan {
        let Self { seed, baseline, rounds, .. } = *self;
        let study = self.study.clone();
        let memory = None;
        // A class that is adopted was not asked for: a target that lacks it is measured as it is.
        let durability = self.durability.filter(|_| self.adopted_from.is_none());
        Plan {
            seed,
            experiment,
            targets,
            baseline,
            workloads,
            caches,
            durability,
            memory,
            hosts: Vec::new(),
            rounds,
            study,
        }
    }

    /// Makes everything ready that it measures.
    pub(crate) fn prepare<'a>(
        &'a self,
        cache: &'a mut StoreCache,
        progress: &'a dyn Progress,
        stop: &'a Stop,
    ) -> Result<Prepared<'a>> {
        match &self.experiment {
            ExperimentRequest::Blobs(part) => blobs::prepare(self, part, cache, progress, stop),
            ExperimentRequest::Rows(part) => rows::prepare(self, part, stop),
            ExperimentRequest::Tasks(part) => tasks::prepare(self, part, stop),
            ExperimentRequest::Ageing(part) => ageing::prepare(self, part, progress, stop),
            ExperimentRequest::Backup(part) => backup::prepare(self, part, progress, stop),
            ExperimentRequest::Life(part) => life::prepare(self, part, progress, stop),
        }
    }

    /// Where scratch stores of `targets` go that are not next to anything.
    pub(crate) fn scratch<'t, E: Engine + ?Sized + 'static>(
        &self,
        targets: impl IntoIterator<Item = &'t Target<E>>,
    ) -> PathBuf {
        let asked = self.scratch.clone().unwrap_or_else(|| PathBuf::from("."));
        let accounts = targets.into_iter().map(|target| target.engine.account());
        accounts.fold(asked, |place, account| host::enterable(&place, account))
    }

    /// What is said if the scratch stores of `targets` are not where they were asked for.
    pub(crate) fn moved<'t, E: Engine + ?Sized + 'static>(
        &self,
        targets: impl IntoIterator<Item = &'t Target<E>>,
    ) -> Vec<Finding> {
        let of = |target: &'t Target<E>| {
            let asked = self.asked_parent(target);
            let used = host::enterable(&asked, target.engine.account());
            let full = |path: &Path| {
                path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
            };
            let kind = FindingKind::ScratchElsewhere { asked: full(&asked), used: full(&used) };
            (used != asked).then(|| Finding::target(kind, &target.label))
        };
        targets.into_iter().filter_map(of).collect()
    }

    /// The folder of a target's scratch stores, which its engine's user can enter.
    pub(crate) fn parent<E: Engine + ?Sized>(&self, target: &Target<E>) -> PathBuf {
        host::enterable(&self.asked_parent(target), target.engine.account())
    }

    /// The folder that was asked for: on the file system of what the stores are copies of.
    fn asked_parent<E: ?Sized>(&self, target: &Target<E>) -> PathBuf {
        if let Some(placement) = &target.placement {
            return placement.path.clone();
        }
        let own = || target.location.as_deref().and_then(Path::parent).map(Path::to_owned);
        let parent = self.scratch.clone().or_else(own).unwrap_or_default();
        if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent }
    }

    /// The time that it may take; absent: as long as the number of rounds takes.
    pub fn time(&self) -> Option<Duration> {
        let Rounds { max, seconds, .. } = self.rounds;
        let time = model::units::duration_of(seconds);
        max.is_none().then_some(time)
    }

    /// Passes have as many operations as those of an earlier `plan`, where they do the same, on as
    /// large a sample, or on all of the data.
    pub fn repeat(&mut self, plan: Option<Plan>) {
        if let ExperimentRequest::Blobs(blobs) = &mut self.experiment {
            let measured = plan.as_ref().map(|plan| match &plan.experiment {
                Experiment::Blobs { sampled_from: Some(_), summary, .. } => {
                    Coverage::Sample(summary.count)
                }
                _ => Coverage::All,
            });
            if let (Coverage::ALL_THAT_FITS, Some(measured)) = (blobs.coverage, measured) {
                blobs.coverage = measured;
            }
            blobs.repeated = plan;
        }
    }

    /// The part of `storemark run`, if it is one.
    pub fn blobs(&self) -> Option<&BlobsRequest> {
        if let ExperimentRequest::Blobs(blobs) = &self.experiment { Some(blobs) } else { None }
    }
}

/// An engine need not be copied for it.
impl<E: ?Sized> Clone for Target<E> {
    fn clone(&self) -> Self {
        let Self { label, engine, location, address, settings, keeps_class, placement } = self;
        Self {
            label: label.clone(),
            engine: *engine,
            location: location.clone(),
            address: address.clone(),
            settings: settings.clone(),
            keeps_class: *keeps_class,
            placement: placement.clone(),
        }
    }
}

impl<E: Engine + ?Sized> Target<E> {
    /// What does the work of its engine.
    pub(crate) fn library(&self) -> Option<Library> {
        self.engine.library(&self.settings)
    }

    /// A scratch store of `engine` with its default settings.
    pub fn scratch(label: &str, engine: &'static E) -> Self {
        let (location, address, placement) = (None, None, None);
        let (label, settings) = (label.to_owned(), Settings::default());
        Self { label, engine, location, address, settings, keeps_class: false, placement }
    }

    /// Settings for `class` with those asked for on top.
    pub fn settings_for(&self, facet: Facet, class: Option<Durability>) -> Result<Settings> {
        let Some(class) = class.filter(|_| !self.keeps_class) else {
            return Ok(self.settings.clone());
        };
        let of_class = self.engine.class_settings(facet, class)?;
        match self.engine.unreached(class, &self.settings) {
            None => Ok(of_class.overlaid(&self.settings)),
            Some(why) => {
                Err(Error::usage(format!("{} cannot give durability {class}: {why}", self.label)))
            }
        }
    }

    /// Where the scratch store `name` is if it is not on disk: on a server, or nowhere. Another run at the
    /// server has tables of other names, and removes none of these when the server comes back.
    pub(crate) fn table(&self, name: &str) -> PathBuf {
        static RUN: OnceLock<u64> = OnceLock::new();
        let run = RUN.get_or_init(host::random);
        let table = |address: &Secret| format!("{}/storemark_{run:016x}_{name}", address.reveal());
        self.address.as_ref().map_or_else(PathBuf::new, |address| table(address).into())
    }

    pub(crate) fn planned(
        &self,
        facet: Facet,
        class: Option<Durability>,
        owner: Owner,
    ) -> Result<PlannedTarget> {
        let path = || self.location.as_ref().map(|path| path.display().to_string());
        let address = self.address.as_ref().map(Secret::to_string);
        let settings = self.settings_for(facet, class)?;
        let of_class = settings.0.keys().filter(|name| self.settings.get(name).is_none()).cloned();
        Ok(PlannedTarget {
            label: self.label.clone(),
            engine: self.engine.name().to_owned(),
            title: self.engine.declaration().title.to_owned(),
            extension: self.engine.declaration().extension.map(str::to_owned),
            location: address.or_else(path).unwrap_or_default(),
            of_class: of_class.collect(),
            reference: self.engine.is_reference(&settings),
            lost_if_killed: self.engine.declaration().is_lost_if_killed(&settings),
            one_process: !self.engine.capabilities().processes,
            settings,
            owner,
            on: self.placement.as_ref().map(|placement| placement.name.clone()),
        })
    }
}
