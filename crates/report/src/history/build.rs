//! Sorts records into groups, and each target's figures into lines.

use std::cmp::Reverse;

use checks::{HistoryPlace, Series, facts, history_changes};
use itertools::Itertools;
use model::{Case, DatasetSpec, Error, Plan, Result, did_you_mean, record::Record};

use super::{
    History, HistoryGroup, HistoryLine, HistoryPoint, HistoryRecord, HistoryStep, HistoryVerdict,
};
use crate::{
    NamedRecords,
    compare::unlike::{ASPECTS, conditions_of},
    environment_differences,
    experiment::experiment_report,
    words,
};

/// Returns the history of the files' records. `control` names the target whose time divides the others', by
/// its label; without it, that is the baseline of each record.
///
/// # Errors
///
/// Fails if there is no file, or no record has `control`.
pub fn history(mut files: Vec<NamedRecords>, control: Option<&str>) -> Result<History> {
    if files.is_empty() {
        return Err(Error::usage("there is no record in it"));
    }
    check_control(&files, control)?;
    files.sort_by_key(|file| (started(file), file.name.clone()));
    let all: Vec<_> = files
        .iter()
        .enumerate()
        .flat_map(|(file, of)| of.records.iter().map(move |record| (file, record)))
        .collect();
    let mut groups = Vec::new();
    for identity in all.iter().map(|(_, record)| Identity::new(record)).unique() {
        let own: Vec<_> =
            all.iter().copied().filter(|(_, record)| Identity::new(record) == identity).collect();
        groups.push(group(identity, &files, &own, control));
    }
    groups.sort_by_key(|group| Reverse(group.records.len()));
    Ok(History { groups })
}

fn started(file: &NamedRecords) -> u64 {
    file.records.first().map_or(0, |record| record.header.started)
}

/// Fails if no record has the control that was asked for.
fn check_control(files: &[NamedRecords], control: Option<&str>) -> Result<()> {
    let Some(wanted) = control else { return Ok(()) };
    let targets = files.iter().flat_map(|file| &file.records);
    let labels = targets.flat_map(|record| &record.header.plan.targets).map(|of| &of.label);
    if labels.clone().any(|label| is_called(label, wanted)) {
        return Ok(());
    }
    let near = did_you_mean(wanted, labels.clone().map(String::as_str));
    let labels = labels.unique().join(", ");
    let why = format!("--control {wanted:?}: not in any record{near} (accepted: {labels})");
    Err(Error::usage(why))
}

/// Reports whether a target is meant: by its label, or by its target string.
fn is_called(label: &str, wanted: &str) -> bool {
    label == wanted || wanted.strip_suffix(':') == Some(label)
}

/// What records must share to be compared.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Identity {
    /// The name of the machine, and its aspects.
    machine: Vec<String>,
    /// The data and the conditions.
    data: String,
}

/// The aspects of a machine that make it another one. Software may change; that is what a history shows.
const MACHINE: [&str; 7] = [
    "build of storemark",
    "system",
    "processor",
    "processors",
    "virtual machine",
    "file system",
    "disk",
];

impl Identity {
    fn new(record: &Record) -> Self {
        let (plan, environment) = (&record.header.plan, &record.header.environment);
        let aspects = ASPECTS.iter().filter(|(name, _)| MACHINE.contains(name));
        let aspects = aspects.map(|(_, value)| value(environment));
        Self {
            machine: environment.machine.iter().cloned().chain(aspects).collect(),
            data: format!("{}; {}", data(plan), conditions_of(plan).join("; ")),
        }
    }
}

/// Describes the machine of a record, with its name.
fn machine(record: &Record) -> String {
    let environment = &record.header.environment;
    let name = environment.machine.iter().cloned();
    name.chain([words::machine(environment)]).join(": ")
}

/// Describes the data of a plan. The user's own may grow from record to record.
fn data(plan: &Plan) -> String {
    match plan.experiment.blobs().map(|blobs| &blobs.dataset) {
        Some(DatasetSpec::Directory { path }) => path.clone(),
        Some(DatasetSpec::Targets) => "what the targets hold".to_owned(),
        _ => experiment_report(plan).data_for_comparison(),
    }
}

/// A line as it gets its points.
struct OpenLine<'a> {
    identity: [Option<String>; 5],
    line: HistoryLine,
    places: Vec<HistoryPlace<'a>>,
}

