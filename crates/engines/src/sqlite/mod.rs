//! SQLite: one database file; integers in kvtest's table `kv`, names in the archive table
//! `sqlar`.

mod blobs;
mod built;
mod database;
mod ffi;
mod inspect;
mod key_columns;
mod library;
mod maintenance;
mod os;
mod repair;
mod rows;
mod session;
mod space;
mod statements;
mod stored;
mod table;
mod tasks;
mod users;

use model::{
    Accepts, Capabilities, Declaration, Durability, Engine, Error, Facet, Fill, Library, Result,
    Setting, Settings, Try, rows::NULL,
};

pub(crate) use blobs::SqliteStore;
pub use built::folder as builds_folder;
pub(crate) use database::{lacks_log_index, with_suffix};
pub(crate) use ffi::Statement;
pub use ffi::memory_counters;
pub use inspect::Stat;
pub(crate) use inspect::stat;
pub(crate) use key_columns::KeyColumns;
pub use library::{Build, build, builds};
pub(crate) use session::SqliteSession;
pub(crate) use table::{SqlTable, names, part};
pub(crate) use users::find_table;

/// The engine SQLite.
pub struct Sqlite;

/// The most bytes of a database: pages are counted in 31 bits, and a page has at most 64 KiB.
const MAX_BYTES: u64 = 1 << 47;

/// The flags that this program was built with, in `.cargo/config.toml` or by the user: a crate from
/// a registry comes without that file.
const FLAGS: &str = match option_env!("LIBSQLITE3_FLAGS") {
    Some(flags) => flags,
    None => "",
};

/// Whether SQLite flushes with fdatasync(2); without it every flush is an fsync(2). SQLite does not
/// report it.
pub(crate) const FDATASYNC: bool = contains(FLAGS.as_bytes(), b"-DHAVE_FDATASYNC");

/// Returns whether `word` is in `text`, at compile time, where the search of strings is not to be had.
const fn contains(text: &[u8], word: &[u8]) -> bool {
    let mut at = 0;
    while at + word.len() <= text.len() {
        let mut same = 0;
        while same < word.len() && text[at + same] == word[same] {
            same += 1;
        }
        if same == word.len() {
            return true;
        }
        at += 1;
    }
    false
}

pub(crate) const JOURNAL: Setting = Setting::new(
    "journal",
    Accepts::Words(&["delete", "truncate", "persist", "memory", "wal", "off"]),
    "PRAGMA journal_mode",
);

pub(crate) const SYNC: Setting =
    Setting::new("sync", Accepts::Words(&["off", "normal", "full", "extra"]), "PRAGMA synchronous")
        .of_use();

pub(crate) const PAGE_SIZE: Setting = Setting::new(
    "page_size",
    Accepts::PowerOfTwo(512, 65536),
    "PRAGMA page_size; fixed once the database is created",
)
.only_for(&[Facet::Blobs, Facet::Rows]);

pub(crate) const CACHE: Setting = Setting::new(
    "cache",
    Accepts::Multiple(1 << 10, 0, MAX_BYTES),
    "page cache in bytes (PRAGMA cache_size, negative form)",
)
.of_use();

pub(crate) const MMAP: Setting =
    Setting::new("mmap", Accepts::Size(0, MAX_BYTES), "PRAGMA mmap_size in bytes")
        .of_use()
        .only_for(&[Facet::Blobs]);

pub(crate) const CHECKPOINT: Setting = Setting::new(
    "checkpoint",
    Accepts::Words(&["auto", "none"]),
    "whether a WAL is checkpointed, automatically and at the end of a pass",
)
.of_use()
.only_for(&[Facet::Blobs]);

pub(crate) const AUTOCHECKPOINT: Setting = Setting::new(
    "autocheckpoint",
    Accepts::Integer(1, i32::MAX as i64),
    "pages of a WAL from which on a commit checkpoints it (PRAGMA wal_autocheckpoint)",
)
.of_use()
.only_for(&[Facet::Blobs]);

pub(crate) const BUSY: Setting = Setting::new(
    "busy",
    Accepts::Duration(0, 3600),
    "longest wait for the lock of another session (as PRAGMA busy_timeout); default: 60s",
)
.of_use()
.only_for(&[Facet::Blobs]);

const HANDLES: &str = "reads by blob handles, not by statements, and without a copy in SQLite's cache; an \
                       error of the disk ends the program (SIGBUS)";

/// The gains and costs of mapping.
pub(crate) const MAPPED: &str =
    "reads without a copy in SQLite's cache; an error of the disk ends the program (SIGBUS)";

