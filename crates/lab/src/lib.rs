//! The verbs of storemark: plan, run, copy, verify. Knows engines only by their traits.

mod calibrate;
mod check;
mod dataset;
pub mod host;
mod pass;
mod payload;
mod prepare;
mod progress;
mod ready;
mod recorder;
mod request;
mod runner;
mod seed;
mod source;
mod stop;
mod trial;
mod validity;
mod worker;

pub use dataset::Generator;
pub use progress::{Progress, Silent};
pub use recorder::Recorder;
pub use request::{Data, Request, Requested};
pub use runner::{Outcome, run};
pub use stop::Stop;
