//! The real binary from outside, each test in a folder of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod article;
mod bad_input;
mod cache;
mod calibrate;
mod compare;
mod doctor;
mod interrupt;
mod moving;
mod record;
mod safety;
mod states;
mod traced;
mod traps;
mod world;
