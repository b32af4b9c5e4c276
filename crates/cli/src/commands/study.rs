//! `storemark study`: a published experiment, and its figures next to those measured here.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::LazyLock,
    time::{Duration, Instant},
};

use checks::{StudyFigure, studies};
use clap::Args;
use lab::Stop;
use model::{CrashedStore, Error, Result, StudyPart, units};
use report::{StudyStep, pages};
use spec::{
    Name, Options, PageOption, RunSpec, ScratchAndSeed, Talk,
    study::{Study, StudyCommand},
};

#[cfg(target_os = "linux")]
use super::crash::{self, CrashOptions};
use super::measure::{self, Measured};
use crate::{exit::Failure, files, output};

/// Runs a published experiment, and shows its figures next to those measured here.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark study                                 lists all
  storemark study faster-than-fs --quick          in a few minutes
  storemark study mass-inserts --full             as large as published
  storemark study page-cache --records results    keeping a record of each step")]
pub(crate) struct StudyOptions {
    /// Which; none: list them
    pub(crate) name: Option<String>,

    /// A few minutes: little data, few rounds
    #[arg(long, conflicts_with = "full", help_heading = "Size")]
    pub(crate) quick: bool,
    /// As large as published, which may take hours
    #[arg(long, help_heading = "Size")]
    pub(crate) full: bool,
    /// Only this step, counted from 1
    #[arg(long, value_name = "N", value_parser = |text: &str| units::parse_up_to(text, u32::MAX), help_heading = "Size")]
    pub(crate) step: Option<u32>,

    /// Run exactly N rounds of each step, however long they take
    #[arg(long, value_name = "N", value_parser = |text: &str| units::parse_up_to(text, u32::MAX), help_heading = "Run")]
    pub(crate) rounds: Option<u32>,
    /// Time for all steps together; default: what the plan of each step gives it
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, conflicts_with = "rounds", help_heading = "Run")]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) own: ScratchAndSeed,

    /// Write a record of each step into the folder DIR: NAME-1.json and so on
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) records: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Output")]
    pub(crate) page: PageOption,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

pub(crate) fn run(options: &StudyOptions, stop: &Stop) -> Result<(), Failure> {
    let Some(name) = &options.name else { return Ok(output::print(&list())?) };
    let study = studies::find(name)?;
    check(options, study)?;
    let mut taken = taken(options, name, study.steps.len())?;
    let html = files::page(options.page.html.as_ref().map(Name::path), &mut taken)?;
    output::print(&output::page(&pages::study_head(study)))?;
    let done = carry_out_all(study, name, options, stop);
    let claims: Vec<_> = done.iter().map(|done| done.claims.clone()).collect();
    let end = output::page(&pages::study_end(&claims));
    if !end.is_empty() {
        output::print(&format!("\n{end}"))?;
    }
    let nothing = !done.iter().any(|done| done.measured);
    let (shown, ended): (Vec<_>, Vec<_>) =
        done.into_iter().map(|done| (done.shown, done.ended)).unzip();
    if let Some(html) = html {
        let shown: Vec<_> = shown.into_iter().flatten().collect();
        html.write(&report::html_study(study, &shown)).map_err(Failure::PartWay)?;
    }
    if stop.is_set() {
        return Err(Failure::PartWay(Error::interrupted()));
    }
    ended.into_iter().collect::<Result<(), _>>()?;
    let nothing = nothing.then(|| Error::failed("no step was measured; the reasons are above"));
    nothing.map_or(Ok(()), |error| Err(Failure::PartWay(error)))
}

/// Refuses a step that the study lacks, and what a study of power cuts has no use for, and creates the
/// folder for records.
fn check(options: &StudyOptions, study: &Study) -> Result<()> {
    let all = u32::try_from(study.steps.len()).unwrap_or(u32::MAX);
    let limits = [("--time", options.time.is_some()), ("--rounds", options.rounds.is_some())];
    if let Some((option, _)) = limits.into_iter().find(|(_, is_given)| *is_given)
        && study.steps.iter().all(StudyCommand::cuts_power)
    {
        let what =
            "each step checks a number of states, however long that takes; --quick has fewer";
        return Err(Error::usage(what).at(option));
    }
    if let Some(step) = options.step.filter(|step| !(1..=all).contains(step)) {
        return Err(Error::usage(format!("--step {step}: accepted is 1 to {all}")));
    }
    let Some(folder) = &options.records else { return Ok(()) };
    files::create_folder("--records", folder)
}

