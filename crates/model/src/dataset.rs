//! Where keys and bytes come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::KeyKind;

/// What a dataset is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "from")]
pub enum DatasetSpec {
    /// Made from a seed.
    Generated(Generated),
    /// The files below a user's directory.
    Directory {
        /// As the user wrote it.
        path: String,
    },
    /// What the targets themselves hold.
    Targets,
}

/// Random bytes from a seed: keys 1 to `count`, sizes uniform over `size` ± `variance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Generated {
    /// The seed; the same seed makes the same bytes everywhere.
    pub seed: u64,
    /// Number of values.
    pub count: u64,
    /// Middle size in bytes.
    pub size: u64,
    /// Largest deviation from it in bytes; at most `size`.
    pub variance: u64,
    /// Share of the bytes that are random, in percent; the rest compresses to next to nothing.
    #[serde(default = "all_random")]
    pub random_percent: u8,
}

impl Generated {
    /// This with a number of values and their sizes as far as they are given. Sizes that are given
    /// do not vary unless the variance is given too.
    #[must_use]
    pub fn shaped(
        self,
        count: Option<u64>,
        size: Option<u64>,
        variance: Option<u64>,
        seed: u64,
    ) -> Self {
        Self {
            seed,
            count: count.unwrap_or(self.count),
            size: size.unwrap_or(self.size),
            variance: variance.unwrap_or(if size.is_some() { 0 } else { self.variance }),
            ..self
        }
    }
}

/// The share of datasets that do not say it.
fn all_random() -> u8 {
    100
}

/// All of the data that a sample was taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SampledFrom {
    /// Number of values.
    pub count: u64,
    /// Bytes of all values.
    pub bytes: u64,
}

/// A dataset in figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatasetSummary {
    /// The kind of its keys.
    pub keys: KeyKind,
    /// Number of keys.
    pub count: u64,
    /// Bytes of all values.
    pub bytes: u64,
    /// Smallest value in bytes.
    pub smallest: u64,
    /// Largest value in bytes.
    pub largest: u64,
    /// The fewest values that hold half of the bytes or more; absent: not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_in: Option<u64>,
    /// Size of a sample of the values after DEFLATE over its size; absent: not looked at.
    pub deflated: Option<f64>,
}
