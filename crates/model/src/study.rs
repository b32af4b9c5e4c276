//! A published experiment as data: what it measured, what was published, and how its set-up differs
//! from the one here. Each has its own file in `crates/report/studies/`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    Cache, Error, Result, Settings, Target,
    rows::Style,
    scratch_label,
    spec::{Options, RunSpec, TaskLoad},
};

/// A published experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Study {
    /// What it was published as.
    pub title: String,
    /// Where it was published.
    pub source: String,
    /// When, on which machine and with which versions.
    pub published_on: String,
    /// What is not as it was published, and why; a sentence each.
    pub differs: Vec<String>,
    /// Its parts, in the order in which they run.
    #[serde(rename = "step")]
    pub steps: Vec<StudyCommand>,
    /// What was published and no step measures.
    #[serde(default)]
    pub unmeasured: Vec<Unmeasured>,
    /// Published figures of rows.
    pub rows: Option<Published<RowLoad, RowFigures>>,
    /// Published figures of tasks.
    pub tasks: Option<Published<TaskLoad, TaskFigures>>,
}

impl Study {
    /// Reads a file of `crates/report/studies/`.
    pub fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| Error::corrupt(error.to_string()))
    }
}

/// A published figure that no step measures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unmeasured {
    /// What the source says, in a few words.
    pub says: String,
    /// Its figures with their units.
    pub published: String,
    /// Why it is not measured.
    pub why: String,
}

/// Published tables of one kind of work.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Published<W, F> {
    /// What it was published as.
    pub title: String,
    /// Where, and when.
    pub source: String,
    /// On which machines, with which versions.
    pub machine: String,
    /// What its figures are in.
    pub unit: String,
    /// Which target here each figure is compared with.
    pub compared_with: String,
    /// How much work there was.
    #[serde(flatten)]
    pub work: W,
    /// A target in a table each.
    pub figures: Vec<F>,
}

/// Rows that were inserted, summed and changed.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RowLoad {
    /// Rows that each process inserted.
    pub rows: u64,
}

/// Published figures of one target. Absent: not published.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFigures {
    /// What the target is called there.
    pub name: String,
    /// The target that does the same here.
    pub target: String,
    /// How rows are handed over.
    pub style: Style,
    /// Processes at once, a database each.
    pub processes: u32,
    /// Seconds of inserting all rows.
    pub insert: Option<f64>,
    /// Seconds of summing a column.
    pub sum: Option<f64>,
    /// Seconds of changing all rows.
    pub update: Option<f64>,
    /// Size in units of 1,048,576 bytes.
    pub size: Option<f64>,
}

/// Published figures of one target in one table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFigures {
    /// Which of its experiments: `tasks`, `loop`, `writers`.
    pub what: String,
    /// Targets of the same table were measured together.
    pub table: String,
    /// The file system.
    pub on: String,
    /// What the target is called there.
    pub name: String,
    /// The target that does the same here.
    pub target: String,
    /// Seconds of each run.
    pub runs: Vec<f64>,
}

impl TaskFigures {
    /// The mean of the runs in seconds.
    pub fn seconds(&self) -> f64 {
        self.runs.iter().sum::<f64>() / self.runs.len() as f64
    }
}

/// Whether `published` is a target of this engine whose settings are all in effect.
pub fn is_same_target(published: &str, engine: &str, in_effect: &Settings) -> bool {
    let published = Target::parse(published);
    let same = |(name, value): &(String, String)| in_effect.get(name) == Some(value);
    published.engine.as_deref() == Some(engine) && published.settings.iter().all(same)
}

/// A run of one command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyCommand {
    /// What it asks.
    pub title: String,
    /// The subcommand that runs it.
    pub command: String,
    /// Its options by their long names, as in a plan file.
    pub options: Options,
    /// What differs in a quick run.
    #[serde(default)]
    pub quick: Options,
    /// What differs in a full one, which is as large as what was published.
    #[serde(default)]
    pub full: Options,
    /// What was published.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

impl StudyCommand {
    /// Returns the label of the target that a ratio is over if a claim names no other: the first one.
    /// `None` if the command chooses its targets itself.
    pub fn reference(&self) -> Option<String> {
        let first = self.options.get("targets")?.as_array()?.first()?.as_str()?;
        let Target { engine, settings, .. } = Target::parse(first);
        Some(scratch_label(&engine?, &settings))
    }

    /// What a run asks for, with the changes of a quick or a full one.
    pub fn spec(&self, changes: &Options) -> Result<RunSpec> {
        let mut options = self.options.clone();
        options.extend(changes.clone());
        RunSpec::from_options(&self.command, &options)
    }
}

/// Something published that can be held against what is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What the source says, in a few words; absent: no more than the figure.
    pub says: Option<String>,
    /// The label of the target that it is about.
    pub target: String,
    /// What was measured.
    pub figure: Figure,
    /// What a ratio is over; absent: the baseline.
    pub over: Option<Over>,
    /// In this work only, by its name (`read`, `insert`, `full`); absent: in any.
    pub work: Option<String>,
    /// With so many processes only; absent: with any number.
    pub processes: Option<u32>,
    /// In this cache state only; absent: in any.
    pub cache: Option<Cache>,
    /// In the run of a sweep with these values only.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// The least that was published; without `high` the only figure.
    pub low: f64,
    /// The greatest.
    pub high: Option<f64>,
    /// The least and the greatest figure that rounds to what was published; absent: its digits are as
    /// good as exact.
    pub rounded: Option<(f64, f64)>,
}

/// What a published ratio is over. Absent parts: as of the claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The label of another target.
    pub target: Option<String>,
    /// The name of other work.
    pub work: Option<String>,
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Time over the baseline's.
    TimeRatio,
    /// Processor time over the baseline's.
    ProcessorRatio,
    /// Microseconds an operation.
    Microseconds,
    /// Millions of bytes a second.
    MbPerSecond,
    /// Percent of the store's pages in memory before a trial.
    ResidentBefore,
    /// Percent of the store's pages in memory after a trial.
    ResidentAfter,
    /// Length of the store's files in bytes.
    Bytes,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_target_is_found_by_its_engine_and_settings() {
        let mut in_effect = Settings::default();
        in_effect.set("null", "no");
        in_effect.set("sync", "full");
        assert!(is_same_target("csv:", "csv", &in_effect));
        assert!(is_same_target("csv:?null=no", "csv", &in_effect));
        assert!(!is_same_target("csv:?null=yes", "csv", &in_effect));
        assert!(!is_same_target("csv:", "jsonl", &in_effect));
    }
}