pub(crate) const LIB: Setting = Setting::new(
    library::SETTING,
    Accepts::Text,
    "another build of SQLite, loaded from this file, or by a name of `storemark sqlite list`; after copy: \
     a copy of it",
)
.of_use()
.to_open();

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "api",
            Accepts::Words(&["sql", "blob"]),
            "read and overwrite by SQL statements or by incremental blob handles",
        ).of_use()
        .only_for(&[Facet::Blobs]),
        Setting::new(
            "store",
            Accepts::Words(&["file", "memory"]),
            "a database file, or a database in the memory of each process",
        )
        .only_for(&[Facet::Rows]),
        Setting::new(
            "connection",
            Accepts::Words(&["own", "shared", "pool"]),
            "one for each worker, one for all in turns, or as published: from a pool for each \
             step, where two stay open",
        )
        .only_for(&[Facet::Tasks]),
        JOURNAL,
        SYNC,
        PAGE_SIZE,
        CACHE,
        Setting::new(
            "cache_pages",
            Accepts::Integer(0, i32::MAX as i64),
            "page cache in pages (PRAGMA cache_size, positive form), as kvtest's --cache-size",
        ).of_use()
        .only_for(&[Facet::Blobs]),
        MMAP,
        CHECKPOINT,
        AUTOCHECKPOINT,
        BUSY,
        LIB,
        users::SETTINGS[0],
        users::SETTINGS[1],
        users::SETTINGS[2],
        users::SETTINGS[3],
        NULL,
    ],
    durability: &[
        Durability::None.kept_by(&[("journal", "off"), ("sync", "off")],
            "pages written in place, no journal, no flush: a power cut may leave no readable \
             database",
        ),
        Durability::Consistent.kept_by(&[("journal", "wal"), ("sync", "normal")],
            if FDATASYNC {
                "pages appended to the log, fdatasync(2) only at a checkpoint: a power cut may undo the \
                 last commits"
            } else {
                "pages appended to the log, fsync(2) only at a checkpoint: a power cut may undo the \
                 last commits"
            },
        ),
        Durability::Durable.kept_by(&[("journal", "wal"), ("sync", "full")],
            if FDATASYNC {
                "pages appended to the log, fdatasync(2) of it before the commit returns"
            } else {
                "pages appended to the log, fsync(2) of it before the commit returns"
            },
        ),
    ],
    // A journal keeps the last commit of a killed process readable. Pages past the old end of the
    // file are not journaled, so that it costs next to nothing.
    fill: Some(Fill {
        settings: &[("journal", "delete"), ("sync", "off")],
        sessions: 1,
        whole_blocks_from: None,
    }),
    capabilities: Capabilities { types: true, ..Capabilities::ON_DISK },
    defers: true,
    maintenance: maintenance::KINDS,
    reclaim: Some("VACUUM"),
    integrity: Some("PRAGMA integrity_check (pages and indexes; values have no checksums)"),
    blobs: Some(&Sqlite),
    rows: Some(&Sqlite),
    tasks: Some(&Sqlite),
    worth_trying: &[
        Try::new("", "one file that many programs can read"),
        Try::new("mmap=1GiB", MAPPED),
        Try::new("page_size=16384", "fewer pages for large values; more is written for small ones"),
        Try::new("api=blob&mmap=1GiB", HANDLES),
        Try::new("mmap=1GiB&page_size=16384", MAPPED),
        Try::new("mmap=1GiB&page_size=65536", MAPPED),
        Try::new("api=blob&mmap=1GiB&page_size=16384", HANDLES),
    ],
    sharing: &[
        ("journal=wal", Try::new("journal=delete", "no log next to the file; readers and a writer wait for each other")),
        ("busy=60s", Try::new("busy=0", "a session that finds a lock is refused at once, and the program tries again")),
        ("autocheckpoint=1000", Try::new("autocheckpoint=100", "a shorter log, and more commits that write it back")),
        ("autocheckpoint=1000", Try::new("autocheckpoint=10000", "a longer log, and fewer commits that write it back")),
    ],
    title: "SQLite",
    extension: Some("db"),
    ..Declaration::new("sqlite", "an SQLite database: table kv for integers, sqlar for names, or one of your own")
};

impl Engine for Sqlite {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn library(&self, settings: &Settings) -> Option<Library> {
        library::describe_library(settings).ok()
    }

    fn check(&self, _: Facet, settings: &Settings) -> Result<()> {
        if settings.get("cache").is_some() && settings.get("cache_pages").is_some() {
            return Err(Error::usage("cache= and cache_pages= exclude each other"));
        }
        library::functions(settings).map(drop)
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        if class == Durability::None {
            return None;
        }
        let lost = ["store", "journal"].into_iter().find(|name| settings.is(name, "memory"));
        if let Some(name) = lost {
            return Some(format!("{name}=memory is gone with the process (none)"));
        }
        let may_return = class == Durability::Durable
            && settings.is("journal", "delete")
            && !settings.is("sync", "extra");
        may_return.then(|| {
            "journal=delete gives consistent: a power cut may bring the journal back; sync=extra gives durable"
                .to_owned()
        })
    }
}
