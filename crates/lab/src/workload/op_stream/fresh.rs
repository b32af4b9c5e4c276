//! Keys that a dataset does not have, to be inserted.

use model::{Error, Key, KeyKind, Result};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::dataset::{Dataset, below};

/// What the names of inserted values begin with, unless a name of the dataset does.
const PREFIX: &str = "new-";

impl Dataset {
    /// `count` keys besides those of this dataset, as long as some of its values: integers follow
    /// its greatest, names begin as none of its own does.
    #[expect(clippy::cast_possible_truncation, reason = "below the number of entries")]
    pub(super) fn fresh(&self, count: u64, seed: u64) -> Result<Self> {
        let greatest = || match self.entries().iter().map(|entry| self.key(entry)).max() {
            Some(Key::Int(greatest)) => greatest,
            _ => 0,
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut fresh = Self::new(self.keys());
        let (greatest, prefix) = match self.keys() {
            KeyKind::Integers => (greatest(), String::new()),
            KeyKind::Names if count > 0 => (0, self.unused_prefix()),
            KeyKind::Names => (0, String::new()),
        };
        for number in 1..=count {
            let like = below(&mut random, self.entries().len() as u64) as usize;
            let name = format!("{prefix}{number:08}");
            let key = match self.keys() {
                KeyKind::Integers => {
                    Key::Int(greatest.checked_add_unsigned(number).ok_or_else(|| {
                        Error::usage(format!("no key is left to insert beyond {greatest}"))
                    })?)
                }
                KeyKind::Names => Key::Name(name.as_bytes()),
            };
            fresh.push_sized(key, self.entries()[like].size)?;
        }
        Ok(fresh)
    }

    fn unused_prefix(&self) -> String {
        let mut prefix = PREFIX.to_owned();
        let used = |prefix: &str| {
            let mut keys = self.entries().iter().map(|entry| self.key(entry));
            keys.any(|key| matches!(key, Key::Name(name) if name.starts_with(prefix.as_bytes())))
        };
        while used(&prefix) {
            prefix.push('-');
        }
        prefix
    }
}