/// Reserves the files of records.
fn taken(options: &StudyOptions, name: &str, steps: usize) -> Result<files::Taken> {
    let mut taken = files::Taken::default();
    for number in 1..=steps {
        if let Some(path) = record(options, name, number) {
            taken.take("--records", &path)?;
        }
    }
    Ok(taken)
}

/// Returns the file for the record of a step, if records are kept.
fn record(options: &StudyOptions, name: &str, number: usize) -> Option<PathBuf> {
    options.records.as_ref().map(|folder| folder.join(format!("{name}-{number}.json")))
}

/// A step that was carried out.
struct MeasuredStep<'a> {
    /// Its number, and what became of published figures.
    claims: (usize, Vec<StudyFigure>),
    /// Whether there is a record of it.
    measured: bool,
    /// Only for a page: records may be large.
    shown: Option<StudyStep<'a>>,
    ended: Result<(), Failure>,
}

/// Carries out the chosen steps, one after the other, until the user stops them.
fn carry_out_all<'a>(
    study: &'a Study,
    name: &str,
    options: &StudyOptions,
    stop: &Stop,
) -> Vec<MeasuredStep<'a>> {
    let chosen = |number: &usize| options.step.is_none_or(|chosen| chosen as usize == *number);
    let mut steps: VecDeque<_> = (1..).zip(&study.steps).filter(|(n, _)| chosen(n)).collect();
    let (began, mut done) = (Instant::now(), Vec::new());
    while let Some(share) = share(&steps, options, began) {
        let Some((number, part)) = steps.pop_front().filter(|_| !stop.is_set()) else { break };
        let (shown, ended) = carry_out(part, (number, share), name, options, stop);
        let claims = (number, report::study_claims(&shown));
        let measured = shown.is_measured();
        let shown = options.page.html.is_some().then_some(shown);
        done.push(MeasuredStep { claims, measured, shown, ended });
    }
    done
}

/// Runs a step and shows it. A step that was started and failed shows in the exit code, one that
/// cannot be run here is a gap.
fn carry_out<'a>(
    part: &'a StudyCommand,
    (number, time): (usize, Duration),
    name: &str,
    options: &StudyOptions,
    stop: &Stop,
) -> (StudyStep<'a>, Result<(), Failure>) {
    if !options.talk.quiet {
        output::say(&format!("step {number}: {}", part.title));
    }
    let (records, crashed, gaps) = (Vec::new(), Vec::new(), Vec::new());
    let mut shown = StudyStep { step: part, records, crashed, gaps };
    let ended = if part.cuts_power() {
        cut_power(&mut shown, number, name, options, stop)
    } else {
        run_step(&mut shown, (number, time), name, options, stop)
    };
    let ended = match ended {
        Err(Failure::Error(why)) if !shown.is_measured() => {
            shown.gaps.push(format!("not measured: {why}"));
            Ok(())
        }
        Err(Failure::Error(why) | Failure::PartWay(why)) => {
            let some = if shown.is_measured() { "all " } else { "" };
            shown.gaps.push(format!("not {some}measured: {why}"));
            Err(Failure::PartWay(why))
        }
        ended => ended,
    };
    let detail = pages::Detail { all: options.talk.verbose, ..Default::default() };
    let page = output::page(&pages::study_step(&shown, detail));
    let printed = output::print(&format!("\n{page}")).map_err(Failure::from);
    (shown, printed.and(ended))
}

/// Measures a step.
fn run_step(
    shown: &mut StudyStep<'_>,
    (number, time): (usize, Duration),
    name: &str,
    options: &StudyOptions,
    stop: &Stop,
) -> Result<(), Failure> {
    let spec = spec(shown.step, (number, time), name, options, &mut shown.gaps)?;
    let of_study = StudyPart { name: name.to_owned(), step: number };
    let Measured { records, ended, left } = measure::measured(spec, &of_study, stop)?;
    left.remove(options.talk);
    shown.records = records;
    measure::check_complete(&ended?)
}

/// Cuts the power under the stores of a step.
fn cut_power(
    shown: &mut StudyStep<'_>,
    number: usize,
    name: &str,
    options: &StudyOptions,
    stop: &Stop,
) -> Result<(), Failure> {
    let json = record(options, name, number);
    shown.crashed = crashed(shown.step, json.as_deref(), options, stop)?;
    let why = shown.crashed.iter().find_map(|store| store.result.unrecorded.as_ref());
    shown.gaps.extend(why.map(|why| format!("{why}: no power was cut")));
    Ok(())
}

