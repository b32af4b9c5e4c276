//! The record of a run: one JSON object a line, written as things happen, so that a run that
//! was cut short keeps what it measured. Statistics are never stored, always recomputed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Case, Environment, Finding, Operation, Plan, Sample, State, StoreFacts};

/// Version of the format. Raised when a reader of the old one would go wrong.
pub const FORMAT: u32 = 1;

/// One line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "line")]
pub enum Line {
    /// Always the first.
    Header(Box<Header>),
    /// A store is ready to be measured.
    Store(StoreFacts),
    /// A trial finished.
    Sample(Box<Sample>),
    /// A doubt.
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
}

/// Last line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// Why no further round was run.
    pub reason: Ended,
    /// Seconds from start to end.
    pub seconds: f64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Every interval was narrow enough.
    Precise,
    /// The time was spent.
    Time,
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
    /// Doubts.
    pub findings: Vec<Finding>,
    /// Last line, if it was written.
    pub end: Option<End>,
}

impl Record {
    /// A record that has only begun.
    pub fn new(header: Header) -> Self {
        Self { header, stores: vec![], samples: vec![], findings: vec![], end: None }
    }

    /// Takes up a line. A second header is ignored: a record has one.
    pub fn push(&mut self, line: Line) {
        match line {
            Line::Header(_) => {}
            Line::Store(facts) => self.stores.push(facts),
            Line::Sample(sample) => self.samples.push(*sample),
            Line::Finding(finding) => self.findings.push(finding),
            Line::End(end) => self.end = Some(end),
        }
    }

    /// Whether a trial was in the cache state it is to be of; otherwise it gives no figure.
    pub fn in_state(&self, sample: &Sample) -> bool {
        let workload = self.header.plan.workloads.get(sample.workload);
        let operation = workload.map_or(Operation::Read, |workload| workload.operation);
        sample.state(operation) == State::Reached && self.header.plan.holds(sample)
    }

    /// Samples of one case on one target, in round order.
    pub fn samples_of(&self, case: Case, target: usize) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |s| {
            s.workload == case.workload && s.cache == case.cache && s.target == target
        })
    }
}
