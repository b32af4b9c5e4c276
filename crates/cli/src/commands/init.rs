//! `storemark init`: a database of random blobs, as kvtest makes them.

use model::Generated;

use super::{copy, run::fresh_seed};
use crate::{args::InitOptions, exit::Failure};

pub(crate) fn run(options: &InitOptions, stop: &lab::Stop) -> Result<(), Failure> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let InitOptions { count, size, variance, .. } = *options;
    let from = lab::made(Generated { seed, count, size, variance, random_percent: 100 })?;
    let to = copy::place("sqlite", &options.database, Some(("page_size", &options.pagesize)))?;
    copy::carry_out(from, to, &options.flags, stop)
}
