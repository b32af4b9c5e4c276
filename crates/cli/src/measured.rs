//! How a command that measures ends: its records are finished, shown, and said to have failed in
//! part where they did.

use std::{path::Path, time::Instant};

use lab::{Outcome, Recorder};
use model::{
    Error, Result,
    record::{End, Ended, Line, Record},
};

use report::Machine;

use crate::{args::RoundsOptions, exit::Failure, output, page_file::PageFile};

/// What one run or several gave, whole or not.
pub(crate) struct Measured {
    pub(crate) records: Vec<Record>,
    /// How each ended; an error is about the last.
    pub(crate) ended: Result<Vec<Outcome>, Failure>,
}

impl Measured {
    /// Shows the records as `page` does: on standard output, unless that carries them; and in a
    /// file for a browser.
    pub(crate) fn show(
        self,
        json: Option<&Path>,
        html: Option<PageFile>,
        page: impl FnOnce(&[Record]) -> String,
    ) -> Result<(Vec<Record>, Vec<Outcome>), Failure> {
        if self.records.is_empty() {
            return self.ended.map(|outcomes| (Vec::new(), outcomes));
        }
        let text = page(&self.records);
        if json == Some(Path::new("-")) {
            output::print_aside(&text);
        } else {
            output::print(&text)?;
        }
        if let Some(html) = html {
            let machine = Machine { file: None, records: &self.records };
            html.write(&report::html(&[machine])?).map_err(Failure::PartWay)?;
        }
        let outcomes = self.ended.map_err(Failure::part_way)?;
        Ok((self.records, outcomes))
    }
}

/// Shows what a command of rounds measured; an error where not all of it could be.
pub(crate) fn show(
    measured: Measured,
    options: &RoundsOptions,
    html: Option<PageFile>,
) -> Result<(), Failure> {
    let style = output::style(options.talk.verbose, options.explain);
    let page = |records: &[Record]| report::page(records, &style);
    let (_, outcomes) = measured.show(options.json.as_deref(), html, page)?;
    whole(&outcomes)
}

/// Writes the last lines of the record of a run.
pub(crate) fn finish(
    outcome: Result<Outcome>,
    recorder: &mut Recorder,
    began: Instant,
) -> Result<Outcome, Failure> {
    let Some(record) = recorder.record() else {
        return Err(outcome.err().unwrap_or_else(Error::interrupted).into());
    };
    let derived = report::derived(record);
    let doubted = recorder.note(derived);
    let reason = match &outcome {
        Ok(outcome) => outcome.ended.clone(),
        Err(error) => Ended::Failed(error.to_string()),
    };
    let seconds = began.elapsed().as_secs_f64();
    let written = recorder.push(Line::End(End { reason, seconds }));
    let outcome = outcome.map_err(Failure::PartWay)?;
    doubted.and(written).map_err(Failure::PartWay)?;
    Ok(outcome)
}

/// An error where a run was interrupted or a target failed.
pub(crate) fn whole(outcomes: &[Outcome]) -> Result<(), Failure> {
    let interrupted = outcomes.iter().any(|outcome| outcome.ended == Ended::Interrupted);
    let failed: Vec<&str> =
        outcomes.iter().flat_map(|outcome| &outcome.failed).map(String::as_str).collect();
    match failed.as_slice() {
        _ if interrupted => Err(Failure::PartWay(Error::interrupted())),
        [] => Ok(()),
        failed => Err(Failure::PartWay(Error::failed(format!(
            "{} failed; what was measured is shown",
            failed.join(", ")
        )))),
    }
}
