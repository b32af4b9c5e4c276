//! The request of a measurement, resolved to engines and paths but not yet examined.

use std::{
    any::Any,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use host::Placement;
use model::{
    Blobs, Cache, Durability, Engine, Error, Experiment, Facet, Finding, FindingKind, Library,
    Owner, Plan, PlannedTarget, Result, Rounds, Secret, Settings, StudyPart, Workload,
    record::{GivenOptions, Point},
};

use super::{Prepared, store_cache::StoreCache};
use crate::{Progress, Stop, StoreLocation};

/// A comparison: what all experiments have in common, and the part of one of them.
#[derive(Clone)]
pub struct Request {
    /// The part of the experiment.
    pub experiment: ExperimentRequest,
    /// Index of the target with which the others are compared.
    pub baseline: usize,
    /// The durability class that every target is set up for; `None` for its own.
    pub durability: Option<Durability>,
    /// The server from which the class is adopted, because it has it already; `None` if the class
    /// was asked for.
    pub adopted_from: Option<String>,
    /// When the run ends.
    pub rounds: Rounds,
    /// The seed of everything random.
    pub seed: u64,
    /// The folder of scratch stores; `None` for that of the user's store, or the current directory.
    pub scratch: Option<PathBuf>,
    /// The study that it is a step of.
    pub study: Option<StudyPart>,
    /// The options as the user typed them, which the record has.
    pub spec: Option<GivenOptions>,
    /// The place of the run in a sweep.
    pub point: Option<Point>,
    /// The options for more time and less data, as errors name them.
    pub limit_options: [&'static str; 2],
    /// The command that starts a worker process: a program and its arguments, which end in
    /// [`serve`](crate::serve) with this process at the other end of standard input and output. If
    /// it is empty, this process starts no other as far as it can.
    pub worker: Vec<OsString>,
}

/// The request of one experiment, with its targets: one of the modules next to this file.
pub struct ExperimentRequest(Box<dyn ExperimentPart>);

/// The request of one experiment.
pub(crate) trait ExperimentPart: ClonePart + Any + Send + Sync {
    /// Refuses what cannot be measured, as far as that is known before anything is made.
    fn check(&self, _request: &Request, _stop: &Stop) -> Result<()> {
        Ok(())
    }

    /// Makes everything ready that the request measures which this is the part of.
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>>;

    /// Returns the labels of its targets, to be made distinct.
    fn labels(&mut self) -> Vec<&mut String>;

    /// Returns the request for one of that many parts of its work; `None` if it finds out itself how
    /// long it takes.
    fn one_of(&self, _parts: u32) -> Option<ExperimentRequest> {
        None
    }
}

/// What an experiment is prepared with.
pub(crate) struct Preparation<'a> {
    pub(crate) request: &'a Request,
    /// The stores of the run before, and of this one for the next.
    pub(crate) cache: &'a mut StoreCache,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) stop: &'a Stop,
}

/// A copy function for requests of which only the trait is known.
pub(crate) trait ClonePart {
    fn boxed(&self) -> Box<dyn ExperimentPart>;
}

impl<P: ExperimentPart + Clone> ClonePart for P {
    fn boxed(&self) -> Box<dyn ExperimentPart> {
        Box::new(self.clone())
    }
}

impl<P: ExperimentPart> From<P> for ExperimentRequest {
    fn from(part: P) -> Self {
        Self(Box::new(part))
    }
}

/// Returns one of so many `parts` of `whole`, at least one.
pub(super) fn one_in(whole: u64, parts: u32) -> u64 {
    (whole / u64::from(parts)).max(1)
}

impl ExperimentRequest {
    /// Returns the labels of its targets, to be made distinct.
    pub fn labels(&mut self) -> Vec<&mut String> {
        self.0.labels()
    }

    /// Returns the request of one experiment, if it is of that one.
    pub(crate) fn part<P: ExperimentPart>(&self) -> Option<&P> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// Returns the request of one experiment to be changed, if it is of that one.
    pub(crate) fn part_mut<P: ExperimentPart>(&mut self) -> Option<&mut P> {
        (&mut *self.0 as &mut dyn Any).downcast_mut()
    }
}

impl Clone for ExperimentRequest {
    fn clone(&self) -> Self {
        Self(self.0.boxed())
    }
}

/// A resolved target: an engine by the facet that is measured, where its stores are, and its checked
/// settings.
pub struct ResolvedTarget<E: ?Sized + 'static> {
    /// Its name in tables.
    pub label: String,
    /// The engine.
    pub engine: &'static E,
    /// The user's own store; `None` for a scratch store.
    pub location: Option<PathBuf>,
    /// The address of the server on which its scratch stores are created.
    pub address: Option<Secret>,
    /// Settings asked for, checked; they win over those of the durability class.
    pub settings: Settings,
    /// Whether it has the durability class of its server, whatever that of the others is.
    pub keeps_class: bool,
    /// The file system on which its scratch stores are placed; `None` if none was chosen.
    pub placement: Option<Placement>,
}

impl Request {
    /// Creates a request for targets as they are, in the current directory; the first is the
    /// baseline.
    pub fn new(part: impl Into<ExperimentRequest>, rounds: Rounds, seed: u64) -> Self {
        Self {
            experiment: part.into(),
            baseline: 0,
            durability: None,
            adopted_from: None,
            rounds,
            seed,
            scratch: None,
            study: None,
            spec: None,
            point: None,
            limit_options: ["--time", "--sample"],
            worker: Vec::new(),
        }
    }

