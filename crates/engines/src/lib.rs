//! The stores that storemark measures: one module for each engine.

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
mod list;
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
pub mod skeleton;
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
