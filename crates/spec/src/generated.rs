//! Options on where values come from, and on generated ones.

use model::{Error, Generated, Result};

use crate::{
    options::options,
    value::{GivenValue, Name, Size, given_value},
};

/// The generated data if the user gives none: the article's sizes, and as many blobs as can be
/// measured in less than a minute. They are more bytes than most processors cache, and few enough
/// for several rounds.
pub(crate) const DEFAULT_DATA: Generated =
    Generated { seed: 0, count: 4_000, size: 10_000, variance: 2_000, random_percent: 100 };

options! {
    /// The values that exist already.
    pub struct DataSource under "Data" {
        /// Take keys and bytes from a folder, or from any other target (read only)
        data: Option<Name> = "TARGET",
    }

    /// The number and the sizes of generated values.
    pub struct GeneratedOptions under "Data" {
        /// Values in a generated dataset; default: 4000
        keys: Option<GivenValue<Size>> = "N",
        /// Their middle size in bytes; default: 10k
        size: Option<GivenValue<Size>> = "BYTES",
        /// How far sizes vary to either side; default: 2k, with --size 0
        variance: Option<GivenValue<Size>> = "BYTES",
    }
}

impl GeneratedOptions {
    /// Returns the dataset that is generated.
    pub fn dataset(&self, seed: u64) -> Generated {
        let Self { keys, size, variance } = self;
        DEFAULT_DATA.shaped(given_value(keys), given_value(size), given_value(variance), seed)
    }

    /// Checks that no option is given with data that are not generated, but those of `owner`.
    ///
    /// # Errors
    ///
    /// Fails if one is.
    pub fn check_unused(&self, owner: &str) -> Result<()> {
        if [&self.keys, &self.size, &self.variance].into_iter().all(Option::is_none) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "--keys, --size and --variance cannot be used with data that exist; {owner} has its own"
        )))
    }
}
