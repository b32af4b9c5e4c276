//! The one way to measure.

use std::time::Instant;

use model::{
    Error, Result,
    record::{End, Ended, Line},
};

use crate::{
    Outcome, Progress, Recorder, Stop, StoreCache, age,
    experiment::request::{AgeingRequest, BlobsRequest, ExperimentRequest, Request, Target},
    queue, request as old, rows, runner,
};

/// Measures what was asked for and finishes the record: what was measured until an error is in it.
/// Targets that fail are left out from there on, and the others go on. If the record was never
/// begun, nothing was measured.
pub fn measure(
    request: &Request,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    measure_with(&mut StoreCache::default(), request, recorder, progress, stop)
}

/// The same, as one of several runs: with the data and stores that the one before it left in
/// `stores`, as far as they fit.
pub fn measure_with(
    stores: &mut StoreCache,
    request: &Request,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    let outcome = match &request.experiment {
        ExperimentRequest::Blobs(part) => {
            runner::run_on(stores, &blobs(request, part), recorder, progress, stop)
        }
        ExperimentRequest::Rows(part) => {
            let targets = part.targets.iter().map(|target| rows::RowTarget {
                label: target.target.label.clone(),
                engine: target.target.engine,
                location: target.target.location.clone(),
                settings: target.target.settings.clone(),
                style: target.style,
                batch: target.batch,
            });
            let request = rows::RowsRequest {
                targets: targets.collect(),
                baseline: request.baseline,
                rows: part.rows,
                batch: part.batch,
                groups: part.groups.clone(),
                durability: request.durability,
                rounds: request.rounds,
                seed: request.seed,
                scratch: request.scratch.clone().unwrap_or_else(|| ".".into()),
                worker: part.worker.clone(),
                missing: part.missing.clone(),
            };
            rows::rows(request, recorder, progress, stop)
        }
        ExperimentRequest::Tasks(part) => {
            let targets = part.targets.iter().map(|target| queue::QueueTarget {
                label: target.label.clone(),
                engine: target.engine,
                settings: target.settings.clone(),
                site: target.placement.clone(),
            });
            let request = queue::QueueRequest {
                targets: targets.collect(),
                baseline: request.baseline,
                workers: part.workers,
                tasks: part.tasks,
                rewrites: part.rewrites,
                output: part.output,
                durability: request.durability,
                rounds: request.rounds,
                seed: request.seed,
                scratch: request.scratch.clone().unwrap_or_else(|| ".".into()),
            };
            queue::queue(request, recorder, progress, stop)
        }
        ExperimentRequest::Ageing(part) => {
            age::age(&ageing(request, part), recorder, progress, stop)
        }
    };
    finish(outcome, recorder, began)
}

fn ageing(request: &Request, part: &AgeingRequest) -> age::AgeRequest {
    age::AgeRequest {
        targets: part.targets.iter().map(requested).collect(),
        baseline: request.baseline,
        data: part.data,
        ages: part.ages.clone(),
        caches: part.caches.clone(),
        durability: request.durability.unwrap_or(model::Durability::None),
        rounds: request.rounds,
        scratch: request.scratch.clone().unwrap_or_else(|| ".".into()),
    }
}

pub(crate) fn blobs(request: &Request, part: &BlobsRequest) -> old::Request {
    old::Request {
        data: part.data.clone(),
        targets: part.targets.iter().map(requested).collect(),
        baseline: request.baseline,
        work: part.work.clone(),
        caches: part.caches.clone(),
        count: part.count,
        max_key: part.max_key,
        start: part.start,
        batch: part.batch,
        threads: part.threads,
        processes: part.processes.clone(),
        memory: part.memory,
        durability: request.durability,
        over_time: part.over_time,
        rounds: request.rounds,
        seed: request.seed,
        in_place: part.in_place,
        integrity_check: part.integrity_check,
        scratch: request.scratch.clone(),
        short_of_room: part.short_of_room,
        spec: request.spec.clone(),
        point: request.point.clone(),
    }
}

fn requested(target: &Target<dyn model::Blobs>) -> old::Requested {
    old::Requested {
        label: target.label.clone(),
        engine: target.engine,
        location: target.location.clone(),
        address: target.address.clone(),
        settings: target.settings.clone(),
        site: target.placement.clone(),
    }
}

/// Adds what only the whole record shows, and its last line.
fn finish(outcome: Result<Outcome>, recorder: &mut Recorder, began: Instant) -> Result<Outcome> {
    let Some(record) = recorder.record() else {
        return outcome.and_then(|_| Err(Error::interrupted()));
    };
    let derived = checks::of_record(record);
    let noted = recorder.note(derived);
    let reason = match &outcome {
        Ok(outcome) => outcome.ended.clone(),
        Err(error) => Ended::Failed(error.to_string()),
    };
    let seconds = began.elapsed().as_secs_f64();
    let written = recorder.push(Line::End(End { reason, seconds }));
    outcome.and_then(|outcome| noted.and(written).map(|()| outcome))
}
