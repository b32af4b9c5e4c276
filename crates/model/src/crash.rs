//! What a power cut leaves of what a program wrote: the models, and the result of checking their states.

use std::str::FromStr;

use serde::Serialize;

use crate::words::words;

words! {
    /// A model of what is on a disk after the power was cut, in the order of tables.
    #[derive(Default)]
    pub enum CrashModel {
        /// The program was killed, and the system lives: nothing is lost.
        #[default]
        Kill = "kill",
        /// Metadata is in one ordered journal, of which the end is lost. Of unflushed data, any blocks
        /// of 4 KiB are lost. This is ext4 with its default `data=ordered`, and XFS.
        Ordered = "ordered",
        /// As `ordered`, and one unflushed write is torn: of its parts of 4 KiB some are lost.
        Torn4096 = "torn-4096",
        /// As `ordered`, and one unflushed write is torn: of its sectors of 512 bytes some are lost.
        Torn512 = "torn-512",
        /// Only what was flushed is certain: a name by the flush of its folder, the content and the
        /// length of a file by the flush of the file. Anything else may be lost, in any combination.
        Strict = "strict",
        /// No power cut: one flush of a file fails (EIO). The pages that it did not write stay in memory and
        /// count as written, so that no later flush writes them; a restart loses them. ext4, XFS and btrfs
        /// always mark such pages clean ("Can Applications Recover from fsync Failures?", 2020).
        Eio = "eio",
    }
}

impl CrashModel {
    /// The models of power cuts.
    pub const CUTS: [Self; 5] =
        [Self::Kill, Self::Ordered, Self::Torn4096, Self::Torn512, Self::Strict];
}

impl FromStr for CrashModel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|model| model.as_str() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("{text} is no model (accepted: {names})")
        })
    }
}

/// The result of cutting the power under a program: what was recorded, and how many states kept the
/// promise of its acknowledgements.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CrashResult {
    /// The reason why nothing was recorded and only `kill` was checked; `None` if it was.
    pub unrecorded: Option<String>,
    /// Operations of the program.
    pub operations: u64,
    /// Bytes that it wrote.
    pub bytes: u64,
    /// Flushes among the operations.
    pub flushes: u64,
    /// Acknowledgements.
    pub acknowledged: u64,
    /// The states of each model.
    pub models: Vec<ModelResult>,
    /// Each state, in the order in which they were made.
    pub states: Vec<CutState>,
    /// The first state that broke the promise in a model of what real file systems lose.
    pub first: Option<BrokenState>,
    /// The first state that broke the promise in the model `strict`.
    pub first_strict: Option<BrokenState>,
    /// Seconds that the program took.
    pub record_seconds: f64,
    /// Seconds that making and checking the states took.
    pub check_seconds: f64,
    /// The most memory that this process took, in bytes; 0 if the system does not report it.
    pub peak_bytes: u64,
}

impl CrashResult {
    /// Counts the states, and those that kept the promise, of all models but `strict`; of `strict`
    /// too if it is the only one.
    pub fn kept(&self) -> (u64, u64) {
        let only_strict = self.models.iter().all(|row| row.model == CrashModel::Strict);
        let counted =
            self.models.iter().filter(|row| only_strict || row.model != CrashModel::Strict);
        counted.fold((0, 0), |(states, kept), row| (states + row.states, kept + row.kept))
    }

    /// Returns whether the promise was kept in all states that [`Self::kept`] counts.
    pub fn holds(&self) -> bool {
        let (states, kept) = self.kept();
        states == kept
    }
}

/// The states of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelResult {
    /// The model.
    pub model: CrashModel,
    /// States that were checked, all different.
    pub states: u64,
    /// States in which the promise was kept.
    pub kept: u64,
    /// States that the checker could not open.
    pub unopened: u64,
    /// States that had to be repaired.
    pub repaired: u64,
    /// The first repair, as the checker describes it.
    pub repair: Option<String>,
    /// States in which acknowledged commits were lost.
    pub states_with_loss: u64,
    /// Acknowledged commits lost in the worst state.
    pub most_lost: u64,
    /// The largest share of the commits acknowledged before the cut that was lost.
    pub most_lost_share: f64,
    /// States with values that are of no version.
    pub wrong: u64,
    /// States with values that are partly old and partly new.
    pub torn: u64,
    /// States with deleted values that came back.
    pub returned: u64,
    /// Checks that did not end in their time.
    pub overdue: u64,
    /// Runs of the model `eio` in which the program ended with an error.
    pub reported: u64,
    /// Those among them in which the values of the commit that failed could be read afterwards, by the same
    /// process.
    pub read_back: u64,
}

impl ModelResult {
    /// Creates the result of a model without a state.
    pub fn new(model: CrashModel) -> Self {
        Self { model, ..Self::default() }
    }
}

/// A state that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CutState {
    /// The number of operations before the cut; in the model `eio` that of flushes of files before the one
    /// that failed.
    pub cut: u64,
    /// The number of acknowledgements before the cut.
    pub acknowledged: u64,
    /// The model.
    pub model: CrashModel,
    /// The seed of what was lost.
    pub seed: u64,
    /// Whether the promise was kept.
    pub kept: bool,
    /// Acknowledged commits that are lost; 0 if the checker does not count them.
    pub lost: u64,
}

/// A state that broke the promise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BrokenState {
    /// The number of operations before the cut; in the model `eio` that of flushes of files before the one
    /// that failed.
    pub cut: u64,
    /// The model.
    pub model: CrashModel,
    /// The seed of what was lost.
    pub seed: u64,
    /// What the checker says of it.
    pub reason: String,
    /// The moment of the cut: "after the flush of `wal`".
    pub at: String,
    /// What is lost and has to be, for the check to fail.
    pub lost: Vec<String>,
    /// The flush that is missing, if one would have helped.
    pub missing: Option<String>,
}
