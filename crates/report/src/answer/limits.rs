//! The next step after an answer, what the answer does not cover, and what weakens it.

use std::{ffi::OsStr, path::Path};

use checks::MergedFinding;
use model::{
    Batch, Cache, DatasetSpec, Durability, Owner, Plan, PlannedTarget, Severity, Work, Workload,
    record::Record, shell_quoted,
};
use spec::RunSpec;

use super::NAMED;
use crate::{sentences, words};

/// Returns the command that moves the data to the `recommended` store, or, if the data was
/// generated, the one that measures the user's own files; `None` if neither applies.
pub(super) fn next_step(run: &Record, recommended: Option<usize>) -> Option<String> {
    let plan = &run.header.plan;
    let own = plan.targets.iter().find(|target| target.owner != Owner::Scratch);
    let source = match plan.experiment.dataset()? {
        DatasetSpec::Directory { path } => path.clone(),
        DatasetSpec::Targets => with_table(own?),
        DatasetSpec::Generated(_) => {
            let command = plan.experiment.command();
            return plan.study.is_none().then(|| sentences::measure_own_files(command));
        }
    };
    let target = plan.targets.get(recommended?).filter(|target| target.owner == Owner::Scratch)?;
    let new = new_store(run, target, &source)?;
    // Most settings are how a program opens a store, and no copy carries those.
    let is_set = new.contains('?');
    let [source, new] = [source.as_str(), &new].map(shell_quoted);
    Some(if is_set {
        sentences::move_and_open(source, new)
    } else {
        sentences::move_data(source, new)
    })
}

/// Returns the location of a user's own store, with the settings that name a table in it.
fn with_table(own: &PlannedTarget) -> String {
    let named = ["table", "key", "value", "where"];
    let words = named.iter().filter_map(|name| Some(format!("{name}={}", own.settings.get(name)?)));
    match words.collect::<Vec<_>>().join("&") {
        words if words.is_empty() => own.location.clone(),
        words => format!("{}?{words}", own.location),
    }
}

/// Returns the path of data that may be named with settings.
fn without_settings(source: &str) -> String {
    match source.rsplit_once('?') {
        Some((path, settings)) if settings.contains('=') => path.to_owned(),
        _ => source.to_owned(),
    }
}

/// Returns a new store like `target` next to `source`, with its settings:
/// `sqlite:thumbs.db?page_size=4096` next to `thumbs`. `None` if the store would be the source
/// itself, or a server, whose address is not known.
fn new_store(run: &Record, target: &PlannedTarget, source: &str) -> Option<String> {
    let PlannedTarget { engine, extension, .. } = target;
    store_of(engine, extension.as_deref()?, &settings(run, target), source)
}

/// Returns the name of a store next to `source`, with settings written as `name=value`; `None` if
/// `source` has no name.
pub(crate) fn store_of(
    engine: &str,
    extension: &str,
    settings: &[String],
    source: &str,
) -> Option<String> {
    let source = &without_settings(source);
    // The current folder has no name, and nothing goes into what is copied.
    let name = Path::new(source).file_stem().map(OsStr::to_string_lossy)?;
    let settings = settings.join("&");
    let settings = if settings.is_empty() { settings } else { format!("?{settings}") };
    let is_source =
        Path::new(source).file_name() == Some(OsStr::new(&format!("{name}.{extension}")));
    let new = if is_source { "-new" } else { "" };
    Some(format!("{engine}:{name}{new}.{extension}{settings}"))
}

/// Returns the settings of a target that was measured: its own, those that all targets were given,
/// and, if the run wrote, those of its durability class. The cache of a run with equal memory is no
/// advice.
fn settings(run: &Record, target: &PlannedTarget) -> Vec<String> {
    let own = target.label.split(' ').filter(|word| word.contains('='));
    let own: Vec<_> = own.map(str::to_owned).collect();
    let plan = &run.header.plan;
    let only_read = plan.first_workload(Work::writes).is_none();
    let is_left_out = |name: &String| {
        own.iter().any(|word| word.split('=').next() == Some(name))
            || (only_read && target.of_class.contains(name))
            || (plan.memory.is_some() && name == "cache")
    };
    let others = target.settings.0.iter().filter(|(name, _)| !is_left_out(name));
    let others = others.map(|(name, value)| format!("{name}={value}"));
    own.iter().cloned().chain(others).collect()
}

/// Lists what a program gives up if it takes `one` instead of `other`.
pub(crate) fn given_up(one: &PlannedTarget, other: &PlannedTarget) -> Vec<&'static str> {
    let lost = one.lost_if_killed && !other.lost_if_killed;
    let locked = one.one_process && !other.one_process;
    let all = [
        lost.then_some("the latest commits if its program is killed"),
        locked.then_some("access by several processes at once"),
    ];
    all.into_iter().flatten().collect()
}

/// Lists what the run did not measure and a decision may depend on, each with the option that
/// measures it; `None` if nothing is left out.
pub(super) fn not_covered(run: &Record) -> Option<String> {
    let plan = &run.header.plan;
    let has = |option: &str| RunSpec::has_option(plan.command(), option);
    let warm = plan.caches.iter().all(|cache| matches!(cache, Cache::Warm | Cache::AsFound));
    let on_disk = run.stores.iter().any(|store| store.apparent_bytes > 0);
    let reads_together = |workload: &Workload| {
        !workload.work.writes() && workload.batch == Batch::All && workload.work.order().is_some()
    };
    let together = plan.targets.len() > 1 && plan.workloads.iter().any(reads_together);
    let cold_start = match &*run.header.environment.os {
        "windows" => "a cold start, which Windows cannot show",
        _ => "a cold start (--cache warm,data-cold)",
    };
    let lacking = [
        (warm && on_disk && has("cache")).then_some(cold_start),
        (plan.first_workload(Work::writes).is_none() && has("update"))
            .then_some("updates (--update)"),
        (together && has("batch")).then_some("reads that each begin a transaction (--batch 1)"),
        (writes_may_be_lost(run, plan) && has("durability"))
            .then_some("writes that survive a power cut (--durability durable)"),
    ];
    let lacking: Vec<_> = lacking.into_iter().flatten().collect();
    sentences::list(&lacking).map(sentences::not_covered)
}

/// Reports whether the run wrote to a store that may lose acknowledged writes in a power cut.
fn writes_may_be_lost(run: &Record, plan: &Plan) -> bool {
    let stores = run.stores.iter().filter(|store| !plan.is_reference(store.target));
    plan.first_workload(Work::writes).is_some()
        && stores.map(|store| store.durability).any(|class| class < Durability::Durable)
}

/// Returns a sentence for each finding above a note, the worst first, at most [`NAMED`] of them.
pub(crate) fn weakened(plan: &Plan, findings: &[MergedFinding]) -> Vec<String> {
    let weighty = findings.iter().filter(|one| one.kind.severity() > Severity::Note);
    weighty.take(NAMED).map(|one| words::finding(plan, one)).collect()
}
