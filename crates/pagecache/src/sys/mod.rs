//! The system calls that neither std nor rustix offers. All unsafe code of the crate is in
//! `cachestat.rs` and `mapping.rs`.

mod cachestat;
#[cfg(unix)]
mod mapping;
#[cfg(not(unix))]
mod none;

pub(crate) use cachestat::cachestat;
#[cfg(unix)]
pub(crate) use mapping::{Mapping, lock_all, lock_limit, populate};
#[cfg(not(unix))]
pub(crate) use none::{Mapping, lock_all, lock_limit, populate};
