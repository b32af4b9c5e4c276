//! `storemark queue`: tasks in files and in SQLite, on as many file systems as are given.

mod targets;

use std::time::Instant;

use lab::{QueueRequest, Recorder, Sites, Stop};
use model::{Error, Result, units::show_count};

use super::{
    labels,
    run::{fresh_seed, rounds},
};
use crate::{
    args::QueueOptions,
    exit::Failure,
    listener::Listener,
    measured::{self, Measured},
    page_file, record_file,
};

/// Greatest number of tasks of all workers: their ids are made beforehand.
const MOST_TASKS: u64 = 10_000_000;
/// Greatest number of bytes of all outputs of a task.
const MOST_OUTPUT: u64 = 256 << 20;

pub(crate) fn run(options: &QueueOptions, stop: &Stop) -> Result<(), Failure> {
    let html = page_file::open(
        options.rounds.html.as_deref(),
        &[("--json", options.rounds.json.as_deref())],
    )?;
    measured::show(measured(options, stop)?, &options.rounds, html)
}

/// Measures without showing anything.
pub(crate) fn measured(options: &QueueOptions, stop: &Stop) -> Result<Measured, Failure> {
    let began = Instant::now();
    check(options)?;
    let resolved = targets::resolved(options)?;
    let file = record_file::open(options.rounds.json.as_deref(), record_file::QUEUE)?;
    // Held to the end: what is measured stands on them.
    let sites = Sites::open(&options.on.on, options.on.image_size, &options.rounds.scratch)?;
    let request = request(options, targets::on_each(&resolved, &sites))?;
    let mut recorder = Recorder::new(file);
    let listener = Listener::new(options.rounds.talk);
    let outcome = lab::queue(request, &mut recorder, &listener, stop);
    let ended = measured::finish(outcome, &mut recorder, began).map(|outcome| vec![outcome]);
    Ok(Measured { records: recorder.into_records(), ended })
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
    let baseline = options.rounds.baseline.as_ref().map(|wanted| labels::baseline(wanted, names));
    Ok(QueueRequest {
        baseline: baseline.transpose()?.unwrap_or(0),
        targets,
        workers: options.workers,
        tasks: options.tasks,
        rewrites: options.rewrites,
        output: options.output,
        durability: options.durability,
        rounds: rounds(options.rounds.rounds, options.rounds.time),
        seed: options.rounds.seed.unwrap_or_else(fresh_seed),
        scratch: options.rounds.scratch.clone(),
    })
}
