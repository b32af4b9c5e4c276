//! The real binary from outside, each test in a folder of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod article;
mod bad_input;
mod compare;
mod interrupt;
mod moving;
mod record;
mod safety;
mod world;
