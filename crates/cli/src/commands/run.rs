//! `storemark run`: measure one target, or compare several.

mod beforehand;

use std::{
    ffi::OsString,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use engines::registry;
use lab::{Data, Outcome, Processes, Progress, Recorder, Request, Requested, Sites, Stop, Work};
use model::{
    Batch, Cache, Durability, Error, Generated, Operation, Order, Result, Rounds, Settings,
    Severity, Ycsb,
    record::{self, Ended, Record},
};

use super::{copy, export_hdr, labels, run_stats, worker};
use crate::{
    args::RunOptions,
    exit::Failure,
    listener::Listener,
    measured::{self, Measured},
    output,
    plan::{self, Asked, Planned, Point},
    record_file,
    targets::{self, Resolved},
};

/// What is compared when the user names nothing.
const DEFAULT_TARGETS: [&str; 6] = [
    "files:",
    "files:?write=overwrite",
    "sqlite:",
    "sqlite:?api=blob",
    "sqlite:?api=blob&mmap=1GiB",
    "pack:",
];

/// The article's sizes, and as many blobs as can be measured in less than a minute: more bytes
/// than most processors cache, few enough for several rounds.
pub(super) const DEFAULT_DATA: Generated =
    Generated { seed: 0, count: 4_000, size: 10_000, variance: 2_000, random_percent: 100 };

/// As many bytes, in records of YCSB's size.
const YCSB_DATA: Generated =
    Generated { seed: 0, count: 40_000, size: Ycsb::RECORD, variance: 0, random_percent: 100 };

/// Fewer rounds carry no verdict.
pub(super) const MIN_ROUNDS: u32 = 5;
/// Rounds go on until every interval is within this share of its figure.
const PRECISION: f64 = 0.03;

pub(crate) fn run(asked: &Asked, stop: &Stop) -> Result<(), Failure> {
    let (planned, _sites, requests) = ready(asked)?;
    // These options do not vary.
    let options = &planned.points[0].options;
    let out = record_file::open(options.json.as_deref(), record_file::RUN)?;
    save(options, &planned)?;
    if options.dry_run {
        return Ok(output::print(&beforehand::show(&requests, stop)?)?);
    }
    let measured = measure(requests, options, out, stop)?;
    if let Some(folder) = &options.export_hdr {
        export_hdr::write(&measured.records, folder)?;
    }
    let (records, outcomes) =
        measured.show(options.json.as_deref(), |records| page(options, records))?;
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
    let listener = Listener::new(options.quiet);
    let count = requests.len();
    let mut outcomes = Vec::new();
    for (number, request) in requests.iter_mut().enumerate() {
        // What one leaves of its share is for those after it.
        let left = options.time.saturating_sub(began.elapsed()).as_secs_f64();
        request.rounds.seconds = left / (count - number) as f64;
        if let Some(varied) = beforehand::varied(request) {
            listener.say(&format!("run {} of {count}: {varied}", number + 1));
        }
        recorder.set_aside();
        let own = Instant::now();
        let outcome = lab::run(request, recorder, &listener, stop);
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

/// A request for each run of the plan.
fn requests(planned: &Planned, sites: &Sites) -> Result<Vec<Request>> {
    let of = planned.points.len();
    let asked = match planned.asked.kept() {
        Err(error) if of > 1 => return Err(error),
        // One run can be measured where it cannot be told to others.
        asked => asked.ok(),
    };
    let request = |(number, point): (usize, &Point)| {
        let point_told =
            (of > 1).then(|| record::Point { number, of, varied: point.varied.clone() });
        let asked = asked.clone().map(|options| record::Asked { options, point: point_told });
        let resolved = resolve(&point.options)?;
        check_on(&point.options, &resolved)?;
        Ok(Request { asked, ..request(&point.options, &resolved, sites)? })
    };
    planned.points.iter().enumerate().map(request).collect()
}

/// `--strict`: a finding above a note fails the run.
fn no_doubts(records: &[Record]) -> Result<(), Failure> {
    let findings = records.iter().flat_map(|record| &record.findings);
    let above = findings.map(|f| &f.doubt).filter(|d| d.severity() > Severity::Note);
    let Some(worst) = above.clone().max_by_key(|doubt| doubt.severity()) else { return Ok(()) };
    let count = above.count();
    output::say(&format!("--strict: {count} findings above a note, the worst: {worst}"));
    Err(Failure::Gate)
}

/// The tables.
fn page(options: &RunOptions, records: &[Record]) -> String {
    let mut text = report::page(records, &output::style(options.verbose, options.explain));
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

/// The targets, one for each combination of settings that are lists.
fn resolve(options: &RunOptions) -> Result<Vec<Resolved>> {
    let shared = shared_settings(options)?;
    let default = DEFAULT_TARGETS.map(OsString::from);
    let texts = if options.targets.is_empty() { &default } else { options.targets.as_slice() };
    let mut all = Vec::new();
    for text in texts {
        all.extend(targets::resolve(text)?.swept(&shared, options.zip)?);
    }
    Ok(all)
}

fn request(options: &RunOptions, resolved: &[Resolved], sites: &Sites) -> Result<Request> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let located = resolved.iter().any(|target| target.location.is_some());
    let work = work(options, located);
    let targets = requested(options, resolved, sites)?;
    Ok(Request {
        data: data(options, resolved, seed)?,
        baseline: baseline(options.baseline.as_deref(), &targets)?,
        durability: durability(options, resolved, &work),
        targets,
        work,
        caches: caches(&options.cache),
        count: positive(options.count, "--count")?,
        max_key: options.max_id,
        start: options.start,
        batch: batch(options)?,
        threads: options.threads,
        processes: processes(options),
        memory: options.memory,
        rounds: rounds(options.rounds, options.time),
        seed,
        in_place: options.in_place,
        scratch: options.scratch.clone(),
        short_of_room: options.yes,
        asked: None,
        integrity_check: options.integrity_check,
    })
}

/// `exactly` so many, or as many as are needed and fit into the time.
pub(super) fn rounds(exactly: Option<u32>, time: Duration) -> Rounds {
    Rounds {
        min: exactly.unwrap_or(MIN_ROUNDS),
        max: exactly,
        precision: PRECISION,
        seconds: time.as_secs_f64(),
    }
}

/// From the clock: runs differ unless told not to. Printed and recorded.
pub(super) fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // Nine digits are easy to type again.
    now.map_or(1, |since| u64::from(since.subsec_nanos()))
}

/// A workload for each piece of work at each rate.
fn work(options: &RunOptions, located: bool) -> Vec<Work> {
    let work = unpaced(options, located);
    if options.rate.is_empty() {
        return work;
    }
    let at = |work: &Work, rate: &f64| Work { rate: Some(*rate), ..*work };
    work.iter().flat_map(|work| options.rate.iter().map(move |rate| at(work, rate))).collect()
}

/// One for each mix or operation.
fn unpaced(options: &RunOptions, located: bool) -> Vec<Work> {
    if !options.ycsb.is_empty() {
        let of = |one: &Ycsb| Work {
            operation: Operation::Mix(one.mix()),
            order: one.order(),
            rate: None,
        };
        return options.ycsb.iter().map(of).collect();
    }
    let order = order(options);
    let operations = options
        .mix
        .map(Operation::Mix)
        .map_or_else(|| operations(options, located), |mix| vec![mix]);
    operations.into_iter().map(|operation| Work { operation, order, rate: None }).collect()
}

fn operations(options: &RunOptions, located: bool) -> Vec<Operation> {
    match (options.read, options.update) {
        (false, false) if located => vec![Operation::Read],
        (true, false) => vec![Operation::Read],
        (false, true) => vec![Operation::Update],
        _ => vec![Operation::Read, Operation::Update],
    }
}

/// Each once, as asked for.
pub(super) fn caches(asked: &[Cache]) -> Vec<Cache> {
    let mut caches = Vec::new();
    for cache in asked {
        if !caches.contains(cache) {
            caches.push(*cache);
        }
    }
    caches
}

fn order(options: &RunOptions) -> Order {
    match (options.asc, options.desc, options.random || options.mix.is_some()) {
        (true, ..) => Order::Asc,
        (_, true, _) => Order::Desc,
        _ if options.distribution.is_some() => options.distribution.unwrap_or(Order::Random),
        (_, _, true) => Order::Random,
        _ => Order::Permutation,
    }
}

/// One process works itself.
fn processes(options: &RunOptions) -> Option<Processes> {
    let count = options.processes;
    (count > 1).then_some(Processes { count, program: worker::program })
}

fn batch(options: &RunOptions) -> Result<Batch> {
    Ok(match positive(options.batch, "--batch")? {
        Some(operations) => Batch::Of(operations),
        // What has such a load commits one operation at a time.
        None if options.multitrans || comes_alone(options) => Batch::Of(1),
        None => Batch::All,
    })
}

fn comes_alone(options: &RunOptions) -> bool {
    options.mix.is_some() || !options.ycsb.is_empty() || !options.rate.is_empty()
}

fn positive(value: Option<u64>, name: &str) -> Result<Option<u64>> {
    match value {
        Some(0) => Err(Error::usage(format!("{name} 0: accepted is 1 or more"))),
        value => Ok(value),
    }
}

/// One target is measured as it is set. Several are compared doing the same work: where the
/// user does not say which class, none is promised by any.
fn durability(options: &RunOptions, resolved: &[Resolved], work: &[Work]) -> Option<Durability> {
    let several = resolved.len() > 1 || options.on.on.len() > 1;
    let compared = several && work.iter().any(|work| work.operation.writes());
    options.durability.or(compared.then_some(Durability::None))
}

fn data(options: &RunOptions, resolved: &[Resolved], seed: u64) -> Result<Data> {
    let located = resolved.iter().find(|target| target.location.is_some());
    let RunOptions { keys, bytes, size, variance, compressible, .. } = *options;
    let made = [keys, bytes, size, variance, compressible.map(u64::from)];
    let made = made.iter().any(Option::is_some);
    match (&options.data, located) {
        (Some(_), Some(target)) => Err(Error::usage(format!(
            "--data names the data, so {} cannot have its own: leave out its location",
            target.text
        ))),
        (_, Some(target)) if made => Err(Error::usage(format!(
            "--keys, --bytes, --size, --variance and --compressible shape made-up data; {} has its own",
            target.text
        ))),
        (Some(_), None) if made => Err(Error::usage(
            "--keys, --bytes, --size, --variance and --compressible shape made-up data; --data has \
             its own",
        )),
        (Some(path), None) => directory(path),
        (None, Some(_)) => Ok(Data::Targets),
        (None, None) => {
            let default = if options.ycsb.is_empty() { DEFAULT_DATA } else { YCSB_DATA };
            let fit = |bytes: u64| (bytes / size.unwrap_or(default.size).max(1)).max(1);
            let made = made_up(default, keys.or(bytes.map(fit)), size, variance, seed);
            let random_percent = compressible.unwrap_or(made.random_percent);
            Ok(Data::Generated(Generated { random_percent, ..made }))
        }
    }
}

/// The data that is made up where the user shapes it so far.
pub(super) fn made_up(
    default: Generated,
    keys: Option<u64>,
    size: Option<u64>,
    variance: Option<u64>,
    seed: u64,
) -> Generated {
    Generated {
        seed,
        count: keys.unwrap_or(default.count),
        size: size.unwrap_or(default.size),
        variance: variance.unwrap_or(if size.is_some() { 0 } else { default.variance }),
        random_percent: default.random_percent,
    }
}

/// A user's folder, every file by its path.
fn directory(path: &Path) -> Result<Data> {
    if !path.is_dir() {
        let what = if path.exists() { "is no folder" } else { "no such folder" };
        return Err(Error::usage(format!("--data {}: {what}", path.display())));
    }
    copy::tell_left_out(path)?;
    let engine = registry::find("files")?;
    let settings = Settings::check(engine.settings(), [("layout", "names")])?;
    Ok(Data::Store { engine, path: path.to_owned(), settings })
}

/// kvtest's options as settings, with all values that are asked for; each engine takes those it
/// has.
fn shared_settings(options: &RunOptions) -> Result<Vec<(&'static str, Vec<String>)>> {
    let texts = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect();
    let word = |asked: bool, word: &str| Vec::from_iter(asked.then(|| word.to_owned()));
    let mut settings = vec![
        ("api", word(options.blob_api, "blob")),
        cache_size(&options.cache_size)?,
        ("page_size", texts(&options.page_size)),
        ("mmap", texts(&options.mmap)),
        ("journal", options.jmode.clone()),
        ("checkpoint", word(options.nocheckpoint, "none")),
    ];
    settings.retain(|(_, values)| !values.is_empty());
    Ok(settings)
}

/// In pages, or where it is negative in KiB, as SQLite has it.
fn cache_size(sizes: &[i64]) -> Result<(&'static str, Vec<String>)> {
    let (kibibytes, pages): (Vec<i64>, Vec<i64>) = sizes.iter().partition(|size| **size < 0);
    match (kibibytes.is_empty(), pages.is_empty()) {
        (false, false) => {
            Err(Error::usage("--cache-size: pages and KiB (negative) cannot stand in one list"))
        }
        (false, true) => {
            let sizes = kibibytes.iter().map(|size| format!("{}KiB", size.unsigned_abs()));
            Ok(("cache", sizes.collect()))
        }
        _ => Ok(("cache_pages", pages.iter().map(i64::to_string).collect())),
    }
}

fn requested(options: &RunOptions, resolved: &[Resolved], sites: &Sites) -> Result<Vec<Requested>> {
    let shared = shared_settings(options)?;
    let shared =
        shared.into_iter().filter_map(|(name, values)| match <[String; 1]>::try_from(values) {
            Ok([value]) => Some((name, value)),
            Err(_) => None,
        });
    let shared: Vec<_> = shared.collect();
    let mut targets: Vec<Requested> = Vec::new();
    for target in resolved {
        let mut defaults = shared.clone();
        // Both engines call it sync, and each option is about one of them.
        match target.engine.name() {
            "files" if options.fsync => defaults.push(("sync", "file".to_owned())),
            "sqlite" if options.nosync => defaults.push(("sync", "off".to_owned())),
            _ => {}
        }
        defaults.extend(equal_cache(options, target).map(|bytes| ("cache", bytes)));
        let settings = target.settings(&defaults)?;
        if let Some(path) = target.location.as_ref().filter(|path| !path.exists()) {
            return Err(targets::missing(path));
        }
        for site in sites.or_none() {
            let on = site.map_or_else(String::new, |site| format!(" on {}", site.name));
            let taken = targets.iter().map(|target| target.label.as_str());
            targets.push(Requested {
                label: labels::unique(label(target) + &on, taken),
                engine: target.engine,
                location: target.location.clone(),
                address: target.address.clone(),
                settings: settings.clone(),
                site: site.cloned(),
            });
        }
    }
    Ok(targets)
}

/// Only stores that storemark makes on a disk can be put on several file systems.
fn check_on(options: &RunOptions, resolved: &[Resolved]) -> Result<()> {
    if options.on.on.is_empty() {
        return Ok(());
    }
    let placed = |target: &&Resolved| {
        let scratch = target.location.is_none() && target.address.is_none();
        !scratch || !target.engine.capabilities().persistent
    };
    match resolved.iter().find(placed) {
        None => Ok(()),
        Some(target) => Err(Error::usage(format!(
            "--on puts scratch stores on file systems; {} is none that is made on a disk",
            target.text
        ))),
    }
}

/// What `--memory` gives an engine that has a cache of its own.
fn equal_cache(options: &RunOptions, target: &Resolved) -> Option<String> {
    let workers = options.threads.saturating_mul(options.processes);
    lab::equal_cache(target.engine, options.memory?, workers).map(|bytes| bytes.to_string())
}

/// A scratch store is called by its engine and settings, a user's or a server's as the user wrote
/// it.
pub(super) fn label(target: &Resolved) -> String {
    if target.location.is_some() || target.address.is_some() {
        return target.text.clone();
    }
    let settings = target.settings.iter().map(|(name, value)| format!(" {name}={value}"));
    settings.fold(target.engine.name().to_owned(), |label, setting| label + &setting)
}

pub(super) fn baseline(wanted: Option<&str>, targets: &[Requested]) -> Result<usize> {
    let labels = targets.iter().map(|target| target.label.as_str());
    wanted.map_or(Ok(0), |wanted| labels::baseline(wanted, labels))
}
