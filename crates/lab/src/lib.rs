//! The verbs of storemark: plan, run, copy, verify. Knows engines only by their traits.

mod age;
mod calibrate;
mod check;
mod chores;
mod copy;
mod course;
mod crew;
mod dataset;
mod doctor;
mod drill;
mod experiment;
mod forecast;
mod histogram;
mod limit;
mod measure;
mod outcome;
mod over_time;
mod pace;
mod pass;
mod payload;
mod pilot;
mod precise;
mod prepare;
mod prepared;
mod progress;
mod queue;
mod ready;
mod recorder;
mod request;
mod rounds;
mod rows;
mod runner;
mod seed;
mod sharing;
mod sheet;
mod shelf;
mod slices;
mod source;
mod state;
mod steps;
mod trial;
mod verify;
mod worker;

pub use ::host::{self, Stop};
pub use calibrate::{CalibrateRequest, Calibrated, Slow, SlowedEngine, calibrate};
pub use copy::{Amount, Copied, CopyJob, Place, copy, generated};
pub use crew::serve;
pub use doctor::{DoctorRequest, doctor};
pub use drill::{Drawn, Drill};
pub use experiment::request::{
    AgeingRequest, BlobWork, BlobsRequest, Data, ExperimentRequest, Group, Request, RowTarget,
    RowsRequest, Target, TasksRequest, WorkerProcesses,
};
pub use forecast::{Forecast, Room, forecast};
pub use limit::equal_cache;
pub use measure::{measure, measure_with};
pub use outcome::Outcome;
pub use progress::{Progress, Silent};
pub use recorder::Recorder;
pub use rows::rows_worker;
pub use seed::nth_seed;
pub use shelf::{Needs, StoreCache};
pub use verify::{Differences, Verified, verify};
pub use worker::{Tally, Turn};
