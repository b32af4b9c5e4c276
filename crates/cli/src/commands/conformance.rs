//! `storemark conformance`: what is checked of storemark's own engines, over a plugin or another engine.

mod line;
mod part;
mod process;

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use conformance::{CHECKS, Case, Check, settings_of};
use host::Scratch;
use lab::Stop;
use model::{Error, Facet, KeyKind, LIBRARY, Result, Settings, no_such};

pub(crate) use line::crashed;
pub(crate) use part::{CheckEngineOptions, check_engine};

use crate::{
    exit::Failure,
    output,
    targets::{self, FoundTarget},
};
use line::Outcome;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark conformance --header > storemark_store.h   what a plugin is written against
  storemark conformance plugin:./libmystore.so         all checks, with each word of each setting
  storemark conformance plugin:./libmystore.so --only a_value_is_put_got_and_deleted
  storemark conformance redb:

Exits with 3 if the engine fails a check.")]
pub(crate) struct ConformanceOptions {
    /// A plugin, or another engine; its settings are set in all cases
    #[arg(required_unless_present = "header")]
    target: Option<OsString>,
    /// Make these checks only, by the names that are printed, with or without _ for each space
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,
    /// The folder in which stores are made, and removed
    #[arg(long, value_name = "DIR", default_value = ".")]
    scratch: PathBuf,
    /// Print `storemark_store.h`, which a plugin is written against, and check nothing
    #[arg(long, conflicts_with_all = ["target", "only"])]
    header: bool,
}

/// What the engine did in one check.
struct Verdict {
    check: &'static Check,
    /// The first failure with its case, and the number of cases that failed.
    failed: Option<(String, usize)>,
    /// Why nothing was checked in a case.
    unchecked: Option<String>,
}

pub(crate) fn run(options: &ConformanceOptions, stop: &Stop) -> Result<(), Failure> {
    let Some(target) = &options.target else {
        return Ok(output::print(engines::PLUGIN_HEADER)?);
    };
    let checks = chosen(&options.only)?;
    let target = targets::resolve(target)?;
    let cases = cases(&target)?;
    let scratch = Scratch::new_in(&options.scratch)?;
    let mut verdicts: Vec<_> =
        checks.iter().map(|check| Verdict { check, failed: None, unchecked: None }).collect();
    for case in &cases {
        let own: Vec<_> = checks.iter().copied().filter(|check| check.is_of(case)).collect();
        process::run_checks(case, &own, scratch.path(), stop, |check, outcome| {
            let verdict = verdicts.iter_mut().find(|verdict| verdict.check.name == check.name);
            if let Some(verdict) = verdict {
                verdict.add(case, outcome.clone());
            }
        })?;
    }
    output::print(&page(&target, &verdicts))?;
    let failed = verdicts.iter().any(|verdict| verdict.failed.is_some());
    if failed { Err(Failure::GATE) } else { Ok(()) }
}

/// Returns the checks that are named; all if none is.
fn chosen(only: &[String]) -> Result<Vec<&'static Check>> {
    let named = |name: &String| {
        let name = name.replace(' ', "_");
        conformance::check(&name).ok_or_else(|| {
            let all = CHECKS.iter().map(|check| check.name);
            Error::usage(no_such("check", &name, all)).at("--only")
        })
    };
    if only.is_empty() { Ok(CHECKS.iter().collect()) } else { only.iter().map(named).collect() }
}

/// Returns the cases of the engine: each kind of keys with each of the settings of the suite, over those of
/// the target.
fn cases(target: &FoundTarget) -> Result<Vec<Case>> {
    let (engine, declared) = (target.engine, target.engine.declaration());
    let why = if !target.is_scratch() {
        "stores are made for the checks, and removed; leave out the store"
    } else if declared.servers.is_some() || !declared.capabilities.retains {
        "has no stores of its own that it could be checked with"
    } else if declared.capabilities.written_once {
        "is written once, and the checks write to a store again"
    } else {
        let pairs = target.settings.iter().map(|(name, value)| (&**name, &**value));
        let own = Settings::check(engine.settings(Facet::Blobs), pairs);
        let own = own.map_err(|error| error.context(&target.text))?;
        let mut distinct: Vec<Settings> = Vec::new();
        for settings in settings_of(engine)? {
            if !distinct
                .iter()
                .any(|other| other.clone().overlaid(&own) == settings.clone().overlaid(&own))
            {
                distinct.push(settings);
            }
        }
        let of = |settings: &Settings| {
            KeyKind::ALL.map(|keys| Case::new(engine, keys, settings.clone()).over(&own))
        };
        return Ok(distinct.iter().flat_map(of).collect());
    };
    Err(Error::usage(why).at(&target.text))
}

impl Verdict {
    fn add(&mut self, case: &Case, outcome: Outcome) {
        match outcome {
            Outcome::Passed | Outcome::NotOfCase => {}
            Outcome::Unchecked(why) => self.unchecked = Some(why),
            Outcome::Failed(why) => match &mut self.failed {
                Some((_, count)) => *count += 1,
                None => self.failed = Some((format!("{}: {why}", name(case)), 1)),
            },
        }
    }
}

/// Returns the settings and keys of a case.
fn name(case: &Case) -> String {
    let mut settings = case.settings.clone();
    settings.0.remove(LIBRARY);
    let settings =
        if settings.is_empty() { "no settings".to_owned() } else { settings.to_string() };
    format!("{settings}, {}", case.keys)
}

impl Verdict {
    /// Returns the lines for a check that was not passed.
    fn lines(&self) -> Option<String> {
        let sentence = self.check.sentence();
        match (&self.failed, &self.unchecked) {
            (Some((why, count)), _) => {
                let others = match count - 1 {
                    0 => String::new(),
                    1 => " (and in 1 other case)".to_owned(),
                    others => format!(" (and in {others} other cases)"),
                };
                Some(format!("fails: {sentence}\n  {why}{others}\n"))
            }
            (None, Some(why)) => Some(format!("not checked: {sentence}\n  {why}\n")),
            (None, None) => None,
        }
    }
}

/// Returns what is printed: what failed, what was not checked, and how many checks passed.
fn page(target: &FoundTarget, verdicts: &[Verdict]) -> String {
    let library = target.engine.library(&Settings::default());
    let library = library.map_or_else(String::new, |of| format!(" ({} {})", of.name, of.version));
    let lines: Vec<_> = verdicts.iter().filter_map(Verdict::lines).collect();
    let (all, passed) = (verdicts.len(), verdicts.len() - lines.len());
    format!("{}{library}\n{}{passed} of {all} checks passed\n", target.text, lines.concat())
}
