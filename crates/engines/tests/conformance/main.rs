//! One suite for all engines: every check runs over every engine of the registry, with both
//! kinds of keys, without settings, with each word of each setting, and with the settings of
//! each durability class; also over one that is slowed. An engine that is added is checked without
//! a line here, unless it starts a server.

#![expect(clippy::unwrap_used, reason = "a check fails by panicking")]

#[cfg(feature = "archives")]
mod archives;
mod case;
mod checks;
mod cleanup_guard;
mod folder;
mod hooks;
#[cfg(feature = "sqlite")]
mod hybrid;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(any(feature = "lmdb", feature = "redb"))]
mod neighbour;
mod objects;
#[cfg(feature = "sqlite")]
mod own_tables;
mod pack;
mod page;
#[cfg(all(feature = "fjall", feature = "lmdb", feature = "rocksdb"))]
mod parts;
#[cfg(feature = "redb")]
mod redb;
mod repairs;
mod rows;
mod servers;
mod slowed;
mod sql_servers;
mod tasks;
mod torn;
