//! PostgreSQL: `postgres`, a private server whose data stand in the store's own folder, and
//! `postgresql`, an existing server.

pub(crate) mod cluster;
mod database;
pub(crate) mod error;
pub(crate) mod host;
mod program;
mod remote;
mod session;
pub(crate) mod store;
mod table;
pub(crate) mod variables;

use std::path::Path;

use model::{
    Accepts, Access, Account, Blobs, Declaration, Durability, DurabilitySettings, Engine, Facet,
    Fill, KeyKind, Library, OpenOptions, Result, Rows, Setting, Settings, Store, rows::NULL,
};

use crate::server;
use cluster::Cluster;
use program::Installed;
pub(crate) use remote::Postgresql;
use store::PostgresStore;

/// A private server.
pub(crate) struct Postgres;

pub(crate) const CACHE: Setting = Setting::new(
    "cache",
    // 16 pages of 8 KiB, and the most that the server takes.
    Accepts::Size { min: 131_072, max: (i32::MAX as u64 / 2) * 8192 },
    "shared_buffers in bytes (whole pages of 8 KiB)",
);

pub(crate) const SYNC: Setting = Setting::new(
    "sync",
    Accepts::Words(&["off", "async", "on"]),
    "off: fsync, synchronous_commit and full_page_writes off; async: only synchronous_commit \
           off; on: all on",
);

const STORAGE: Setting = Setting::new(
    "storage",
    Accepts::Words(&["external", "extended", "main"]),
    "how the column of the values is stored: external without attempts to compress, extended \
           and main with them; fixed once the store is made",
);

pub(crate) const VARIABLE: Setting = Setting::new(
    "set.*",
    Accepts::Text,
    "any server variable that names no place or code, as in set.work_mem=64MB, given at the \
           start; socket, port and log are storemark's own",
);

/// As whom the private server runs; it refuses to run as root.
pub(crate) fn account() -> Option<Account> {
    server::account(&["postgres"])
}

const CLASSES: &[DurabilitySettings] = &[
    DurabilitySettings::new(
        Durability::None,
        &[("sync", "off")],
        "WAL and pages written without any flush: a power cut may leave no readable \
             database",
    ),
    DurabilitySettings::new(
        Durability::Consistent,
        &[("sync", "async")],
        "WAL flushed with fdatasync(2) in the background, within 0.6 s of the commit: a \
             power cut may undo the last commits",
    ),
    DurabilitySettings::new(
        Durability::Durable,
        &[("sync", "on")],
        "WAL flushed with fdatasync(2) before the commit returns",
    ),
];

static DECLARATION: Declaration = Declaration {
    settings: &[
        CACHE,
        SYNC,
        NULL,
        STORAGE.only(&[Facet::Blobs]),
        Setting::new(
            "vacuum",
            Accepts::Words(&["settle", "auto"]),
            "what removes dead rows: VACUUM at the end of each pass, on the clock, or the \
               server's autovacuum whenever it gets to it",
        )
        .only(&[Facet::Blobs]),
        VARIABLE,
    ],
    durability: CLASSES,
    limitations: &[
        "names longer than 2,692 bytes (an entry of its index must fit a third of a page)",
        "waits for locks shorter than 1 ms are not counted (the server logs them from \
             deadlock_timeout on)",
        "no integrity check: the server checks pages only where checksums were chosen",
    ],

    // Every commit reaches the system, so that a killed process leaves what it committed.
    fill: Some(Fill {
        settings: &[("sync", "off"), ("set.synchronous_commit", "on")],
        sessions: 1,
        whole_blocks: false,
    }),
    server: true,
    ..Declaration::new(
        "postgres",
        "a private PostgreSQL server with its data in a folder: table kv, prepared statements over \
         a Unix socket",
    )
};

impl Engine for Postgres {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn library(&self) -> Option<Library> {
        Installed::find().ok().map(Installed::library)
    }

    fn usable(&self) -> Result<()> {
        Installed::find().map(drop)
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        Some(self)
    }
}

impl Blobs for Postgres {
    fn account(&self) -> Option<Account> {
        account()
    }

    fn recognises(&self, path: &Path) -> bool {
        Cluster::at(path).is_there()
    }

    fn reading_changes(&self, _: &Path, _: &Settings) -> Option<String> {
        Some("a server writes into the folder of its data".to_owned())
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        Cluster::at(location).check_free().map(|()| true)
    }

    fn others(&self, location: &Path) -> Result<Vec<String>> {
        let settings = Settings::default();
        let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Integers };
        PostgresStore::open(location, &options)?.others()
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore::create(location, options)?))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore::open(location, options)?))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore::join(location, options)?))
    }
}
