//! What a page shows: one machine's records, or several machines' records of the same plan.

use itertools::Itertools;
use model::{Case, Environment, Error, Plan, Result, record::Record};

use crate::{
    Figures, MergedFinding, StudyStep, all_findings, figures,
    figures::{cases, unlike::record_difference},
    words,
};

/// Records of one plan, those of a sweep one after the other.
pub struct Machine<'a> {
    /// The file that they are in; absent: they were just measured.
    pub file: Option<String>,
    /// At least one.
    pub records: &'a [Record],
}

/// A machine's records and what is computed of them once.
pub(super) struct Side<'a> {
    /// Distinguishes the machine from the others.
    pub(super) name: String,
    /// The file of its records.
    pub(super) file: Option<String>,
    pub(super) records: &'a [Record],
    /// Of each record.
    figures: Vec<Vec<Figures>>,
    /// Findings about all of them.
    pub(super) findings: Vec<MergedFinding>,
    /// Whether the page shows no other machine.
    alone: bool,
}

/// A part of the page: one plan, on one or more machines.
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

impl<'a> Part<'a> {
    pub(super) fn new(machines: &[Machine<'a>], step: Option<&'a StudyStep<'a>>) -> Self {
        let sides = machines.iter().zip(names(machines)).map(|(machine, name)| {
            let (file, records) = (machine.file.clone(), machine.records);
            let figures: Vec<_> = records.iter().map(figures).collect();
            let findings = all_findings(records, &figures);
            Side { name, file, records, figures, findings, alone: machines.len() == 1 }
        });
        Self { step, sides: sides.collect() }
    }

    /// The first run, whose plan is that of all.
    pub(super) fn first(&self) -> Run<'_> {
        let side = &self.sides[0];
        Run { side, record: &side.records[0], figures: &side.figures[0] }
    }

    pub(super) fn plan(&self) -> &'a Plan {
        &self.sides[0].records[0].header.plan
    }

    /// The label of the baseline.
    pub(super) fn baseline(&self) -> &'a str {
        let plan = self.plan();
        plan.targets.get(plan.baseline).map_or("", |target| &target.label)
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        self.sides.iter().flat_map(Side::runs)
    }

    /// Whether its runs differ in what an option gives several values for.
    pub(super) fn is_sweep(&self) -> bool {
        self.first().record.header.point.is_some()
    }

    /// Whether they differ in this option.
    pub(super) fn varies(&self, option: &str) -> bool {
        words::values(self.first().record).contains_key(option)
    }

    /// What each machine has, each once and in its order, after the names of the machines that have it:
    /// `attic: `, or nothing if all have.
    pub(super) fn each_once<T: PartialEq>(
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

    /// Whether there is nothing to compare.
    pub(super) fn is_alone(&self) -> bool {
        self.plan().targets.len() == 1
    }
}

impl<'a> Side<'a> {
    pub(super) fn runs(&'a self) -> impl Iterator<Item = Run<'a>> {
        let runs = self.records.iter().zip(&self.figures);
        runs.map(|(record, figures)| Run { side: self, record, figures })
    }

    /// The figures of each run.
    pub(super) fn figures(&self) -> &[Vec<Figures>] {
        &self.figures
    }

    /// `what`, and on which machine if there are several.
    pub(super) fn on(&self, what: impl Into<String>) -> String {
        let what = what.into();
        match (self.alone, what.is_empty()) {
            (true, _) => what,
            (false, true) => self.name.clone(),
            (false, false) => format!("{what} · {}", self.name),
        }
    }
}

impl<'a> Run<'a> {
    /// The rows of one case.
    pub(super) fn rows(self, case: Case) -> &'a [Figures] {
        cases(self.figures).find(|rows| rows[0].case == case).unwrap_or_default()
    }

    pub(super) fn label(self, target: usize) -> &'a str {
        self.record.header.plan.targets.get(target).map_or("", |target| &target.label)
    }

    /// `what`, and on which machine if there are several.
    pub(super) fn on(self, what: impl Into<String>) -> String {
        self.side.on(what)
    }

    /// `read, warm`; of rows and tasks, which have one cache state, `insert`.
    pub(super) fn case(self, case: Case) -> String {
        words::case(&self.record.header.plan, case)
    }

    /// A case, and what varies in this run: `read, warm, size=4k`.
    pub(super) fn place(self, case: Case) -> String {
        [self.case(case), self.varied()].iter().filter(|words| !words.is_empty()).join(", ")
    }

    /// `size=4k threads=2`: the values of a sweep.
    pub(super) fn varied(self) -> String {
        words::varied(self.record)
    }
}

/// Returns an error if the records are not of the same runs: side by side they would show nothing.
pub(super) fn check_same_plan(machines: &[Machine<'_>]) -> Result<()> {
    let Some((first, others)) = machines.split_first() else {
        return Err(Error::usage("a page shows one record at least"));
    };
    for other in others {
        if let Some(difference) = record_difference(first.records, other.records) {
            let [first, other] = [first, other].map(|of| of.file.as_deref().unwrap_or_default());
            return Err(Error::usage(format!(
                "{first} and {other} are of different plans, which one page cannot compare: \
                 {difference}"
            )));
        }
    }
    Ok(())
}

/// Their own names, or those of their processors; numbered if several have the same.
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
