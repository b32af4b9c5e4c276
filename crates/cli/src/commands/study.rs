//! `storemark study`: a published experiment, and its figures next to those measured here.

use std::{
    collections::VecDeque,
    path::PathBuf,
    time::{Duration, Instant},
};

use checks::{StudyFigure, studies};
use clap::Args;
use lab::Stop;
use model::{Error, Result, StudyPart, units};
use report::{StudyStep, pages};
use spec::{
    Name, Options, PageOption, RunSpec, ScratchAndSeed, Talk,
    study::{Study, StudyCommand},
};

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
    #[arg(long, value_name = "N", help_heading = "Size")]
    pub(crate) step: Option<usize>,

    /// Run exactly N rounds of each step, however long they take
    #[arg(long, value_name = "N", value_parser = |text: &str| units::parse_up_to(text, u32::MAX), help_heading = "Run")]
    pub(crate) rounds: Option<u32>,
    /// Time for all steps together; default: what the plan of each step gives it
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, conflicts_with = "rounds", help_heading = "Run")]
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
    check(options, study.steps.len())?;
    let html =
        files::page(options.page.html.as_ref().map(Name::path), &mut files::Taken::default())?;
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

/// Refuses a step that the study lacks, and creates the folder for records.
fn check(options: &StudyOptions, all: usize) -> Result<()> {
    if let Some(step) = options.step.filter(|step| !(1..=all).contains(step)) {
        return Err(Error::usage(format!("--step {step}: accepted is 1 to {all}")));
    }
    let Some(folder) = &options.records else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::io(format!("--records {}", folder.display()), e))
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
    let chosen = |number: &usize| options.step.is_none_or(|chosen| chosen == *number);
    let mut steps: VecDeque<_> = (1..).zip(&study.steps).filter(|(n, _)| chosen(n)).collect();
    let (began, mut done) = (Instant::now(), Vec::new());
    while let Some(share) = share(&steps, options, began) {
        let Some((number, part)) = steps.pop_front().filter(|_| !stop.is_set()) else { break };
        let (shown, ended) = carry_out(part, (number, share), name, options, stop);
        let claims = (number, report::study_claims(part, &shown.records));
        let measured = !shown.records.is_empty();
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
    let mut gaps = Vec::new();
    let spec = spec(part, (number, time), name, options, &mut gaps);
    let of_study = StudyPart { name: name.to_owned(), step: number };
    let measured =
        spec.map_err(Failure::from).and_then(|spec| measure::measured(spec, &of_study, stop));
    let (records, ended) = match measured {
        Ok(Measured { records, ended }) => (records, ended),
        Err(failure) => (Vec::new(), Err(failure)),
    };
    let ended = match ended.and_then(|outcomes| measure::check_complete(&outcomes)) {
        Err(Failure::Error(why)) if records.is_empty() => {
            gaps.push(format!("not measured: {why}"));
            Ok(())
        }
        Err(Failure::Error(why) | Failure::PartWay(why)) => {
            let some = if records.is_empty() { "" } else { "all " };
            gaps.push(format!("not {some}measured: {why}"));
            Err(Failure::PartWay(why))
        }
        ended => ended,
    };
    let shown = StudyStep { step: part, records, gaps };
    let detail = pages::Detail { all: options.talk.verbose, ..Default::default() };
    let page = output::page(&pages::study_step(&shown, detail));
    let printed = output::print(&format!("\n{page}")).map_err(Failure::from);
    (shown, printed.and(ended))
}

fn list() -> String {
    let line = |(name, study): &(&str, Study)| format!("{name:22}{}\n", study.title);
    studies::all_studies().iter().map(line).collect()
}

/// Returns what a step asks for, in the size that is wanted.
fn sized(step: &StudyCommand, options: &StudyOptions) -> Result<RunSpec> {
    let as_written = Options::new();
    step.spec(match (options.quick, options.full) {
        (true, _) => &step.quick,
        (_, true) => &step.full,
        _ => &as_written,
    })
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
        running.time = Some(format!("{}ms", time.as_millis()).parse()?);
    }
    if let Some(rounds) = options.rounds {
        running.rounds = vec![rounds.to_string().parse()?];
    }
    let record = |folder: &PathBuf| folder.join(format!("{name}-{number}.json"));
    let shown = spec.output_mut();
    shown.json = options.records.as_ref().map(record).map(Into::into);
    shown.talk = options.talk;
    Ok(spec)
}
