//! From options to what the lab is asked for.

use std::{ffi::OsString, time::Duration};

use lab::{Needs, Processes, Request, Requested, Sites, Work};
use model::{Batch, Cache, Durability, Error, Operation, Order, Result, Rounds, Ycsb, record};

use super::data::data;
use crate::{
    args::RunOptions,
    commands::{labels, worker},
    plan::{Planned, Point},
    targets::{self, Resolved},
};

/// A request for each run of the plan, in the order in which they are run: those that need the same
/// data and stores one after the other, else as they were asked for.
pub(in crate::commands) fn requests(planned: &Planned, sites: &Sites) -> Result<Vec<Request>> {
    let of = planned.points.len();
    let asked = match planned.asked.kept() {
        Err(error) if of > 1 => return Err(error),
        // One run can be measured where it cannot be told to others.
        asked => asked.ok(),
    };
    let runs = planned.points.iter().map(|point| of_point(point, sites).map(|run| (point, run)));
    let told = |(number, (point, request)): (usize, (&Point, Request))| {
        let point = (of > 1).then(|| record::Point { number, of, varied: point.varied.clone() });
        let asked = asked.clone().map(|options| record::Asked { options, point });
        Request { asked, ..request }
    };
    Ok(grouped(runs.collect::<Result<_>>()?).into_iter().enumerate().map(told).collect())
}

fn of_point(point: &Point, sites: &Sites) -> Result<Request> {
    let resolved = resolve(&point.options)?;
    check_on(&point.options, &resolved)?;
    request(&point.options, &resolved, sites)
}

/// Puts each beside the first that has the same needs.
fn grouped<T>(runs: Vec<(T, Request)>) -> Vec<(T, Request)> {
    let needs: Vec<_> = runs.iter().map(|(_, request)| Needs::of(request)).collect();
    let first = |place: usize| {
        let same = |other: &Option<Needs>| other.is_some() && *other == needs[place];
        needs.iter().position(same).unwrap_or(place)
    };
    let mut runs: Vec<_> = runs.into_iter().enumerate().collect();
    runs.sort_by_cached_key(|(place, _)| first(*place));
    runs.into_iter().map(|(_, run)| run).collect()
}

/// What is compared when the user names nothing.
const DEFAULT_TARGETS: [&str; 6] = [
    "files:",
    "files:?write=overwrite",
    "sqlite:",
    "sqlite:?api=blob",
    "sqlite:?api=blob&mmap=1GiB",
    "pack:",
];

/// Fewer rounds carry no verdict.
pub(in crate::commands) const MIN_ROUNDS: u32 = 5;
/// Rounds go on until every interval is within this share of its figure.
const PRECISION: f64 = 0.03;

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
        over_time: options.over_time,
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
pub(in crate::commands) fn rounds(exactly: Option<u32>, time: Duration) -> Rounds {
    Rounds {
        min: exactly.unwrap_or(MIN_ROUNDS),
        max: exactly,
        precision: PRECISION,
        seconds: time.as_secs_f64(),
    }
}

/// From the clock: runs differ unless told not to. Printed and recorded.
pub(in crate::commands) fn fresh_seed() -> u64 {
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
pub(in crate::commands) fn caches(asked: &[Cache]) -> Vec<Cache> {
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
pub(in crate::commands) fn label(target: &Resolved) -> String {
    if target.location.is_some() || target.address.is_some() {
        return target.text.clone();
    }
    let settings = target.settings.iter().map(|(name, value)| format!(" {name}={value}"));
    settings.fold(target.engine.name().to_owned(), |label, setting| label + &setting)
}

pub(in crate::commands) fn baseline(wanted: Option<&str>, targets: &[Requested]) -> Result<usize> {
    let labels = targets.iter().map(|target| target.label.as_str());
    wanted.map_or(Ok(0), |wanted| labels::baseline(wanted, labels))
}
