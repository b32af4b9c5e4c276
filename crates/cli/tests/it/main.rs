//! The real binary from outside, each test in a folder of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod age;
mod article;
mod bad_input;
mod cache;
mod calibrate;
mod compare;
mod doctor;
mod engines;
mod html;
mod interrupt;
mod memory;
mod mix;
mod moving;
mod plan;
mod processes;
mod queue;
mod record;
mod rows;
mod safety;
mod servers;
mod servers_postgres;
mod states;
mod study;
mod sweep;
mod traced;
mod traps;
mod world;
