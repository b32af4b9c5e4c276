//! What a store promises after a power cut.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, nearest::named};

/// A durability class, weakest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Nothing is promised: values may be torn or gone.
    None,
    /// Every value is whole; recent commits may be gone.
    Consistent,
    /// An acknowledged commit survives.
    Durable,
}

impl Durability {
    /// All classes, weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Consistent, Self::Durable];
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Consistent => "consistent",
            Self::Durable => "durable",
        })
    }
}

impl FromStr for Durability {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        named("durability class", text, &Self::ALL)
    }
}
