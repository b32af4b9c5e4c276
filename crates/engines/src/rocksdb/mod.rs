//! `RocksDB`: a folder with a log-structured merge tree; the column family that holds the dataset is
//! called after the kind of its keys.

mod options;
mod store;

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{
    Accepts, Blobs, Capabilities, Declaration, Durability, Engine, Fill, FoundValues, Library,
    Maintenance, OpenOptions, Result, Setting, Settings, Store,
};

use crate::{at, caught::StoreName, fresh, lsm, part};
use store::RocksStore;

/// The engine `RocksDB`.
pub(crate) struct RocksDb;

/// The setting that names the column family with the values.
const FAMILY: &str = "family";

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "cache",
            Accepts::Size(0, 1 << 47),
            "block cache in bytes; the library's own default. Values in files of their own \
             (blobs=on) are not in it",
        ),
        Setting::new(
            "compression",
            Accepts::Words(&["none", "snappy", "lz4", "zstd"]),
            "of blocks and values. none by default (the library's is snappy): blobs seldom shrink, \
             and other engines do not try",
        ),
        Setting::new(
            "wal",
            Accepts::Words(&["on", "off"]),
            "whether commits go to the write-ahead log (WriteOptions.disableWAL)",
        ),
        Setting::new(
            "sync",
            Accepts::Words(&["on", "off"]),
            "whether the log is flushed to the device before a commit returns",
        ),
        Setting::new(
            "blobs",
            Accepts::Words(&["on", "off"]),
            "values of 1 KiB and more in files of their own (enable_blob_files, with garbage \
             collection), so that compaction does not move them. on by default (the library's is \
             off): it is meant for blobs",
        ),
        part::setting(FAMILY, "the column family with the values, in a store of another program"),
    ],
    durability: &[
        Durability::None.kept_by(
            &[("wal", "off"), ("sync", "off")],
            "no log (WriteOptions.disableWAL), values wait in memory for their table: a power cut \
             or a killed process undoes what was committed since the last table",
        ).lost_if_killed(),
        Durability::Consistent.kept_by(
            &[("wal", "on"), ("sync", "off")],
            "write(2) of the log before a commit returns, no flush: a power cut may undo the last \
             commits",
        ),
        Durability::Durable.kept_by(
            &[("wal", "on"), ("sync", "on")],
            "write(2) of the log, then fdatasync(2) of it before a commit returns (FlushWAL, so \
             that sessions that write at once share a flush)",
        ),
    ],
    limitations: &[
        "a write does not report whether its key existed: an insert or update reads the old value \
         first",
        "a batch is held in memory until it is committed; one session writes at a time, though \
         sessions flush at once",
    ],
    capabilities: Capabilities::IN_ONE_PROCESS,

    // A log keeps the commits of a killed process readable.
    fill: Some(Fill {
        settings: &[("wal", "on"), ("sync", "off")],
        sessions: 1,
        whole_blocks_from: None,
    }),
    integrity: Some("a checksum for each block, compared as it is read"),
    maintenance: &[
        (Maintenance::Compact, "a compaction of all keys (CompactRange)"),
        (Maintenance::Backup, "BackupEngine::CreateNewBackup, a copy of all files"),
        (Maintenance::Copy, "Checkpoint::CreateCheckpoint, hard links to the tables and values"),
    ],
    reclaim: Some("a compaction of all keys (CompactRange)"),
    blobs: Some(&RocksDb),
    worth_trying: lsm::WORTH_TRYING,
    title: "RocksDB",
    extension: Some("rocksdb"),
    ..Declaration::new(
        "rocksdb",
        "RocksDB, a log-structured merge tree: a log, sorted tables, files of values",
    )
};

impl Engine for RocksDb {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn library(&self, _: &Settings) -> Option<Library> {
        let version = linked_version().unwrap_or_else(|| "of the system".to_owned());
        Some(Library::new("RocksDB", version))
    }
}

impl Blobs for RocksDb {
    /// Returns whether the folder has `RocksDB`'s files, or those of `LevelDB`, which the library reads.
    /// `LevelDB` has a file `CURRENT` too, but no `IDENTITY`.
    fn recognises(&self, path: &Path) -> bool {
        // Opening a pipe would wait for its writer.
        let current = path.join("CURRENT");
        current.is_file()
            && ["IDENTITY", "LOCK"].iter().any(|name| path.join(name).is_file())
            && fs::read(current).is_ok_and(|text| text.starts_with(b"MANIFEST-"))
    }

    fn logs(&self, location: &Path) -> Vec<PathBuf> {
        let entries = location.read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| store::is_log(path)).collect()
    }

    fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        part::find(FAMILY, asked, location, || {
            at::check(self, location)?;
            StoreName::intern(location).at_work(|| store::sizes(location))
        })
    }

    fn repair(&self, location: &Path) -> Option<String> {
        let repaired = StoreName::intern(location).at_work(|| store::repair(location));
        repaired.ok().map(|()| "rocksdb::RepairDB".to_owned())
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        options::check(&options.settings)?;
        fresh::folder(location, || RocksStore::create(location, options))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        options::check(&options.settings)?;
        at::check(self, location)?;
        StoreName::intern(location)
            .at_work(|| Ok(Box::new(RocksStore::open(location, options)?) as _))
    }
}

/// Returns the version from the name of the mapped file, as the library does not report it to C.
fn linked_version() -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let (_, rest) = maps.split_once("/librocksdb.so.")?;
    rest.lines().next().map(str::to_owned)
}
