//! The storage engines of a server's tables.

use model::{Durability, Error, Result, Settings};

/// A storage engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Innodb,
    Myisam,
    Aria,
    Memory,
    Csv,
}

impl Kind {
    /// Their words, in the order of the variants.
    pub(crate) const WORDS: &[&str] = &["innodb", "myisam", "aria", "memory", "csv"];
    pub(crate) const ALL: [Self; 5] =
        [Self::Innodb, Self::Myisam, Self::Aria, Self::Memory, Self::Csv];

    /// The one that `word` names, in upper or lower case.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word))
    }

    /// The one that `settings` ask for.
    pub(crate) fn asked(settings: &Settings) -> Self {
        settings.get("engine").and_then(Self::named).unwrap_or(Self::Innodb)
    }

    pub(crate) fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// The variable that sizes its cache; `None`: it has no cache.
    pub(crate) fn cache(self) -> Option<&'static str> {
        match self {
            Self::Innodb => Some("innodb_buffer_pool_size"),
            Self::Myisam => Some("key_buffer_size"),
            Self::Aria => Some("aria_pagecache_buffer_size"),
            Self::Memory | Self::Csv => None,
        }
    }

    /// Whether it accepts `INSERT DELAYED`; the others return an error (1616).
    pub(crate) fn delays(self) -> bool {
        matches!(self, Self::Myisam | Self::Memory)
    }

    /// Why its tables cannot give `class`: only InnoDB's tables can.
    pub(crate) fn unsupported_reason(self, class: Durability) -> Option<String> {
        let keeps = self == Self::Innodb || class == Durability::None;
        (!keeps).then(|| format!("engine={} promises nothing (none)", self.word()))
    }

    /// An error if it has no cache and the settings have a size for it.
    pub(crate) fn check_cache(self, settings: &Settings) -> Result<()> {
        match (settings.get("cache"), self.cache()) {
            (Some(bytes), None) => {
                Err(Error::usage(format!("cache={bytes}: engine={} has no cache", self.word())))
            }
            _ => Ok(()),
        }
    }

    /// Most bytes of a name as primary key.
    pub(crate) fn longest_name(self) -> usize {
        match self {
            Self::Myisam => 1000,
            Self::Aria => 2000,
            _ => 3072,
        }
    }

    /// The extensions of the files that hold a table's rows.
    pub(crate) fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Innodb => &["ibd"],
            Self::Myisam => &["MYD", "MYI"],
            Self::Aria => &["MAD", "MAI"],
            Self::Csv => &["CSV"],
            Self::Memory => &[],
        }
    }

    /// An error if it cannot hold blobs by key.
    pub(crate) fn check_blobs(self) -> Result<()> {
        let why = match self {
            Self::Memory => "its tables have no BLOB columns",
            Self::Csv => "its tables have no keys",
            _ => return Ok(()),
        };
        Err(Error::usage(format!(
            "engine={}: {why}; it serves rows, not blobs (accepted: innodb, myisam, aria)",
            self.word()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_named_by_its_word() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.word()), Some(kind));
            assert_eq!(Kind::named(&kind.word().to_uppercase()), Some(kind));
        }
        assert_eq!(Kind::named("rocksdb"), None);
    }
}
