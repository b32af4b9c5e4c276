//! Every engine of rows through the same checks: what was inserted, in each style, is counted,
//! summed and changed; settings are read back; nothing is left.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod case;
mod classes;
#[path = "../conformance/cleanup_guard.rs"]
mod cleanup_guard;
mod servers;
mod sharing;
mod values;
