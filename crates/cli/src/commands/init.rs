//! `storemark init`: a database of random blobs, as kvtest makes them.

use std::path::PathBuf;

use clap::Args;
use engines::registry;
use model::{Generated, units};

use super::copy::{self, CopyFlags};
use crate::{exit::Failure, plan::fresh_seed};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark init test1.db                                   1,000 blobs of 10,000 bytes
  storemark init test2.db --count 2k --size 10k --variance 2k
  storemark init test1.db --force --seed 7                  in its place, the same each time";

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// The database to create
    pub(crate) database: PathBuf,
    /// Number of blobs
    #[arg(long, value_name = "N", value_parser = units::parse_size, default_value = "1000")]
    pub(crate) count: u64,
    /// Their middle size in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "10000")]
    pub(crate) size: u64,
    /// How far sizes vary to either side
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "0")]
    pub(crate) variance: u64,
    /// Page size: a power of two from 512 to 65536
    #[arg(long, value_name = "BYTES", default_value = "4096")]
    pub(crate) pagesize: String,
    /// Makes the same bytes again; default: a new one each time, printed
    #[arg(long, value_name = "N", value_parser = units::parse_size)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

pub(crate) fn run(options: &InitOptions, stop: &lab::Stop) -> Result<(), Failure> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let InitOptions { count, size, variance, .. } = *options;
    let from = lab::generated(Generated { seed, count, size, variance, random_percent: 100 })?;
    let to = copy::place(
        registry::databases()?,
        &options.database,
        Some(("page_size", &options.pagesize)),
    )?;
    copy::carry_out(from, to, &options.flags, stop)
}
