//! The storage engines of a server's tables.

use model::Settings;

#[derive(Debug)]
pub(super) struct StorageEngine {
    pub(super) word: &'static str,
    /// The variable that sizes its cache; `None` if it has no cache.
    pub(super) cache: Option<&'static str>,
    /// The most bytes of a name as primary key.
    pub(super) longest_name: usize,
    /// The extensions of the files that contain a table's rows.
    pub(super) suffixes: &'static [&'static str],
    /// Whether it accepts `INSERT DELAYED`; the others return an error (1616).
    pub(super) delays: bool,
    /// Why it cannot hold blobs by key; `None` if it can.
    pub(super) no_blobs: Option<&'static str>,
}

const fn kind(
    word: &'static str,
    cache: Option<&'static str>,
    longest_name: usize,
    suffixes: &'static [&'static str],
) -> StorageEngine {
    StorageEngine { word, cache, longest_name, suffixes, delays: false, no_blobs: None }
}

/// All storage engines; the first is the default.
pub(super) static KINDS: [StorageEngine; 5] = [
    kind("innodb", Some("innodb_buffer_pool_size"), 3072, &["ibd"]),
    StorageEngine {
        delays: true,
        ..kind("myisam", Some("key_buffer_size"), 1000, &["MYD", "MYI"])
    },
    kind("aria", Some("aria_pagecache_buffer_size"), 2000, &["MAD", "MAI"]),
    StorageEngine {
        delays: true,
        no_blobs: Some("its tables have no BLOB columns"),
        ..kind("memory", None, 3072, &[])
    },
    StorageEngine {
        no_blobs: Some("its tables have no keys"),
        ..kind("csv", None, 3072, &["CSV"])
    },
];

impl StorageEngine {
    /// The words of [`KINDS`].
    pub(super) const WORDS: &[&str] = &["innodb", "myisam", "aria", "memory", "csv"];

    /// Returns the storage engine that `word` names, in upper or lower case.
    pub(super) fn find(word: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.word.eq_ignore_ascii_case(word))
    }

    /// Returns the storage engine that `settings` ask for.
    pub(super) fn from_settings(settings: &Settings) -> &'static Self {
        settings.get("engine").and_then(Self::find).unwrap_or(&KINDS[0])
    }

    /// Returns whether it is InnoDB, the only one with transactions and a durability class.
    pub(super) fn is_innodb(&self) -> bool {
        self.word == KINDS[0].word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_named_by_its_word() {
        assert_eq!(KINDS.each_ref().map(|kind| kind.word), StorageEngine::WORDS);
        for kind in &KINDS {
            assert_eq!(StorageEngine::find(&kind.word.to_uppercase()).unwrap().word, kind.word);
        }
        assert!(StorageEngine::find("rocksdb").is_none());
    }
}
