//! The commands that measure: `run`, `rows`, `queue`, `age`, `backup` and `life`.

mod blobs;
pub(crate) mod examples;
mod forecast;
mod hosts;
mod programs;
mod requests;
mod requests_ceiling;
mod rows;

pub(crate) use blobs::{directory, is_folder};
pub(crate) use requests::catalogue;

use std::time::{Duration, Instant};

use checks::{CountedTarget, Gate, Verdict, all_findings, counted_targets, figures, gated_targets};
use host::Placements;
use lab::{BlobsRequest, Outcome, Progress, RecordFile, Recorder, Request, Stop, StoreCache};
use model::{
    Engine, Error, Facet, Result, Settings, Severity, StudyPart, TypedTarget, harmless,
    record::{Ended, Record},
};
use report::pages;
use spec::{Extras, GateOptions, Name, Output, RunSpec, Talk};

use super::{
    gate::{Counters, Limit},
    records::{EXPORT_HDR, write_hdr},
    run_stats,
};
use crate::{
    exit::Failure,
    files::{self, PageFile, Taken},
    listener::Listener,
    output, plan, targets,
};

/// The records of one run or several, complete or not.
pub(crate) struct Measured {
    pub(crate) records: Vec<Record>,
    /// How each ended; an error is about the last.
    pub(crate) ended: Result<Vec<Outcome>, Failure>,
    pub(super) left: Left,
}

const REMOVING: &str = "removing the scratch stores";

/// What is removed once the records were shown: tens of thousands of files take a while. The file systems stay
/// mounted until the stores on them have gone.
pub(super) struct Left {
    stores: StoreCache,
    placements: Placements,
}

impl Left {
    pub(super) fn remove(self, talk: Talk) {
        let listener = Listener::new(talk);
        listener.stage(REMOVING, None);
        drop(self.stores);
        drop(self.placements);
    }
}

/// A measurement that is ready to start. The file systems stay mounted to the end, because stores are on
/// them.
struct Ready {
    /// Since when the time of the command counts.
    began: Instant,
    spec: RunSpec,
    requests: Vec<Request>,
    placements: Placements,
}

impl Ready {
    /// Returns the places in which nothing may be written.
    fn taken(&self) -> Taken {
        let blobs = self.requests.iter().filter_map(Request::blobs);
        Taken::measured(blobs.flat_map(BlobsRequest::existing))
    }
}

/// Measures what was typed, and shows it.
pub(crate) fn run(typed: RunSpec, stop: &Stop) -> Result<(), Failure> {
    let ready = ready(typed)?;
    let spec = ready.spec.clone();
    let extras = extras(&spec);
    let mut taken = ready.taken();
    let record = files::record(spec.output(), spec.command(), &mut taken)?;
    let plan = files::open(extras.save_plan.as_ref().map(Name::path), files::PLAN, &mut taken)?;
    let page = files::page(spec.output().page.html.as_ref().map(Name::path), &mut taken)?;
    if let Some(folder) = &extras.latencies.export_hdr {
        taken.check(EXPORT_HDR.option, folder.path())?;
        if folder.path().exists() {
            files::check_folder(folder.path())?;
        }
    }
    if let Some(plan) = plan {
        save(plan, &spec)?;
    }
    let sent = requests_ceiling::forecast(&ready.requests, stop)?;
    requests_ceiling::set(&extras, sent.as_ref())?;
    if extras.dry_run {
        return Ok(output::print(&forecast::show(&ready.requests, sent.as_ref(), stop)?)?);
    }
    if let Some(text) = sent.and_then(|sent| sent.text()).filter(|_| !spec.output().talk.quiet) {
        output::say(&text);
    }
    let measured = measure(ready, record, stop)?;
    let (records, outcomes) = show(measured, &spec, page)?;
    if let Some(folder) = &extras.latencies.export_hdr {
        write_hdr(&records, folder.path(), &taken).map_err(Failure::PartWay)?;
    }
    print_integrity(&outcomes, spec.output())?;
    check_complete(&outcomes)?;
    if records.iter().all(|record| record.samples.is_empty()) {
        let is_over = outcomes.iter().any(|outcome| outcome.ended == Ended::Requests);
        let error = if is_over { Error::overspent() } else { Error::overdue() };
        return Err(Failure::PartWay(error));
    }
    let counted = gate_on_counters(&records, &spec.output().gate);
    gate(&records, &spec.output().gate)?;
    counted?;
    if extras.strict { check_findings(&records) } else { Ok(()) }
}

