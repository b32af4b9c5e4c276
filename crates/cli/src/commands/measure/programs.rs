//! Targets of `run` whose engines are those of another storemark program (`worker=`).

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use model::{COPY_OF, Error, Result, WORKER};
use spec::BlobsSpec;

use crate::{STOP, commands::worker, files, targets::FoundTarget};

/// Has workers open the stores of all targets if one names a program, so that programs are all that
/// differs: targets without `worker=` are opened by workers of this program.
///
/// # Errors
///
/// Fails if a program cannot be used, or the run does what workers of programs cannot do.
pub(super) fn in_workers(
    spec: &BlobsSpec,
    mut targets: Vec<FoundTarget>,
) -> Result<Vec<FoundTarget>> {
    let Some(first) = targets.iter().find(|target| named(target).is_some()) else {
        return Ok(targets);
    };
    let options = [
        ("--processes", !spec.work.processes.is_empty()),
        ("--hosts", !spec.clients.hosts.is_empty()),
        ("--roles", spec.work.roles.is_some()),
    ];
    if let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::usage(format!(
            "{WORKER}= has one worker process for each target; leave out {option}"
        ))
        .at(&first.text));
    }
    let mut engines = HashMap::new();
    for target in &mut targets {
        let program = program_of(target)?;
        let key = (target.engine.name(), program.clone());
        let engine = match engines.get(&key) {
            Some(engine) => *engine,
            None => lab::program_engine(target.engine, &program, &STOP)
                .map_err(|error| error.at(&target.text))?,
        };
        engines.insert(key, engine);
        target.engine = engine;
    }
    Ok(targets)
}

/// Returns the program that a target names; `None` if it names none.
fn named(target: &FoundTarget) -> Option<&str> {
    let worker = target.settings.iter().find(|(name, _)| name == WORKER)?;
    Some(worker.1.strip_prefix(COPY_OF).unwrap_or(&worker.1))
}

/// Returns the path of the program that a target names, or of this one.
fn program_of(target: &FoundTarget) -> Result<PathBuf> {
    let Some(named) = named(target) else { return worker::program() };
    let path = Path::new(named);
    path.canonicalize().map_err(|_| files::missing(path, "program").at(&target.text))
}
