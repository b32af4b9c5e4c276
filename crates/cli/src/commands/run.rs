//! `storemark run`: measure one target, or compare several.

mod beforehand;
mod data;
mod request;

use std::{io::Write, path::Path, time::Instant};

use lab::{Outcome, Progress, Recorder, Request, Shelf, Sites, Stop};
use model::{
    Error, Result, Severity,
    record::{Ended, Record},
};

use self::request::requests;
pub(super) use self::{
    data::{DEFAULT_DATA, made_up},
    request::{MIN_ROUNDS, baseline, caches, fresh_seed, label, rounds},
};
use super::{export_hdr, run_stats};
use crate::{
    args::RunOptions,
    exit::Failure,
    listener::Listener,
    measured::{self, Measured},
    output, page_file,
    plan::{self, Asked, Planned},
    record_file,
};

pub(crate) fn run(asked: &Asked, stop: &Stop) -> Result<(), Failure> {
    let (planned, _sites, requests) = ready(asked)?;
    // These options do not vary.
    let options = &planned.points[0].options;
    let out = record_file::open(options.json.as_deref(), record_file::RUN)?;
    let others =
        [("--json", options.json.as_deref()), ("--save-plan", options.save_plan.as_deref())];
    let html = page_file::open(options.html.as_deref(), &others)?;
    save(options, &planned)?;
    if options.dry_run {
        return Ok(output::print(&beforehand::show(&requests, stop)?)?);
    }
    let measured = measure(requests, options, out, stop)?;
    if let Some(folder) = &options.export_hdr {
        export_hdr::write(&measured.records, folder)?;
    }
    let (records, outcomes) =
        measured.show(options.json.as_deref(), html, |records| page(options, records))?;
    tell_integrity(&outcomes)?;
    measured::whole(&outcomes)?;
    if options.strict { no_doubts(&records) } else { Ok(()) }
}

/// Measures without showing anything.
pub(super) fn measured(asked: &Asked, stop: &Stop) -> Result<Measured, Failure> {
    let (planned, _sites, requests) = ready(asked)?;
    let options = &planned.points[0].options;
    let out = record_file::open(options.json.as_deref(), record_file::RUN)?;
    measure(requests, options, out, stop)
}

/// The file systems are to be held to the end: what is measured stands on them.
fn ready(asked: &Asked) -> Result<(Planned, Sites, Vec<Request>)> {
    let planned = plan::understand(asked, fresh_seed())?;
    let RunOptions { on, scratch, .. } = &planned.points[0].options;
    let images = scratch.as_deref().unwrap_or(Path::new("."));
    let ready = Sites::open(&on.on, on.image_size, images)
        .and_then(|sites| requests(&planned, &sites).map(|requests| (sites, requests)));
    let (sites, requests) = ready.map_err(|error| planned.blame(error))?;
    Ok((planned, sites, requests))
}

fn measure(
    mut requests: Vec<Request>,
    options: &RunOptions,
    out: Option<Box<dyn Write>>,
    stop: &Stop,
) -> Result<Measured, Failure> {
    if requests.len() > 1 {
        beforehand::is_bearable(&requests, options.yes, stop)?;
    }
    let mut recorder = Recorder::new(out);
    let ended = one_by_one(&mut requests, options, &mut recorder, stop);
    Ok(Measured { records: recorder.into_records(), ended })
}

/// One run after the other, until one is interrupted or fails.
fn one_by_one(
    requests: &mut [Request],
    options: &RunOptions,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Vec<Outcome>, Failure> {
    let began = Instant::now();
    let listener = Listener::new(options.talk);
    let count = requests.len();
    let mut outcomes = Vec::new();
    let mut shelf = Shelf::default();
    for (number, request) in requests.iter_mut().enumerate() {
        // What one leaves of its share is for those after it.
        let left = options.time.saturating_sub(began.elapsed()).as_secs_f64();
        request.rounds.seconds = left / (count - number) as f64;
        if let Some(varied) = beforehand::varied(request) {
            listener.say(&format!("run {} of {count}: {varied}", number + 1));
            listener.part(&format!("run {} of {count}", number + 1));
        }
        recorder.set_aside();
        let own = Instant::now();
        let outcome = lab::run_on(&mut shelf, request, recorder, &listener, stop);
        let outcome = measured::finish(outcome, recorder, own)?;
        let interrupted = outcome.ended == Ended::Interrupted;
        outcomes.push(outcome);
        if interrupted {
            break;
        }
    }
    Ok(outcomes)
}

/// Writes what was asked for as a plan.
fn save(options: &RunOptions, planned: &Planned) -> Result<()> {
    let file = record_file::open(options.save_plan.as_deref(), record_file::PLAN)?;
    let Some(mut file) = file else { return Ok(()) };
    let text = plan::write(&planned.asked.kept()?);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
    written.map_err(|error| Error::io("--save-plan", error))
}

/// `--strict`: a finding above a note fails the run.
fn no_doubts(records: &[Record]) -> Result<(), Failure> {
    let findings = records.iter().flat_map(|record| &record.findings);
    let above = findings.map(|f| &f.kind).filter(|d| d.severity() > Severity::Note);
    let Some(worst) = above.clone().max_by_key(|doubt| doubt.severity()) else { return Ok(()) };
    let count = above.count();
    output::say(&format!("--strict: {count} findings above a note, the worst: {worst}"));
    Err(Failure::Gate)
}

/// The tables.
fn page(options: &RunOptions, records: &[Record]) -> String {
    let style = output::style(options.talk.verbose, options.explain);
    let mut text = report::page(records, &style);
    if options.over_time {
        text.push_str(&report::over_time(records, &style));
    }
    if options.stats {
        text.extend(records.iter().map(run_stats::show));
    }
    text
}

/// What the engines' own checks said; a complaint is a failed run.
fn tell_integrity(outcomes: &[Outcome]) -> Result<(), Failure> {
    let said = || outcomes.iter().flat_map(|outcome| &outcome.integrity);
    for (label, complaints) in said() {
        let said = if complaints.is_empty() { "ok".to_owned() } else { complaints.join("; ") };
        output::print(&format!("integrity-check: {label}: {said}\n"))?;
    }
    match said().find(|(_, complaints)| !complaints.is_empty()) {
        None => Ok(()),
        Some((label, _)) => Err(Failure::PartWay(Error::corrupt(format!(
            "{label}: failed its engine's integrity check"
        )))),
    }
}
