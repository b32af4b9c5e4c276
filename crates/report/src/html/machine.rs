//! What is shown: one machine's records or several machines', which were made by the same plan.

use std::collections::BTreeMap;

use model::{Case, Error, Experiment, Result, record::Record};

use crate::{
    Figures, Remark, StudyStep, figures, plan_differences, remarks_of_all, terminal::times,
};

/// Records of one plan, a sweep's one after the other.
pub struct Machine<'a> {
    /// The file that they stand in; absent: they were just measured.
    pub file: Option<String>,
    /// At least one.
    pub records: &'a [Record],
}

/// A machine's records with what is computed of them once.
pub(super) struct Side<'a> {
    /// What tells the machine from the others.
    pub(super) name: String,
    /// The file of its records.
    pub(super) file: Option<String>,
    records: &'a [Record],
    /// Of each record.
    figures: Vec<Vec<Figures>>,
    /// Doubts about all of them.
    pub(super) remarks: Vec<Remark>,
}

/// A part of the page: one plan, on as many machines as there are.
pub(super) struct Part<'a> {
    /// The step of a study that it is.
    pub(super) step: Option<&'a StudyStep<'a>>,
    /// At least one.
    pub(super) sides: Vec<Side<'a>>,
}

/// One run on one machine.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) side: &'a Side<'a>,
    pub(super) record: &'a Record,
    pub(super) figures: &'a [Figures],
}

/// What a part measured, which decides about its charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    Run,
    Sweep,
    Rows,
    Queue,
    Age,
}

impl<'a> Part<'a> {
    pub(super) fn new(machines: &[Machine<'a>], step: Option<&'a StudyStep<'a>>) -> Self {
        let names = names(machines);
        let sides = machines.iter().zip(names).map(|(machine, name)| {
            let figures: Vec<_> = machine.records.iter().map(figures).collect();
            let remarks = remarks_of_all(machine.records, &figures);
            Side { name, file: machine.file.clone(), records: machine.records, figures, remarks }
        });
        Self { step, sides: sides.collect() }
    }

    /// The first record, which stands for the plan of all.
    pub(super) fn first(&self) -> &'a Record {
        &self.sides[0].records()[0]
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        self.sides.iter().flat_map(Side::runs)
    }

    pub(super) fn job(&self) -> Job {
        let first = self.first();
        match first.header.plan.experiment {
            Experiment::Rows { .. } => Job::Rows,
            Experiment::Tasks { .. } => Job::Queue,
            Experiment::Ageing { .. } => Job::Age,
            Experiment::Blobs { .. } if first.header.point().is_some() => Job::Sweep,
            Experiment::Blobs { .. } => Job::Run,
        }
    }

    /// `what`, and on which machine where there are several.
    pub(super) fn on(&self, what: impl Into<String>, side: &Side<'_>) -> String {
        let what = what.into();
        match (self.sides.len(), what.is_empty()) {
            (1, _) => what,
            (_, true) => side.name.clone(),
            _ => format!("{what} · {}", side.name),
        }
    }
}

impl<'a> Side<'a> {
    pub(super) fn records(&self) -> &'a [Record] {
        self.records
    }

    pub(super) fn runs(&'a self) -> impl Iterator<Item = Run<'a>> {
        let runs = self.records.iter().zip(&self.figures);
        runs.map(|(record, figures)| Run { side: self, record, figures })
    }
}

impl<'a> Run<'a> {
    /// The rows of each case.
    pub(super) fn cases(self) -> impl Iterator<Item = &'a [Figures]> {
        self.figures.chunk_by(|one, next| one.case == next.case)
    }

    pub(super) fn label(self, target: usize) -> &'a str {
        self.record.header.plan.targets.get(target).map_or("", |target| &target.label)
    }

    /// The label of the baseline.
    pub(super) fn baseline(self) -> &'a str {
        self.label(self.record.header.plan.baseline)
    }

    /// `read, warm`; of rows, queues and ageing, whose states are no choice, `insert`.
    pub(super) fn case(self, case: Case) -> String {
        let plan = &self.record.header.plan;
        let name = times::name(plan, case.workload);
        let rows = plan.experiment.summary().is_none();
        if rows { name } else { format!("{name}, {}", case.cache) }
    }
}

/// An error where the records are not of the same runs: side by side they would say nothing.
pub(super) fn alike(machines: &[Machine<'_>]) -> Result<()> {
    let Some((first, others)) = machines.split_first() else {
        return Err(Error::usage("a page shows one record at least"));
    };
    for other in others {
        if let Some(difference) = difference(first.records, other.records) {
            let file = |machine: &Machine<'_>| machine.file.clone().unwrap_or_default();
            return Err(Error::usage(format!(
                "{} and {} are of different plans, which one page cannot compare: {difference}",
                file(first),
                file(other)
            )));
        }
    }
    Ok(())
}

fn difference(one: &[Record], other: &[Record]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("runs: {} against {}", one.len(), other.len()));
    }
    let varied = |record: &Record| record.header.point().map(|point| point.varied.clone());
    one.iter().zip(other).find_map(|(one, other)| {
        let differ = plan_differences(&[&one.header.plan, &other.header.plan]);
        let told: Vec<_> = differ.iter().map(ToString::to_string).collect();
        let elsewhere = varied(one) != varied(other);
        let told = if elsewhere && told.is_empty() { vec!["what varies".to_owned()] } else { told };
        (!told.is_empty()).then(|| told.join("; "))
    })
}

/// Their processors, numbered where several have the same.
fn names(machines: &[Machine<'_>]) -> Vec<String> {
    let named = |machine: &Machine<'_>| {
        let environment = &machine.records[0].header.environment;
        environment.cpu.model.clone().unwrap_or_else(|| environment.os.clone())
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in machines.iter().map(named) {
        *counts.entry(name).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let numbered = |machine: &Machine<'_>| {
        let name = named(machine);
        let number = seen.entry(name.clone()).or_default();
        *number += 1;
        if counts[&name] > 1 { format!("{name} ({number})") } else { name }
    };
    machines.iter().map(numbered).collect()
}
