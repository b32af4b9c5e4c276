//! The verbs of storemark: plan, run, copy, verify. Knows engines only by their traits.

mod calibrate;
mod check;
mod copy;
mod dataset;
pub mod host;
mod made;
mod pass;
mod payload;
mod place;
mod prepare;
mod progress;
mod ready;
mod recorder;
mod request;
mod runner;
mod seed;
mod sheet;
mod source;
mod stop;
mod trial;
mod validity;
mod verify;
mod worker;

pub use copy::{Copied, CopyJob, copy};
pub use made::made;
pub use place::Place;
pub use progress::{Progress, Silent};
pub use recorder::Recorder;
pub use request::{Data, Request, Requested};
pub use runner::{Outcome, run};
pub use stop::Stop;
pub use verify::{Differences, Verified, verify};
