//! `storemark run`: measure one target, or compare several.

use std::{path::Path, time::Instant};

use engines::registry;
use lab::{Data, Outcome, Processes, Recorder, Request, Requested, Stop};
use model::{
    Batch, Cache, Durability, Error, Generated, Operation, Order, Result, Rounds, Settings,
    Severity, record::Record,
};

use super::{copy, run_stats, worker};
use crate::{
    args::RunOptions,
    exit::Failure,
    listener::Listener,
    measured, output, record_file,
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
const DEFAULT_DATA: Generated = Generated { seed: 0, count: 4_000, size: 10_000, variance: 2_000 };

/// Fewer rounds carry no verdict.
pub(super) const MIN_ROUNDS: u32 = 5;
/// Rounds go on until every interval is within this share of its figure.
pub(super) const PRECISION: f64 = 0.03;

pub(crate) fn run(options: &RunOptions, stop: &Stop) -> Result<(), Failure> {
    let began = Instant::now();
    let resolved = resolve(options)?;
    let request = request(options, &resolved)?;
    let mut recorder = Recorder::new(record_file::open(options.json.as_deref(), record_file::RUN)?);
    let listener = Listener::new(options.quiet);
    let outcome = lab::run(&request, &mut recorder, &listener, stop);
    drop(listener);
    let json = options.json.as_deref();
    let outcome =
        measured::finish(outcome, &mut recorder, began, json, |record| page(options, record))?;
    tell_integrity(&outcome)?;
    measured::whole(&outcome)?;
    if options.strict { no_doubts(&recorder) } else { Ok(()) }
}

/// `--strict`: a finding above a note fails the run.
fn no_doubts(recorder: &Recorder) -> Result<(), Failure> {
    let findings = recorder.record().map_or(&[][..], |record| &record.findings);
    let above = findings.iter().map(|f| &f.doubt).filter(|d| d.severity() > Severity::Note);
    let Some(worst) = above.clone().max_by_key(|doubt| doubt.severity()) else { return Ok(()) };
    let count = above.count();
    output::say(&format!("--strict: {count} findings above a note, the worst: {worst}"));
    Err(Failure::Gate)
}

/// The tables.
fn page(options: &RunOptions, record: &Record) -> String {
    let mut text = report::terminal(record, &output::style(options.verbose, options.explain));
    if options.stats {
        text.push_str(&run_stats::show(record));
    }
    text
}

/// What the engines' own checks said; a complaint is a failed run.
fn tell_integrity(outcome: &Outcome) -> Result<(), Failure> {
    for (label, complaints) in &outcome.integrity {
        let said = if complaints.is_empty() { "ok".to_owned() } else { complaints.join("; ") };
        output::print(&format!("integrity-check: {label}: {said}\n"))?;
    }
    match outcome.integrity.iter().find(|(_, complaints)| !complaints.is_empty()) {
        None => Ok(()),
        Some((label, _)) => Err(Failure::PartWay(Error::corrupt(format!(
            "{label}: failed its engine's integrity check"
        )))),
    }
}

fn resolve(options: &RunOptions) -> Result<Vec<Resolved>> {
    if !options.targets.is_empty() {
        return options.targets.iter().map(|text| targets::resolve(text)).collect();
    }
    DEFAULT_TARGETS.iter().map(|text| targets::resolve(text.as_ref())).collect()
}

fn request(options: &RunOptions, resolved: &[Resolved]) -> Result<Request> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let located = resolved.iter().any(|target| target.location.is_some());
    let operations = operations(options, located);
    let targets = requested(options, resolved)?;
    Ok(Request {
        data: data(options, resolved, seed)?,
        baseline: baseline(options.baseline.as_deref(), &targets)?,
        durability: durability(options, resolved, &operations),
        targets,
        operations,
        caches: caches(&options.cache),
        order: order(options),
        count: positive(options.count, "--count")?,
        max_key: options.max_id,
        start: options.start,
        batch: batch(options)?,
        threads: options.threads,
        processes: processes(options),
        memory: positive(options.memory, "--memory")?,
        rounds: Rounds {
            min: options.rounds.unwrap_or(MIN_ROUNDS),
            max: options.rounds,
            precision: PRECISION,
            seconds: options.time.as_secs_f64(),
        },
        seed,
        in_place: options.in_place,
        scratch: options.scratch.clone(),
        integrity_check: options.integrity_check,
    })
}

/// From the clock: runs differ unless told not to. Printed and recorded.
pub(super) fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // Nine digits are easy to type again.
    now.map_or(1, |since| u64::from(since.subsec_nanos()))
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
    match (options.asc, options.desc, options.random) {
        (true, ..) => Order::Asc,
        (_, true, _) => Order::Desc,
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
        None if options.multitrans => Batch::Of(1),
        None => Batch::All,
    })
}

