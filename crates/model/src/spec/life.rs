//! What a user can ask `storemark life` for.

use super::{
    blobs::DEFAULT_DATA,
    common::{Output, Running, caches},
    options::options,
    value::{GivenValue, Name, Size, UpTo, given_value},
};
use crate::{Cache, Durability, Generated};

options! {
    /// Measures what a store costs besides reading and writing values: looking up and listing, opening
    /// cold, what a backup copies after a day of changes, growth over a month of them, deleting half,
    /// giving the space back, and deleting the rest
    pub struct LifeSpec {
        targets = "What to measure; none: files and SQLite";

        /// Take keys and bytes from the files below DIR (read only)
        data: Option<Name> = "DIR" [help_heading = "Data"],
        /// Values in a generated dataset; default: 4000
        keys: Option<GivenValue<Size>> = "N" [help_heading = "Data"],
        /// Their middle size in bytes; default: 10k
        size: Option<GivenValue<Size>> = "BYTES" [help_heading = "Data"],
        /// How far sizes vary to either side; default: 2k, with --size 0
        variance: Option<GivenValue<Size>> = "BYTES" [help_heading = "Data"],

        /// Days of changes, fewer if there is no room for them; on each, 1 % of the values are replaced
        /// by new bytes in the size of another value; default: 30
        days: Option<GivenValue<UpTo<3650>>> = "N" [help_heading = "Workload"],
        /// What is in memory when a store is opened to read one value: data-cold (no pages), warm, cold
        /// (no pages and no names; needs root, drops the caches of the whole machine); default:
        /// data-cold
        cache: Vec<GivenValue<Cache>> = "STATE" [help_heading = "Workload"],
        /// Set each engine up for this class: none, consistent or durable; default: consistent
        durability: Option<GivenValue<Durability>> = "CLASS" [help_heading = "Workload"],
        ..running: Running,
        ..shown: Output,
    }
}

impl LifeSpec {
    /// The targets that are measured when the user names none.
    pub const TARGETS: [&str; 2] = ["files:", "sqlite:"];

    /// Returns whether an option shapes the generated data.
    pub fn shapes_data(&self) -> bool {
        [&self.keys, &self.size, &self.variance].into_iter().any(Option::is_some)
    }

    /// Returns the dataset that is generated if the user gives no folder.
    pub fn generated(&self, seed: u64) -> Generated {
        DEFAULT_DATA.shaped(
            given_value(&self.keys),
            given_value(&self.size),
            given_value(&self.variance),
            seed,
        )
    }

    /// Returns the number of days of changes.
    pub fn days(&self) -> u32 {
        given_value(&self.days).unwrap_or(30)
    }

    /// Returns the cache states that a store is opened in.
    pub fn caches(&self) -> Vec<Cache> {
        caches(&self.cache, Cache::DataCold)
    }

    /// Returns the durability class that every engine is set up for.
    pub fn durability(&self) -> Durability {
        given_value(&self.durability).unwrap_or(Durability::Consistent)
    }
}
