//! `storemark rows`: a table of two integers, as published and as it should have been.

mod targets;

use std::{ffi::OsString, time::Instant};

use engines::registry;
use lab::{Group, Recorder, RowTarget, RowsRequest, Stop};
use model::{Error, Result};

use super::{
    labels,
    run::{fresh_seed, rounds},
};
use crate::{
    args::RowsOptions,
    exit::Failure,
    listener::Listener,
    measured::{self, Measured},
    page_file, record_file,
};

/// Rows of a transaction: what was best for SQLite when it was published, and now the same for all.
const BATCH: u64 = 100_000;
/// Greatest number of all rows: twice that is what a column of 32 bits holds.
const MOST_ROWS: u64 = 1_000_000_000;

pub(crate) fn run(options: &RowsOptions, stop: &Stop) -> Result<(), Failure> {
    let html = page_file::open(
        options.rounds.html.as_deref(),
        &[("--json", options.rounds.json.as_deref())],
    )?;
    measured::show(measured(options, stop)?, &options.rounds, html)
}

/// Measures without showing anything.
pub(super) fn measured(options: &RowsOptions, stop: &Stop) -> Result<Measured, Failure> {
    let began = Instant::now();
    let request = request(options)?;
    let file = record_file::open(options.rounds.json.as_deref(), record_file::ROWS)?;
    let mut recorder = Recorder::new(file);
    let listener = Listener::new(options.rounds.talk);
    let outcome = lab::rows(request, &mut recorder, &listener, stop);
    let ended = measured::finish(outcome, &mut recorder, began).map(|outcome| vec![outcome]);
    Ok(Measured { records: recorder.into_records(), ended })
}

/// The process of a worker.
pub(crate) fn work() -> Result<(), Failure> {
    Ok(lab::rows_worker(registry::rows)?)
}

fn request(options: &RowsOptions) -> Result<RowsRequest> {
    let batch = options.batch.unwrap_or(BATCH);
    if options.rows == 0 || batch == 0 {
        let name = if batch == 0 { "batch" } else { "rows" };
        return Err(Error::usage(format!("--{name} 0: accepted is 1 or more")));
    }
    let groups = groups(options);
    let processes = groups.iter().map(|group| group.processes).max().unwrap_or(1);
    if options.rows > MOST_ROWS / u64::from(processes) {
        return Err(Error::usage(format!(
            "--rows {}: accepted is up to {}, so that all of {processes} processes fit into 32 bits",
            options.rows,
            MOST_ROWS / u64::from(processes)
        )));
    }
    let targets::Chosen { targets, missing } = targets::chosen(options)?;
    Ok(RowsRequest {
        baseline: baseline(options, &targets)?,
        targets,
        rows: options.rows,
        batch,
        groups,
        durability: options.durability,
        rounds: rounds(options.rounds.rounds, options.rounds.time),
        seed: options.rounds.seed.unwrap_or_else(fresh_seed),
        scratch: options.rounds.scratch.clone(),
        worker: worker()?,
        missing,
    })
}

/// Each number once, with a database each, then on one.
fn groups(options: &RowsOptions) -> Vec<Group> {
    let mut groups = Vec::new();
    for &processes in &options.processes {
        let shared = options.shared && processes > 1;
        for own_databases in [true, false].into_iter().take(1 + usize::from(shared)) {
            let group = Group { processes, own_databases };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    groups
}

fn baseline(options: &RowsOptions, targets: &[RowTarget]) -> Result<usize> {
    let labels = || targets.iter().map(|target| target.label.as_str());
    let Some(wanted) = &options.rounds.baseline else {
        let published = labels().position(|label| label == "sqlite text");
        return Ok(published.filter(|_| options.targets.is_empty()).unwrap_or(0));
    };
    labels::baseline(wanted, labels())
}

/// This program again.
fn worker() -> Result<Vec<OsString>> {
    let program = std::env::current_exe().map_err(|e| Error::io("this program", e))?;
    Ok(vec![program.into(), "rows-worker".into()])
}
