//! The target to open, and the commands that move the data there.

use checks::Decision;
use model::{PlannedTarget, shell_quoted};

use crate::{answer::limits::store_of, sentences};

/// Returns the target that a program opens, with the settings of the durability class; `None` if
/// it is the present store, which is open already.
pub(super) fn target(decision: &Decision<'_>) -> Option<String> {
    let chosen = decision.choice.chosen;
    let mut target = decision.candidate(chosen)?.target.clone();
    let PlannedTarget { of_class, settings, .. } = &decision.plan.targets[chosen];
    for (name, value) in of_class.iter().filter_map(|name| Some((name, settings.get(name)?))) {
        let separator = if target.contains('?') { '&' } else { '?' };
        target = format!("{target}{separator}{name}={value}");
    }
    (Some(chosen) != decision.now).then(|| sentences::target(shell_quoted(&target)))
}

/// Returns the commands that move and check the data, or the one that measures the user's own.
pub(super) fn commands(decision: &Decision<'_>) -> Vec<String> {
    match &decision.advice.source {
        Some(source) => moving_from(decision, source).into_iter().flatten().collect(),
        None => vec![sentences::advise_own_data()],
    }
}

/// Returns the commands that move the data of `source` to the chosen store and check it; `None`
/// if it is there already, or no path names such a store.
fn moving_from(decision: &Decision<'_>, source: &str) -> Option<[String; 2]> {
    let chosen = decision.choice.chosen;
    let candidate = decision.candidate(chosen).filter(|_| Some(chosen) != decision.now)?;
    let extension = candidate.extension.as_deref()?;
    let (engine, settings) = candidate.target.split_once(':').unwrap_or((&candidate.target, ""));
    let settings = settings.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty());
    let settings: Vec<_> = settings.map(str::to_owned).collect();
    let store = |settings: &[String]| store_of(engine, extension, settings, source);
    let [written, read] = [store(&settings)?, store(&[])?].map(|store| shell_quoted(&store));
    let source = shell_quoted(source);
    Some([sentences::move_data(&source, written), sentences::check_data(&source, read)])
}
