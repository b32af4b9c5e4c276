//! Studies: published experiments as data, with what was published and how the set-up differs from
//! the one here. Each has its own file in `crates/checks/studies/`.

use std::collections::BTreeMap;

use model::{Cache, Error, Result, Settings, TypedTarget, rows::Style, scratch_label};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    queue::TaskLoad,
    run_spec::{Options, RunSpec, text, values},
};

/// A published experiment and the commands that repeat it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Study {
    /// The title of the publication.
    pub title: String,
    /// The place of the publication.
    pub source: String,
    /// The time, the machine and the versions.
    pub published_on: String,
    /// The differences from the publication and their reasons, a sentence for each.
    pub differs: Vec<String>,
    /// The commands that measure it, in the order in which they run.
    #[serde(rename = "step")]
    pub steps: Vec<StudyCommand>,
    /// The published figures that no step measures.
    #[serde(default)]
    pub unmeasured: Vec<Unmeasured>,
    /// The published figures of rows.
    pub rows: Option<Published<RowLoad, RowFigures>>,
    /// The published figures of tasks.
    pub tasks: Option<Published<TaskLoad, TaskFigures>>,
}

impl Study {
    /// Reads a file of `crates/checks/studies/`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not of this form.
    pub fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| Error::corrupt(error.to_string()))
    }
}

/// A published figure that no step measures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unmeasured {
    /// The statement of the source, in a few words.
    pub says: String,
    /// The published figures with their units.
    pub published: String,
    /// Why it is not measured.
    pub why: String,
}

/// The published tables of one kind of work.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Published<W, F> {
    /// The title of the publication.
    pub title: String,
    /// The place and date of the publication.
    pub source: String,
    /// The machines and the versions.
    pub machine: String,
    /// The unit of the figures.
    pub unit: String,
    /// The target here that each figure is compared with.
    pub compared_with: String,
    /// The amount of work.
    #[serde(flatten)]
    pub work: W,
    /// The figures, each of a target in a table.
    pub figures: Vec<F>,
}

/// The amount of work in the published experiment with rows.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RowLoad {
    /// The rows that each process inserted.
    pub rows: u64,
}

/// The published figures of a target. A figure is `None` if it was not published.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFigures {
    /// The name of the target in the publication.
    pub name: String,
    /// The target that does the same here.
    pub target: String,
    /// The way in which rows are handed to the engine.
    pub style: Style,
    /// The number of processes at once, each with a database.
    pub processes: u32,
    /// The seconds of inserting all rows.
    pub insert: Option<f64>,
    /// The seconds of summing a column.
    pub sum: Option<f64>,
    /// The seconds of changing all rows.
    pub update: Option<f64>,
    /// The size in units of 1,048,576 bytes.
    pub size: Option<f64>,
}

/// The published figures of a target in a table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFigures {
    /// The experiment of the publication: `tasks`, `loop`, `writers`.
    pub what: String,
    /// The name of the table; targets of the same table were measured together.
    pub table: String,
    /// The file system.
    pub on: String,
    /// The name of the target in the publication.
    pub name: String,
    /// The target that does the same here.
    pub target: String,
    /// The seconds of each run.
    pub runs: Vec<f64>,
}

impl TaskFigures {
    /// Returns the mean of the runs in seconds.
    pub fn seconds(&self) -> f64 {
        self.runs.iter().sum::<f64>() / self.runs.len() as f64
    }
}

/// Returns whether `published` is a target of this engine whose settings are all in effect.
pub fn is_same_target(published: &str, engine: &str, in_effect: &Settings) -> bool {
    let published = TypedTarget::parse(published);
    let same = |(name, value): &(String, String)| in_effect.get(name) == Some(value);
    published.engine.as_deref() == Some(engine) && published.settings.iter().all(same)
}

/// A step of a study: a run of one command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyCommand {
    /// The question that it answers.
    pub title: String,
    /// The subcommand that runs it.
    pub command: String,
    /// The options of the command by their long names, as in a plan file.
    pub options: Options,
    /// The options that differ in a quick run.
    #[serde(default)]
    pub quick: Options,
    /// The options that differ in a full run, which is as large as the published one.
    #[serde(default)]
    pub full: Options,
    /// The published figures that it is compared with.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

impl StudyCommand {
    /// The subcommand of steps that cut the power under stores. It has no [`RunSpec`].
    const CRASH: &str = "crash";

    /// Returns whether the step cuts the power under stores.
    pub fn cuts_power(&self) -> bool {
        self.command == Self::CRASH
    }

    /// Returns the label of the target that a ratio is over if a claim names no other: the first
    /// one. `None` if the command chooses its targets itself.
    pub fn reference(&self) -> Option<String> {
        let first = self.options.get(TARGETS)?.as_array()?.first()?.as_str()?;
        let TypedTarget { engine, settings, .. } = TypedTarget::parse(first);
        Some(scratch_label(&engine?, &settings))
    }

    /// Returns the options of the step with the changes of a quick or a full run.
    ///
    /// # Errors
    ///
    /// Fails if the command does not accept an option.
    pub fn spec(&self, changes: &Options) -> Result<RunSpec> {
        RunSpec::from_options(&self.command, &self.with(changes))
    }

    /// Returns the options of the step with the changes of a quick or a full run, as a command line has
    /// them.
    pub fn words(&self, changes: &Options) -> Vec<String> {
        let word = |name: &str, value: &Value| match name {
            TARGETS => text(value),
            _ => format!("--{name}={}", text(value)),
        };
        let options = self.with(changes);
        let words = options
            .iter()
            .flat_map(|(name, value)| values(value).iter().map(move |value| word(name, value)));
        words.collect()
    }

    fn with(&self, changes: &Options) -> Options {
        let mut options = self.options.clone();
        options.extend(changes.clone());
        options
    }
}

/// The name under which options have the targets.
const TARGETS: &str = "targets";

/// A published statement that can be compared with what is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The statement of the source in a few words; `None` if it is only a figure.
    pub says: Option<String>,
    /// The label of the target that it is about.
    pub target: String,
    /// The kind of figure.
    pub figure: Figure,
    /// The divisor of a ratio; `None` if that is the baseline.
    pub over: Option<Over>,
    /// The name of the only work that it is about (`read`, `insert`, `full`); `None` if it is about
    /// any.
    pub work: Option<String>,
    /// The only number of processes that it is about; `None` if it is about any.
    pub processes: Option<u32>,
    /// The only cache state that it is about; `None` if it is about any.
    pub cache: Option<Cache>,
    /// The values of the options of the only run of a sweep that it is about.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// The least figure that was published; without `high` the only one.
    pub low: f64,
    /// The greatest figure that was published; `None` if there is only one.
    pub high: Option<f64>,
    /// The least and the greatest figure that rounds to the published one; `None` if its digits are
    /// practically exact.
    pub rounded: Option<(f64, f64)>,
}

/// The target or the work that a published ratio is over. What is `None` is as in the claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The label of another target.
    pub target: Option<String>,
    /// The name of other work.
    pub work: Option<String>,
}

/// The kind of a published figure.
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
    /// The most acknowledged commits that a state after a power cut lacks.
    LostCommits,
    /// States after a power cut that break the promise of the store's class.
    BrokenStates,
    /// States after a power cut that do not open, or in which values are damaged.
    DamagedStates,
}

impl Claim {
    /// Returns the least and the greatest figure that was published.
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
