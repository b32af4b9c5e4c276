//! Names, work and figures as people say them.

use model::{Cache, Operation, Plan, PlannedTarget, Work, backup, life, rows};
use stats::Estimate;

use super::lead::Lead;
use crate::{
    number::in_unit,
    words::{self, workload_name},
};

/// `SQLite (blob API, memory-mapped)`, `plain files`; a store of the user by its own name.
pub(crate) fn spoken(plan: &Plan, target: usize) -> String {
    let Some(PlannedTarget { label, title, engine, .. }) = plan.targets.get(target) else {
        return String::new();
    };
    let title = if title.is_empty() { engine } else { title };
    let Some(settings) = own_settings(plan, target) else { return label.clone() };
    if settings.is_empty() {
        return title.clone();
    }
    let settings: Vec<_> = settings.split(' ').map(setting).collect();
    let between = if settings.iter().any(|word| word.contains(' ')) { ", " } else { " " };
    format!("{title} ({})", settings.join(between))
}

/// What follows the engine in the name of a target; absent: its name is its own.
fn own_settings(plan: &Plan, target: usize) -> Option<&str> {
    let PlannedTarget { label, engine, .. } = plan.targets.get(target)?;
    let settings = label.strip_prefix(engine.as_str())?;
    (settings.is_empty() || settings.starts_with(' ')).then(|| settings.trim())
}

fn setting(written: &str) -> &str {
    match written {
        "api=blob" => "blob API",
        mapped if mapped.starts_with("mmap=") => "memory-mapped",
        other => other,
    }
}

/// Whether its name takes a verb in the plural: `plain files` does.
pub(crate) fn is_plural(plan: &Plan, target: usize) -> bool {
    let is_files = |target: &PlannedTarget| target.title.ends_with("files");
    own_settings(plan, target).is_some() && plan.targets.get(target).is_some_and(is_files)
}

/// `reads these blobs`, `updates them`: what the target ahead does, its verb in agreement.
pub(super) fn does(lead: &Lead<'_>, again: bool) -> String {
    let plan = &lead.run.header.plan;
    let plural = lead.ahead.target(plan).is_some_and(|target| is_plural(plan, target));
    let (verb, what) = work(plan, lead.case.workload, again);
    let s = if plural { "" } else { "s" };
    let cache = lead.case.cache;
    let alone = plan.caches.len() == 1 && cache == Cache::Warm;
    let named = plan.experiment.summary().is_some() && !alone;
    let state = named.then(|| cache.to_string());
    let varied = Some(words::varied(lead.run));
    let place = words::joined([state, varied], ", ").map(|place| format!(" ({place})"));
    format!("{verb}{s} {what}{}", place.unwrap_or_default())
}

fn work(plan: &Plan, workload: usize, again: bool) -> (&'static str, String) {
    let name = workload_name(plan, workload);
    let Some(one) = plan.workloads.get(workload) else { return ("do", name) };
    let by = name.split_once(" by ").map_or_else(String::new, |(_, by)| format!(" by {by}"));
    let blobs = if again { "them" } else { "these blobs" };
    let blobs = |verb| (verb, blobs.to_owned());
    match one.work {
        Work::Blobs { operation: Operation::Read, .. } => blobs("read"),
        Work::Blobs { operation: Operation::Update, .. } => blobs("update"),
        Work::Blobs { operation: Operation::Insert, .. } => blobs("insert"),
        Work::Blobs { operation: Operation::Mix(_), .. } => ("run", format!("“{name}”")),
        Work::Rows { operation: rows::Operation::Insert, .. } => {
            ("insert", format!("these rows{by}"))
        }
        Work::Rows { operation: rows::Operation::Sum, .. } => ("sum", format!("a column{by}")),
        Work::Rows { operation: rows::Operation::Add, .. } => ("update", format!("all rows{by}")),
        Work::Tasks => ("complete", "these tasks".to_owned()),
        Work::Backup(step) => backup_step(step),
        Work::Life(step) => life_step(step),
        Work::Ageing { operation: Operation::Read, age } => {
            ("read", format!("objects at age {age}"))
        }
        Work::Ageing { operation: Operation::Insert, .. } => ("store", "new objects".to_owned()),
        Work::Ageing { age, .. } => ("replace", format!("objects up to age {age}")),
    }
}

fn backup_step(step: backup::Step) -> (&'static str, String) {
    use backup::Step;
    let (verb, what) = match step {
        Step::Full => ("make", "a full backup"),
        Step::Unchanged => ("back", "up an unchanged folder"),
        Step::Changed => ("back", "up a folder of which 1 % has changed"),
        Step::Stats => ("count", "what a repository holds"),
        Step::Selftest => ("check", "a repository"),
        Step::Restore => ("restore", "the folder"),
    };
    (verb, what.to_owned())
}

fn life_step(step: life::Step) -> (&'static str, String) {
    use life::Step;
    let (verb, what) = match step {
        Step::Stat => ("look", "up lengths of values"),
        Step::List => ("list", "all keys"),
        Step::Open => ("deliver", "a value after opening"),
        Step::Day => ("replace", "1 % of the values"),
        Step::Month => ("replace", "values over a month"),
        Step::Half => ("delete", "half of the values"),
        Step::Reclaim => ("give", "their space back"),
        Step::Rest => ("delete", "the rest"),
    };
    (verb, what.to_owned())
}

/// `3.7×` and `3.5 to 4.0×`.
pub(crate) fn times(ratio: &Estimate) -> [String; 2] {
    let interval = match ratio.n {
        0 | 1 => "one round, no interval".to_owned(),
        _ => format!("{} to {}×", factor(ratio.low), factor(ratio.high)),
    };
    [format!("{}×", factor(ratio.point)), interval]
}

/// `0.98 (0.93 to 1.04)`.
pub(crate) fn ratio(ratio: &Estimate) -> String {
    let [point, low, high] = [ratio.point, ratio.low, ratio.high].map(factor);
    format!("{point} ({low} to {high})")
}

pub(super) use crate::number::factor;

/// `4.2 µs (4.1 to 4.3)`, of microseconds.
pub(super) fn duration(us: &Estimate) -> String {
    let (unit, each) = in_unit(us.point);
    let [point, low, high] = [us.point, us.low, us.high].map(|us| factor(us / each));
    if us.n < 2 { format!("{point} {unit}") } else { format!("{point} {unit} ({low} to {high})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_take_their_ending_before_what_belongs_to_them() {
        let said = |(verb, what): (&str, String)| format!("{verb}s {what}");
        assert_eq!(said(backup_step(backup::Step::Unchanged)), "backs up an unchanged folder");
        assert_eq!(said(life_step(life::Step::Stat)), "looks up lengths of values");
    }
}
