//! `storemark backup`: a folder is backed up into a scratch repository whose catalogue is in the store
//! of a target, and restored.

mod source;
mod trial;

use std::path::PathBuf;

use backup::{Replay, Repository};
use host::Scratch;
use model::{
    Access, BackupData, Blobs, Cache, Error, Facet, KeyKind, OpenOptions, Plan, Result, Workload,
    backup::BackupStep,
    units::{show_count, show_size},
};

use super::{
    Experiment, Output, Prepared, Trial, check_class, environment,
    request::{ExperimentPart, Preparation, Request, ResolvedTarget},
    scratches::in_folder,
};
use crate::{
    Stop,
    dataset::{Use, derive},
    store::{facts, file_bytes},
};
use source::Source;
use trial::BackupTrial;

/// The request of `storemark backup`: a folder in scratch repositories.
#[derive(Clone)]
pub struct BackupRequest {
    /// The stores of the catalogues.
    pub targets: Vec<ResolvedTarget<dyn Blobs>>,
    /// The user's folder, a copy of which is backed up; `None` if one is generated.
    pub folder: Option<PathBuf>,
    /// Files of a generated folder, or that a replay is made for.
    pub files: Option<u64>,
    /// Only the operations of the catalogue are repeated.
    pub replay: bool,
}

/// The number of files in the folder from which a replay is recorded, if the user has named none.
const RECORDED: u64 = 2000;

impl ExperimentPart for BackupRequest {
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, progress, stop, .. } = preparation;
        let targets = request.plan_scratch(&self.targets, Facet::Blobs)?;
        let scratch = Scratch::new_in(&request.scratch(&self.targets))?;
        progress.stage("preparing the folder to back up", None);
        let files = self.files.map(|files| if self.replay { files.min(RECORDED) } else { files });
        let data = (self.folder.as_deref(), files);
        let (source, finding) = Source::new(data, &scratch, request.seed, stop)?;
        check_room(&source, &scratch)?;
        let replay =
            self.replay.then(|| record(request, self, &source, &scratch, stop)).transpose()?;
        let copies = replay.as_ref().map(|replay| copies(self, replay)).transpose()?;
        let experiment = BackupData {
            folder: self.folder.as_ref().map(|folder| folder.display().to_string()),
            files: source.count,
            bytes: source.bytes,
            copies,
        };
        let steps =
            BackupStep::ALL.into_iter().filter(|step| !self.replay || *step != BackupStep::Restore);
        let count = source.count * u64::from(copies.unwrap_or(1));
        let workloads = steps.map(|step| Workload::alone(step, count)).collect();
        let plan = request.plan(experiment, targets, workloads, vec![Cache::Warm]);
        check_classes(request, self, &plan, &scratch)?;
        let libraries = self.targets.iter().filter_map(ResolvedTarget::library);
        let environment = environment(&[scratch.path().to_owned()], libraries);
        let findings = request.moved(&self.targets).into_iter().chain(finding).collect();
        let backup =
            Backup { request, part: self, source, replay: replay.zip(copies), scratch, stop };
        let shorter = "a smaller folder, smaller --files or fewer targets";
        Ok(Prepared { findings, ..Prepared::new(backup, plan, environment, shorter) })
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.targets.iter_mut().map(|target| &mut target.label).collect()
    }
}

/// Refuses settings that do not give the durability class, before anything is measured.
fn check_classes(
    request: &Request,
    part: &BackupRequest,
    plan: &Plan,
    scratch: &Scratch,
) -> Result<()> {
    let with_settings = |(_, target): &(_, &ResolvedTarget<_>)| !target.settings.0.is_empty();
    for (index, target) in part.targets.iter().enumerate().filter(with_settings) {
        in_folder(target, scratch, "settings", |folder| {
            let path = folder.join(target.engine.name());
            let store = target.engine.create(&path, &options(request, target)?)?;
            let facts = facts(store.in_effect()?, file_bytes(&[])?);
            store.close()?;
            check_class(plan, index, &facts)
        })?;
    }
    Ok(())
}

/// Fails if there is no room for a repository and a restored folder, which may take as much as the
/// folder each.
fn check_room(source: &Source, scratch: &Scratch) -> Result<()> {
    let needed = source.bytes.saturating_mul(2);
    let Some(free) = host::shortage(scratch.path(), needed)? else { return Ok(()) };
    Err(Error::usage(format!(
        "a repository and a restored folder take up to {}, {} has {} free: back up a smaller folder, \
         or name another place with --scratch DIR",
        show_size(needed),
        scratch.path().display(),
        show_size(free)
    )))
}

/// Copies of the recorded folder that make as many files as are asked for.
fn copies(part: &BackupRequest, replay: &Replay) -> Result<u32> {
    let files = part.files.unwrap_or(replay.files);
    let copies = u32::try_from(files.div_ceil(replay.files.max(1))).ok();
    copies.filter(|copies| *copies <= Replay::MOST_COPIES).ok_or_else(|| {
        let most = replay.files * u64::from(Replay::MOST_COPIES);
        Error::usage(format!(
            "--files {files}: accepted is up to {} for this folder",
            show_count(most)
        ))
    })
}

/// Records the operations that a catalogue does in backups of the folder.
fn record(
    request: &Request,
    part: &BackupRequest,
    source: &Source,
    scratch: &Scratch,
    stop: &Stop,
) -> Result<Replay> {
    let target = part.targets.first().ok_or_else(|| Error::usage("no store for the catalogue"))?;
    in_folder(target, scratch, "recorded", |path| {
        let options = options(request, target)?;
        let store = target.engine.create(&path.join(target.engine.name()), &options)?;
        let repository = Repository::new(path.join("packs"), store)?;
        let mut changed = None;
        let mut change = || {
            changed = Some(source.change(derive(request.seed, Use::Picks, 0))?);
            Ok(())
        };
        let replay = Replay::record(&repository, &source.folder, &mut change, &|| stop.check());
        let undone = changed.map_or(Ok(()), source::Change::undo);
        let closed = repository.close();
        replay.and_then(|replay| undone.and(closed).map(|()| replay))
    })
}

/// Returns the options with which a catalogue is created.
fn options(request: &Request, target: &ResolvedTarget<dyn Blobs>) -> Result<OpenOptions> {
    let settings = target.settings_for(Facet::Blobs, request.durability)?;
    Ok(OpenOptions { settings, access: Access::Write, keys: KeyKind::Names })
}

struct Backup<'a> {
    request: &'a Request,
    part: &'a BackupRequest,
    source: Source,
    /// The recorded operations that are repeated instead, and for how many copies of the folder.
    replay: Option<(Replay, u32)>,
    scratch: Scratch,
    stop: &'a Stop,
}

impl Experiment for Backup<'_> {
    fn run(&mut self, _: &Trial, output: &mut Output<'_>) -> Result<()> {
        let target = &self.part.targets[output.target];
        let name = format!("{}-{}", output.round, output.target);
        let options = options(self.request, target)?;
        in_folder(target, &self.scratch, &name, |folder| {
            let path = folder.join(target.engine.name());
            let store = target.engine.create(&path, &options)?;
            let seed = derive(self.request.seed, Use::Picks, output.round.into());
            BackupTrial { of: self, engine: target.engine, path, folder, seed }.run(store, output)
        })
    }
}
