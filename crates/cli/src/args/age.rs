//! What the user typed after `age`.

use std::ffi::OsString;

use clap::Args;
use model::{Cache, Durability, units};

use super::RoundsOptions;

pub(super) const EXAMPLES: &str = "\
Targets (each in a scratch store, removed afterwards): files: sqlite: lmdb: redb: fjall: …

Examples:
  storemark age                                        files against SQLite, 64 MB of 256 kB each
  storemark age --size 1M --variance 500k --volume 1G --ages 0,1,2,4,8 --rounds 5
  storemark age files: sqlite: sqlite:?page_size=65536 --cache data-cold,warm
  storemark age files:?write=overwrite files: --durability none";

/// Fills stores, then replaces objects at random by others of other sizes; reads, writes, space and
/// fragments are measured as the stores age
#[derive(Debug, Args)]
pub(crate) struct AgeOptions {
    /// What to measure; none: files and SQLite
    pub(crate) targets: Vec<OsString>,

    /// Objects that live in a store
    #[arg(long, value_name = "N", value_parser = units::parse_size, conflicts_with = "volume", help_heading = "Data")]
    pub(crate) objects: Option<u64>,
    /// Bytes of all that live, instead of their number
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "64MB", help_heading = "Data")]
    pub(crate) volume: u64,
    /// Their middle size in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "256k", help_heading = "Data")]
    pub(crate) size: u64,
    /// How far sizes vary to either side, drawn anew with each replacement; default: half the size
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, help_heading = "Data")]
    pub(crate) variance: Option<u64>,

    /// Storage ages at which reads are measured, ascending: how many times the live bytes were
    /// replaced. Writes are measured on the way from one to the next, at age 0 those that fill
    #[arg(
        long,
        value_name = "AGE",
        value_delimiter = ',',
        default_value = "0,2,4",
        allow_hyphen_values = true,
        help_heading = "Workload"
    )]
    pub(crate) ages: Vec<String>,
    /// What is in memory when reads begin: data-cold (no pages), warm, cold (no pages and no names;
    /// needs root, drops the caches of the whole machine)
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ',',
        default_value = "data-cold",
        help_heading = "Workload"
    )]
    pub(crate) cache: Vec<Cache>,
    /// Set each engine up for this class: none, consistent (files: a new file, flushed, renamed over
    /// the old one) or durable
    #[arg(long, value_name = "CLASS", default_value = "consistent", help_heading = "Workload")]
    pub(crate) durability: Durability,

    #[command(flatten)]
    pub(crate) rounds: RoundsOptions,
}
