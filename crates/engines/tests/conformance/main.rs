//! One suite for all engines: every check runs over every engine of the registry, with both
//! kinds of keys, without settings, with each word of each setting, and with the settings of
//! each durability class; also over one that is slowed. An engine that is added is checked without
//! a line here, unless it starts a server.

#![expect(clippy::unwrap_used, reason = "a check fails by panicking")]

#[cfg(feature = "archives")]
mod archives;
mod batches;
mod case;
mod cleanup_guard;
mod damage;
mod durability;
mod folder;
mod hooks;
#[cfg(feature = "sqlite")]
mod hybrid;
mod interrupted;
mod lifecycle;
#[cfg(feature = "lmdb")]
mod lmdb;
mod names;
#[cfg(any(feature = "lmdb", feature = "redb"))]
mod neighbour;
mod objects;
mod order;
#[cfg(feature = "sqlite")]
mod own_tables;
mod pack;
#[cfg(all(feature = "fjall", feature = "lmdb", feature = "rocksdb"))]
mod parts;
mod random;
#[cfg(feature = "redb")]
mod redb;
mod rows;
mod servers;
mod slowed;
mod sql_servers;
mod tasks;
mod torn;
mod values;
