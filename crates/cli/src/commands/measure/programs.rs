//! Targets of `run` whose stores workers open: those of another storemark program (`worker=`), and plugins.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use model::{COPY_OF, Error, PLUGIN, Result, WORKER};
use spec::BlobsSpec;

use crate::{STOP, files, program, targets::FoundTarget};

/// Lets workers open the stores of all targets if one names a program, or is a plugin, so that these are all
/// that differs: targets without `worker=` are opened by workers of this program.
///
/// # Errors
///
/// Fails if a program cannot be used, or the run does what workers of programs cannot do.
pub(super) fn in_workers(
    spec: &BlobsSpec,
    mut targets: Vec<FoundTarget>,
) -> Result<Vec<FoundTarget>> {
    let is_plugin = |target: &FoundTarget| target.engine.name() == PLUGIN;
    let first = targets.iter().find(|target| named(target).is_some() || is_plugin(target));
    let Some(first) = first else { return Ok(targets) };
    let options = [
        ("--processes", !spec.work.processes.is_empty()),
        ("--hosts", !spec.clients.hosts.is_empty()),
        ("--roles", spec.work.roles.is_some()),
    ];
    if let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) {
        let what = if is_plugin(first) { "a plugin" } else { "worker=" };
        let why = format!("{what} has one worker process for each target; leave out {option}");
        return Err(Error::usage(why).at(&first.text));
    }
    let names_program = targets.iter().any(|target| named(target).is_some());
    let mut engines = HashMap::new();
    for target in &mut targets {
        if !names_program && !lab::works_in_program(target.engine) {
            // A server, or what is in memory, is measured next to a plugin as always.
            continue;
        }
        let program = program_of(target)?;
        let key = (target.engine.full_name(), program.clone());
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
    let Some(named) = named(target) else { return program::path() };
    let path = Path::new(named);
    path.canonicalize().map_err(|_| files::missing(path, "program").at(&target.text))
}
