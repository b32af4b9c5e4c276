//! One suite for all engines: every check runs over every engine of the registry, with both
//! kinds of keys, without settings, with each word of each setting, and with the settings of
//! each durability class; also over one that is slowed. An engine that is added is checked without a line here.

#![expect(clippy::unwrap_used, reason = "a check fails by panicking")]

mod batches;
mod case;
mod folder;
mod interrupted;
mod lifecycle;
mod names;
mod order;
mod pack;
mod random;
mod slowed;
mod values;