    /// Returns the request for a round of one of `parts` parts of the work; `None` for experiments
    /// that find out themselves how long they take.
    pub(crate) fn one_of(&self, parts: u32) -> Option<Self> {
        let experiment = self.experiment.0.one_of(parts)?;
        let rounds = Rounds { min: 1, max: Some(1), runs: 1, ..self.rounds };
        Some(Self { experiment, rounds, ..self.clone() })
    }

    pub(crate) fn plan(
        &self,
        experiment: impl Into<Experiment>,
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
            experiment: experiment.into(),
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

    /// Returns the plans of targets that are measured in scratch stores.
    pub(crate) fn plan_scratch<E: Engine + ?Sized + 'static>(
        &self,
        targets: &[ResolvedTarget<E>],
        facet: Facet,
    ) -> Result<Vec<PlannedTarget>> {
        let plan = |of: &ResolvedTarget<E>| {
            let owner = if of.location.is_some() { Owner::Copy } else { Owner::Scratch };
            of.planned(facet, self.durability, owner)
        };
        targets.iter().map(plan).collect()
    }

    /// Refuses what cannot be measured, as far as that is known before anything is made: as a measurement
    /// refuses it: a target cannot do what is asked of it, or a folder for stores cannot be written to.
    pub fn check(&self, stop: &Stop) -> Result<()> {
        self.experiment.0.check(self, stop)
    }

    /// Makes everything ready that it measures.
    pub(crate) fn prepare<'a>(
        &'a self,
        cache: &'a mut StoreCache,
        progress: &'a dyn Progress,
        stop: &'a Stop,
    ) -> Result<Prepared<'a>> {
        self.check(stop)?;
        self.experiment.0.prepare(Preparation { request: self, cache, progress, stop })
    }

    /// Returns the folder of the scratch stores of `targets` that are not next to anything.
    pub(crate) fn scratch<'t, E: Engine + ?Sized + 'static>(
        &self,
        targets: impl IntoIterator<Item = &'t ResolvedTarget<E>>,
    ) -> PathBuf {
        let asked = self.scratch.clone().unwrap_or_else(|| PathBuf::from("."));
        let accounts = targets.into_iter().map(|target| target.engine.account());
        accounts.fold(asked, |place, account| host::enterable(&place, account))
    }

    /// Returns a finding for each target whose scratch stores are not where they were asked for.
    pub(crate) fn moved<'t, E: Engine + ?Sized + 'static>(
        &self,
        targets: impl IntoIterator<Item = &'t ResolvedTarget<E>>,
    ) -> Vec<Finding> {
        let of = |target: &'t ResolvedTarget<E>| {
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

    /// Returns the folder of a target's scratch stores, which its engine's user can enter.
    pub(crate) fn parent<E: Engine + ?Sized>(&self, target: &ResolvedTarget<E>) -> PathBuf {
        host::enterable(&self.asked_parent(target), target.engine.account())
    }

    /// Returns the folder that was asked for: by default on the file system of what the stores are
    /// copies of.
    fn asked_parent<E: ?Sized>(&self, target: &ResolvedTarget<E>) -> PathBuf {
        if let Some(placement) = &target.placement {
            return placement.path.clone();
        }
        let own = || target.location.as_deref().and_then(Path::parent).map(Path::to_owned);
        let parent = self.scratch.clone().or_else(own).unwrap_or_default();
        if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent }
    }

    /// Returns the time that the run may take; `None` if it takes as long as its number of rounds
    /// does.
    pub fn time(&self) -> Option<Duration> {
        let Rounds { max, seconds, .. } = self.rounds;
        let time = model::units::duration_of(seconds);
        max.is_none().then_some(time)
    }
}

/// An engine need not be copied for it.
impl<E: ?Sized> Clone for ResolvedTarget<E> {
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

impl ResolvedTarget<dyn Blobs> {
    /// Returns the user's own store that it names; `None` if it is a scratch store.
    pub(crate) fn own_store(&self) -> Option<StoreLocation> {
        let (path, settings) = (self.location.clone()?, self.settings.clone());
        Some(StoreLocation { engine: self.engine, path, settings })
    }
}

impl<E: Engine + ?Sized> ResolvedTarget<E> {
    /// Returns the library that does the work of the engine.
    pub(crate) fn library(&self) -> Option<Library> {
        self.engine.library(&self.settings)
    }

    /// Creates a target in a scratch store of `engine` with its default settings.
    pub fn scratch(label: &str, engine: &'static E) -> Self {
        let (location, address, placement) = (None, None, None);
        let (label, settings) = (label.to_owned(), Settings::default());
        Self { label, engine, location, address, settings, keeps_class: false, placement }
    }

    /// Returns the settings for `class`, with those that were asked for on top.
    ///
    /// # Errors
    ///
    /// Fails if the engine lacks the class, or the settings that were asked for keep the target
    /// from giving it.
    pub fn settings_for(&self, facet: Facet, class: Option<Durability>) -> Result<Settings> {
        let Some(class) = class.filter(|_| !self.keeps_class) else {
            return Ok(self.settings.clone());
        };
        let of_class = self.engine.class_settings(facet, class);
        let of_class = of_class.map_err(|error| error.context(&self.label))?;
        match self.engine.unreached(class, &self.settings) {
            None => Ok(of_class.overlaid(&self.settings)),
            Some(why) => {
                let why = format!("cannot give durability {class}: {why}");
                Err(Error::usage(why).context(&self.label))
            }
        }
    }

    /// Returns the location of the scratch store `name` if it is not on disk: a table on a server,
    /// or nothing. Another run on the server has tables of other names, and removes none of these
    /// when the server comes back.
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