fn positive(value: Option<u64>, name: &str) -> Result<Option<u64>> {
    match value {
        Some(0) => Err(Error::usage(format!("{name} 0: accepted is 1 or more"))),
        value => Ok(value),
    }
}

/// One target is measured as it is set. Several are compared doing the same work: where the
/// user does not say which class, none is promised by any.
fn durability(
    options: &RunOptions,
    resolved: &[Resolved],
    operations: &[Operation],
) -> Option<Durability> {
    let compared = resolved.len() > 1 && operations.contains(&Operation::Update);
    options.durability.or(compared.then_some(Durability::None))
}

fn data(options: &RunOptions, resolved: &[Resolved], seed: u64) -> Result<Data> {
    let located = resolved.iter().find(|target| target.location.is_some());
    let made = options.keys.is_some() || options.size.is_some() || options.variance.is_some();
    match (&options.data, located) {
        (Some(_), Some(target)) => Err(Error::usage(format!(
            "--data names the data, so {} cannot have its own: leave out its location",
            target.text
        ))),
        (_, Some(target)) if made => Err(Error::usage(format!(
            "--keys, --size and --variance shape made-up data; {} has its own",
            target.text
        ))),
        (Some(_), None) if made => Err(Error::usage(
            "--keys, --size and --variance shape made-up data; --data has its own",
        )),
        (Some(path), None) => directory(path),
        (None, Some(_)) => Ok(Data::Targets),
        (None, None) => {
            let RunOptions { keys, size, variance, .. } = *options;
            Ok(Data::Generated(made_up(keys, size, variance, seed)))
        }
    }
}

/// The data that is made up where the user shapes it so far.
pub(super) fn made_up(
    keys: Option<u64>,
    size: Option<u64>,
    variance: Option<u64>,
    seed: u64,
) -> Generated {
    Generated {
        seed,
        count: keys.unwrap_or(DEFAULT_DATA.count),
        size: size.unwrap_or(DEFAULT_DATA.size),
        variance: variance.unwrap_or(if size.is_some() { 0 } else { DEFAULT_DATA.variance }),
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

/// kvtest's options as settings; each engine takes those it has.
fn shared_settings(options: &RunOptions) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    let mut set = |name, value: String| settings.push((name, value));
    if options.blob_api {
        set("api", "blob".to_owned());
    }
    match options.cache_size {
        Some(pages) if pages >= 0 => set("cache_pages", pages.to_string()),
        Some(kibibytes) => set("cache", format!("{}KiB", kibibytes.unsigned_abs())),
        None => {}
    }
    if let Some(bytes) = options.mmap {
        set("mmap", bytes.to_string());
    }
    if let Some(mode) = &options.jmode {
        set("journal", mode.clone());
    }
    if options.nocheckpoint {
        set("checkpoint", "none".to_owned());
    }
    settings
}

fn requested(options: &RunOptions, resolved: &[Resolved]) -> Result<Vec<Requested>> {
    let shared = shared_settings(options);
    let mut labels = Labels::default();
    resolved
        .iter()
        .map(|target| {
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
            Ok(Requested {
                label: labels.unique(label(target)),
                engine: target.engine,
                location: target.location.clone(),
                address: target.address.clone(),
                settings,
            })
        })
        .collect()
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

/// Tells the same target given twice apart.
#[derive(Default)]
pub(super) struct Labels(Vec<String>);

impl Labels {
    pub(super) fn unique(&mut self, label: String) -> String {
        let earlier = self.0.iter().filter(|other| **other == label).count();
        self.0.push(label.clone());
        if earlier == 0 { label } else { format!("{label} #{}", earlier + 1) }
    }
}

pub(super) fn baseline(wanted: Option<&str>, targets: &[Requested]) -> Result<usize> {
    let Some(wanted) = wanted else { return Ok(0) };
    let labels = || targets.iter().map(|target| target.label.as_str());
    if let Some(index) = labels().position(|label| label == wanted) {
        return Ok(index);
    }
    match wanted.parse::<usize>() {
        Ok(number) if (1..=targets.len()).contains(&number) => Ok(number - 1),
        _ => Err(Error::usage(format!(
            "--baseline {wanted}: no such target (accepted: {}, or 1 to {})",
            labels().collect::<Vec<_>>().join(", "),
            targets.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_target_twice_gets_two_labels() {
        let mut labels = Labels::default();
        assert_eq!(labels.unique("a".into()), "a");
        assert_eq!(labels.unique("a".into()), "a #2");
        assert_eq!(labels.unique("b".into()), "b");
    }
}
