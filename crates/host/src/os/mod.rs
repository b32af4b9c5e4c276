//! The functions that call the system: a file for each kind of system, with the same functions in
//! each. A figure that a system does not report is absent there.
//!
//! `linux` and `unix` (macOS, the BSDs) have what only Linux reports, and what the others do in its
//! place; both re-export `posix`, and `unix` what `macos` has in addition. `windows` re-exports `other`,
//! the functions for users, modes and swaps of names that Windows has no like of. `absent` has what only
//! Linux reports, for `unix` and `windows`. `flush_calls` counts flushes on Linux. Tests compile all of
//! them but `macos` and `windows` on Linux.

#![allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "a function has the same type on every system"
)]

#[cfg(unix)]
mod posix;

#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "tests only compile it"))]
mod absent;
#[cfg(not(target_os = "linux"))]
pub(crate) use absent::*;

#[cfg(target_os = "linux")]
mod flush_calls;
#[cfg(target_os = "linux")]
pub(crate) use flush_calls::flush_calls;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(all(unix, any(test, not(target_os = "linux"))))]
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "tests only compile it"))]
mod unix;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use unix::*;

#[cfg(target_os = "macos")]
mod macos;

#[cfg(any(test, windows))]
#[cfg_attr(unix, allow(dead_code, reason = "tests only compile it"))]
mod other;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;
