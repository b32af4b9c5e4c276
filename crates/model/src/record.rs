//! The record of a run: one JSON object a line, written as things happen, so that a run that was
//! cut short keeps what it measured. Statistics are never stored, always recomputed.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Case, Environment, Finding, Plan, Requests, Sample, State, StoreFacts, Workload};

/// The version of the format, raised when a reader of the old one would go wrong.
pub const FORMAT: u32 = 3;

/// A line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "line")]
pub enum Line {
    /// The header, which is always the first line.
    Header(Box<Header>),
    /// A store is ready to be measured.
    Store(StoreFacts),
    /// A workload of the plan, once it is known how many operations it has.
    Workload {
        /// The index of the workload in the plan.
        index: usize,
        /// The workload that replaces the planned one.
        workload: Workload,
    },
    /// A trial finished.
    Sample(Box<Sample>),
    /// A finding was made.
    Finding(Finding),
    /// The run ended by itself or was stopped; the line is missing if the process was killed.
    End(End),
}

/// The first line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The [`FORMAT`] of the writer.
    pub format: u32,
    /// The time at which the run started, in seconds since 1970.
    pub started: u64,
    /// The machine and the software of the run.
    pub environment: Environment,
    /// The plan of the run.
    pub plan: Plan,
    /// The options of the user, all runs of a sweep, so that they can be repeated; `None` if they
    /// are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<GivenOptions>,
    /// The place of the run in a sweep; `None` if it is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

impl Header {
    /// Returns the options that vary in a sweep, with their values in this run; empty if the run
    /// is not of a sweep.
    pub fn varied(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.point.as_ref().map_or(&NONE, |point| &point.varied)
    }
}

/// The options that a user gave to a subcommand. A record keeps them as they were written; only a
/// command that repeats them knows which options there are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GivenOptions {
    /// The subcommand.
    pub command: String,
    /// The options by their long names: text, a number, a switch or a list. The targets are under
    /// `targets`.
    #[serde(flatten)]
    pub options: Map<String, Value>,
}

impl GivenOptions {
    /// Returns the options with their values as people read them.
    pub fn texts(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let texts = |value: &Value| match value {
            Value::Bool(_) => String::new(),
            Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
            value => text(value),
        };
        self.options.iter().map(|(name, value)| (name.clone(), texts(value))).collect()
    }
}

/// The place of a run in a sweep. The runs follow each other in a file, each with its own header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The number of the run, counted from 0.
    pub number: usize,
    /// The number of runs.
    pub of: usize,
    /// The options that vary, with their values in this run.
    pub varied: BTreeMap<String, String>,
}

impl Point {
    /// Returns whether this is the run after `other` in the same sweep.
    pub fn follows(&self, other: &Self) -> bool {
        (self.number, self.of) == (other.number + 1, other.of)
    }
}

/// The last line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// The reason why there is no further round.
    pub reason: Ended,
    /// The seconds from start to end.
    pub seconds: f64,
    /// All requests to services that charge for them, without the removal of the objects
    /// afterwards; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Requests>,
}

/// The reason why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Every verdict was settled, or its interval narrow enough.
    Precise,
    /// The time was spent.
    Time,
    /// The requests that it may send, or their cost, were spent.
    Requests,
    /// The number of rounds asked for was run.
    Rounds,
    /// The user stopped it.
    Interrupted,
    /// It failed; the sentence says how.
    Failed(String),
}

/// A record as it is read, or as it grows in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The first line.
    pub header: Header,
    /// The stores, in the order in which they became ready.
    pub stores: Vec<StoreFacts>,
    /// The trials, in the order in which they ran.
    pub samples: Vec<Sample>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The last line; `None` if it was not written.
    pub end: Option<End>,
    /// The number of records that it was merged from, each of which is a run; 1 for a record alone.
    pub records: u32,
    /// Whether the histograms of all samples of a case and target were added up into the first of
    /// them; the others have none.
    pub merged: bool,
}

impl Record {
    /// Creates a record that has only a header.
    pub fn new(header: Header) -> Self {
        let (stores, samples, findings) = Default::default();
        Self { header, stores, samples, findings, end: None, records: 1, merged: false }
    }

    /// Adds a line. A second header is ignored: a record has one.
    pub fn push(&mut self, line: Line) {
        match line {
            Line::Header(_) => {}
            Line::Store(facts) => self.stores.push(facts),
            Line::Workload { index, workload } => {
                if let Some(planned) = self.header.plan.workloads.get_mut(index) {
                    *planned = workload;
                }
            }
            Line::Sample(sample) => self.samples.push(*sample),
            Line::Finding(finding) => self.findings.push(finding),
            Line::End(end) => self.end = Some(end),
        }
    }

    /// Returns the number of runs that have a trial.
    pub fn runs(&self) -> u32 {
        let runs: BTreeSet<_> = self.samples.iter().map(|sample| sample.run).collect();
        u32::try_from(runs.len()).unwrap_or(u32::MAX)
    }

    /// Returns whether a trial was in its cache state; otherwise it gives no figure.
    pub fn in_state(&self, sample: &Sample) -> bool {
        let workload = self.header.plan.workloads.get(sample.workload);
        let reached = |workload: &Workload| sample.state(workload.work) == State::Reached;
        workload.is_some_and(reached) && self.header.plan.holds(sample)
    }

    /// Returns the samples of one case on one target, in round order.
    pub fn samples_of(&self, case: Case, target: usize) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |s| {
            s.workload == case.workload && s.cache == case.cache && s.target == target
        })
    }
}
