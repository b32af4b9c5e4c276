//! The result of a search for the store that suits some data.

use std::time::Duration;

use model::record::Record;
use stats::{BreakEven, Crossing, Estimate};

use crate::costs::Costs;

/// The result of a search: what was tried, and how it compared.
#[derive(Clone, Debug)]
pub struct Advice {
    /// Share of reads among the operations, 0 to 1.
    pub reads: f64,
    /// The folder or store of the user, as it was named; `None` if values were generated.
    pub source: Option<String>,
    /// The time that was given for the whole search.
    pub time: Duration,
    /// The label of the user's present store, which may be left out of the records.
    pub now: String,
    /// The stores that can be taken: the present one, then the others, the simplest first.
    pub candidates: Vec<Candidate>,
    /// The stores that were not tried.
    pub left_out: Vec<LeftOut>,
    /// The thresholds of engines that store values in two ways, by their size.
    pub thresholds: Vec<Threshold>,
    /// The record of all candidates, on a sample of the values.
    pub race: Record,
    /// The record of the last candidates, on as many values as fitted into the time.
    pub finals: Record,
    /// The record of their first reads from the device; `None` if there was no time for it, or
    /// `finals` has them.
    pub cold: Option<Record>,
    /// The record of their whole life, on a few generated values; `None` if there was no time for
    /// it.
    pub life: Option<Record>,
    /// What the settings do that decide how readers and writers share the best store; `None` if no
    /// roles were given.
    pub sharing: Option<Sharing>,
}

/// Settings that were measured one by one, next to the same store without each.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// The records; `None` if a run could not be made or had no time.
    pub records: Vec<Option<Record>>,
    /// The settings, each with its place in the records.
    pub settings: Vec<SharingSetting>,
}

/// A setting that decides what readers and writers cost each other, in two ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharingSetting {
    /// The label of the store.
    pub store: String,
    /// The two ways, the one of the recommended store first.
    pub ways: [SharingWay; 2],
    /// The trade-off of the second; empty if it has none.
    pub trades: String,
}

/// A way of a setting, and where it was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharingWay {
    /// The way in words: `journal=delete`.
    pub name: String,
    /// The index of the record.
    pub record: usize,
    /// The index of the target in its plan.
    pub target: usize,
}

/// A store that may suit the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name in the records.
    pub label: String,
    /// The target string of a scratch store like it.
    pub target: String,
    /// The trade-off of its settings; empty if it is not known.
    pub trades: String,
    /// How it provides the durability class, and what a power cut leaves; empty if that is not
    /// known.
    pub durability: String,
    /// The command that cuts the power under such a store, by simulation; `None` if none can.
    pub power_cut: Option<String>,
    /// The extension of a new store's name; `None` if a path does not name one.
    pub extension: Option<String>,
}

/// A store that was not tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// The size up to which an engine reads values faster inline than from a place of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// Name of the engine.
    pub engine: String,
    /// The setting that takes the size.
    pub setting: String,
    /// The smallest and the largest size that were measured.
    pub sizes: [u64; 2],
    /// The break-even of the read time inline divided by the read time in a place of its own.
    pub found: BreakEven,
}

impl Threshold {
    /// Returns the size from which values in a place of their own are faster; `None` if one way is
    /// faster at every size.
    pub fn crossing(&self) -> Option<&Crossing> {
        self.found.crossings.iter().find(|crossing| crossing.upwards)
    }
}

/// The outcome of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It could not be measured, for this reason.
    Failed(String),
    /// There was no time for it.
    OutOfTime,
    /// It was dropped in the race, with this cost divided by that of the best.
    Dropped(Estimate),
    /// It was compared to the end, with this cost divided by that of the best.
    Confirmed(Estimate),
}

impl Advice {
    /// Returns the outcome of a candidate.
    pub fn outcome(&self, candidate: &Candidate) -> Outcome {
        let in_record = |record: &Record| {
            let ranked = Costs::new(record, self.reads).ranking().into_iter();
            let targets = &record.header.plan.targets;
            let mut own = ranked.filter(|one| targets[one.target].label == candidate.label);
            own.next().map(|ranked| ranked.ratio)
        };
        let raced = || in_record(&self.race).map(Outcome::Dropped);
        let confirmed = in_record(&self.finals).map(Outcome::Confirmed);
        let failed = || self.failure(candidate).map(Outcome::Failed);
        confirmed.or_else(raced).or_else(failed).unwrap_or(Outcome::OutOfTime)
    }

    /// Returns why a candidate could not be measured to the end; `None` if nothing but time was missing.
    fn failure(&self, candidate: &Candidate) -> Option<String> {
        let findings = self.finals.findings.iter().chain(&self.race.findings);
        let mut own = findings.filter(|one| one.target.as_ref() == Some(&candidate.label));
        own.find_map(|finding| finding.kind.why_not_measured()).map(str::to_owned)
    }
}
