//! Which checks are made, and over which cases.

use conformance::{CHECKS, Case, Check, settings_of};
use model::{Error, Facet, KeyKind, LIBRARY, Result, Settings, no_such};

use crate::targets::FoundTarget;

/// Returns the checks with one of these words in their names; all if there are no words.
pub(super) fn chosen_checks(words: &[String]) -> Result<Vec<&'static Check>> {
    let words: Vec<_> = words.iter().map(|word| word.trim().replace(' ', "_")).collect();
    let has = |check: &Check, word: &String| check.name.contains(&**word);
    if let Some(word) = words.iter().find(|word| !CHECKS.iter().any(|check| has(check, word))) {
        let all = CHECKS.iter().map(|check| check.name);
        return Err(Error::usage(no_such("check", word, all)).at("--only"));
    }
    let is_chosen = |check: &&Check| words.is_empty() || words.iter().any(|word| has(check, word));
    Ok(CHECKS.iter().filter(is_chosen).collect())
}

/// Returns the cases with one of these texts in their names; all if there are no texts.
pub(super) fn chosen_cases(cases: Vec<Case>, texts: &[String]) -> Result<Vec<Case>> {
    let has = |case: &Case, text: &String| name(case).contains(&**text);
    if let Some(text) = texts.iter().find(|text| !cases.iter().any(|case| has(case, text))) {
        let all: Vec<_> = cases.iter().map(name).collect();
        return Err(
            Error::usage(no_such("case", text, all.iter().map(|name| &**name))).at("--case")
        );
    }
    let is_chosen = |case: &Case| texts.is_empty() || texts.iter().any(|text| has(case, text));
    Ok(cases.into_iter().filter(is_chosen).collect())
}

/// Returns the cases of the engine: each kind of keys with each of the settings of the suite, over those of
/// the target.
pub(super) fn cases(target: &FoundTarget) -> Result<Vec<Case>> {
    if let Some(why) = refusal(target) {
        return Err(Error::usage(why).at(&target.text));
    }
    let engine = target.engine;
    let pairs = target.settings.iter().map(|(name, value)| (&**name, &**value));
    let own = Settings::check(engine.settings(Facet::Blobs), pairs);
    let own = own.map_err(|error| error.context(&target.text))?;
    let mut distinct: Vec<Settings> = Vec::new();
    for settings in settings_of(engine)? {
        let whole = settings.clone().overlaid(&own);
        if !distinct.iter().any(|other| other.clone().overlaid(&own) == whole) {
            distinct.push(settings);
        }
    }
    let of_settings = |settings: &Settings| {
        KeyKind::ALL.map(|keys| Case::new(engine, keys, settings.clone()).over(&own))
    };
    Ok(distinct.iter().flat_map(of_settings).collect())
}

/// Returns why stores of the target cannot be checked; `None` if they can.
fn refusal(target: &FoundTarget) -> Option<&'static str> {
    let declared = target.engine.declaration();
    if !target.is_scratch() {
        Some("stores are made for the checks, and removed; leave out the store")
    } else if declared.servers.is_some() || !declared.capabilities.retains {
        Some("has no stores of its own that it could be checked with")
    } else if declared.capabilities.written_once {
        Some("is written once, and the checks write to a store again")
    } else {
        None
    }
}

/// Returns the settings and keys of a case.
pub(super) fn name(case: &Case) -> String {
    let mut settings = case.settings.clone();
    settings.0.remove(LIBRARY);
    let settings =
        if settings.is_empty() { "no settings".to_owned() } else { settings.to_string() };
    format!("{settings}, {}", case.keys)
}

/// Returns the names of the checks, and those of the cases of a target.
pub(super) fn list(checks: &[&Check], of_target: Option<(&str, &[Case])>) -> String {
    let line = |name: String| format!("  {name}\n");
    let checks: Vec<_> = checks.iter().map(|check| line(check.sentence())).collect();
    let cases = of_target.map_or_else(String::new, |(target, cases)| {
        let names: Vec<_> = cases.iter().map(|case| line(name(case))).collect();
        format!("Cases of {target}:\n{}", names.concat())
    });
    format!("Checks:\n{}{cases}", checks.concat())
}
