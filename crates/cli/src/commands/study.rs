//! `storemark study`: a published experiment, what was published beside what comes out here.

use std::ffi::OsString;

use engines::{registry, rows};
use lab::Stop;
use model::{
    Error, Result,
    rows::RowEngine,
    study::{Job, Size, Step, Study, Value},
};
use report::StudyStep;

use crate::{
    args::{self, Command, StudyOptions},
    commands,
    exit::Failure,
    measured::{self, Measured},
    output, studies,
};

/// What targets are called among the options of a step.
const TARGETS: &str = "targets";

pub(crate) fn run(options: &StudyOptions, stop: &Stop) -> Result<(), Failure> {
    let Some(name) = &options.name else { return Ok(output::print(&list())?) };
    let mut study = studies::find(name)?;
    let steps = chosen(&study, options)?;
    if let Some(folder) = &options.records {
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::io(format!("--records {}", folder.display()), e))?;
    }
    let style = output::style(options.verbose, false);
    output::print(&report::study_head(&study, &style))?;
    let mut ended = Ok(());
    for number in steps {
        let step = &mut study.steps[number];
        if !options.quiet {
            output::say(&format!("step {}: {}", number + 1, step.title));
        }
        let mut gaps = leave_out_unusable(step);
        let words = words(step, options.size(), &common(options, name, number));
        let Measured { records, ended: outcome } = measure(words, stop);
        let outcome = outcome.and_then(|outcomes| measured::whole(&outcomes));
        if let Err(failure) = outcome {
            gaps.extend(gap(&failure, records.is_empty()));
            ended = ended.and(later(failure, records.is_empty()));
        }
        let page = report::study_step(&StudyStep { step, records, gaps }, &style);
        output::print(&format!("\n{page}"))?;
        if stop.is_set() {
            return Err(Failure::PartWay(Error::interrupted()));
        }
    }
    ended
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

/// What every step is given beside its own options.
fn common(options: &StudyOptions, name: &str, number: usize) -> Vec<OsString> {
    let with = |option: &str, value: OsString| {
        let mut word = OsString::from(format!("--{option}="));
        word.push(value);
        word
    };
    let record = |folder: &std::path::PathBuf| folder.join(format!("{name}-{}.json", number + 1));
    [
        options.records.as_ref().map(|folder| with("json", record(folder).into())),
        options.scratch.as_ref().map(|folder| with("scratch", folder.into())),
        options.seed.map(|seed| with("seed", seed.to_string().into())),
        options.quiet.then(|| "--quiet".into()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The command line of a step.
pub(crate) fn words(step: &Step, size: Size, common: &[OsString]) -> Vec<OsString> {
    let command = match step.command {
        Job::Run => "run",
        Job::Rows => "rows",
        Job::Queue => "queue",
        Job::Age => "age",
    };
    let options = step.options(size);
    let mut words: Vec<OsString> = vec!["storemark".into(), command.into()];
    for (name, value) in options.iter().filter(|(name, _)| *name != TARGETS) {
        match value.words() {
            None => {}
            Some(values) if values.is_empty() => words.push(format!("--{name}").into()),
            Some(values) => {
                words.extend(values.iter().map(|value| format!("--{name}={value}").into()));
            }
        }
    }
    words.extend(common.iter().cloned());
    words.push("--".into());
    let targets = options.get(TARGETS).and_then(Value::words).unwrap_or_default();
    words.extend(targets.into_iter().map(OsString::from));
    words
}

fn measure(words: Vec<OsString>, stop: &Stop) -> Measured {
    let measured =
        args::understand(words).map_err(Failure::from).and_then(|command| match command {
            Command::Run(asked) => commands::run::measured(&asked, stop),
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
            rows::find(name).and_then(RowEngine::usable)
        } else {
            registry::find(name).and_then(model::Engine::usable)
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
    let why = match failure {
        Failure::Error(error) | Failure::PartWay(error) => error,
        _ => return None,
    };
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
