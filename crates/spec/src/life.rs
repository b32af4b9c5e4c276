//! What a user can ask `storemark life` for.

use model::Durability;

use crate::{
    common::{ColdStart, Output, Running},
    generated::{DataSource, GeneratedOptions},
    options::options,
    value::{GivenValue, UpTo, given_value},
};

options! {
    /// Measures what a store costs besides reading and writing values: looking up and listing, opening
    /// cold, what a backup copies after a day of changes, growth over a month of them, deleting half,
    /// giving the space back, and deleting the rest
    pub struct LifeSpec {
        targets = "What to measure; none: files and SQLite";

        /// Days of changes, fewer if there is no room for them; on each, 1 % of the values are replaced
        /// by new bytes in the size of another value; default: 30
        days: Option<GivenValue<UpTo<3650>>> = "N" [help_heading = "Workload"],
        /// Set each engine up for this class: none, consistent or durable; default: consistent
        durability: Option<GivenValue<Durability>> = "CLASS" [help_heading = "Workload"],
        ..source: DataSource,
        ..generated: GeneratedOptions,
        ..cold: ColdStart,
        ..running: Running,
        ..shown: Output,
    }
}

impl LifeSpec {
    /// The targets that are measured when the user names none.
    pub const TARGETS: [&str; 2] = ["files:", "sqlite:"];

    /// Returns the number of days of changes.
    pub fn days(&self) -> u32 {
        given_value(&self.days).unwrap_or(30)
    }

    /// Returns the durability class that every engine is set up for.
    pub fn durability(&self) -> Durability {
        given_value(&self.durability).unwrap_or(Durability::Consistent)
    }
}
