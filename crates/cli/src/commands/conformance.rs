//! `storemark conformance`: what is checked of storemark's own engines, over a plugin or another engine.

mod choice;
mod line;
mod part;
mod process;
mod skeleton;
mod verdict;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;
use conformance::{Case, Check};
use host::Scratch;
use lab::{Progress, Stop};
use model::{Result, units};
use spec::Talk;

pub(crate) use line::crashed;
pub(crate) use part::{CheckEngineOptions, check_engine};

use crate::{
    exit::Failure,
    listener::Listener,
    output,
    targets::{self, FoundTarget},
};
use choice::{cases, chosen_cases, chosen_checks, list, name};
use process::Limits;
use verdict::Verdict;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark conformance --skeleton c mystore      a folder with a whole plugin to copy
  storemark conformance plugin:./libmystore.so    all checks, with each word of each setting
  storemark conformance plugin:./libmystore.so --list
  storemark conformance plugin:./libmystore.so --only scan --case integers
  storemark conformance redb:

Exits with 3 if the engine fails a check.")]
pub(crate) struct ConformanceOptions {
    /// A plugin, or another engine; its settings are set in all cases
    #[arg(required_unless_present_any = ["header", "skeleton", "list"])]
    target: Option<OsString>,
    /// Make only the checks that have one of these words in their names, with or without _ for each space
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,
    /// Make checks only in the cases that have TEXT in their names, as --list prints them; may be repeated
    #[arg(long, value_name = "TEXT", requires = "target")]
    case: Vec<String>,
    /// Print the checks, and the cases of the target, and check nothing
    #[arg(long)]
    list: bool,
    /// The folder in which stores are made, and removed
    #[arg(long, value_name = "DIR", default_value = ".")]
    scratch: PathBuf,
    /// The longest time of a check
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "3m")]
    time_limit: Duration,
    /// Print `storemark_store.h`, which a plugin is written against, and check nothing
    #[arg(long, conflicts_with_all = ["target", "only", "list", "skeleton"])]
    header: bool,
    /// Write the header and a whole plugin in LANGUAGE (c, cpp, go or rust) to the folder DIR
    #[arg(
        long,
        num_args = 2,
        value_names = ["LANGUAGE", "DIR"],
        conflicts_with_all = ["target", "only", "list"]
    )]
    skeleton: Option<Vec<OsString>>,
    #[command(flatten)]
    talk: Talk,
}

pub(crate) fn run(options: &ConformanceOptions, stop: &Stop) -> Result<(), Failure> {
    if let Some([language, folder]) = options.skeleton.as_deref() {
        return Ok(output::print_lines(&skeleton::write(language, folder.as_ref())?)?);
    }
    if options.header {
        return Ok(output::print(engines::PLUGIN_HEADER)?);
    }
    let checks = chosen_checks(&options.only)?;
    let Some(target) = &options.target else { return Ok(output::print(&list(&checks, None))?) };
    let target = targets::resolve(target)?;
    let cases = chosen_cases(cases(&target)?, &options.case)?;
    if options.list {
        return Ok(output::print_lines(&list(&checks, Some((&target.text, &cases))))?);
    }
    let verdicts = Listener::during(options.talk, |listener| {
        run_cases(options, &target, (&checks, &cases), listener, stop)
    })?;
    output::print_lines(&verdict::page(&target, &verdicts))?;
    if verdicts.iter().any(Verdict::is_failed) { Err(Failure::GATE) } else { Ok(()) }
}

/// Makes the checks over the cases, and returns a verdict for each check.
fn run_cases(
    options: &ConformanceOptions,
    target: &FoundTarget,
    (checks, cases): (&[&'static Check], &[Case]),
    listener: &Listener,
    stop: &Stop,
) -> Result<Vec<Verdict>> {
    let scratch = Scratch::new_in(&options.scratch)?;
    let limits = Limits { scratch: scratch.path(), time: options.time_limit, stop };
    let mut verdicts: Vec<_> = checks.iter().copied().map(Verdict::new).collect();
    let own = |case: &Case| -> Vec<_> {
        checks.iter().copied().filter(|check| check.is_of(case)).collect()
    };
    let steps = cases.iter().map(|case| own(case).len() as u64).sum();
    listener.stage(&format!("checking {}", target.text), Some(steps));
    let mut finished = 0;
    for case in cases {
        listener.part(&name(case));
        process::run_checks(case, &own(case), limits, |check, outcome, printed| {
            finished += 1;
            listener.advance_to(finished);
            listener.detail(&format!("{}: {}: {}", name(case), check.sentence(), outcome.word()));
            let verdict = verdicts.iter_mut().find(|verdict| verdict.check.name == check.name);
            if let Some(verdict) = verdict {
                verdict.add(&name(case), outcome, printed);
            }
        })?;
    }
    Ok(verdicts)
}