/// Judges the targets of all runs by the limit of `--fail-above`.
fn gate(records: &[Record], options: &GateOptions) -> Result<(), Failure> {
    let Some(limit) = Limit::new(options) else { return Ok(()) };
    let of_run = |run| gated_targets(run).into_iter().map(move |of| (run, of));
    let targets: Vec<_> = records.iter().flat_map(of_run).collect();
    let rows: Vec<_> =
        targets.iter().map(|(run, of)| (of.gate, report::gated_row(run, of))).collect();
    let gate = Gate::joint(targets.iter().map(|(_, of)| of.gate));
    let is_judged = targets.iter().any(|(_, of)| of.verdict.is_judged());
    let differs = targets.iter().all(|(_, of)| of.verdict == Verdict::DurabilityDiffers);
    let has_rounds = |record: &Record| record.header.plan.rounds.max.is_some();
    let more = if records.iter().any(has_rounds) { "--rounds" } else { "--time" };
    let why = match differs {
        _ if targets.is_empty() => ", as there is no store to compare",
        true => ", as durability differs",
        false => &format!("; more {more} may do"),
    };
    let cannot = || format!("no target can be judged{why}");
    let helps = format!("more {more} and a quieter machine");
    limit.judge(&rows, gate, (!is_judged).then(cannot), &helps)
}

/// Judges the targets of all runs by the counters of `--fail-on`.
fn gate_on_counters(records: &[Record], options: &GateOptions) -> Result<(), Failure> {
    let Some(counters) = Counters::new(options) else { return Ok(()) };
    let of_run = |run| counted_targets(run, &counters.0).into_iter().map(move |of| (run, of));
    let row = |(run, of): (_, CountedTarget)| (of.change.gate(), report::counted_row(run, &of));
    let rows: Vec<_> = records.iter().flat_map(of_run).map(row).collect();
    let cannot = || "no target can be judged".to_owned();
    counters.judge(&rows, rows.is_empty().then(cannot))
}

/// Measures a step of a study without showing anything.
pub(crate) fn measured(spec: RunSpec, study: &StudyPart, stop: &Stop) -> Result<Measured, Failure> {
    let mut ready = ready(spec)?;
    ready.requests.iter_mut().for_each(|request| request.study = Some(study.clone()));
    let record = files::record(ready.spec.output(), ready.spec.command(), &mut ready.taken())?;
    measure(ready, record, stop)
}

/// Returns the options that only `run` has.
fn extras(spec: &RunSpec) -> Extras {
    if let RunSpec::Run(blobs) = spec { blobs.extras.clone() } else { Extras::default() }
}

fn ready(typed: RunSpec) -> Result<Ready> {
    let began = Instant::now();
    let (spec, origin) = plan::understand(typed)?;
    let ready = requests::placements(&spec).and_then(|placements| {
        let requests = requests::requests(&spec, &placements)?;
        Ok((placements, requests))
    });
    let (placements, mut requests) = ready.map_err(|error| origin.blame(error, &spec))?;
    if let [request] = &mut requests[..] {
        request.repeat(origin.recorded);
    }
    let is_alone = |request: &mut Request| request.experiment.labels().len() < 2;
    let gate = &spec.output().gate;
    let option = match (Limit::new(gate), Counters::new(gate)) {
        (Some(_), _) => Some("--fail-above"),
        (_, Some(_)) => Some("--fail-on"),
        _ => None,
    };
    if let Some(option) = option
        && requests.iter_mut().any(is_alone)
    {
        return Err(Error::usage(format!(
            "{option} compares targets with the baseline, and there is only one target"
        )));
    }
    Ok(Ready { began, spec, requests, placements })
}

fn measure(
    ready: Ready,
    out: Option<Box<dyn RecordFile>>,
    stop: &Stop,
) -> Result<Measured, Failure> {
    let Ready { began, spec, mut requests, placements } = ready;
    if requests.len() > 1 && matches!(spec, RunSpec::Run(_)) && !extras(&spec).yes {
        forecast::refuse_unbearable(&requests, stop)?;
    }
    let (mut recorder, mut stores) = (Recorder::new(out), StoreCache::default());
    // Images for stores may have taken a part of it.
    let time = requests[0].time().map(|_| spec.time().saturating_sub(began.elapsed()));
    let ended = stop.within(time, || {
        one_by_one(&mut requests, &spec, (&mut recorder, &mut stores), (began, stop))
    });
    let (records, finished) = recorder.finish();
    let ended = ended.and_then(|ended| finished.map(|()| ended).map_err(Failure::PartWay));
    Ok(Measured { records, ended, left: Left { stores, placements } })
}

/// Measures one run after the other, until one is interrupted or fails.
fn one_by_one(
    requests: &mut [Request],
    spec: &RunSpec,
    (recorder, stores): (&mut Recorder, &mut StoreCache),
    (began, stop): (Instant, &Stop),
) -> Result<Vec<Outcome>, Failure> {
    let listener = Listener::new(spec.output().talk);
    let count = requests.len();
    let mut outcomes = Vec::new();
    let time = spec.time();
    for (number, request) in requests.iter_mut().enumerate() {
        if number > 0 {
            listener.stage(REMOVING, None);
            stores.remove_used();
        }
        if let Some(varied) = forecast::varied(request) {
            request.rounds.seconds = share(time, began, count - number);
            listener.say(&format!("run {} of {count}: {varied}", number + 1));
            listener.part(&format!("run {} of {count}", number + 1));
        }
        recorder.set_aside();
        let outcome = lab::measure_with(stores, request, recorder, &listener, stop);
        let outcome = outcome.map_err(|error| match recorder.record() {
            Some(_) => Failure::PartWay(error),
            None => Failure::Error(error),
        })?;
        let is_last = matches!(outcome.ended, Ended::Interrupted | Ended::Requests);
        outcomes.push(outcome);
        if is_last {
            break;
        }
    }
    Ok(outcomes)
}

