//! A record in, figures, doubts and tables out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod ages;
mod checkup;
mod explained;
mod figures;
mod findings;
mod format;
mod html;
mod made;
mod over_time;
mod printed;
mod queue;
mod reading;
mod rows;
mod study;
mod sweep;
mod together;
mod unlike;
