//! What each engine does to keep a durability class: told in `docs/durability.md`, seen by strace.

#![expect(clippy::unwrap_used, reason = "a check fails by panicking")]

mod page;
#[cfg(target_os = "linux")]
mod traced;
