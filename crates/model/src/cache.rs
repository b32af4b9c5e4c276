//! What of a store is in the system's memory when a trial starts.

use std::str::FromStr;

use crate::{
    Result,
    words::{named, words},
};

words! {
    /// A cache state: every trial starts in one, and its sample holds the proof.
    #[derive(Default)]
    pub enum Cache {
        /// All pages are in the page cache.
        #[default]
        Warm = "warm",
        /// Dropped, then read from start to end as far as a limit on memory lets them stay.
        Limited = "limited",
        /// No page is in memory; names and inodes may be.
        DataCold = "data-cold",
        /// Neither pages nor names nor inodes are in memory.
        Cold = "cold",
    }
}

impl Cache {
    /// Those that can be asked for, warmest first. [`Self::Limited`] takes the place of warm
    /// where memory is limited.
    pub const CHOICES: [Self; 3] = [Self::Warm, Self::DataCold, Self::Cold];

    /// Whether it starts without any page: only the first pass of a trial does.
    pub fn is_cold(self) -> bool {
        matches!(self, Self::DataCold | Self::Cold)
    }
}

impl FromStr for Cache {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self> {
        named("cache state", text, &Self::CHOICES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_parses_as_its_state() {
        for cache in Cache::CHOICES {
            assert_eq!(cache.to_string().parse::<Cache>().unwrap(), cache);
        }
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_word() {
        let error = "data_cold".parse::<Cache>().unwrap_err().to_string();
        assert!(error.contains("did you mean data-cold?"), "{error}");
    }
}
