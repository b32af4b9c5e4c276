//! The conversion of options to requests of the lab.

use std::ffi::OsStr;

use engines::registry;
use host::Placements;
use lab::{
    AgeRequest, BackupRequest, Data, ExperimentRequest, LifeRequest, Needs, QueueRequest, Request,
    ResolvedTarget,
};
use model::{Blobs, Error, Facet, Result, Tasks, record::Point};
use spec::{
    AgeSpec, BackupSpec, LifeSpec, Name, Placing, QueueSpec, RowsSpec, RunSpec, TaskLoad,
    given_value,
};

use super::{blobs, rows};
use crate::{files, program, targets};

/// Returns the file systems on which scratch stores are placed.
pub(super) fn placements(spec: &RunSpec) -> Result<Placements> {
    let placing = match spec {
        RunSpec::Run(spec) => spec.placing.clone(),
        RunSpec::Queue(spec) => spec.placing.clone(),
        RunSpec::Rows(_) | RunSpec::Age(_) | RunSpec::Backup(_) | RunSpec::Life(_) => {
            Placing::default()
        }
    };
    let parsed =
        placing.on.iter().map(|on| on.value().parse().map_err(|e: Error| e.context("--on")));
    let choices = parsed.collect::<Result<Vec<_>>>()?;
    Placements::open(&choices, placing.image_size(), spec.running().scratch())
}

/// Returns a request for each run in the order in which they run: those that need the same data and
/// stores follow each other, otherwise as they were asked for.
pub(super) fn requests(spec: &RunSpec, placements: &Placements) -> Result<Vec<Request>> {
    let runs = with_limit(spec).points()?;
    let of = runs.len();
    let kept = match spec.to_given() {
        Err(error) if of > 1 => return Err(error),
        // One run can be measured even if it cannot be asked for again.
        kept => kept.ok(),
    };
    let mut built = Vec::new();
    for run in runs {
        built.push((request(&run.spec, placements)?, run.varied));
    }
    let needs: Vec<_> = built.iter().map(|(request, _)| Needs::new(request)).collect();
    let first = |place: usize| {
        let same = |other: &Option<Needs>| other.is_some() && *other == needs[place];
        needs.iter().position(same).unwrap_or(place)
    };
    let mut ordered: Vec<_> = built.into_iter().enumerate().collect();
    ordered.sort_by_cached_key(|(place, _)| first(*place));
    let with_spec = |(number, (_, (request, varied)))| Request {
        spec: kept.clone(),
        point: (of > 1).then_some(Point { number, of, varied }),
        ..request
    };
    Ok(ordered.into_iter().enumerate().map(with_spec).collect())
}

/// Adds a target that does nothing if several numbers of clients are measured: it shows how much
/// the clients themselves can do.
fn with_limit(spec: &RunSpec) -> RunSpec {
    let mut spec = spec.clone();
    if let RunSpec::Run(blobs) = &mut spec
        && blobs.work.processes.len() > 1
    {
        let mut chosen: Vec<Name> =
            blobs::chosen_texts(blobs).into_iter().map(Name::from).collect();
        if !chosen
            .iter()
            .any(|target| targets::engine_word(&target.path().to_string_lossy()) == NULL)
        {
            chosen.push(format!("{NULL}:").into());
        }
        blobs.targets = chosen;
    }
    spec
}

/// The engine that does nothing.
const NULL: &str = "null";

fn request(spec: &RunSpec, placements: &Placements) -> Result<Request> {
    let running = spec.running();
    let seed = given_value(&running.seed).expect("what is understood has a seed");
    let (mut default, mut adopted_from) = (None, None);
    let (mut experiment, durability) = match spec {
        RunSpec::Run(spec) if spec.work.roles.is_some() => {
            let (roles, class) = blobs::roles(spec, placements, seed)?;
            adopted_from = class.1;
            (roles.into(), class.0)
        }
        RunSpec::Run(spec) => {
            let (blobs, class) = blobs::request(spec, placements, seed)?;
            adopted_from = class.1;
            (ExperimentRequest::from(blobs), class.0)
        }
        RunSpec::Rows(spec) => {
            default = spec.targets.is_empty().then_some(RowsSpec::BASELINE);
            let rows = rows::request(spec)?;
            (rows.into(), spec.class())
        }
        RunSpec::Queue(spec) => {
            let queue = queue(spec, placements)?;
            (queue.into(), given_value(&spec.durability))
        }
        RunSpec::Age(spec) => {
            let age = age(spec, seed)?;
            (age.into(), Some(spec.durability()))
        }
        RunSpec::Backup(spec) => {
            let backup = backup(spec)?;
            (backup.into(), Some(spec.durability()))
        }
        RunSpec::Life(spec) => (life(spec, seed)?.into(), Some(spec.durability())),
    };
    let rounds = spec.rounds();
    let mut labels = experiment.labels();
    targets::number(&mut labels);
    let baseline = targets::baseline(given_value(&running.baseline), default, &labels)?;
    let scratch = running.scratch.as_ref().map(|scratch| scratch.path().to_owned());
    let worker = program::worker_command()?;
    let plain = Request::new(experiment, rounds, seed);
    Ok(Request { baseline, durability, adopted_from, scratch, worker, ..plain })
}

