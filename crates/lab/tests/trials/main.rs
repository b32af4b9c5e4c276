//! What a trial asks of a store, seen by an engine that writes everything down.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// The name the workspace calls it by.
extern crate storemark_lab as lab;

mod ages;
mod batches;
mod clock;
mod filled;
mod lost;
mod over_time;
mod payloads;
mod run;
mod spy;
mod thrashing;
