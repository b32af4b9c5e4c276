//! What a user can ask `storemark age` for.

use model::{Durability, Error, Generated, Result};

use crate::{
    common::{ColdStart, JudgeOption, Output, Running},
    options::options,
    value::{GivenValue, Kind, Size, given_value, given_values},
};

options! {
    /// Fills stores, then replaces objects at random by others of other sizes; reads, writes, space
    /// and fragments are measured as the stores age
    pub struct AgeSpec {
        targets = "What to measure; none: files and SQLite";

        /// Objects that live in a store
        objects: Option<GivenValue<Size>> = "N" [help_heading = "Data"],
        /// Bytes of all that live, instead of their number; default: 64MB
        volume: Option<GivenValue<Size>> = "BYTES" [help_heading = "Data"],
        /// Their middle size in bytes; default: 256k
        size: Option<GivenValue<Size>> = "BYTES" [help_heading = "Data"],
        /// How far sizes vary to either side, drawn again with each replacement; default: half the
        /// size
        variance: Option<GivenValue<Size>> = "BYTES" [help_heading = "Data"],

        /// Storage ages at which reads are measured, ascending: how many times the live bytes were
        /// replaced. Writes are measured on the way from one to the next, at age 0 those that fill;
        /// default: 0,2,4
        ages: Vec<GivenValue<Age>> = "AGE" [allow_hyphen_values = true, help_heading = "Workload"],
        /// Set each engine up for this class: none, consistent (files: a new file, flushed, renamed
        /// over the old one) or durable; default: consistent
        durability: Option<GivenValue<Durability>> = "CLASS" [help_heading = "Workload"],
        ..cold: ColdStart,
        ..running: Running,
        ..judged: JudgeOption,
        ..shown: Output,
    }
}

/// The kind of option value that is a storage age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age;

/// The highest age that is accepted, far beyond what was published: a typo must not cost a night.
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

impl AgeSpec {
    /// The targets that are measured when the user names none: those that were published.
    pub const TARGETS: [&str; 2] = ["files:", "sqlite:"];

    /// Returns the objects that are generated.
    ///
    /// # Errors
    ///
    /// Fails if a size is 0, or no object fits into the volume.
    pub fn data(&self, seed: u64) -> Result<Generated> {
        let size = given_value(&self.size).unwrap_or(256_000);
        if size == 0 {
            return Err(Error::usage("--size 0: accepted is 1 or more"));
        }
        let volume = given_value(&self.volume).unwrap_or(64_000_000);
        let count = given_value(&self.objects).unwrap_or(volume / size);
        if count == 0 {
            return Err(Error::usage(format!(
                "--volume {volume}: holds no object of {size} bytes (--size)"
            )));
        }
        let variance = given_value(&self.variance).unwrap_or(size / 2);
        Ok(Generated { seed, count, size, variance, random_percent: 100 })
    }

    /// Returns the storage ages, each greater than the one before.
    ///
    /// # Errors
    ///
    /// Fails if they do not ascend.
    pub fn ages(&self) -> Result<Vec<u32>> {
        let ages = if self.ages.is_empty() { vec![0, 2, 4] } else { given_values(&self.ages) };
        match ages.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Ok(ages),
            Some(pair) => {
                let written: Vec<String> = self.ages.iter().map(ToString::to_string).collect();
                let (written, age, before) = (written.join(","), pair[1], pair[0]);
                Err(Error::usage(format!(
                    "--ages {written}: {age} comes after {before}; ages ascend, as in 0,2,4"
                )))
            }
        }
    }

    /// Returns the durability class that every engine is set up for.
    pub fn durability(&self) -> Durability {
        given_value(&self.durability).unwrap_or(Durability::Consistent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u32>> {
        let ages = text.split(',').map(str::parse).collect::<Result<_>>()?;
        AgeSpec { ages, ..AgeSpec::default() }.ages()
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
