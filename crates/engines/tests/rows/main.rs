//! Every engine of rows through the same checks: what was inserted, in each style, is counted,
//! summed and changed; settings are read back; nothing is left.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod case;
mod classes;
mod servers;
mod sharing;
#[path = "../conformance/undertaker.rs"]
mod undertaker;
mod values;
