//! The stores that storemark measures: one module for each engine.

#![warn(missing_docs)]
// A build without one of these does not use all that engines share.
#![cfg_attr(
    not(all(
        feature = "fjall",
        feature = "lmdb",
        feature = "mariadb",
        feature = "postgres",
        feature = "redb",
        feature = "rocksdb",
        feature = "s3",
        feature = "sqlite",
        feature = "valkey"
    )),
    allow(dead_code, unused_imports)
)]

mod at;
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
mod list;
#[cfg(feature = "lmdb")]
mod lmdb;
mod lock;
mod lsm;
#[cfg(all(unix, feature = "mariadb"))]
mod mariadb;
mod memory;
mod meta;
mod null;
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
mod server;
mod skeleton;
mod slowed;
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
pub use skeleton::Skeleton;
pub use slowed::Slowed;

/// Ends waiting for servers soon, because the user wishes to stop.
pub fn end_waits() {
    #[cfg(all(
        unix,
        any(feature = "mariadb", feature = "postgres", feature = "s3", feature = "valkey")
    ))]
    server::stop();
}
