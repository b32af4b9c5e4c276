//! What to do with an answer, what it does not cover, and what weakens it.

use std::{ffi::OsStr, path::Path};

use itertools::Itertools;
use model::{
    Cache, DatasetSpec, Durability, Experiment, Owner, Plan, PlannedTarget, Severity, Work,
    record::Record,
    spec::{RunSpec, SharedSetting},
};

use super::{Lead, NAMED, and};
use crate::{MergedFinding, words};

/// How the data gets to the store ahead, or how an answer for one's own data is found.
pub(super) fn next_step(run: &Record, all: &[Lead<'_>]) -> Option<String> {
    let plan = &run.header.plan;
    let (Experiment::Blobs { dataset, .. } | Experiment::Life { dataset, .. }) = &plan.experiment
    else {
        return None;
    };
    let own = plan.targets.iter().find(|target| target.owner != Owner::Scratch);
    let source = match dataset {
        DatasetSpec::Directory { path } => path,
        DatasetSpec::Targets => &own?.location,
        DatasetSpec::Generated(_) => {
            let command = plan.experiment.command();
            let own = || format!("With your own files: storemark {command} --data DIR");
            return plan.study.is_none().then(own);
        }
    };
    let movable = |lead: &&Lead<'_>| {
        let ahead = &plan.targets[lead.ahead.target(plan)?];
        new_store(run, ahead, source).filter(|_| ahead.owner == Owner::Scratch)
    };
    let (lead, new) = all.iter().find_map(|lead| Some((lead, movable(&lead)?)))?;
    let everywhere = all.iter().all(|other| other.is_with(lead));
    let when = format!(", if “{}” matters most", lead.place);
    let when = if everywhere { "" } else { &when };
    // Most settings are how a program opens a store, and no copy carries those.
    let with = if new.contains('?') { ", and open it with these settings" } else { "" };
    Some(format!("Move{when}{with}: storemark copy {} {}", quoted(source), quoted(&new)))
}

/// `sqlite:thumbs.db?page_size=4096`, a store like `target` next to what is in `thumbs`. Absent: it is
/// the folder itself, or a server, whose address nobody knows.
fn new_store(run: &Record, target: &PlannedTarget, source: &str) -> Option<String> {
    let PlannedTarget { engine, extension, .. } = target;
    store_of(engine, extension.as_deref()?, &settings(run, target), source)
}

/// A store next to what is in `source`, with settings written as `name=value`.
pub(crate) fn store_of(
    engine: &str,
    extension: &str,
    settings: &[String],
    source: &str,
) -> Option<String> {
    // The current folder has no name, and nothing goes into what is copied.
    let name = Path::new(source).file_stem().map(OsStr::to_string_lossy)?;
    let settings = settings.join("&");
    let settings = if settings.is_empty() { settings } else { format!("?{settings}") };
    let is_source =
        Path::new(source).file_name() == Some(OsStr::new(&format!("{name}.{extension}")));
    let new = if is_source { "-new" } else { "" };
    Some(format!("{engine}:{name}{new}.{extension}{settings}"))
}

/// The settings of a target that the user asked for, its own and those of options.
fn settings(run: &Record, target: &PlannedTarget) -> Vec<String> {
    let own = target.label.split(' ').filter(|word| word.contains('='));
    let own: Vec<_> = own.map(str::to_owned).collect();
    let shared = match &run.header.spec {
        Some(RunSpec::Run(spec)) => spec.settings.settings().unwrap_or_default(),
        _ => Vec::new(),
    };
    let has = |name: &str| own.iter().any(|word| word.split('=').next() == Some(name));
    let shared = shared.into_iter().filter_map(|SharedSetting { name, engine, .. }| {
        let value = target.settings.get(name)?;
        let is_meant = engine.is_none_or(|engine| engine == target.engine) && !has(name);
        is_meant.then(|| format!("{name}={value}"))
    });
    let shared: Vec<_> = shared.collect();
    own.into_iter().chain(shared).collect()
}

/// For a shell, if it would take any of it for itself.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What else a decision may depend on, with the option that measures it.
pub(super) fn not_covered(run: &Record) -> Option<String> {
    let plan = &run.header.plan;
    let has = |option: &str| RunSpec::has_option(plan.command(), option);
    let warm = plan.caches.iter().all(|cache| *cache == Cache::Warm);
    let on_disk = run.stores.iter().any(|store| store.apparent_bytes > 0);
    let lacking = [
        (warm && on_disk && has("cache")).then_some("a cold start (--cache warm,data-cold)"),
        (plan.first(Work::writes).is_none() && has("update")).then_some("updates (--update)"),
        (is_lost(run, plan) && has("durability"))
            .then_some("writes that survive a power cut (--durability durable)"),
    ];
    let lacking: Vec<_> = lacking.into_iter().flatten().map(str::to_owned).collect();
    (!lacking.is_empty()).then(|| format!("Not covered: {}.", and(&lacking)))
}

/// Whether a power cut loses what was written.
fn is_lost(run: &Record, plan: &Plan) -> bool {
    let stores = run.stores.iter().filter(|store| !plan.is_reference(store.target));
    plan.first(Work::writes).is_some()
        && stores.map(|store| store.durability).any(|class| class < Durability::Durable)
}

/// The effects of the findings above a note: what is wrong by what it is wrong about, then the others.
pub(crate) fn weakened(plan: &Plan, findings: &[MergedFinding]) -> Option<String> {
    let such = |severity| findings.iter().filter(move |one| one.kind.severity() == severity);
    let wrong = such(Severity::Wrong)
        .map(|one| (words::seen_in(plan, one, None), effect(&one.kind.to_string())))
        .into_grouping_map()
        .collect::<Vec<_>>();
    // What is wrong about everything has no name, and comes first.
    let wrong = wrong.into_iter().sorted().map(|(about, effects)| {
        let about = about.as_deref().unwrap_or("it");
        format!("Do not rely on {about}: {}.", listed(effects))
    });
    let weaker = listed(such(Severity::Warning).map(|one| effect(&one.kind.to_string())));
    let weaker = (!weaker.is_empty()).then(|| format!("What weakens it: {weaker}."));
    Some(wrong.chain(weaker).join(" ")).filter(|said| !said.is_empty())
}

/// Each once; some have commas of their own.
fn listed(effects: impl IntoIterator<Item = String>) -> String {
    words::parts(&effects.into_iter().unique().collect::<Vec<_>>(), NAMED)
}

/// A finding starts with its effect on the figures.
fn effect(sentence: &str) -> String {
    sentence.split_once(": ").map_or(sentence, |(effect, _)| effect).to_owned()
}
