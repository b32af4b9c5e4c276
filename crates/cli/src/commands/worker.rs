//! `storemark worker`: one of the processes that a measuring command starts.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use engines::{Plugin, Slowed, registry};
use lab::{Finders, ProgramFacts, Stop};
use model::{Blobs, PLUGIN, Result, Settings};

use crate::{exit::Failure, replies::replies};

#[derive(Debug, Args)]
pub(crate) struct WorkerOptions {
    /// Load this shared object, and report what it declares
    #[arg(long)]
    plugin: Option<PathBuf>,
}

/// Returns what this program consists of: its version, and the engines that open stores by themselves.
fn facts() -> ProgramFacts {
    let engines = registry::all_blobs().filter(|engine| engine.declaration().servers.is_none());
    let named =
        |engine: &dyn Blobs| (engine.name().to_owned(), engine.library(&Settings::default()));
    let engines = engines.map(named).chain([(PLUGIN.to_owned(), None)]).collect();
    ProgramFacts { version: env!("STOREMARK_VERSION").to_owned(), engines, plugin: None }
}

/// Returns the engine with this [full name](model::Engine::full_name).
///
/// # Errors
///
/// Fails if there is none, or it is a plugin that cannot be loaded.
pub(super) fn engine(name: &str) -> Result<&'static dyn Blobs> {
    match Plugin::find(name) {
        Some(plugin) => Ok(plugin?),
        None => Slowed::find(name),
    }
}

/// Serves requests from standard input until it ends.
pub(crate) fn run(options: &WorkerOptions, stop: &'static Stop) -> Result<(), Failure> {
    let plugin = options.plugin.as_ref().map(|path| Plugin::load(path)).transpose();
    let plugin = plugin.inspect_err(|error| {
        // Whoever started it reads no standard error. It ends whether that is written or not.
        let _ = replies().write_all(lab::failure(&error.to_string()).as_bytes());
    })?;
    let facts = ProgramFacts { plugin: plugin.map(|plugin| plugin.facts().clone()), ..facts() };
    let find = Finders { blobs: engine, rows: registry::rows };
    Ok(lab::serve(find, facts, io::stdin(), replies(), stop)?)
}
