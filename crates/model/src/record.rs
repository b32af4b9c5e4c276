//! The record of a run: one JSON object a line, written as things happen, so that a run that
//! was cut short keeps what it measured. Statistics are never stored, always recomputed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Case, Environment, Finding, Plan, Requests, Sample, State, StoreFacts, Workload, spec::RunSpec,
};

/// Version of the format. Raised when a reader of the old one would go wrong.
pub const FORMAT: u32 = 3;

/// One line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "line")]
pub enum Line {
    /// Always the first.
    Header(Box<Header>),
    /// A store is ready to be measured.
    Store(StoreFacts),
    /// A workload of the plan, once it is known how many operations it has.
    Workload {
        /// Its place in the plan.
        index: usize,
        /// The workload in place of the planned one.
        workload: Workload,
    },
    /// A trial finished.
    Sample(Box<Sample>),
    /// What makes a figure doubtful.
    Finding(Finding),
    /// The run ended by itself or was stopped; absent when it was cut off.
    End(End),
}

/// First line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Seconds since 1970 when the run began.
    pub started: u64,
    /// Where it ran.
    pub environment: Environment,
    /// What was to run.
    pub plan: Plan,
    /// What the user asked for, all runs of a sweep, so that it can be asked for again; absent: not
    /// known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "RunSpec::serialize_given"
    )]
    pub spec: Option<RunSpec>,
    /// Which run of a sweep this is; absent: it is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

/// One of the runs of a sweep. They follow each other in a file, each a header with what
/// follows from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Its place, counted from 0.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// The options that vary, with their values here.
    pub varied: BTreeMap<String, String>,
}

impl Point {
    /// Whether this is the run after `other` in the same sweep.
    pub fn follows(&self, other: &Self) -> bool {
        (self.number, self.of) == (other.number + 1, other.of)
    }
}

/// Last line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// Why no further round was run.
    pub reason: Ended,
    /// Seconds from start to end.
    pub seconds: f64,
    /// All requests to services that charge for them, without the removal of the objects after it;
    /// absent: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Requests>,
}

/// Why a run ended.
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

/// A record as read or as it grows in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// First line.
    pub header: Header,
    /// Stores, in the order they became ready.
    pub stores: Vec<StoreFacts>,
    /// Trials, in the order they ran.
    pub samples: Vec<Sample>,
    /// What makes figures doubtful.
    pub findings: Vec<Finding>,
    /// Last line, if it was written.
    pub end: Option<End>,
    /// Whether the histograms of all samples of a case and target were put together and are with
    /// the first of them; the others have none.
    pub merged: bool,
}

impl Record {
    /// A record that has only begun.
    pub fn new(header: Header) -> Self {
        Self { header, stores: vec![], samples: vec![], findings: vec![], end: None, merged: false }
    }

    /// Takes up a line. A second header is ignored: a record has one.
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

    /// Whether a trial was in the cache state it is to be of; otherwise it gives no figure.
    pub fn in_state(&self, sample: &Sample) -> bool {
        let workload = self.header.plan.workloads.get(sample.workload);
        let reached = |workload: &Workload| sample.state(workload.work) == State::Reached;
        workload.is_some_and(reached) && self.header.plan.holds(sample)
    }

    /// Samples of one case on one target, in round order.
    pub fn samples_of(&self, case: Case, target: usize) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |s| {
            s.workload == case.workload && s.cache == case.cache && s.target == target
        })
    }
}
