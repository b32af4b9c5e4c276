//! What of a store is in the system's memory when a trial starts.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, nearest::named};

/// A cache state: every trial starts in one, and its sample holds the proof.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// All pages are in the page cache.
    #[default]
    Warm,
    /// Dropped, then read from start to end as far as a limit on memory lets them stay.
    Limited,
    /// No page is in memory; names and inodes may be.
    DataCold,
    /// Neither pages nor names nor inodes are in memory.
    Cold,
}

impl Cache {
    /// Those that can be asked for, warmest first. [`Self::Limited`] takes the place of warm
    /// where memory is limited.
    pub const ALL: [Self; 3] = [Self::Warm, Self::DataCold, Self::Cold];

    /// Whether it starts without any page: only the first pass of a trial does.
    pub fn is_cold(self) -> bool {
        matches!(self, Self::DataCold | Self::Cold)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Limited => "limited",
            Self::DataCold => "data-cold",
            Self::Cold => "cold",
        }
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Cache {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        named("cache state", text, &Self::ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_parses_as_its_state() {
        for cache in Cache::ALL {
            assert_eq!(cache.to_string().parse::<Cache>().unwrap(), cache);
        }
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_word() {
        let error = "data_cold".parse::<Cache>().unwrap_err().to_string();
        assert!(error.contains("did you mean data-cold?"), "{error}");
    }
}
