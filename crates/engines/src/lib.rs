//! The stores that storemark measures: one module for each engine, [`registry`] the only list.

mod at;
mod files;
mod first;
#[cfg(feature = "fjall")]
mod fjall;
mod fresh;
mod lines;
#[cfg(feature = "lmdb")]
mod lmdb;
mod lock;
#[cfg(any(feature = "fjall", feature = "rocksdb"))]
mod lsm;
#[cfg(all(unix, feature = "mariadb"))]
mod mariadb;
mod memory;
#[cfg(any(feature = "fjall", feature = "lmdb", feature = "redb", feature = "rocksdb"))]
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
mod row;
mod row_folder;
#[cfg(all(unix, any(feature = "mariadb", feature = "postgres")))]
mod server;
mod slowed;
#[cfg(any(feature = "sqlite", all(unix, any(feature = "mariadb", feature = "postgres"))))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod table;

pub use files::{LeftOut, Several, files_left_out};
pub use slowed::Slowed;
