//! The stores that storemark measures: one module for each engine that is linked in, and the only list
//! of all engines, those of the crate `servers` included.

#![warn(missing_docs)]
// A build without one of these does not use all that engines share.
#![cfg_attr(
    not(all(
        feature = "fjall",
        feature = "lmdb",
        feature = "redb",
        feature = "rocksdb",
        feature = "sqlite"
    )),
    allow(dead_code, unused_imports)
)]

#[cfg(feature = "archives")]
mod archive;
mod at;
mod caught;
mod crashes;
mod files;
#[cfg(feature = "fjall")]
mod fjall;
mod forward;
mod fresh;
#[cfg(feature = "sqlite")]
mod hybrid;
mod lines;
mod list;
#[cfg(feature = "lmdb")]
mod lmdb;
mod lsm;
mod memory;
mod null;
mod ordered;
mod pack;
mod part;
mod plugin;
#[cfg(feature = "redb")]
mod redb;
pub mod registry;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod row_folder;
mod skeleton;
mod slowed;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod table;

pub use caught::{end_with, given_up, panic_message, store_at_work};
pub use crashes::{LastLine, flush_printed};
pub use files::not_values;
#[cfg(feature = "sqlite")]
pub use hybrid::stat;
pub use plugin::{HEADER as PLUGIN_HEADER, Plugin, PluginSkeleton, SKELETONS};
pub use skeleton::Skeleton;
pub use slowed::Slowed;

/// Ends waiting for servers soon, because the user wishes to stop.
pub fn end_waits() {
    #[cfg(all(
        unix,
        any(feature = "mariadb", feature = "postgres", feature = "s3", feature = "valkey")
    ))]
    servers::end_waits();
}

/// The engines in the order in which they are asked whether a path is a store of theirs: `files`
/// recognises any folder, so it is last.
static LIST: &[list::Listed] = list::engines! {
    "null": null::Null;
    "memory": memory::Memory;
    "pack": pack::Pack;
    "tar": archive::TAR, feature "archives";
    "zip": archive::ZIP, feature "archives";
    "sqlite": sqlite::Sqlite, feature "sqlite";
    "hybrid": hybrid::Hybrid, feature "sqlite",
        marks ["hybrid.db", "hybrid.db-*", "hybrid.files"] [];
    "lmdb": lmdb::Lmdb, feature "lmdb", marks ["data.mdb", "lock.mdb"] [];
    "redb": redb::Redb, feature "redb";
    "fjall": fjall::Fjall, feature "fjall", marks ["keyspaces", "*.jnl"] ["version", "lock"];
    "rocksdb": rocksdb::RocksDb, feature "rocksdb",
        marks ["MANIFEST-*", "OPTIONS-*", "*.sst"] ["CURRENT", "IDENTITY", "LOCK", "LOG", "*.log"],
        also "LevelDB";
    "mariadb": *servers::MARIADB, feature "mariadb" unix,
        marks ["ibdata1", "aria_log_control", "ib_logfile0", "undo001"] ["mysql"];
    "mysql": *servers::MYSQL, feature "mariadb" unix;
    "postgres": *servers::POSTGRES, feature "postgres" unix,
        marks ["PG_VERSION", "pg_wal", "pg_xact"] ["global", "base"];
    "postgresql": *servers::POSTGRESQL, feature "postgres" unix;
    "s3": *servers::S3, feature "s3" unix, marks ["storemark.rclone", "storemark.seaweedfs"] [];
    "bucket": *servers::BUCKET, feature "s3" unix;
    "valkey": *servers::VALKEY, feature "valkey" unix,
        marks ["appendonlydir", "dump.rdb"] ["appendonly.aof*"];
    "redis": *servers::REDIS, feature "valkey" unix;
    "files": files::Files;
    "csv": lines::CSV;
    "jsonl": lines::JSONL;
};
