//! How a command that measures ends: the record is finished, shown, and said to have failed in
//! part where it did.

use std::{path::Path, time::Instant};

use lab::{Outcome, Recorder};
use model::{
    Error, Result,
    record::{End, Ended, Line, Record},
};

use crate::{exit::Failure, output};

/// Writes the last line of the record and shows it as `page` does: on standard output, unless
/// that carries the record.
pub(crate) fn finish(
    outcome: Result<Outcome>,
    recorder: &mut Recorder,
    began: Instant,
    json: Option<&Path>,
    page: impl FnOnce(&Record) -> String,
) -> Result<Outcome, Failure> {
    let Some(record) = recorder.record() else {
        return Err(outcome.err().unwrap_or_else(Error::interrupted).into());
    };
    let derived = report::derived(record);
    let doubted = recorder.doubt(derived);
    let reason = match &outcome {
        Ok(outcome) => outcome.ended.clone(),
        Err(error) => Ended::Failed(error.to_string()),
    };
    let seconds = began.elapsed().as_secs_f64();
    let written = recorder.push(Line::End(End { reason, seconds }));
    if let Some(record) = recorder.record() {
        let text = page(record);
        if json == Some(Path::new("-")) {
            output::print_aside(&text);
        } else {
            output::print(&text)?;
        }
    }
    let outcome = outcome.map_err(Failure::PartWay)?;
    doubted.and(written).map_err(Failure::PartWay)?;
    Ok(outcome)
}

/// An error where the run was interrupted or a trial failed.
pub(crate) fn whole(outcome: &Outcome) -> Result<(), Failure> {
    match (&outcome.ended, outcome.failed.as_slice()) {
        (Ended::Interrupted, _) => Err(Failure::PartWay(Error::interrupted())),
        (_, []) => Ok(()),
        (_, failed) => Err(Failure::PartWay(Error::failed(format!(
            "a trial failed of {}; what was measured is shown",
            failed.join(", ")
        )))),
    }
}
