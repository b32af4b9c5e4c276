//! The cache states: how much of a store is in the system's memory when a trial starts.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    words::{find_word, words},
};

words! {
    /// A cache state: every trial starts in one, and its sample holds the proof.
    #[derive(Default)]
    pub enum Cache {
        /// All pages are in the page cache.
        #[default]
        Warm = "warm",
        /// The pages that were in memory when the store was found, and no others.
        AsFound = "as-found",
        /// Dropped, then read from start to end as far as a limit on memory lets them stay.
        Limited = "limited",
        /// No page is in memory; names and inodes may be.
        DataCold = "data-cold",
        /// Neither pages nor names nor inodes are in memory.
        Cold = "cold",
    }
}

impl Cache {
    /// The states that a user can ask for, warmest first. [`Self::AsFound`] replaces warm if a store is
    /// larger than memory, and [`Self::Limited`] if memory is limited.
    pub const CHOICES: [Self; 3] = [Self::Warm, Self::DataCold, Self::Cold];

    /// Returns whether a trial starts without any page in memory.
    pub fn is_cold(self) -> bool {
        matches!(self, Self::DataCold | Self::Cold)
    }

    /// Returns whether only the first pass of a trial is in this state: what it reads is then in memory.
    pub fn is_lost_by_reading(self) -> bool {
        self.is_cold() || self == Self::AsFound
    }
}

impl FromStr for Cache {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self> {
        find_word("cache state", text, &Self::CHOICES)
    }
}

/// The part of a store's files that is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// All pages of its files.
    pub pages: u64,
    /// Pages in the page cache.
    pub resident: u64,
    /// Pages of files whose residency the system does not report to this user.
    pub unknown: u64,
    /// Names of files and folders; `None` if they were not counted.
    pub names: Option<u64>,
    /// Names in the dentry cache; `None` if they were not counted.
    pub cached_names: Option<u64>,
}

/// The least share of pages in memory that counts as warm.
const WARM: f64 = 0.99;
/// The greatest share of pages, and of names, in memory that counts as cold.
const COLD: f64 = 0.01;

impl Residency {
    /// Returns whether all that is known agrees with `cache`.
    pub fn shows(&self, cache: Cache) -> bool {
        let (warm, cold) = match self.resident_share() {
            // A store without pages can be neither warm nor cold.
            Some(_) if self.pages == 0 => (true, true),
            Some(resident) => (resident >= WARM, resident <= COLD),
            None => (true, true),
        };
        match cache {
            Cache::Warm => warm,
            // Whatever was found is; and it is the limit that decides: see `MemoryLimit::holds`.
            Cache::AsFound | Cache::Limited => true,
            Cache::DataCold => cold,
            Cache::Cold => cold && self.names_share().is_none_or(|names| names <= COLD),
        }
    }

    /// Returns the share of the known pages that is in the page cache: 1 for a store without pages,
    /// `None` if no page is known.
    pub fn resident_share(&self) -> Option<f64> {
        match self.pages - self.unknown.min(self.pages) {
            0 if self.unknown > 0 => None,
            0 => Some(1.0),
            known => Some(self.resident as f64 / known as f64),
        }
    }

    /// Returns the share of the names that is in the dentry cache, or `None` if they were not
    /// counted.
    pub fn names_share(&self) -> Option<f64> {
        let (names, cached) = self.names.zip(self.cached_names)?;
        Some(if names == 0 { 0.0 } else { cached as f64 / names as f64 })
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

    fn residency(resident: u64, unknown: u64, cached_names: Option<u64>) -> Residency {
        Residency { pages: 1000, resident, unknown, names: Some(100), cached_names }
    }

    #[test]
    fn a_state_is_shown_within_one_in_a_hundred() {
        assert!(residency(990, 0, None).shows(Cache::Warm));
        assert!(!residency(989, 0, None).shows(Cache::Warm));
        assert!(residency(10, 0, Some(100)).shows(Cache::DataCold));
        assert!(!residency(11, 0, None).shows(Cache::DataCold));
        assert!(residency(0, 0, Some(1)).shows(Cache::Cold));
        assert!(!residency(0, 0, Some(2)).shows(Cache::Cold));
    }

    #[test]
    fn only_known_pages_count() {
        assert_eq!(residency(500, 500, None).resident_share(), Some(1.0));
        assert_eq!(residency(0, 1000, None).resident_share(), None);
        assert!(residency(0, 1000, None).shows(Cache::Warm));
        let empty = Residency::default();
        assert!(Cache::ALL.into_iter().all(|cache| empty.shows(cache)));
    }
}