#[cfg(target_os = "linux")]
fn crashed(
    part: &StudyCommand,
    json: Option<&Path>,
    options: &StudyOptions,
    stop: &Stop,
) -> Result<Vec<CrashedStore>> {
    let mut own = CrashOptions::parse(part.words(size(part, options)))?;
    own.own = options.own.clone();
    own.talk = options.talk;
    let json = files::try_json(json, crash::STORES_HEAD, &mut files::Taken::default())?;
    let stores = crash::cut(&own, stop)?;
    json.print(&crash::stores_json(&stores)?, "")?;
    Ok(stores)
}

#[cfg(not(target_os = "linux"))]
fn crashed(
    _: &StudyCommand,
    _: Option<&Path>,
    _: &StudyOptions,
    _: &Stop,
) -> Result<Vec<CrashedStore>> {
    Err(Error::unsupported("the power is cut, by simulation, on Linux only"))
}

fn list() -> String {
    let line = |(name, study): &(&str, Study)| format!("{name:22}{}\n", study.title);
    studies::all_studies().iter().map(line).collect()
}

/// Returns what a step asks for, in the size that is wanted.
fn sized(step: &StudyCommand, options: &StudyOptions) -> Result<RunSpec> {
    step.spec(size(step, options))
}

/// Returns the changes of a step in the size that is wanted.
fn size<'a>(step: &'a StudyCommand, options: &StudyOptions) -> &'a Options {
    static AS_WRITTEN: LazyLock<Options> = LazyLock::new(Options::new);
    match (options.quick, options.full) {
        (true, _) => &step.quick,
        (_, true) => &step.full,
        _ => &AS_WRITTEN,
    }
}

/// Returns the time for the first of `steps`: the part of the remaining time that its plan has of
/// the plans of all. Returns `None` if no step remains.
fn share(
    steps: &VecDeque<(usize, &StudyCommand)>,
    options: &StudyOptions,
    began: Instant,
) -> Option<Duration> {
    let time =
        |step: &StudyCommand| sized(step, options).map_or(Duration::ZERO, |spec| spec.time());
    let (_, first) = steps.front()?;
    let own = time(first);
    let Some(whole) = options.time else { return Some(own) };
    let all: Duration = steps.iter().map(|(_, step)| time(step)).sum();
    let left = whole.saturating_sub(began.elapsed());
    Some(left.mul_f64(own.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE)))
}

/// Returns what a step asks for, with the options of the study laid over it. Targets whose engine
/// cannot be used here are left out; the reason is added to `gaps`, a sentence each.
fn spec(
    step: &StudyCommand,
    (number, time): (usize, Duration),
    name: &str,
    options: &StudyOptions,
    gaps: &mut Vec<String>,
) -> Result<RunSpec> {
    let mut spec = sized(step, options)?;
    let mut targets = std::mem::take(spec.targets_mut());
    targets.retain(|target| {
        let text = target.as_ref().to_string_lossy();
        let usable = measure::usable(&spec, &text);
        let name = text.trim_end_matches(':');
        gaps.extend(usable.as_ref().err().map(|why| format!("{name} is not measured: {why}")));
        usable.is_ok()
    });
    *spec.targets_mut() = targets;
    let running = spec.running_mut();
    let ScratchAndSeed { scratch, seed } = options.own.clone();
    running.scratch = scratch.or(running.scratch.take());
    running.seed = seed.map_or_else(|| std::mem::take(&mut running.seed), |seed| vec![seed]);
    if options.time.is_some() {
        running.time = Some(format!("{}ms", time.as_millis().max(1)).parse()?);
        running.rounds.clear();
    }
    if let Some(rounds) = options.rounds {
        running.rounds = vec![rounds.to_string().parse()?];
    }
    let shown = spec.output_mut();
    shown.json = record(options, name, number).map(Into::into);
    shown.talk = options.talk;
    Ok(spec)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_step_that_cuts_the_power_has_options_of_crash() {
        let steps = studies::all_studies().iter().flat_map(|(_, study)| &study.steps);
        let mut count = 0;
        for step in steps.filter(|step| step.cuts_power()) {
            for changes in [&Options::new(), &step.quick, &step.full] {
                let read = CrashOptions::parse(step.words(changes));
                assert!(read.is_ok(), "{}: {read:?}", step.title);
                count += 1;
            }
        }
        assert!(count > 0);
        let wrong = CrashOptions::parse(vec!["--state=1".to_owned()]).unwrap_err().to_string();
        assert!(wrong.contains("did you mean --states?"), "{wrong}");
    }
}