fn queue(spec: &QueueSpec, placements: &Placements) -> Result<QueueRequest> {
    let TaskLoad { workers, tasks, rewrites, output } = spec.load()?;
    let chosen: Vec<ResolvedTarget<dyn Tasks>> = if spec.targets.is_empty() {
        let defaults = spec.default_targets().iter();
        // This build may lack an engine.
        let built = defaults.filter(|text| registry::tasks(targets::engine_word(text)).is_ok());
        built
            .map(|text| targets::scratch(text.as_ref(), Facet::Tasks, registry::tasks))
            .collect::<Result<_>>()?
    } else {
        spec.targets
            .iter()
            .map(|text| targets::scratch(text.as_ref(), Facet::Tasks, registry::tasks))
            .collect::<Result<_>>()?
    };
    if let Some(class) = given_value(&spec.durability) {
        for target in &chosen {
            let own = target.engine.class_settings(Facet::Tasks, class);
            own.map_err(|error| error.context(&target.label))?;
        }
    }
    // Each target on each file system, those of a target together.
    let targets = chosen.iter().flat_map(|target| targets::on_each(target, placements)).collect();
    Ok(QueueRequest { targets, workers, tasks, rewrites, output })
}

fn age(spec: &AgeSpec, seed: u64) -> Result<AgeRequest> {
    let texts = targets::or_default(&spec.targets, &AgeSpec::TARGETS);
    let targets = scratch_targets(texts, "stores age")?;
    Ok(AgeRequest {
        targets,
        data: spec.data(seed)?,
        ages: spec.ages()?,
        caches: spec.cold.caches(),
    })
}

fn backup(spec: &BackupSpec) -> Result<BackupRequest> {
    let (folder, stores) = spec.folder_and_stores();
    let folder = folder.map(|folder| folder.path().to_owned());
    folder.as_deref().map_or(Ok(()), files::check_folder).map_err(|error| {
        let accepted = "FOLDER STORE…, as in storemark backup ~/src sqlite: lmdb:";
        Error::usage(format!("{error}; accepted: {accepted}"))
    })?;
    if folder.is_some() && spec.files().is_some() && !spec.replay {
        return Err(Error::usage(
            "--files: is for a generated folder; a folder has its own, unless with --replay",
        ));
    }
    let stores = targets::or_default(stores, &BackupSpec::TARGETS);
    let targets = stores.into_iter().map(catalogue).collect::<Result<_>>()?;
    Ok(BackupRequest { targets, folder, files: spec.files(), replay: spec.replay })
}

pub(crate) fn catalogue(text: &OsStr) -> Result<ResolvedTarget<dyn Blobs>> {
    let target = scratch_only(text, "catalogues are")?;
    let capabilities = target.engine.capabilities();
    if capabilities.paths || !capabilities.retains {
        let name = target.engine.name();
        return Err(Error::usage("cannot hold a catalogue; use sqlite:, lmdb: or redb:").at(name));
    }
    Ok(target)
}

fn life(spec: &LifeSpec, seed: u64) -> Result<LifeRequest> {
    let texts = targets::or_default(&spec.targets, &LifeSpec::TARGETS);
    let targets = scratch_targets(texts, "stores live and end")?;
    let data = match &spec.source.data {
        Some(folder) => {
            spec.generated.check_unused("--data")?;
            let data = blobs::stored(folder.as_ref())?;
            if let Data::Store(place) = &data
                && place.engine.capabilities().remote
            {
                let why = "the data are read many times; copy them into a folder first";
                return Err(Error::usage(why).at("--data"));
            }
            data
        }
        None => Data::Generated(spec.generated.dataset(seed)),
    };
    Ok(LifeRequest { targets, data, days: spec.days(), caches: spec.cold.caches() })
}

fn scratch_targets<'t>(
    texts: impl IntoIterator<Item = &'t OsStr>,
    what: &str,
) -> Result<Vec<ResolvedTarget<dyn Blobs>>> {
    texts.into_iter().map(|text| scratch_only(text, what)).collect()
}

fn scratch_only(text: &OsStr, what: &str) -> Result<ResolvedTarget<dyn Blobs>> {
    let target = targets::resolve(text)?;
    if !target.is_scratch() {
        return Err(Error::usage(format!(
            "{what} in scratch stores only, as {}: makes one; leave out the location",
            target.engine.name()
        ))
        .at(&target.text));
    }
    target.engine.usable().map_err(|e| e.context(&target.text))?;
    target.with_settings(&[])
}
