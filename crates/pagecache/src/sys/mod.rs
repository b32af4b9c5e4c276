//! The system calls that neither std nor rustix offers. All unsafe code of the crate is in
//! `cachestat.rs` and `mapping.rs`.

#[cfg(target_os = "linux")]
mod cachestat;
#[cfg(unix)]
mod mapping;
#[cfg(unix)]
mod resident;

#[cfg(target_os = "linux")]
pub(crate) use cachestat::cachestat;
#[cfg(unix)]
pub(crate) use {
    mapping::{Mapping, lock_all, lock_limit},
    resident::resident,
};

#[cfg(not(unix))]
mod none;
#[cfg(not(unix))]
pub(crate) use none::{Mapping, lock_all, lock_limit, resident};
