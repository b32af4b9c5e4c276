//! What a user can ask `storemark age` for.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    common::{Output, Running, caches},
    value::{Kind, Name, Size, Written, all, one},
};
use crate::{Cache, Durability, Error, Generated, Result, Rounds};

/// Fills stores, then replaces objects at random by others of other sizes; reads, writes, space and
/// fragments are measured as the stores age
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct AgeingSpec {
    /// What to measure; none: files and SQLite
    pub targets: Vec<Name>,

    /// Objects that live in a store
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Data"))]
    pub objects: Option<Written<Size>>,
    /// Bytes of all that live, instead of their number; default: 64MB
    #[cfg_attr(feature = "clap", arg(long, value_name = "BYTES", help_heading = "Data"))]
    pub volume: Option<Written<Size>>,
    /// Their middle size in bytes; default: 256k
    #[cfg_attr(feature = "clap", arg(long, value_name = "BYTES", help_heading = "Data"))]
    pub size: Option<Written<Size>>,
    /// How far sizes vary to either side, drawn again with each replacement; default: half the size
    #[cfg_attr(feature = "clap", arg(long, value_name = "BYTES", help_heading = "Data"))]
    pub variance: Option<Written<Size>>,

    /// Storage ages at which reads are measured, ascending: how many times the live bytes were
    /// replaced. Writes are measured on the way from one to the next, at age 0 those that fill;
    /// default: 0,2,4
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "AGE", allow_hyphen_values = true, help_heading = "Workload")
    )]
    pub ages: Vec<Written<Age>>,
    /// What is in memory when reads start: data-cold (no pages), warm, cold (no pages and no names;
    /// needs root, drops the caches of the whole machine); default: data-cold
    #[cfg_attr(feature = "clap", arg(long, value_name = "STATE", help_heading = "Workload"))]
    pub cache: Vec<Written<Cache>>,
    /// Set each engine up for this class: none, consistent (files: a new file, flushed, renamed over
    /// the old one) or durable; default: consistent
    #[cfg_attr(feature = "clap", arg(long, value_name = "CLASS", help_heading = "Workload"))]
    pub durability: Option<Written<Durability>>,

    /// How long to measure, and where.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub running: Running,
    /// What to print and write.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub shown: Output,
}

/// A storage age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age;

/// Far beyond what was published: a typo must not cost a night.
const OLDEST: u32 = 1000;

impl Kind for Age {
    type Value = u32;

    fn read(text: &str) -> Result<u32> {
        match text.trim().parse() {
            Ok(age) if age <= OLDEST => Ok(age),
            Ok(age) => Err(Error::usage(format!("--ages {age}: accepted is up to {OLDEST}"))),
            Err(_) => Err(Error::usage(format!(
                "{text:?} is not an age (accepted: whole numbers from 0 to {OLDEST}, as in 0,2,4)"
            ))),
        }
    }
}

impl AgeingSpec {
    /// The objects.
    pub fn data(&self, seed: u64) -> Result<Generated> {
        let size = one(&self.size).unwrap_or(256_000);
        if size == 0 {
            return Err(Error::usage("--size 0: accepted is 1 or more"));
        }
        let (objects, volume) = (one(&self.objects), one(&self.volume).unwrap_or(64_000_000));
        let count = objects.unwrap_or(volume / size);
        if count == 0 {
            return Err(Error::usage(match objects {
                Some(_) => "--objects 0: accepted is 1 or more".to_owned(),
                None => format!("--volume {volume}: holds no object of {size} bytes (--size)"),
            }));
        }
        let variance = one(&self.variance).unwrap_or(size / 2);
        Ok(Generated { seed, count, size, variance, random_percent: 100 })
    }

    /// The storage ages, each greater than the one before.
    pub fn ages(&self) -> Result<Vec<u32>> {
        let ages = if self.ages.is_empty() { vec![0, 2, 4] } else { all(&self.ages) };
        match ages.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Ok(ages),
            Some(pair) => {
                let written: Vec<String> = self.ages.iter().map(ToString::to_string).collect();
                let (before, age, written) = (pair[0], pair[1], written.join(","));
                Err(Error::usage(format!(
                    "--ages {written}: {age} comes after {before}; ages ascend, as in 0,2,4"
                )))
            }
        }
    }

    /// The states that reads start in.
    pub fn caches(&self) -> Vec<Cache> {
        caches(&self.cache, Cache::DataCold)
    }

    /// The class that every engine is set up for.
    pub fn durability(&self) -> Durability {
        one(&self.durability).unwrap_or(Durability::Consistent)
    }

    /// When to stop.
    pub fn rounds(&self) -> Rounds {
        self.running.rounds(Duration::from_secs(60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u32>> {
        let ages = text.split(',').map(str::parse).collect::<Result<_>>()?;
        AgeingSpec { ages, ..AgeingSpec::default() }.ages()
    }

    #[test]
    fn ages_ascend() {
        assert_eq!(read("0,2,4").unwrap(), [0, 2, 4]);
        assert_eq!(read("3").unwrap(), [3]);
        for (wrong, said) in [
            ("0,4,2", "2 comes after 4"),
            ("1,1", "1 comes after 1"),
            ("-1,2", "\"-1\" is not an age"),
            ("0,,1", "\"\" is not an age"),
            ("1.5", "\"1.5\" is not an age"),
            ("5000", "up to 1000"),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{wrong}: {error}");
        }
    }
}
