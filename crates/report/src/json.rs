//! Estimates and verdicts as JSON, for programs: `docs/report.schema.json`, `docs/compare.schema.json` and
//! `docs/history.schema.json` describe it.

use std::collections::BTreeMap;

use checks::{
    Change, Figures, RequestFigures, StoreFigures, all_findings, figures, requests, stores,
};
use model::{
    Cache, Environment, Plan, Severity,
    record::{Ended, Record},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Answer, ComparedCase, ComparedFinding, Comparison, History, HistoryGroup, Unlike, answer,
    compare, words,
};

/// The version of both forms. It is raised if a reader of the old one would go wrong.
const FORM: u32 = 1;

/// The output of `storemark report --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportData {
    /// Version of this form.
    form: u32,
    /// The answer in sentences.
    answer: Answer,
    /// The runs, in their order: one, or those of a sweep.
    runs: Vec<ReportRun>,
}

/// A run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
struct ReportRun {
    /// The options that vary in a sweep, with their values here; empty if the run is not of a
    /// sweep.
    point: BTreeMap<String, String>,
    /// Seconds since 1970 when it began.
    started: u64,
    /// The reason of its end; null if it was cut off.
    ended: Option<Ended>,
    /// The machine and its software.
    environment: Environment,
    /// The plan.
    plan: Plan,
    /// Every target in every case.
    rows: Vec<ReportRow>,
    /// The space, the times and the settings of each store.
    stores: Vec<Store>,
    /// Requests to services that charge for them: those of each target's passes, and those of the
    /// whole run; empty if there were none.
    requests: Vec<SentRequests>,
    /// Findings, the worst first.
    findings: Vec<Finding>,
}

/// The requests of a part of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct SentRequests {
    /// The target's label; absent for the whole run, without the removal of the objects at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The name of the workload of its passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    figures: RequestFigures,
}

/// A target in a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
struct ReportRow {
    /// Index of the workload in the plan.
    workload: usize,
    /// Its name.
    name: String,
    /// The work in words.
    about: String,
    /// The cache state.
    #[schemars(with = "String")]
    cache: Cache,
    /// The target's label.
    target: String,
    #[serde(flatten)]
    figures: Figures,
}

/// A store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Store {
    /// The target's label.
    target: String,
    #[serde(flatten)]
    figures: StoreFigures,
}

/// A finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Finding {
    /// How much it weighs.
    weight: Severity,
    /// The finding, with the targets and cases that it is about.
    text: String,
}

impl ReportData {
    /// Computes the data of a report from the records of a run, or of the runs of a sweep.
    pub fn new(records: &[Record]) -> Self {
        let figures: Vec<_> = records.iter().map(figures).collect();
        let answer = answer(records, &figures, &all_findings(records, &figures));
        let runs = records.iter().zip(figures).map(|(record, figures)| run(record, figures));
        Self { form: FORM, answer, runs: runs.collect() }
    }
}

fn run(record: &Record, figures: Vec<Figures>) -> ReportRun {
    let plan = &record.header.plan;
    let findings = all_findings(std::slice::from_ref(record), std::slice::from_ref(&figures));
    let findings = findings.into_iter().map(|merged| Finding {
        weight: merged.kind.severity(),
        text: words::finding(plan, &merged),
    });
    let label = |target: usize| words::label(plan, target).to_owned();
    let row = |row: Figures| ReportRow {
        workload: row.case.workload,
        name: plan.workload_name(row.case.workload),
        about: plan.workloads.get(row.case.workload).map(words::workload).unwrap_or_default(),
        cache: row.case.cache,
        target: label(row.target),
        figures: row,
    };
    let sent = |sent: RequestFigures| SentRequests {
        target: sent.passes.map(|(_, target)| label(target)),
        name: sent.passes.map(|(workload, _)| plan.workload_name(workload)),
        figures: sent,
    };
    let store = |store: StoreFigures| Store { target: label(store.target), figures: store };
    ReportRun {
        point: record.header.point.as_ref().map(|point| point.varied.clone()).unwrap_or_default(),
        started: record.header.started,
        ended: record.end.as_ref().map(|end| end.reason.clone()),
        environment: record.header.environment.clone(),
        plan: plan.clone(),
        findings: findings.collect(),
        requests: requests(record).into_iter().map(sent).collect(),
        stores: stores(record).into_iter().map(store).collect(),
        rows: figures.into_iter().map(row).collect(),
    }
}

/// The output of `storemark compare --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparisonData<'a> {
    /// Version of this form.
    form: u32,
    /// How many rows are worse, better and so on, in a sentence.
    answer: String,
    /// The target whose time divides the others'; null if there is no other target.
    control: Option<&'a str>,
    /// Every target in every case that both records have.
    rows: Vec<ComparedRow<'a>>,
    /// Targets, cases and runs that only the old record has.
    only_old: &'a [String],
    /// Targets, cases and runs that only the new record has.
    only_new: &'a [String],
    /// Differences between the machines, in the order old, new.
    environments: &'a [Unlike],
    /// Differences between the plans.
    plans: &'a [Unlike],
    /// Findings, the worst first.
    findings: &'a [ComparedFinding],
}

/// A target in a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
struct ComparedRow<'a> {
    #[serde(flatten)]
    case: &'a ComparedCase,
    #[serde(flatten)]
    change: &'a Change,
}

/// The output of `storemark compare --history --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HistoryData<'a> {
    /// Version of this form.
    form: u32,
    /// How many lines have steps, creep and so on, in a sentence.
    answer: String,
    /// Records that are compared with each other; those of other machines, data and conditions are in
    /// groups of their own.
    groups: &'a [HistoryGroup],
}

impl<'a> HistoryData<'a> {
    /// Returns the data of a history.
    pub fn new(history: &'a History) -> Self {
        Self { form: FORM, answer: crate::history::counts(history), groups: &history.groups }
    }
}

impl<'a> ComparisonData<'a> {
    /// Computes the data of a comparison.
    pub fn new(comparison: &'a Comparison) -> Self {
        let Comparison {
            control, only: [only_old, only_new], environments, plans, findings, ..
        } = comparison;
        let control = control.as_deref();
        let rows = comparison.changes().map(|(case, change)| ComparedRow { case, change });
        Self {
            form: FORM,
            answer: compare::tables::counts(comparison),
            control,
            rows: rows.collect(),
            only_old,
            only_new,
            environments,
            plans,
            findings,
        }
    }
}
