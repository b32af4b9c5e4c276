//! The stores that storemark measures: one module for each engine, and the only list of them.

#![warn(missing_docs)]

mod at;
#[cfg_attr(
    not(any(feature = "fjall", feature = "redb")),
    allow(dead_code, reason = "other libraries do not panic")
)]
mod caught;
mod crashes;
mod files;
mod first;
#[cfg(feature = "fjall")]
mod fjall;
mod forward;
mod fresh;
#[cfg(feature = "sqlite")]
mod hybrid;
mod lines;
#[cfg(feature = "lmdb")]
mod lmdb;
mod lock;
#[cfg(any(feature = "fjall", feature = "rocksdb"))]
mod lsm;
#[cfg(all(unix, feature = "mariadb"))]
mod mariadb;
mod memory;
mod meta;
mod null;
#[cfg(any(feature = "fjall", feature = "lmdb", feature = "redb", feature = "rocksdb"))]
mod ordered;
mod pack;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
#[cfg(feature = "redb")]
mod redb;
mod refusal;
pub mod registry;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod row_folder;
#[cfg(all(unix, feature = "s3"))]
mod s3;
#[cfg(all(
    unix,
    any(feature = "mariadb", feature = "postgres", feature = "s3", feature = "valkey")
))]
#[cfg_attr(
    not(any(feature = "mariadb", feature = "postgres")),
    allow(dead_code, unused_imports, reason = "most of it is about SQL servers")
)]
mod server;
mod slowed;
#[cfg(any(
    feature = "sqlite",
    all(unix, any(feature = "mariadb", feature = "postgres", feature = "s3", feature = "valkey"))
))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod table;
#[cfg(all(unix, feature = "valkey"))]
mod valkey;

pub use caught::{end_with, given_up, panic_message, store_at_work};
pub use crashes::LastLine;
#[cfg(feature = "sqlite")]
pub use hybrid::stat;
pub use slowed::Slowed;

/// Ends waiting for servers soon, because the user wishes to stop.
pub fn end_waits() {
    #[cfg(all(
        unix,
        any(feature = "mariadb", feature = "postgres", feature = "s3", feature = "valkey")
    ))]
    server::stop();
}

use model::Engine;

/// The engines in the order in which they are asked whether a path is a store of theirs: `files`
/// recognises any folder, so it is last.
static ENGINES: &[&dyn Engine] = &[
    &null::Null,
    &memory::Memory,
    &pack::Pack,
    #[cfg(feature = "sqlite")]
    &sqlite::Sqlite,
    #[cfg(feature = "sqlite")]
    &hybrid::Hybrid,
    #[cfg(feature = "lmdb")]
    &lmdb::Lmdb,
    #[cfg(feature = "redb")]
    &redb::Redb,
    #[cfg(feature = "fjall")]
    &fjall::Fjall,
    #[cfg(feature = "rocksdb")]
    &rocksdb::RocksDb,
    #[cfg(all(unix, feature = "mariadb"))]
    &mariadb::MARIADB,
    #[cfg(all(unix, feature = "mariadb"))]
    &mariadb::MYSQL,
    #[cfg(all(unix, feature = "postgres"))]
    &postgres::POSTGRES,
    #[cfg(all(unix, feature = "postgres"))]
    &postgres::POSTGRESQL,
    #[cfg(all(unix, feature = "s3"))]
    &s3::S3,
    #[cfg(all(unix, feature = "s3"))]
    &s3::BUCKET,
    #[cfg(all(unix, feature = "valkey"))]
    &valkey::VALKEY,
    #[cfg(all(unix, feature = "valkey"))]
    &valkey::REDIS,
    &files::Files,
    &lines::CSV,
    &lines::JSONL,
];

/// The engines that a cargo feature adds, with the feature.
const OPTIONAL: &[(&str, &str)] = &[
    ("bucket", "s3"),
    ("fjall", "fjall"),
    ("hybrid", "sqlite"),
    ("lmdb", "lmdb"),
    ("mariadb", "mariadb"),
    ("mysql", "mariadb"),
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("redb", "redb"),
    ("redis", "valkey"),
    ("rocksdb", "rocksdb"),
    ("s3", "s3"),
    ("sqlite", "sqlite"),
    ("valkey", "valkey"),
];
