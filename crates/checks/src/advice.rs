//! What a search for the store that suits some data found.

use std::time::Duration;

use model::{FindingKind, record::Record};
use stats::{BreakEven, Crossing, Estimate};

use crate::costs::Costs;

/// What was tried, and what came of it.
#[derive(Clone, Debug)]
pub struct Advice {
    /// Share of reads among the operations, 0 to 1.
    pub reads: f64,
    /// The folder or store of the user, as it was named; absent: values were generated.
    pub source: Option<String>,
    /// The time that was given for all of it.
    pub time: Duration,
    /// The label of what is there now, which may be left out.
    pub now: String,
    /// What can be taken: what is there now, then that which takes the least care.
    pub candidates: Vec<Candidate>,
    /// What was not tried.
    pub left_out: Vec<LeftOut>,
    /// Of engines that keep values by their size in two ways.
    pub thresholds: Vec<Threshold>,
    /// All candidates, on a sample of the values.
    pub race: Record,
    /// The last ones, on all that fit into the time.
    pub finals: Record,
    /// Their first reads from the device; absent: there was no time for them, or `finals` has them.
    pub cold: Option<Record>,
    /// Their whole life, on a few generated values; absent: there was no time for it.
    pub life: Option<Record>,
}

/// A store that may suit the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name in the records.
    pub label: String,
    /// The target string of a scratch store like it.
    pub target: String,
    /// What its settings trade; empty: that is not known.
    pub trades: String,
    /// How it keeps the durability class, and what a power cut leaves; empty: that is not known.
    pub durability: String,
    /// How the name of a new store ends; absent: a path does not name one.
    pub extension: Option<String>,
}

/// What was not tried, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub name: String,
    pub why: String,
}

/// Up to which size an engine keeps values in one way faster than in the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    pub engine: String,
    /// The setting that takes it.
    pub setting: String,
    /// The smallest and the largest size that were measured.
    pub sizes: [u64; 2],
    /// Of the time of a read in the way of small values over that in the way of large ones.
    pub found: BreakEven,
}

impl Threshold {
    /// Where the way of large values starts to be faster; absent: one way is at every size.
    pub fn crossing(&self) -> Option<&Crossing> {
        self.found.crossings.iter().find(|crossing| crossing.upwards)
    }
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It could not be measured, and why.
    Failed(String),
    /// Its cost in the race over that of the best.
    Dropped(Estimate),
    /// Its cost at the end over that of the best.
    Confirmed(Estimate),
}

impl Advice {
    /// What became of a candidate.
    pub fn fate(&self, candidate: &Candidate) -> Fate {
        let in_record = |record: &Record| {
            let ranked = Costs::new(record, self.reads).ranking().into_iter();
            let targets = &record.header.plan.targets;
            let mut own = ranked.filter(|one| targets[one.target].label == candidate.label);
            own.next().map(|ranked| ranked.ratio)
        };
        let raced = || in_record(&self.race).map(Fate::Dropped);
        let confirmed = in_record(&self.finals).map(Fate::Confirmed);
        confirmed.or_else(raced).unwrap_or_else(|| Fate::Failed(self.why(candidate)))
    }

    /// Why a candidate was not measured to the end.
    fn why(&self, candidate: &Candidate) -> String {
        let findings = self.finals.findings.iter().chain(&self.race.findings);
        let own = findings.filter(|one| one.target.as_ref() == Some(&candidate.label));
        let mut failed = own.filter_map(|finding| match &finding.kind {
            FindingKind::NotUsable { why } | FindingKind::TrialFailed { why } => Some(why.clone()),
            _ => None,
        });
        failed.next().unwrap_or_else(|| "there was no time for it".to_owned())
    }
}
