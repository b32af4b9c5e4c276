//! Where scratch stores are put, where that is to be on several file systems.

use clap::Args;
use lab::On;
use model::units;

/// `--on` and what belongs to it.
#[derive(Debug, Args)]
pub(crate) struct OnOptions {
    /// Measure each target on each of these file systems: folders, or ext4, xfs, btrfs for a
    /// throw-away image in the scratch folder (Linux, root; ./ext4 is a folder of that name)
    #[arg(long, value_name = "WHERE", value_delimiter = ',', help_heading = "Run")]
    pub(crate) on: Vec<On>,
    /// Size of each image
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "1GiB", requires = "on", help_heading = "Run")]
    pub(crate) image_size: u64,
}