fn group(
    identity: Identity,
    files: &[NamedRecords],
    own: &[(usize, &Record)],
    control: Option<&str>,
) -> HistoryGroup {
    let of_group: Vec<usize> = own.iter().map(|(file, _)| *file).dedup().collect();
    let mut open: Vec<OpenLine<'_>> = Vec::new();
    for (file, record) in own {
        let number = of_group.iter().position(|of| of == file).unwrap_or(0);
        for place in places(record, control) {
            let Some(figure) = place.figure() else { continue };
            let one = open_line(&mut open, place);
            one.line.points.push(HistoryPoint { record: number, figure });
            one.places.push(place);
        }
    }
    judge(&mut open);
    let records = of_group.iter().map(|file| {
        let NamedRecords { name, .. } = &files[*file];
        HistoryRecord { file: name.clone(), started: started(&files[*file]) }
    });
    let lines = open.into_iter().map(|open| open.line).collect();
    let machine = own.last().map(|(_, record)| machine(record)).unwrap_or_default();
    HistoryGroup { machine, data: identity.data, records: records.collect(), lines }
}

/// Returns every target in every case of a record, with its control.
fn places<'a>(record: &'a Record, wanted: Option<&str>) -> Vec<HistoryPlace<'a>> {
    let plan = &record.header.plan;
    let named = |wanted| plan.targets.iter().position(|target| is_called(&target.label, wanted));
    let control = wanted.map_or(Some(plan.baseline), named).filter(|_| plan.targets.len() > 1);
    let of_case = |case: Case| {
        let has_times = |control: &usize| Series::new(record, case, *control).is_measured();
        let control = control.filter(has_times);
        (0..plan.targets.len()).map(move |target| {
            let control = control.filter(|control| *control != target);
            HistoryPlace { record, case, target, control }
        })
    };
    plan.cases().flat_map(of_case).collect()
}

/// Returns the line of a place, which its first point creates.
fn open_line<'s, 'a>(
    open: &'s mut Vec<OpenLine<'a>>,
    place: HistoryPlace<'a>,
) -> &'s mut OpenLine<'a> {
    let HistoryPlace { record, case, target, control } = place;
    let plan = &record.header.plan;
    let workload = &plan.workloads[case.workload];
    let same = |of: usize| words::target_as(&plan.targets[of], &plan.targets[of].label);
    let durability = facts(record, target).filter(|_| workload.work.writes());
    let identity = [
        Some(words::varied(record)),
        Some(format!("{}, {}", words::workload(workload), case.cache)),
        Some(same(target)),
        control.map(same),
        durability.map(|facts| facts.durability.to_string()),
    ];
    let at = open.iter().position(|line| line.identity == identity).unwrap_or_else(|| {
        let line = HistoryLine {
            point: words::varied(record),
            name: plan.workload_name(case.workload),
            cache: case.cache,
            target: words::label(plan, target).to_owned(),
            control: control.map(|control| words::label(plan, control).to_owned()),
            points: Vec::new(),
            verdict: HistoryVerdict::TooFewRecords,
            steps: Vec::new(),
            creep: None,
        };
        open.push(OpenLine { identity, line, places: Vec::new() });
        open.len() - 1
    });
    &mut open[at]
}

/// Judges all lines together. The control of others is not judged: what the machine does to it does not
/// cancel.
fn judge(open: &mut [OpenLine<'_>]) {
    let controls: Vec<_> = open.iter().filter_map(|open| open.line.control.clone()).collect();
    let is_control = |line: &HistoryLine| line.control.is_none() && controls.contains(&line.target);
    let figures = open.iter().map(|OpenLine { line, .. }| {
        let points = line.points.iter().filter(|_| !is_control(line));
        points.map(|point| point.figure.point).collect::<Vec<_>>()
    });
    let changes = history_changes(&figures.collect::<Vec<_>>());
    for (OpenLine { line, places, .. }, changes) in open.iter_mut().zip(changes) {
        let Some(changes) = changes else {
            if is_control(line) {
                line.verdict = HistoryVerdict::Control;
            }
            continue;
        };
        let step = |step: &stats::Step| {
            let environments =
                [step.at - 1, step.at].map(|at| &places[at].record.header.environment);
            let differs = environment_differences(&environments);
            HistoryStep {
                record: line.points[step.at].record,
                ratio: step.ratio,
                differs: differs.iter().map(ToString::to_string).collect(),
            }
        };
        line.steps = changes.steps.iter().map(step).collect();
        line.creep = changes.creep.map(|trend| trend.change);
        line.verdict = match (line.steps.as_slice(), line.creep) {
            (_, Some(_)) => HistoryVerdict::Creeps,
            ([], None) => HistoryVerdict::Steady,
            _ => HistoryVerdict::Steps,
        };
    }
}
