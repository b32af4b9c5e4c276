//! The messages between storemark and its worker processes: one JSON object a line. A worker sends
//! a greeting, and then replies once to each request.

use std::{collections::BTreeMap, time::Duration};

use host::Usage;
use model::{Error, ErrorKind, Library, Order, PluginFacts, Requests, Result, Variables};
use serde::{Deserialize, Serialize};

use super::{
    blobs::{BlobRequest, EpochRequest, StoreJob, StoreRequest},
    roles::RoleRequest,
    rows::RowRequest,
};
use crate::dataset::{DatasetMetadata, Part, PoolSpec};
pub(super) use crate::write_line as send;

/// The version of the protocol, which is raised with every change.
pub(super) const PROTOCOL: u32 = 11;

/// The interval at which a worker process shows that it still runs.
pub(super) const BEAT: Duration = Duration::from_secs(2);

/// The version of storemark.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A request to a worker process; `P` is a pass of its job.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WorkerRequest<P> {
    /// Always the first.
    Start {
        /// The values to read, whose bytes follow this line, and the payloads to write, for jobs that
        /// need them.
        values: Option<(DatasetMetadata, PoolSpec)>,
        /// Passwords and keys, for workers on other hosts.
        #[serde(default, skip_serializing_if = "Variables::is_empty")]
        variables: Variables,
    },
    /// Sets the clock of the process, and returns what it shows then.
    Clock { shift_ns: i64 },
    /// Opens a store and reads some of its values.
    Look(Box<StoreRequest>),
    /// Puts the keys into the order of a round.
    Arrange { order: Order, start: Option<i64>, part: Part, seed: u64 },
    /// Opens a store, and a session for each worker.
    Open(Box<JobRequest>),
    /// Makes a pass in those sessions.
    Pass { pass: P, start_ns: u64 },
    /// Closes the sessions and the store.
    Close,
}

/// The job of the workers of a process in a trial, by facet.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobRequest {
    Blobs(BlobRequest),
    Epoch(EpochRequest),
    /// One store of an epoch, whose turns the process that asks hands over.
    Lane(EpochRequest),
    /// A store that the process that asks works on by single calls, and has passes made over.
    Store(StoreJob),
    Rows(RowRequest),
    Roles(RoleRequest),
}

/// What a worker's program consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Its version, with its commit as far as it knows that.
    pub version: String,
    /// The names of the engines that are part of it, each with its library; `None` if storemark's own
    /// code does the work.
    pub engines: BTreeMap<String, Option<Library>>,
    /// The plugin that it was started with, as that declares itself; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PluginFacts>,
}

/// The reply of a worker process; `O` is what each of its workers replies to a pass.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reply<O> {
    /// Before anything was asked.
    Hello {
        protocol: u32,
        /// The version of storemark; absent before version 4 of the protocol.
        #[serde(default)]
        version: String,
        /// What the program consists of; absent before version 9 of the protocol.
        #[serde(default)]
        program: ProgramFacts,
    },
    /// The clock that all processes share, and the time of day.
    Clock { now_ns: u64, unix_ns: i64 },
    /// Nothing yet: the process still runs. Unasked, every [`BEAT`].
    Alive,
    /// The requests that this process has sent to services since it last said so. Unasked.
    Requests(Requests),
    /// What a pass cost this process, without its messages and its clocks. Unasked, before the result.
    Usage(Usage),
    /// The request was carried out: a pass, with a result for each worker, or anything else, with
    /// none.
    Done(Vec<O>),
    /// It is not.
    Failed(Failure),
}

/// The error of a worker.
#[derive(Serialize, Deserialize)]
pub(super) struct Failure {
    kind: ErrorKind,
    /// What it says, with its place.
    why: String,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        // A worker that was stopped by somebody else did not do its work.
        let kind = if error.is_stopped() { ErrorKind::Failed } else { error.kind() };
        Self { kind, why: error.to_string() }
    }
}

impl Failure {
    /// Returns the error that the worker had.
    pub(super) fn into_error(self) -> Error {
        Error::new(self.kind, self.why)
    }
}

/// Reads what a line says.
pub(super) fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T> {
    serde_json::from_str(line).map_err(|cause| {
        let said: String = line.chars().take(60).collect();
        Error::failed(format!("said what cannot be understood, {said:?}: {cause}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Pass, PassOutcome, Timing, WorkerReport};

    type Parsed = Reply<WorkerReport<PassOutcome>>;

    #[test]
    fn lines_are_read_as_they_were_written_and_damage_is_refused() {
        let mut line = Vec::new();
        let pass = Pass { skip: 2, count: 5, salt: u64::MAX, timing: Timing::Each };
        send(&mut line, &WorkerRequest::Pass { pass, start_ns: 7 }).unwrap();
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(matches!(
            parse::<WorkerRequest<Pass>>(&text).unwrap(),
            WorkerRequest::Pass { pass: read, start_ns: 7 } if read == pass
        ));
        for text in host::mutilations(&line) {
            let _ = parse::<WorkerRequest<Pass>>(&String::from_utf8_lossy(&text));
        }
        let reply = r#"{"done":[{"process":1,"operations":5,"start_ns":1,"end_ns":9,"waited_ns":2,"counters":[["a",3]],
            "outcome":{"tally":{"bytes":1,"missing":0,"wrong":0,"present":0,"short":0,"first":null},
            "latencies":null,"background":[]}}]}"#;
        assert!(matches!(parse::<Parsed>(reply).unwrap(), Reply::Done(done) if done.len() == 1));
        for text in host::mutilations(reply.as_bytes()) {
            let _ = parse::<Parsed>(&String::from_utf8_lossy(&text));
        }
        for (error, kind) in [
            (Error::new(ErrorKind::Busy, "another session has it").at("a.db"), ErrorKind::Busy),
            (Error::interrupted().at("a.db"), ErrorKind::Failed),
        ] {
            let mut line = Vec::new();
            send(&mut line, &Reply::<()>::Failed((&error).into())).unwrap();
            let Reply::<()>::Failed(read) = parse(&String::from_utf8(line).unwrap()).unwrap()
            else {
                panic!("no failure");
            };
            let read = read.into_error();
            assert_eq!((read.kind(), read.to_string()), (kind, error.to_string()));
        }
        let error = parse::<Parsed>("thread panicked").err().unwrap().to_string();
        assert!(error.contains("\"thread panicked\"") && !error.contains('\n'), "{error}");
    }
}
