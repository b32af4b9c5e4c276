//! Names and figures as people write them.

use model::{Plan, PlannedTarget};
use stats::Estimate;

use crate::number::{factor, in_unit};

/// Returns the name of a target: `SQLite`, `plain files`; with its settings if another target has
/// the same engine. A store of the user has its own name.
pub(crate) fn name(plan: &Plan, target: usize) -> String {
    let Some(own) = plan.targets.get(target) else { return String::new() };
    let namesakes = plan.targets.iter().filter(|other| other.engine == own.engine).count();
    match own_settings(own) {
        Some(_) if namesakes == 1 && own.on.is_none() => title(own).to_owned(),
        _ => full_name(plan, target),
    }
}

/// Returns the name of a target with its settings: `SQLite (api=blob mmap=1GiB)`.
pub(crate) fn full_name(plan: &Plan, target: usize) -> String {
    let Some(own) = plan.targets.get(target) else { return String::new() };
    let Some(settings) = own_settings(own) else { return own.label.clone() };
    match settings {
        "" => title(own).to_owned(),
        settings => format!("{} ({settings})", title(own)),
    }
}

/// Returns the name of a target with all settings that a program opens it with, those of its
/// durability class too: `SQLite, opened with api=blob, journal=wal`.
pub(crate) fn opened(plan: &Plan, target: usize) -> String {
    let Some(own) = plan.targets.get(target) else { return String::new() };
    let Some(settings) = own_settings(own) else { return own.label.clone() };
    let of_class = own.of_class.iter();
    let of_class = of_class.filter_map(|name| Some(format!("{name}={}", own.settings.get(name)?)));
    let settings = settings.split(' ').filter(|word| word.contains('=')).map(str::to_owned);
    let settings: Vec<_> = settings.chain(of_class).collect();
    match settings.as_slice() {
        [] => name(plan, target),
        settings => format!("{}, opened with {}", title(own), settings.join(", ")),
    }
}

fn title(target: &PlannedTarget) -> &str {
    if target.title.is_empty() { &target.engine } else { &target.title }
}

/// Returns the settings that follow the engine in the label of a target; `None` if the label is a
/// name of its own.
fn own_settings(target: &PlannedTarget) -> Option<&str> {
    let settings = target.label.strip_prefix(target.engine.as_str())?;
    (settings.is_empty() || settings.starts_with(' ')).then(|| settings.trim())
}

/// Describes a ratio of times and its interval: `3.7× faster` and `3.5 to 4.0×`.
pub(crate) fn ratio_words(ratio: &Estimate) -> [String; 2] {
    let [by, interval] = times(&if ratio.point < 1.0 { ratio.inverse() } else { *ratio });
    let word = if ratio.point < 1.0 { "faster" } else { "slower" };
    [format!("{by} {word}"), interval]
}

/// Describes by how much a store is faster still, and the interval: `1.3×` and `1.2 to 1.4×`.
pub(crate) fn times_still(ratio: &Estimate) -> [String; 2] {
    times(&ratio.inverse())
}

/// Returns a ratio and its interval in words: `3.7×` and `3.5 to 4.0×`.
fn times(ratio: &Estimate) -> [String; 2] {
    let interval = match ratio.n {
        0 | 1 => "one round, no interval".to_owned(),
        _ => format!("{} to {}×", factor(ratio.low), factor(ratio.high)),
    };
    [format!("{}×", factor(ratio.point)), interval]
}

/// Formats a ratio with its interval: `0.98 (0.93 to 1.04)`.
pub(crate) fn ratio(ratio: &Estimate) -> String {
    let [point, low, high] = [ratio.point, ratio.low, ratio.high].map(factor);
    format!("{point} ({low} to {high})")
}

/// Formats microseconds in the unit that suits them: `4.2 µs`.
pub(crate) fn duration(us: f64) -> String {
    let (unit, each) = in_unit(us);
    format!("{} {unit}", factor(us / each))
}
