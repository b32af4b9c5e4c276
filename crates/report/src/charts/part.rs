//! The content of a page: one machine's records, or several machines' records of the same plan.

use checks::{Figures, MergedFinding, all_findings, cases, figures};
use itertools::Itertools;
use model::{Case, CrashedStore, Environment, Plan, record::Record};
use spec::study::StudyCommand;

use crate::words;

/// A machine's records of one plan; those of a sweep follow each other.
pub struct Machine<'a> {
    /// The file that they are in; `None` if they were just measured.
    pub file: Option<String>,
    /// The records, at least one.
    pub records: &'a [Record],
}

/// The result of a step of a study.
pub struct StudyStep<'a> {
    /// The step.
    pub step: &'a StudyCommand,
    /// Its records; empty if it could not run, or cut the power.
    pub records: Vec<Record>,
    /// The stores under which it cut the power.
    pub crashed: Vec<CrashedStore>,
    /// The reasons why something was not measured, a sentence each.
    pub gaps: Vec<String>,
}

impl StudyStep<'_> {
    /// Returns whether there is any result.
    pub fn is_measured(&self) -> bool {
        !self.records.is_empty() || !self.crashed.is_empty()
    }
}

/// A machine's records and what is computed from them once.
pub(crate) struct Side<'a> {
    /// The name that distinguishes the machine from the others.
    pub(crate) name: String,
    /// The file of its records.
    pub(crate) file: Option<String>,
    pub(crate) records: &'a [Record],
    /// The figures of each record.
    figures: Vec<Vec<Figures>>,
    /// Findings about all of them.
    pub(crate) findings: Vec<MergedFinding>,
    /// Whether the page shows no other machine.
    alone: bool,
}

/// A part of the page: one plan, on one or more machines.
pub(crate) struct Part<'a> {
    /// The step of the study that the part shows, if it is one.
    pub(crate) step: Option<&'a StudyStep<'a>>,
    /// The machines, at least one.
    pub(crate) sides: Vec<Side<'a>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) side: &'a Side<'a>,
    pub(crate) record: &'a Record,
    pub(crate) figures: &'a [Figures],
}

impl<'a> Part<'a> {
    pub(crate) fn new(machines: &[Machine<'a>], step: Option<&'a StudyStep<'a>>) -> Self {
        let sides = machines.iter().zip(names(machines)).map(|(machine, name)| {
            let (file, records) = (machine.file.clone(), machine.records);
            let figures: Vec<_> = records.iter().map(figures).collect();
            let findings = all_findings(records, &figures);
            Side { name, file, records, figures, findings, alone: machines.len() == 1 }
        });
        Self { step, sides: sides.collect() }
    }

    /// Returns the first run, whose plan all runs share.
    pub(crate) fn first(&self) -> Run<'_> {
        let side = &self.sides[0];
        Run { side, record: &side.records[0], figures: &side.figures[0] }
    }

    pub(crate) fn plan(&self) -> &'a Plan {
        &self.sides[0].records[0].header.plan
    }

    pub(crate) fn baseline(&self) -> &'a str {
        let plan = self.plan();
        plan.targets.get(plan.baseline).map_or("", |target| &target.label)
    }

    pub(crate) fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        self.sides.iter().flat_map(Side::runs)
    }

    /// Reports whether the runs differ in the value of an option.
    pub(crate) fn is_sweep(&self) -> bool {
        self.first().record.header.point.is_some()
    }

    /// Reports whether the runs differ in this option.
    pub(crate) fn varies(&self, option: &str) -> bool {
        self.first().record.header.varied().contains_key(option)
    }

    /// Merges what each machine has, in its order, and prefixes each item with the names of the
    /// machines that have it: `attic: `, or nothing if all have it.
    pub(crate) fn each_once<T: PartialEq>(
        &self,
        all: impl Iterator<Item = Vec<T>>,
    ) -> Vec<(String, T)> {
        let mut found: Vec<(Vec<&str>, T)> = Vec::new();
        for (side, items) in self.sides.iter().zip(all) {
            for item in items {
                match found.iter_mut().find(|(_, known)| *known == item) {
                    Some((on, _)) => on.push(&side.name),
                    None => found.push((vec![&side.name], item)),
                }
            }
        }
        let all = self.sides.len();
        let named = |on: &[&str]| {
            if on.len() == all { String::new() } else { format!("{}: ", on.join(", ")) }
        };
        found.into_iter().map(|(on, item)| (named(&on), item)).collect()
    }

    /// Reports whether there is only one target, and so nothing to compare.
    pub(crate) fn is_alone(&self) -> bool {
        self.plan().targets.len() == 1
    }
}

impl<'a> Side<'a> {
    pub(crate) fn runs(&'a self) -> impl Iterator<Item = Run<'a>> {
        let runs = self.records.iter().zip(&self.figures);
        runs.map(|(record, figures)| Run { side: self, record, figures })
    }

    pub(crate) fn figures(&self) -> &[Vec<Figures>] {
        &self.figures
    }

    /// Appends the machine's name to `what` if there are several machines.
    pub(crate) fn on(&self, what: impl Into<String>) -> String {
        let what = what.into();
        match (self.alone, what.is_empty()) {
            (true, _) => what,
            (false, true) => self.name.clone(),
            (false, false) => format!("{what} · {}", self.name),
        }
    }
}

impl<'a> Run<'a> {
    pub(crate) fn rows(self, case: Case) -> &'a [Figures] {
        cases(self.figures).find(|rows| rows[0].case == case).unwrap_or_default()
    }

    pub(crate) fn label(self, target: usize) -> &'a str {
        self.record.header.plan.targets.get(target).map_or("", |target| &target.label)
    }

    /// Appends the machine's name to `what` if there are several machines.
    pub(crate) fn on(self, what: impl Into<String>) -> String {
        self.side.on(what)
    }

    /// Returns a case in words: `read, warm`; for rows and tasks, which have one cache state,
    /// `insert`.
    pub(crate) fn case(self, case: Case) -> String {
        self.record.header.plan.case_name(case)
    }

    /// Returns a case and what varies in this run: `read, warm, size=4k`.
    pub(crate) fn case_and_values(self, case: Case) -> String {
        [self.case(case), self.varied()].iter().filter(|words| !words.is_empty()).join(", ")
    }

    /// Returns the values of a sweep: `size=4k threads=2`.
    pub(crate) fn varied(self) -> String {
        words::varied(self.record)
    }
}

/// Returns the machines' own names, or those of their processors; numbered if several have the
/// same.
fn names(machines: &[Machine<'_>]) -> Vec<String> {
    let name = |machine: &Machine<'_>| {
        let Environment { machine, cpu, os, .. } = &machine.records[0].header.environment;
        machine.as_ref().or(cpu.model.as_ref()).unwrap_or(os).clone()
    };
    let all: Vec<String> = machines.iter().map(name).collect();
    let count = |name: &String, some: &[String]| some.iter().filter(|other| *other == name).count();
    let numbered = |(place, name)| match count(name, &all) {
        1 => name.clone(),
        _ => format!("{name} ({})", count(name, &all[..=place])),
    };
    all.iter().enumerate().map(numbered).collect()
}
