//! `storemark queue`: tasks in files and in SQLite, on as many file systems as are given.

mod targets;

use std::{path::Path, time::Instant};

use lab::{QueueRequest, Recorder, Sites, Stop};
use model::{
    Error, Result, Rounds,
    record::{End, Ended, Line},
    units::show_count,
};

use super::{
    labels,
    run::{MIN_ROUNDS, PRECISION, fresh_seed},
};
use crate::{args::QueueOptions, exit::Failure, listener::Listener, output, record_file};

/// Greatest number of tasks of all workers: their ids are made beforehand.
const MOST_TASKS: u64 = 10_000_000;
/// Greatest number of bytes of all outputs of a task.
const MOST_OUTPUT: u64 = 256 << 20;

pub(crate) fn run(options: &QueueOptions, stop: &Stop) -> Result<(), Failure> {
    let began = Instant::now();
    check(options)?;
    let resolved = targets::resolved(options)?;
    let file = record_file::open(options.json.as_deref(), record_file::QUEUE)?;
    // Held to the end: what is measured stands on them.
    let sites = Sites::open(&options.on.on, options.on.image_size, &options.scratch)?;
    let request = request(options, targets::on_each(&resolved, &sites))?;
    let mut recorder = Recorder::new(file);
    let listener = Listener::new(options.quiet);
    let outcome = lab::queue(request, &mut recorder, &listener, stop);
    drop(listener);
    let Some(record) = recorder.record() else {
        return Err(outcome.err().unwrap_or_else(Error::interrupted).into());
    };
    let derived = report::derived(record);
    let doubted = recorder.doubt(derived);
    let ended = match &outcome {
        Ok(outcome) => outcome.ended.clone(),
        Err(error) => Ended::Failed(error.to_string()),
    };
    let seconds = began.elapsed().as_secs_f64();
    let written = recorder.push(Line::End(End { reason: ended.clone(), seconds }));
    show(options, &recorder)?;
    let outcome = outcome.map_err(Failure::PartWay)?;
    doubted.and(written).map_err(Failure::PartWay)?;
    match (ended, outcome.failed.as_slice()) {
        (Ended::Interrupted, _) => Err(Failure::PartWay(Error::interrupted())),
        (_, []) => Ok(()),
        (_, failed) => Err(Failure::PartWay(Error::failed(format!(
            "a trial failed of {}; what was measured is shown",
            failed.join(", ")
        )))),
    }
}

/// The page: on standard output, unless that carries the record.
fn show(options: &QueueOptions, recorder: &Recorder) -> Result<()> {
    let Some(record) = recorder.record() else { return Ok(()) };
    let text = report::terminal(record, &output::style(options.verbose, options.explain));
    if options.json.as_deref() == Some(Path::new("-")) {
        output::print_aside(&text);
        return Ok(());
    }
    output::print(&text)
}

fn check(options: &QueueOptions) -> Result<()> {
    if options.tasks == 0 {
        return Err(Error::usage("--tasks 0: accepted is 1 or more"));
    }
    let most = MOST_TASKS / u64::from(options.workers);
    if options.tasks > most {
        return Err(Error::usage(format!(
            "--tasks {}: accepted is up to {} for {} workers",
            options.tasks,
            show_count(most),
            options.workers
        )));
    }
    let QueueOptions { rewrites, output, .. } = *options;
    // Only letters count against the second; the first bounds the texts that hold none.
    if rewrites.saturating_mul(output.max(32)) > MOST_OUTPUT {
        return Err(Error::usage(format!(
            "--rewrites {rewrites} of --output {output} bytes: accepted is up to {} bytes together",
            show_count(MOST_OUTPUT)
        )));
    }
    Ok(())
}

fn request(options: &QueueOptions, targets: Vec<lab::QueueTarget>) -> Result<QueueRequest> {
    let names = targets.iter().map(|target| target.label.as_str());
    let baseline = options.baseline.as_ref().map(|wanted| labels::baseline(wanted, names));
    Ok(QueueRequest {
        baseline: baseline.transpose()?.unwrap_or(0),
        targets,
        workers: options.workers,
        tasks: options.tasks,
        rewrites: options.rewrites,
        output: options.output,
        durability: options.durability,
        rounds: Rounds {
            min: options.rounds.unwrap_or(MIN_ROUNDS),
            max: options.rounds,
            precision: PRECISION,
            seconds: options.time.as_secs_f64(),
        },
        seed: options.seed.unwrap_or_else(fresh_seed),
        scratch: options.scratch.clone(),
    })
}
