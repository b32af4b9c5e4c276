//! MariaDB: `mariadb` starts a server of its own on a folder, `mysql` uses an existing one.

mod catalog;
mod connection;
mod dialect;
mod kind;
mod program;

use kit::own_table::SETTINGS;
use model::{
    Accepts, Capabilities, Declaration, Durability, DurabilitySettings, Maintenance, Setting,
    rows::NULL,
};

use crate::server::{SERVED, ServerEngine, TIMEOUT, TLS, TableStore, VIA};
use connection::MariaDbClient;
use kind::StorageEngine;

/// The engine with a private server for each store.
pub(crate) static MARIADB: ServerEngine<TableStore<MariaDbClient>> = ServerEngine::new(&PRIVATE);

/// The engine of an existing MariaDB or MySQL server.
pub(crate) static MYSQL: ServerEngine<TableStore<MariaDbClient>> = ServerEngine::new(&REMOTE);

const ENGINE: Setting = Setting::new(
    "engine",
    Accepts::Words(StorageEngine::WORDS),
    "the storage engine of the table; fixed once it is made",
);

const SYNC: Setting = Setting::new(
    "sync",
    Accepts::Words(&["none", "second", "commit"]),
    "InnoDB's log: never flushed, once a second, or at each commit",
);

const VARIABLE: Setting = Setting::new(
    "set.*",
    Accepts::Text,
    "a variable of the server that names no place or code, set when it starts",
);

const CLASSES: &[DurabilitySettings] = &[
    Durability::None
        .kept_by(
            &[("sync", "none")],
            "InnoDB: no commit writes the log or waits for a flush, and pages are written once; the \
             server still flushes in the background, and its files when they grow: a power cut may \
             leave no readable table, a killed server may undo the last commits",
        )
        .lost_if_server_killed(),
    Durability::Consistent.kept_by(
        &[("sync", "second")],
        "InnoDB: log written with pwrite(2) at each commit, fdatasync(2) of it once a second; \
         pages written twice (doublewrite): a power cut may undo the last second",
    ),
    Durability::Durable.kept_by(
        &[("sync", "commit")],
        "InnoDB: pwrite(2) and fdatasync(2) of the log before the commit returns; pages written \
         twice (doublewrite)",
    ),
];

static PRIVATE: Declaration = Declaration {
    settings: &[
        ENGINE,
        NULL,
        VIA,
        SYNC,
        Setting::new(
            "cache",
            // Key buffers consist of whole 4 KiB, and InnoDB starts with 6 MiB or more.
            Accepts::Multiple(1 << 20, 6 << 20, 1 << 46),
            "innodb_buffer_pool_size, key_buffer_size or aria_pagecache_buffer_size, in bytes",
        ),
        TIMEOUT,
        VARIABLE,
    ],
    durability: CLASSES,
    limitations: &[
        "a server changes its files also when it is only read, so that a copy is measured",
        "what it keeps in memory to write later is not counted as left to the background",
        "blobs: innodb_flush_method=fsync instead of O_DIRECT, the default since 10.6, so that a \
         cache state means the same as in other engines; ?set.innodb_flush_method=O_DIRECT measures \
         the default",
        "aria, myisam: a batch is no transaction, and no durability class is promised: they \
         overwrite pages in place with nothing to mend a torn one from",
        "memory, csv: no BLOB columns with a key, so that they serve rows only",
    ],
    maintenance: &[
        (Maintenance::Vacuum, "OPTIMIZE TABLE"),
        (Maintenance::Analyze, "ANALYZE TABLE"),
        (Maintenance::IntegrityCheck, "CHECK TABLE"),
        (Maintenance::Backup, "mariadb-dump --single-transaction --quick --hex-blob"),
    ],
    reclaim: Some("OPTIMIZE TABLE"),
    servers: Some(&MARIADB),
    blobs: Some(&MARIADB),
    rows: Some(&MARIADB),
    worth_trying: &[SERVED],
    title: "MariaDB",
    ..Declaration::new("mariadb", "a table of a MariaDB server that storemark starts and ends")
};

static REMOTE: Declaration = Declaration {
    settings: &[
        ENGINE,
        Setting { help: "what the server must be set to; it is not changed", ..SYNC },
        SETTINGS[0],
        SETTINGS[1],
        SETTINGS[2],
        SETTINGS[3],
        TLS,
        TIMEOUT,
        Setting { help: "a variable of the server, set for the sessions alone", ..VARIABLE },
    ],
    limitations: &[
        "the server's processor time, memory, space and bytes are not counted, wherever it runs",
        "its caches are neither emptied nor looked at",
        "its durability is read back, not set: without --durability all targets get its class",
    ],
    durability: CLASSES,
    capabilities: Capabilities::REMOTE,
    servers: Some(&MYSQL),
    blobs: Some(&MYSQL),
    schemes: &["mysql", "mariadb"],
    title: "MySQL",
    ..Declaration::new("mysql", "a table on an existing MariaDB or MySQL server")
};
