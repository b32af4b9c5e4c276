//! What the requests of all experiments have in common.

use std::ffi::OsString;

use lab::{ExperimentRequest, Request};
use model::{
    Error, Result, Rounds,
    spec::{Running, one},
};

use crate::plan::fresh_seed;

/// What all requests have in common; the rest is written over it.
pub(super) fn common(
    experiment: ExperimentRequest,
    running: &Running,
    rounds: Rounds,
    baseline: usize,
) -> Request {
    Request {
        experiment,
        baseline,
        durability: None,
        rounds,
        seed: one(&running.seed).unwrap_or_else(fresh_seed),
        scratch: Some(running.scratch().to_owned()),
        spec: None,
        point: None,
    }
}

/// The program and arguments that start a worker process.
pub(super) fn worker() -> Result<Vec<OsString>> {
    let program = std::env::current_exe().map_err(|e| Error::io("this program", e))?;
    Ok(vec![program.into(), "worker".into()])
}