/// Seconds for one of so many runs: what one leaves of its share is for those after it.
fn share(time: Duration, began: Instant, runs: usize) -> f64 {
    time.saturating_sub(began.elapsed()).as_secs_f64() / runs as f64
}

fn save(mut file: Box<dyn RecordFile>, spec: &RunSpec) -> Result<()> {
    let text = spec.to_recorded()?.to_plan()?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.finish());
    written.map_err(|error| Error::io("--save-plan", error))
}

/// Shows the records on standard output, unless that carries them, and in a file for a browser.
fn show(
    measured: Measured,
    spec: &RunSpec,
    html: Option<PageFile>,
) -> Result<(Vec<Record>, Vec<Outcome>), Failure> {
    let Measured { records, ended, left } = measured;
    if records.is_empty() {
        return ended.map(|outcomes| (records, outcomes));
    }
    let Output { json, details, talk, .. } = spec.output();
    let Extras { over_time, stats, .. } = extras(spec);
    let detail = pages::Detail { all: talk.verbose, explain: details.explain, over_time };
    let mut text = output::page(&pages::records(&records, detail));
    if stats {
        text.extend(records.iter().map(run_stats::show));
    }
    output::print_next_to(json.as_ref().map(Name::path), &text, talk.quiet)?;
    if let Some(html) = html {
        let machine = report::Machine { file: None, records: &records };
        html.write(&report::html(&[machine])?).map_err(Failure::PartWay)?;
    }
    left.remove(*talk);
    let outcomes = ended.map_err(Failure::part_way)?;
    Ok((records, outcomes))
}

/// Prints what the engines' own checks reported; a complaint is a failed run.
fn print_integrity(outcomes: &[Outcome], shown: &Output) -> Result<(), Failure> {
    let mut damaged = None;
    for (label, complaints) in outcomes.iter().flat_map(|outcome| &outcome.integrity) {
        let said = if complaints.is_empty() { "ok".to_owned() } else { complaints.join("; ") };
        let line = format!("integrity-check: {}\n", harmless(&format!("{label}: {said}")));
        output::print_next_to(shown.json.as_ref().map(Name::path), &line, shown.talk.quiet)?;
        damaged = damaged.or((!complaints.is_empty()).then_some(label));
    }
    let Some(label) = damaged else { return Ok(()) };
    let why = format!("{label}: failed its engine's integrity check");
    Err(Failure::PartWay(Error::corrupt(why)))
}

/// Fails if a run was interrupted or a target failed.
pub(crate) fn check_complete(outcomes: &[Outcome]) -> Result<(), Failure> {
    if outcomes.iter().any(|outcome| outcome.ended == Ended::Interrupted) {
        return Err(Failure::PartWay(Error::interrupted()));
    }
    let failed: Vec<_> = outcomes.iter().flat_map(|outcome| outcome.failed.clone()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let why = format!("{} not measured to the end; what was measured is shown", failed.join(", "));
    Err(Failure::PartWay(Error::failed(why)))
}

/// Fails if there is a finding above a note, for `--strict`.
fn check_findings(records: &[Record]) -> Result<(), Failure> {
    let figures: Vec<_> = records.iter().map(figures).collect();
    let mut findings = all_findings(records, &figures);
    findings.retain(|finding| finding.kind.severity() > Severity::Note);
    let Some(worst) = findings.first().map(|finding| &finding.kind) else { return Ok(()) };
    let count = findings.len();
    output::say(&format!("--strict: findings above a note: {count}, the worst: {worst}"));
    Err(Failure::GATE)
}

/// Fails if the engine of the target string cannot be used here with its settings: a build of a
/// library may be missing.
pub(crate) fn usable(spec: &RunSpec, target: &str) -> Result<()> {
    let name = targets::engine_word(target);
    let (engine, facet): (&dyn Engine, _) = match spec {
        RunSpec::Rows(_) => (engines::registry::rows(name)?, Facet::Rows),
        RunSpec::Queue(_) => (engines::registry::tasks(name)?, Facet::Tasks),
        _ => (engines::registry::blobs(name)?, Facet::Blobs),
    };
    let mut settings = Settings::default();
    for (name, value) in &TypedTarget::parse(target).settings {
        // Rows of a transaction are no setting of an engine.
        if !matches!(spec, RunSpec::Rows(_)) || name != "batch" {
            settings.set(name, value);
        }
    }
    engine.usable().and_then(|()| engine.check(facet, &settings))
}
