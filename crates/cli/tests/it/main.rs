//! The real binary from outside, each test in a folder of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod action;
mod advise;
mod age;
#[cfg(feature = "archives")]
mod archives;
mod article;
mod backup;
mod bad_input;
mod cache;
mod calibrate;
mod changing;
mod compare;
mod compare_records;
mod conformance;
mod counters;
mod crash;
mod damaged;
mod defaults;
mod doctor;
mod documented;
mod engines;
mod forms;
mod help;
mod history;
mod hosts;
mod html;
mod images;
mod interrupt;
mod interrupt_each;
#[cfg(target_os = "linux")]
mod kept;
mod large_values;
mod libraries;
mod life;
mod many_files;
mod memory;
mod mix;
mod mounts;
mod moving;
#[cfg(unix)]
#[cfg(feature = "s3")]
mod object_stores;
mod odd_tables;
mod outputs;
mod over_time;
mod own_objects;
mod own_tables;
mod pipes;
mod plan;
mod plugins;
mod power;
mod processes;
#[cfg(all(unix, feature = "redb"))]
mod programs;
mod proxy;
mod queue;
mod record;
mod replaced;
mod roles;
mod rows;
mod running;
mod safety;
mod secrets;
mod servers;
mod states;
mod study;
mod sweep;
mod torture;
mod traced;
mod traps;
mod world;
