//! The store that is compared with itself.

use std::path::PathBuf;

use engines::registry;
use host::Scratch;
use lab::{CopyJob, Data, Place, Progress, Recorder, Request, Silent, Stop, Target};
use model::{
    Blobs, Error, Result, Rounds, Settings,
    record::{Ended, Record},
    spec::DEFAULT_DATA,
};

use crate::{
    commands::calibrate::CalibrateOptions,
    targets::{self, Resolved},
};

/// In every build, and its times vary least.
const DEFAULT: &str = "pack:";

/// A store on disk, made once for all comparisons: two copies of the same data differ by where
/// they lie, which is no fault of a comparison that finds it.
pub(super) struct Subject {
    pub(super) label: String,
    pub(super) engine: &'static dyn Blobs,
    path: PathBuf,
    pub(super) settings: Settings,
    /// Removed with the subject.
    _scratch: Option<Scratch>,
}

impl Subject {
    pub(super) fn ready(
        options: &CalibrateOptions,
        seed: u64,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Self> {
        let target = targets::resolve(options.target.as_deref().unwrap_or(DEFAULT.as_ref()))?;
        let settings = target.settings(&[])?;
        check(options, &target)?;
        let Resolved { text: label, engine, location, .. } = target;
        let (path, scratch) = if let Some(path) = location {
            (path, None)
        } else {
            let parent = options.scratch.clone().unwrap_or_else(|| PathBuf::from("."));
            let scratch = Scratch::new_in(&parent)?;
            let path = scratch.path().join(engine.name());
            let CalibrateOptions { keys, size, variance, .. } = *options;
            let from = lab::generated(DEFAULT_DATA.shaped(keys, size, variance, seed))?;
            let to = Place { engine, path: path.clone(), settings: settings.clone() };
            let job = CopyJob { from, to, force: false, resume: false, scratch: None };
            lab::copy(&job, progress, stop)?;
            (path, Some(scratch))
        };
        if let Some(why) = engine.reading_changes(&path, &settings) {
            return Err(Error::usage(format!("{label}: {why}; it is not read in place")));
        }
        Ok(Self { label, engine, path, settings, _scratch: scratch })
    }

    /// Reads the store through each of `engines`, as `run` does. What was interrupted says nothing.
    pub(super) fn run(
        &self,
        engines: &[&'static dyn Blobs],
        seed: u64,
        rounds: Rounds,
        stop: &Stop,
    ) -> Result<(Record, Ended)> {
        let mut recorder = Recorder::new(None);
        let ended =
            lab::measure(&self.request(engines, seed, rounds), &mut recorder, &Silent, stop)?.ended;
        let record = recorder.record().filter(|_| ended != Ended::Interrupted);
        Ok((record.cloned().ok_or_else(Error::interrupted)?, ended))
    }

    fn request(&self, engines: &[&'static dyn Blobs], seed: u64, rounds: Rounds) -> Request {
        let targets = (1..).zip(engines).map(|(number, engine)| Target {
            location: Some(self.path.clone()),
            settings: self.settings.clone(),
            ..Target::scratch(&format!("{} #{number}", self.label), *engine)
        });
        Request::reading(Data::Targets, targets.collect(), rounds, seed)
    }
}

/// Whether the target can be what is asked for.
fn check(options: &CalibrateOptions, target: &Resolved) -> Result<()> {
    let text = &target.text;
    if !target.engine.capabilities().persistent {
        let engines = registry::all_blobs().filter(|engine| engine.capabilities().persistent);
        let names: Vec<_> = engines.map(|engine| engine.name()).collect();
        return Err(Error::usage(format!(
            "{text}: is nowhere on disk, so that the same store cannot be opened twice (accepted: \
             a path, or {})",
            names.join(", ")
        )));
    }
    let Some(path) = &target.location else { return Ok(()) };
    if !path.exists() {
        return Err(targets::missing(path));
    }
    if options.keys.is_some() || options.size.is_some() || options.variance.is_some() {
        return Err(Error::usage(format!(
            "--keys, --size and --variance shape generated data; {text} has its own"
        )));
    }
    Ok(())
}
