//! Valkey and Redis: `valkey` starts a server of its own on a folder, `redis` uses an existing one.

mod batch;
mod connection;
mod peer;
mod program;
mod store;
mod stored;

use model::{
    Accepts, Capabilities, Declaration, Durability, DurabilitySettings, Fill, Maintenance, Setting,
    Try,
};

use crate::server::{ServerEngine, TIMEOUT, TLS};
use store::ValkeyStore;

/// The engine with a private server for each store.
pub(crate) static VALKEY: ServerEngine<ValkeyStore> = ServerEngine::new(&PRIVATE);

/// The engine of an existing Valkey or Redis server.
pub(crate) static REDIS: ServerEngine<ValkeyStore> = ServerEngine::new(&REMOTE);

const SYNC: Setting = Setting::new(
    "sync",
    Accepts::Words(&["off", "no", "everysec", "always"]),
    "off: no log (appendonly no), the values are written when the store is closed; no, everysec, \
     always: a log, flushed as appendfsync says",
);

const CLASSES: &[DurabilitySettings] = &[
    Durability::None.kept_by(
        &[("sync", "off")],
        "no log: values are in memory until the store is closed; a power cut or a killed server \
         leaves those of the last time that it was closed",
    )
    .lost_if_server_killed(),
    Durability::Consistent.kept_by(
        &[("sync", "everysec")],
        "log written with write(2) before the reply, fdatasync(2) of it once a second in the \
         background: a power cut may undo the last second, or two if the drive is slow; the next \
         start drops a command or a batch that is cut off at the end of the log, and refuses a log \
         with a hole until valkey-check-aof --fix cuts it off there",
    ),
    Durability::Durable.kept_by(
        &[("sync", "always")],
        "log written with write(2) and flushed with fdatasync(2) before the reply; if the write under \
         way is torn, the next start may refuse the log until valkey-check-aof --fix cuts it off there",
    ),
];

const IN_MEMORY: &str = "all keys and values are in the server's memory: a cache state is about the \
                         files that it reads when it starts, which is not on the clock";
const UNORDERED: &str = "keys in order: a scan asks for all of them and sorts them";
const BATCHES: &str = "a batch is kept in memory until its commit, which sends it as one MULTI and EXEC; \
                       an update or insert in a batch asks first whether the key exists; two batches that \
                       change one key both succeed, and the last one counts";
const LONGEST: &str = "values longer than 512 MiB (proto-max-bulk-len)";

static PRIVATE: Declaration = Declaration {
    settings: &[
        SYNC,
        TIMEOUT,
        Setting::new(
            "set.*",
            Accepts::Text,
            "any variable of the server that names no place or code, as in set.maxmemory=1gb, given \
             at the start; network, log and eviction are storemark's own",
        ),
    ],
    durability: CLASSES,
    limitations: &[
        IN_MEMORY,
        UNORDERED,
        BATCHES,
        LONGEST,
        "the log is not rewritten while a run lasts (set.auto-aof-rewrite-percentage=100 is the \
         server's default)",
    ],
    capabilities: Capabilities { resident: true, ..Capabilities::ON_DISK },
    // Every write reaches the system, so that a killed process leaves what it committed.
    fill: Some(Fill { settings: &[("sync", "no")], sessions: 1, whole_blocks_from: None }),
    maintenance: &[
        (
            Maintenance::Compact,
            "BGREWRITEAOF: a child process writes a new log from what is in memory",
        ),
        (Maintenance::Backup, "BGSAVE: a child process writes what is in memory into a file"),
    ],
    reclaim: Some("BGREWRITEAOF"),
    servers: Some(&VALKEY),
    blobs: Some(&VALKEY),
    worth_trying: &[Try::new(
        "",
        "memory for all values, and a round trip for each operation; clients on other machines",
    )],
    title: "Valkey",
    ..Declaration::new(
        "valkey",
        "a private Valkey or Redis server with its log in a folder: strings, over a Unix socket",
    )
};

static REMOTE: Declaration = Declaration {
    settings: &[
        Setting { help: "what the server must be set to; it is not changed", ..SYNC },
        Setting {
            help: "off; on: encrypted, and the server's certificate must name its host and be signed \
                   by a public authority; FILE: the same, with the authorities of this PEM file instead",
            ..TLS
        },
        TIMEOUT,
    ],
    durability: CLASSES,
    limitations: &[
        "the server's processor time, memory, space and bytes are not counted, wherever it runs",
        "its durability is read back, not set: without --durability all targets get its class",
        "a scan, and the removal of its keys, look at all keys of the database",
        UNORDERED,
        BATCHES,
        LONGEST,
    ],
    capabilities: Capabilities::REMOTE,
    servers: Some(&REDIS),
    blobs: Some(&REDIS),
    schemes: &["redis", "valkey"],
    title: "Redis",
    ..Declaration::new("redis", "keys of storemark's own on an existing Valkey or Redis server")
};
