//! The store that is compared with itself, and how each form is run.

use std::path::PathBuf;

use checks::Form;
use model::{
    Batch, Blobs, Cache, Error, Operation, Result, Rounds,
    record::{Ended, Record},
};

use super::CalibrateRequest;
use crate::{
    BlobsRequest, CopyJob, Data, Progress, Recorder, Request, ResolvedTarget, Silent, Stop,
    StoreLocation, generated, host::Scratch, measure,
};

/// A store on disk, the same for all runs that only read one.
pub(super) struct Subject<'a> {
    pub(super) request: &'a CalibrateRequest,
    path: PathBuf,
    /// Removed with the subject.
    _scratch: Option<Scratch>,
}

/// The number of runs of each record that a gate compares, each in a fresh process.
const GATE_RUNS: u32 = 5;

impl<'a> Subject<'a> {
    pub(super) fn ready(
        request: &'a CalibrateRequest,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Self> {
        let CalibrateRequest { engine, label, settings, .. } = request;
        let (path, scratch) = if let Some(path) = &request.location {
            (path.clone(), None)
        } else {
            let scratch = Scratch::new_in(&request.scratch)?;
            let path = scratch.path().join(engine.name());
            let place =
                StoreLocation { engine: *engine, path: path.clone(), settings: settings.clone() };
            let (from, force, resume) = (generated(request.data)?, false, false);
            let job = CopyJob { from, to: place, force, resume, scratch: None, key_suffix: None };
            crate::copy(&job, progress, stop)?;
            (path, Some(scratch))
        };
        if let Some(why) = engine.reading_changes(&path, settings, Batch::All) {
            return Err(Error::usage(format!("{why}; it is not read in place")).at(label));
        }
        Ok(Self { request, path, _scratch: scratch })
    }

    /// Reads the store as the only target, in rounds as long as those of the runs: in shorter ones an operation
    /// may take several times as long.
    pub(super) fn alone(&self, stop: &Stop) -> Result<Record> {
        let CalibrateRequest { engine, rounds, seed, .. } = self.request;
        let rounds = Rounds { max: Some(rounds.min), ..*rounds };
        let targets = vec![self.target(1, *engine, true)];
        measure_record(&self.request_reading(Data::Targets, targets, rounds, *seed), stop)
            .map(|(record, _)| record)
    }

    /// Makes a run of `form`; its second target has the engine `second` if that is given.
    pub(super) fn run(
        &self,
        form: Form,
        second: Option<&'static dyn Blobs>,
        seed: u64,
        stop: &Stop,
    ) -> Result<(Record, Ended)> {
        let CalibrateRequest { engine, rounds, location, data, scratch, .. } = self.request;
        let copies = matches!(form, Form::Copies | Form::Updates) && location.is_none();
        let count = if form == Form::Table { 4 } else { 2 };
        let engines = std::iter::once(*engine).chain([second.unwrap_or(*engine); 3]);
        let targets = (1..=count).zip(engines).map(|(n, engine)| self.target(n, engine, !copies));
        let data = if copies { Data::Generated(*data) } else { Data::Targets };
        let runs = if form == Form::Gate { GATE_RUNS } else { 1 };
        let rounds = Rounds { runs, ..*rounds };
        let mut request = self.request_reading(data, targets.collect(), rounds, seed);
        request.scratch = Some(scratch.clone());
        request.change_blobs(|part| shape(part, form));
        let ran = measure_record(&request, stop)?;
        // One that the end of all the time has cut short was not given its own.
        stop.check()?;
        Ok(ran)
    }

    /// Returns a request to read all keys of `targets` warm, whose errors name the options of `calibrate`.
    fn request_reading(
        &self,
        data: Data,
        targets: Vec<ResolvedTarget<dyn Blobs>>,
        rounds: Rounds,
        seed: u64,
    ) -> Request {
        let (limit_options, worker) = (["--run-time", "--keys"], self.request.worker.clone());
        Request { limit_options, worker, ..Request::reading(data, targets, rounds, seed) }
    }

    /// Returns target number `n`: this store, or a scratch one.
    fn target(&self, n: u32, engine: &'static dyn Blobs, is_it: bool) -> ResolvedTarget<dyn Blobs> {
        ResolvedTarget {
            location: is_it.then(|| self.path.clone()),
            settings: self.request.settings.clone(),
            ..ResolvedTarget::scratch(&format!("{} #{n}", self.request.label), engine)
        }
    }
}

/// Changes a request to what the form does other than reading warm by one worker.
fn shape(part: &mut BlobsRequest, form: Form) {
    match form {
        Form::Updates => {
            part.work.iter_mut().for_each(|work| work.operation = Operation::Update);
        }
        Form::Cold => part.caches = vec![Cache::DataCold],
        Form::Threads => part.threads = 2,
        Form::Same | Form::Copies | Form::Table | Form::Slowed(_) | Form::Gate => {}
    }
}

/// Measures what is asked for. A run that was interrupted, lost a target or has no sample is an error.
fn measure_record(request: &Request, stop: &Stop) -> Result<(Record, Ended)> {
    let mut recorder = Recorder::new(None);
    let ended = measure(request, &mut recorder, &Silent, stop)?.ended;
    if ended == Ended::Interrupted {
        return Err(Error::interrupted());
    }
    let record = recorder.record().cloned().ok_or_else(Error::overdue)?;
    match record.findings.iter().find_map(|finding| finding.kind.why_not_measured()) {
        Some(why) => Err(Error::failed(why)),
        None if record.samples.is_empty() => Err(Error::overdue()),
        None => Ok((record, ended)),
    }
}
