//! What each engine does to keep a durability class: described in `docs/durability.md`, seen by
//! strace.

mod page;
#[cfg(target_os = "linux")]
mod traced;
