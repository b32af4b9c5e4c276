//! `storemark study`: a published experiment, what was published beside what comes out here.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use engines::registry;
use lab::Stop;
use model::{
    Error, Result,
    study::{Job, Size, Step, Study, Value},
};
use report::StudyStep;

use crate::{
    args::{self, Command, StudyOptions},
    commands,
    exit::Failure,
    measured::{self, Measured},
    output, page_file, studies,
};

/// What targets are called among the options of a step.
const TARGETS: &str = "targets";

pub(crate) fn run(options: &StudyOptions, stop: &Stop) -> Result<(), Failure> {
    let Some(name) = &options.name else { return Ok(output::print(&list())?) };
    let mut study = studies::find(name)?;
    let chosen = chosen(&study, options)?;
    if let Some(folder) = &options.records {
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::io(format!("--records {}", folder.display()), e))?;
    }
    let html = page_file::open(options.html.as_deref(), &[])?;
    let style = output::style(options.talk.verbose, false);
    output::print(&report::study_head(&study, &style))?;
    let mut steps = std::mem::take(&mut study.steps);
    let mut ended = Ok(());
    let mut done = Vec::new();
    for (number, step) in steps.iter_mut().enumerate() {
        if stop.is_set() || !chosen.contains(&number) {
            continue;
        }
        let (shown, outcome) = carry_out(step, number, name, options, stop);
        ended = ended.and(outcome);
        // Records may be large.
        done.extend(html.is_some().then_some(shown));
    }
    if let Some(html) = html {
        html.write(&report::html_study(&study, &done)).map_err(Failure::PartWay)?;
    }
    if stop.is_set() { Err(Failure::PartWay(Error::interrupted())) } else { ended }
}

/// Runs a step and shows it.
fn carry_out<'a>(
    part: &'a mut Step,
    number: usize,
    name: &str,
    options: &StudyOptions,
    stop: &Stop,
) -> (StudyStep<'a>, Result<(), Failure>) {
    if !options.talk.quiet {
        output::say(&format!("step {}: {}", number + 1, part.title));
    }
    let mut gaps = leave_out_unusable(part);
    let words = words(part, options.size(), &common(options, name, number));
    let Measured { records, ended } = measure(words, stop);
    let ended = ended.and_then(|outcomes| measured::whole(&outcomes));
    let ended = ended.or_else(|failure| {
        gaps.extend(gap(&failure, records.is_empty()));
        later(failure, records.is_empty())
    });
    let style = output::style(options.talk.verbose, false);
    let shown = StudyStep { step: part, records, gaps };
    let page = report::study_step(&shown, &style);
    let printed = output::print(&format!("\n{page}")).map_err(Failure::from);
    (shown, printed.and(ended))
}

fn list() -> String {
    let line = |(name, study): (&str, Study)| format!("{name:22}{}\n", study.title);
    studies::all().into_iter().map(line).collect()
}

/// The places of the steps that run.
fn chosen(study: &Study, options: &StudyOptions) -> Result<Vec<usize>> {
    let all = study.steps.len();
    match options.step {
        None => Ok((0..all).collect()),
        Some(number) if (1..=all).contains(&number) => Ok(vec![number - 1]),
        Some(number) => Err(Error::usage(format!("--step {number}: accepted is 1 to {all}"))),
    }
}

/// Options that every step is given, and that win over its own.
fn common(options: &StudyOptions, name: &str, number: usize) -> Vec<(&'static str, OsString)> {
    let record = |folder: &PathBuf| folder.join(format!("{name}-{}.json", number + 1));
    let number = |number: u64| OsString::from(number.to_string());
    [
        ("json", options.records.as_ref().map(|folder| record(folder).into())),
        ("scratch", options.scratch.as_ref().map(OsString::from)),
        ("seed", options.seed.map(number)),
        ("rounds", options.rounds.map(|rounds| number(rounds.into()))),
        ("quiet", options.talk.quiet.then(OsString::new)),
        ("verbose", options.talk.verbose.then(OsString::new)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// The command line of a step.
pub(crate) fn words(step: &Step, size: Size, common: &[(&str, OsString)]) -> Vec<OsString> {
    let command = match step.command {
        Job::Run => "run",
        Job::Rows => "rows",
        Job::Queue => "queue",
        Job::Age => "age",
    };
    let options = step.options(size);
    let own = options
        .iter()
        .filter(|(name, _)| *name != TARGETS && !common.iter().any(|(common, _)| common == name));
    let mut words: Vec<OsString> = vec!["storemark".into(), command.into()];
    for (name, value) in own {
        let values = value.words();
        words.extend(values.iter().filter(|values| values.is_empty()).map(|_| word(name, "")));
        words.extend(values.iter().flatten().map(|value| word(name, value)));
    }
    words.extend(common.iter().map(|(name, value)| word(name, value)));
    words.push("--".into());
    let targets = options.get(TARGETS).and_then(Value::words).unwrap_or_default();
    words.extend(targets.into_iter().map(OsString::from));
    words
}

/// `--name=value`; a switch has no value.
fn word(name: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut word = OsString::from(format!("--{name}"));
    if !value.as_ref().is_empty() {
        word.push("=");
        word.push(value);
    }
    word
}

fn measure(words: Vec<OsString>, stop: &Stop) -> Measured {
    let measured =
        args::understand(words).map_err(Failure::from).and_then(|command| match command {
            Command::Run(asked) => commands::run::measured(&asked, stop),
            Command::Age(options) => commands::age::measured(&options, stop),
            Command::Queue(options) => commands::queue::measured(&options, stop),
            Command::Rows(options) => commands::rows::measured(&options, stop),
            _ => Err(Error::unsupported("a study has no such step").into()),
        });
    measured.unwrap_or_else(|failure| Measured { records: Vec::new(), ended: Err(failure) })
}

/// Targets whose engine cannot be used here are left out; why, a sentence each.
fn leave_out_unusable(step: &mut Step) -> Vec<String> {
    let rows = step.command == Job::Rows;
    let mut gaps = Vec::new();
    let mut usable = |target: &Value| {
        let Value::Text(text) = target else { return true };
        let name = text.split(':').next().unwrap_or_default();
        let found = if rows {
            registry::rows(name).and_then(|engine| engine.usable())
        } else {
            registry::blobs(name).and_then(|engine| engine.usable())
        };
        gaps.extend(found.as_ref().err().map(|why| format!("{text} is not measured: {why}")));
        found.is_ok()
    };
    if let Some(Value::List(targets)) = step.options.get_mut(TARGETS) {
        targets.retain(&mut usable);
    }
    gaps
}

/// What is missing of a step that failed.
fn gap(failure: &Failure, nothing: bool) -> Option<String> {
    let (Failure::Error(why) | Failure::PartWay(why)) = failure else { return None };
    Some(if nothing { format!("not measured: {why}") } else { format!("not all measured: {why}") })
}

/// The rest runs; a step that was begun and failed shows in the exit code, one that cannot be run
/// here is a gap.
fn later(failure: Failure, nothing: bool) -> Result<(), Failure> {
    match failure {
        Failure::Error(_) if nothing => Ok(()),
        failure => Err(failure.part_way()),
    }
}
