//! Copying and comparing real stores.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// The name the workspace calls it by.
extern crate storemark_lab as lab;

mod any;
mod changed;
mod common;
mod forced;
mod full_disk;
mod interrupted;
mod killed;
mod refused;
mod round_trip;
mod verified;
#[cfg(unix)]
mod who;
