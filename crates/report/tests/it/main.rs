//! A record in, figures, doubts and tables out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod advice;
mod ages;
mod answer;
mod claims;
mod comparison;
mod csv;
mod data;
mod doctor;
mod explained;
mod figures;
mod findings;
mod fixture;
mod format;
mod html;
mod intervals;
mod life;
mod over_time;
mod printed;
mod reading;
mod rows;
mod study;
mod sweep;
mod tasks;
mod unlike;
mod workers;
