//! `RocksDB`: a folder with a log-structured merge tree; the column family that holds the dataset is
//! called after the kind of its keys.

mod options;
mod store;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::{
    Accepts, Blobs, Capabilities, Durability, DurabilitySettings, Engine, Error, Facet, Fill,
    Library, OpenOptions, Result, Setting, Store,
};

use store::RocksStore;

pub(crate) struct RocksDb;

const SETTINGS: &[Setting] = &[
    Setting {
        name: "cache",
        accepts: Accepts::Size { min: 0, max: 1 << 47 },
        help: "block cache in bytes; the library's own default. Values in files of their own \
               (blobs=on) are not in it",
    },
    Setting {
        name: "compression",
        accepts: Accepts::Words(&["none", "snappy", "lz4", "zstd"]),
        help: "of blocks and values. none by default (the library's is snappy): blobs seldom \
               shrink, and other engines do not try",
    },
    Setting {
        name: "wal",
        accepts: Accepts::Words(&["on", "off"]),
        help: "whether commits go to the write-ahead log (WriteOptions.disableWAL)",
    },
    Setting {
        name: "sync",
        accepts: Accepts::Words(&["on", "off"]),
        help: "whether the log is flushed to the device before a commit returns",
    },
    Setting {
        name: "blobs",
        accepts: Accepts::Words(&["on", "off"]),
        help: "values of 1 KiB and more in files of their own (enable_blob_files, with garbage \
               collection), so that compaction does not move them. on by default (the library's \
               is off): it is meant for blobs",
    },
];

impl Engine for RocksDb {
    fn name(&self) -> &'static str {
        "rocksdb"
    }

    fn about(&self) -> &'static str {
        "RocksDB, a log-structured merge tree: a log, sorted tables, files of values"
    }

    fn library(&self) -> Option<Library> {
        let version = linked_version().unwrap_or_else(|| "of the system".to_owned());
        Some(Library { name: "RocksDB".to_owned(), version, options: Vec::new() })
    }

    fn settings(&self, _: Facet) -> &'static [Setting] {
        SETTINGS
    }

    fn durability_settings(&self, _: Facet, class: Durability) -> Option<DurabilitySettings> {
        let (settings, how): (&'static [_], _) = match class {
            Durability::None => (
                &[("wal", "off"), ("sync", "off")],
                "no log (WriteOptions.disableWAL), values wait in memory for their table: a power \
                 cut or a killed process undoes what was committed since the last table",
            ),
            Durability::Consistent => (
                &[("wal", "on"), ("sync", "off")],
                "write(2) of the log before a commit returns, no flush: a power cut may undo the \
                 last commits",
            ),
            Durability::Durable => (
                &[("wal", "on"), ("sync", "on")],
                "write(2) of the log, then fdatasync(2) of it before a commit returns (FlushWAL, \
                 so that sessions that write at once share a flush)",
            ),
        };
        Some(DurabilitySettings { settings, how })
    }

    fn limitations(&self) -> &'static [&'static str] {
        &[
            "a write does not tell whether its key was there: an insert or update reads the old \
             value first",
            "a batch is held in memory until it is committed; one session writes at a time, though \
             sessions flush at once",
        ]
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for RocksDb {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            persistent: true,
            retains: true,
            meta: true,
            concurrent_writes: true,
            processes: false,
            remote: false,
        }
    }

    /// With a log, so that a killed process leaves its commits readable.
    fn fill(&self) -> Fill {
        Fill { settings: &[("wal", "on"), ("sync", "off")], sessions: 1, whole_blocks: false }
    }

    /// `LevelDB` has a file `CURRENT` too, but no `IDENTITY`.
    fn recognises(&self, path: &Path) -> bool {
        // Opening a pipe would wait for its writer.
        let current = path.join("CURRENT");
        current.is_file()
            && path.join("IDENTITY").is_file()
            && fs::read(current).is_ok_and(|text| text.starts_with(b"MANIFEST-"))
    }

    fn files(&self, location: &Path) -> Vec<PathBuf> {
        vec![location.to_owned()]
    }

    fn others(&self, location: &Path) -> Result<Vec<String>> {
        store::others(location)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        options::check(&options.settings)?;
        fs::create_dir(location).map_err(|e| Error::io(location.display(), e))?;
        let made = RocksStore::create(location, options);
        if made.is_err() {
            // The folder was made a moment ago, by this call.
            let _ = fs::remove_dir_all(location);
        }
        Ok(Box::new(made?))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        options::check(&options.settings)?;
        if !location.exists() {
            return Err(Error::io(location.display(), io::ErrorKind::NotFound.into()));
        }
        if !self.recognises(location) {
            return Err(Error::corrupt(format!("{}: is no RocksDB store", location.display())));
        }
        Ok(Box::new(RocksStore::open(location, options)?))
    }
}

/// The library does not tell its version to C; the name of the file that is mapped does.
fn linked_version() -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let (_, rest) = maps.split_once("/librocksdb.so.")?;
    rest.lines().next().map(str::to_owned)
}
