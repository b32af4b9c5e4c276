//! The commands that measure: `run`, `rows`, `queue` and `age`.

mod ageing;
mod blobs;
mod common;
pub(crate) mod examples;
mod forecast;
mod labels;
mod requests;
mod rows;
mod scratch;
mod tasks;

use std::{
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use lab::{Outcome, Progress, Recorder, Request, Stop, StoreCache};
use model::{
    Engine, Error, Result, Severity,
    record::{Ended, Record},
    spec::{BlobsSpec, Name, Output, RunSpec},
};
use report::pages;

use crate::{
    exit::Failure,
    files::{self, PageFile},
    listener::Listener,
    output,
    plan::{self, Planned},
};

use self::requests::{placements, requests};
use super::{export_hdr, run_stats};

/// What one run or several gave, complete or not.
pub(crate) struct Measured {
    pub(crate) records: Vec<Record>,
    /// How each ended; an error is about the last.
    pub(crate) ended: Result<Vec<Outcome>, Failure>,
}

/// All that is needed to measure. The file systems are held to the end: stores are on them.
struct Ready {
    planned: Planned,
    requests: Vec<Request>,
    _placements: host::Placements,
}

/// Measures what was typed, and shows it.
pub(crate) fn run(typed: RunSpec, stop: &Stop) -> Result<(), Failure> {
    let ready = ready(typed)?;
    let spec = ready.planned.spec.clone();
    let files = Files::open(&spec)?;
    if let Some(plan) = files.plan {
        save(plan, &spec)?;
    }
    let blobs = if let RunSpec::Run(blobs) = &spec { Some(blobs.as_ref()) } else { None };
    if blobs.is_some_and(|blobs| blobs.extras.dry_run) {
        return Ok(output::print(&forecast::show(&ready.requests, stop)?)?);
    }
    let measured = measure(ready, files.record, stop)?;
    if let Some(folder) = blobs.and_then(|blobs| blobs.extras.export_hdr.as_ref()) {
        export_hdr::write(&measured.records, folder.path())?;
    }
    let (records, outcomes) = show(measured, &spec, files.page)?;
    print_integrity(&outcomes)?;
    check_complete(&outcomes)?;
    if blobs.is_some_and(|blobs| blobs.extras.strict) { check_findings(&records) } else { Ok(()) }
}

/// Measures without showing anything.
pub(crate) fn measured(spec: RunSpec, stop: &Stop) -> Result<Measured, Failure> {
    let ready = ready(spec)?;
    let record = files::record(ready.planned.spec.shown(), ready.planned.spec.command())?;
    measure(ready, record, stop)
}

/// The files that a command writes.
struct Files {
    record: Option<Box<dyn Write>>,
    plan: Option<Box<dyn Write>>,
    page: Option<PageFile>,
}

impl Files {
    fn open(spec: &RunSpec) -> Result<Self> {
        let plan = match spec {
            RunSpec::Run(spec) => spec.extras.save_plan.as_ref().map(Name::path),
            _ => None,
        };
        let record = spec.shown().json.as_ref().map(Name::path);
        let page = spec.shown().html.as_ref().map(Name::path);
        Ok(Self {
            record: files::record(spec.shown(), spec.command())?,
            page: files::page(page, &[("--json", record), ("--save-plan", plan)])?,
            plan: files::open(plan, files::PLAN)?,
        })
    }
}

fn ready(typed: RunSpec) -> Result<Ready> {
    let planned = plan::understand(typed)?;
    let ready = placements(&planned.spec).and_then(|placements| {
        let requests = requests(&planned.spec, &placements)?;
        Ok((placements, requests))
    });
    let (placements, requests) = ready.map_err(|error| planned.blame(error))?;
    Ok(Ready { planned, requests, _placements: placements })
}

fn measure(ready: Ready, out: Option<Box<dyn Write>>, stop: &Stop) -> Result<Measured, Failure> {
    let spec = &ready.planned.spec;
    if let RunSpec::Run(blobs) = spec
        && ready.requests.len() > 1
        && !blobs.extras.yes
    {
        forecast::refuse_unbearable(&ready.requests, stop)?;
    }
    let mut recorder = Recorder::new(out);
    let mut requests = ready.requests;
    let ended = one_by_one(&mut requests, spec, &mut recorder, stop);
    Ok(Measured { records: recorder.into_records(), ended })
}

/// Measures one run after the other, until one is interrupted or fails.
fn one_by_one(
    requests: &mut [Request],
    spec: &RunSpec,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Vec<Outcome>, Failure> {
    let began = Instant::now();
    let listener = Listener::new(spec.shown().talk);
    let count = requests.len();
    let mut outcomes = Vec::new();
    let mut stores = StoreCache::default();
    let time = spec.running().time(BlobsSpec::TIME);
    for (number, request) in requests.iter_mut().enumerate() {
        if let Some(varied) = forecast::varied(request) {
            request.rounds.seconds = share(time, began, count - number);
            listener.say(&format!("run {} of {count}: {varied}", number + 1));
            listener.part(&format!("run {} of {count}", number + 1));
        }
        recorder.set_aside();
        let outcome = lab::measure_with(&mut stores, request, recorder, &listener, stop);
        let outcome = outcome.map_err(|error| match recorder.record() {
            Some(_) => Failure::PartWay(error),
            None => Failure::Error(error),
        })?;
        let interrupted = outcome.ended == Ended::Interrupted;
        outcomes.push(outcome);
        if interrupted {
            break;
        }
    }
    Ok(outcomes)
}

/// Seconds for one of so many runs: what one leaves of its share is for those after it.
fn share(time: Duration, began: Instant, runs: usize) -> f64 {
    time.saturating_sub(began.elapsed()).as_secs_f64() / runs as f64
}

fn save(mut file: Box<dyn Write>, spec: &RunSpec) -> Result<()> {
    let text = spec.kept()?.to_plan()?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
    written.map_err(|error| Error::io("--save-plan", error))
}

/// Shows the records on standard output, unless that carries them, and in a file for a browser.
fn show(
    measured: Measured,
    spec: &RunSpec,
    html: Option<PageFile>,
) -> Result<(Vec<Record>, Vec<Outcome>), Failure> {
    let Measured { records, ended } = measured;
    if records.is_empty() {
        return ended.map(|outcomes| (records, outcomes));
    }
    let text = page(spec, &records);
    if spec.shown().json.as_ref().is_some_and(|json| json.path() == Path::new("-")) {
        output::print_aside(&text);
    } else {
        output::print(&text)?;
    }
    if let Some(html) = html {
        let machine = report::Machine { file: None, records: &records };
        html.write(&report::html(&[machine])?).map_err(Failure::PartWay)?;
    }
    let outcomes = ended.map_err(Failure::part_way)?;
    Ok((records, outcomes))
}

/// The tables.
fn page(spec: &RunSpec, records: &[Record]) -> String {
    let Output { explain, talk, .. } = spec.shown();
    let run = if let RunSpec::Run(run) = spec { Some(&run.extras) } else { None };
    let over_time = run.is_some_and(|extras| extras.over_time);
    let detail = pages::Detail { all: talk.verbose, explain: *explain, over_time };
    let mut text = output::page(&pages::records(records, detail));
    if run.is_some_and(|extras| extras.stats) {
        text.extend(records.iter().map(run_stats::show));
    }
    text
}

/// Prints what the engines' own checks reported; a complaint is a failed run.
fn print_integrity(outcomes: &[Outcome]) -> Result<(), Failure> {
    let checked = || outcomes.iter().flat_map(|outcome| &outcome.integrity);
    for (label, complaints) in checked() {
        let said = if complaints.is_empty() { "ok".to_owned() } else { complaints.join("; ") };
        output::print(&format!("integrity-check: {label}: {said}\n"))?;
    }
    match checked().find(|(_, complaints)| !complaints.is_empty()) {
        None => Ok(()),
        Some((label, _)) => Err(Failure::PartWay(Error::corrupt(format!(
            "{label}: failed its engine's integrity check"
        )))),
    }
}

/// Fails if a run was interrupted or a target failed.
pub(crate) fn check_complete(outcomes: &[Outcome]) -> Result<(), Failure> {
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

/// `--strict`: a finding above a note fails the run.
fn check_findings(records: &[Record]) -> Result<(), Failure> {
    let findings = records.iter().flat_map(|record| &record.findings);
    let above = findings.map(|finding| &finding.kind);
    let above = above.filter(|kind| kind.severity() > Severity::Note);
    let Some(worst) = above.clone().max_by_key(|kind| kind.severity()) else { return Ok(()) };
    let count = above.count();
    output::say(&format!("--strict: {count} findings above a note, the worst: {worst}"));
    Err(Failure::Gate)
}

/// Whether the engine of the target string can be used here.
pub(crate) fn usable(spec: &RunSpec, target: &str) -> Result<()> {
    let name = target.split(':').next().unwrap_or_default();
    let engine: &dyn Engine = match spec {
        RunSpec::Rows(_) => engines::registry::rows(name)?,
        RunSpec::Queue(_) => engines::registry::tasks(name)?,
        _ => engines::registry::blobs(name)?,
    };
    engine.usable()
}
