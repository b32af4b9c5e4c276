//! Datasets: where keys and bytes come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::KeyKind;

/// The source of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "from")]
pub enum DatasetSpec {
    /// The dataset is generated from a seed.
    Generated(Generated),
    /// The dataset consists of the files below a user's directory.
    Directory {
        /// The path as the user wrote it.
        path: String,
    },
    /// The dataset is what the targets themselves hold.
    Targets,
}

/// A generated dataset: random bytes from a seed under the keys 1 to `count`, of sizes uniform over
/// `size` ± `variance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Generated {
    /// The seed; the same seed generates the same bytes everywhere.
    pub seed: u64,
    /// Number of values.
    pub count: u64,
    /// The middle size in bytes.
    pub size: u64,
    /// The largest deviation from the middle size in bytes; at most `size`.
    pub variance: u64,
    /// The share of the bytes that are random, in percent; the rest compresses to next to nothing.
    #[serde(default = "all_random")]
    pub random_percent: u8,
}

impl Generated {
    /// Returns this dataset with another seed, and with the number of values and the sizes that are
    /// given. If a size is given without a variance, sizes do not vary.
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

/// Returns the share of random bytes in datasets that were written before it was recorded.
fn all_random() -> u8 {
    100
}

/// The size of the data that a sample was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SampledFrom {
    /// Number of values.
    pub count: u64,
    /// Bytes of all values.
    pub bytes: u64,
}

/// The figures of a dataset.
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
    /// The fewest values that hold half of the bytes or more; `None` if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_in: Option<u64>,
    /// The size of a sample of the values after DEFLATE over its size before; `None` if it was not
    /// measured.
    pub deflated: Option<f64>,
}
