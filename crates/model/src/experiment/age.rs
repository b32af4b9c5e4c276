//! `storemark age`: objects that are replaced again and again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DatasetSummary, FileBytes, Fragments, Generated, Operation, Passes};

/// The objects of an ageing store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AgeData {
    /// The objects.
    pub data: Generated,
    /// The objects at age 0 in figures.
    pub summary: DatasetSummary,
}

/// Reads at a storage age, or the writes that lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AgeWork {
    /// What is done with each object.
    pub operation: Operation,
    /// The storage age: bytes of replaced objects over bytes of live ones.
    pub age: u32,
}

/// The figures of a pass over objects at a storage age.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AgeMeasured {
    /// The passes.
    #[serde(flatten)]
    pub passes: Passes,
    /// The bytes of the store after a write; `None` if it was a read, or the store has no
    /// files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileBytes>,
    /// The fragmentation of its files then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<Fragments>,
}

impl AgeWork {
    /// Returns the name of the operation with the age.
    pub(super) fn name(self) -> String {
        let Self { operation, age } = self;
        match operation {
            Operation::Insert => "filling".to_owned(),
            Operation::Update => format!("replacing up to age {age}"),
            _ => format!("{operation} at age {age}"),
        }
    }
}
