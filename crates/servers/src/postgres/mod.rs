//! PostgreSQL: `postgres` starts a server of its own on a folder, `postgresql` uses an existing one.

mod catalog;
mod connection;
mod dialect;
mod program;

use kit::own_table::SETTINGS;
use model::{
    Accepts, Capabilities, Declaration, Durability, DurabilitySettings, Facet, Fill, Maintenance,
    Setting, rows::NULL,
};

use crate::server::{SERVED, ServerEngine, TIMEOUT, TLS, TableStore, VIA};
use connection::PostgresClient;

/// The engine with a private server for each store.
pub(crate) static POSTGRES: ServerEngine<TableStore<PostgresClient>> = ServerEngine::new(&PRIVATE);

/// The engine of an existing server.
pub(crate) static POSTGRESQL: ServerEngine<TableStore<PostgresClient>> = ServerEngine::new(&REMOTE);

const SYNC: Setting = Setting::new(
    "sync",
    Accepts::Words(&["off", "async", "on"]),
    "off: fsync, synchronous_commit and full_page_writes off; async: only synchronous_commit off; \
     on: all on",
);

const STORAGE: Setting = Setting::new(
    "storage",
    Accepts::Words(&["external", "extended", "main"]),
    "how the column of the values is stored: external without attempts to compress, extended and \
     main with them; fixed once the store is made",
)
.only_for(&[Facet::Blobs]);

const VARIABLE: Setting = Setting::new(
    "set.*",
    Accepts::Text,
    "any server variable that names no place or code, as in set.work_mem=64MB, given at the start; \
     socket, port and log are storemark's own",
);

const LONG_NAMES: &str =
    "names longer than 2,692 bytes (an entry of its index must fit a third of a page)";

const CLASSES: &[DurabilitySettings] = &[
    Durability::None
        .kept_by(
            &[("sync", "off")],
            "WAL written in the background, without any flush of it or of pages: a power cut may leave \
             no readable database, a killed server may undo the last commits",
        )
        .lost_if_server_killed(),
    Durability::Consistent
        .kept_by(
            &[("sync", "async")],
            "WAL written and flushed with fdatasync(2) in the background, within 0.6 s of the commit: a \
             power cut or a killed server may undo the last commits",
        )
        .lost_if_server_killed(),
    Durability::Durable
        .kept_by(&[("sync", "on")], "WAL flushed with fdatasync(2) before the commit returns"),
];

static PRIVATE: Declaration = Declaration {
    settings: &[
        Setting::new(
            "cache",
            // 16 pages of 8 KiB, and the most that the server takes.
            Accepts::Multiple(8192, 131_072, (i32::MAX as u64 / 2) * 8192),
            "shared_buffers in bytes",
        ),
        SYNC,
        NULL,
        VIA,
        STORAGE,
        Setting::new(
            "vacuum",
            Accepts::Words(&["settle", "auto"]),
            "what removes dead rows: VACUUM at the end of each pass, on the clock, or the server's \
             autovacuum whenever it gets to it",
        )
        .only_for(&[Facet::Blobs]),
        TIMEOUT,
        VARIABLE,
    ],
    durability: CLASSES,
    limitations: &[
        LONG_NAMES,
        "waits for locks shorter than 1 ms are not counted (the server logs them from \
         deadlock_timeout on)",
        "no integrity check: the server checks pages only where checksums were chosen",
    ],
    // Every commit reaches the system, so that a killed process leaves what it committed.
    fill: Some(Fill {
        settings: &[("sync", "off"), ("set.synchronous_commit", "on")],
        sessions: 1,
        whole_blocks_from: None,
    }),
    maintenance: &[
        (Maintenance::Checkpoint, "CHECKPOINT"),
        (Maintenance::Vacuum, "VACUUM"),
        (Maintenance::Analyze, "ANALYZE"),
        (Maintenance::Backup, "pg_dump --format=custom"),
    ],
    reclaim: Some("VACUUM FULL"),
    servers: Some(&POSTGRES),
    blobs: Some(&POSTGRES),
    rows: Some(&POSTGRES),
    worth_trying: &[SERVED],
    title: "PostgreSQL",
    ..Declaration::new(
        "postgres",
        "a private PostgreSQL server with its data in a folder: table kv, prepared statements over \
         a Unix socket",
    )
};

static REMOTE: Declaration = Declaration {
    settings: &[
        Setting {
            help: "synchronous_commit of the sessions: on, or async for off; fsync and \
                   full_page_writes are the server's own and must fit",
            ..SYNC
        },
        STORAGE,
        SETTINGS[0],
        SETTINGS[1],
        SETTINGS[2],
        SETTINGS[3],
        TLS,
        TIMEOUT,
        Setting {
            help: "any variable that a session may set, as in set.work_mem=64MB",
            ..VARIABLE
        },
    ],
    durability: CLASSES,
    limitations: &[
        "the server's processor time, memory, space and bytes are not counted, wherever it runs",
        "its caches are neither emptied nor looked at",
        "what it leaves to its checkpoints and to autovacuum is not counted",
        "waits for locks are not counted",
        "its durability is read back, only synchronous_commit is set: without --durability all \
         targets get its class",
        LONG_NAMES,
    ],
    capabilities: Capabilities::REMOTE,
    servers: Some(&POSTGRESQL),
    blobs: Some(&POSTGRESQL),
    schemes: &["postgres", "postgresql"],
    title: "PostgreSQL",
    ..Declaration::new(
        "postgresql",
        "an existing PostgreSQL server: a table that is made and dropped",
    )
};
