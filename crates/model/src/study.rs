//! A published experiment as data: what it measured, what was published, and what of its set-up is
//! not as it is here. Each stands in a file of its own, in `studies/`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Cache, Operation};

/// A published experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Study {
    /// What it was published as.
    pub title: String,
    /// Where it stands.
    pub source: String,
    /// When, on which machine and with which versions.
    pub published_on: String,
    /// What is not as it was published, and why; a sentence each.
    pub differs: Vec<String>,
    /// Its parts, in the order in which they run.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// A run of one command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What it asks.
    pub title: String,
    /// The command that runs it.
    pub command: Job,
    /// Its options by their long names, as in a plan file.
    pub options: Options,
    /// What is other in a quick run.
    #[serde(default)]
    pub quick: Options,
    /// What is other in a full one, which is as large as what was published.
    #[serde(default)]
    pub full: Options,
    /// What was published.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// Options of a command by their long names.
pub type Options = BTreeMap<String, Value>;

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Of a switch.
    Switch(bool),
    /// A number.
    Number(i64),
    /// A word.
    Text(String),
    /// Several.
    List(Vec<Value>),
}

/// How large a step is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// In a few minutes for the whole study.
    Quick,
    /// As it stands.
    Default,
    /// As large as what was published.
    Full,
}

impl Step {
    /// The options of a run of this size.
    pub fn options(&self, size: Size) -> Options {
        let over = match size {
            Size::Quick => Some(&self.quick),
            Size::Default => None,
            Size::Full => Some(&self.full),
        };
        let mut options = self.options.clone();
        options
            .extend(over.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
        options
    }
}

impl Value {
    /// Its words as they stand on a command line; a switch has none, `None`: it is off.
    pub fn words(&self) -> Option<Vec<String>> {
        match self {
            Self::Switch(on) => on.then(Vec::new),
            Self::Number(number) => Some(vec![number.to_string()]),
            Self::Text(text) => Some(vec![text.clone()]),
            Self::List(values) => Some(values.iter().filter_map(Self::words).flatten().collect()),
        }
    }
}

/// The command that runs a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Job {
    /// `storemark run`.
    Run,
    /// `storemark rows`, which knows what was published.
    Rows,
    /// `storemark queue`, which does too.
    Queue,
    /// `storemark age`.
    Age,
}

/// Something published that can be held against what is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The label of the target that it is about.
    pub target: String,
    /// What was measured.
    pub figure: Figure,
    /// Under this operation only; absent: under any.
    pub operation: Option<Operation>,
    /// In this cache state only; absent: in any.
    pub cache: Option<Cache>,
    /// In the run of a sweep with these values only.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// The least that was published; without `high` the only figure.
    pub low: f64,
    /// The greatest.
    pub high: Option<f64>,
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Time over the baseline's.
    TimeRatio,
    /// Microseconds an operation.
    Microseconds,
    /// Bytes on disk over the baseline's.
    SpaceRatio,
    /// Blob size in bytes from which on the baseline is faster.
    BreakEven,
}

impl Claim {
    /// From the least to the greatest that was published.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high.unwrap_or(self.low))
    }
}
