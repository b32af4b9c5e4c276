//! Options of `doctor`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use model::units;

use super::Talk;

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// The folder that stores would be in
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Time for measuring how small a difference shows here
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "60s")]
    pub(crate) time: Duration,
    /// Ten seconds for that (--time 10s)
    #[arg(long, conflicts_with = "time")]
    pub(crate) quick: bool,
    /// End with code 3 if anything may mislead
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) talk: Talk,
}
