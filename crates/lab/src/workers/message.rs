//! What is said between storemark and its worker processes: one JSON object a line.

use std::io::Write;

use model::{Error, ErrorKind, Order, Result};
use serde::{Deserialize, Serialize};

use super::{blobs::BlobRequest, rows::RowRequest};
use crate::{
    dataset::{Luggage, PoolSpec},
    workload::Done,
};

/// Version of the protocol. Raised with every change.
pub(super) const PROTOCOL: u32 = 1;

/// What a worker process is asked for.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Request {
    /// Only ever the first line; the dataset's bytes follow it.
    Data(Data),
    /// Puts the keys into the order of a round.
    Arrange { order: Order, start: Option<i64>, seed: u64 },
    /// Opens a store, and a session for each worker.
    Open(Box<JobRequest>),
    /// Makes the next pass.
    Pass { start_ns: u64 },
    /// Closes the sessions and the store.
    Close,
}

/// What the workers of a process do in a trial, by facet.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobRequest {
    Blobs(BlobRequest),
    Rows(RowRequest),
}

/// The values to read and the pool of payloads to write.
#[derive(Serialize, Deserialize)]
pub(super) struct Data {
    pub(super) dataset: Luggage,
    pub(super) pool: PoolSpec,
}

/// What a worker process answers; `O` is the outcome of its passes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reply<O> {
    /// Before anything was asked.
    Hello { protocol: u32 },
    /// To [`Request::Data`]: it has arrived; to [`Request::Open`]: all sessions are open.
    Ready,
    /// To [`Request::Pass`].
    Done(Vec<Done<O>>),
    /// To [`Request::Close`].
    Closed,
    /// To anything.
    Failed { message: String, kind: Failure },
}

/// What the kind of an error comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Failure {
    Interrupted,
    Unsupported,
    Failed,
}

impl<O> Reply<O> {
    pub(super) fn failed(error: &Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Interrupted => Failure::Interrupted,
            ErrorKind::Unsupported => Failure::Unsupported,
            _ => Failure::Failed,
        };
        Self::Failed { message: error.to_string(), kind }
    }

    /// The reply, unless it is of a failure.
    pub(super) fn checked(self) -> Result<Self> {
        match self {
            Self::Failed { kind: Failure::Interrupted, .. } => Err(Error::interrupted()),
            Self::Failed { message, kind: Failure::Unsupported } => {
                Err(Error::unsupported(message))
            }
            Self::Failed { message, .. } => Err(Error::failed(message)),
            reply => Ok(reply),
        }
    }
}

/// Writes `message` as a line.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(message)
        .map_err(|e| Error::usage(format!("a worker process cannot be asked for it: {e}")))?;
    line.push(b'\n');
    to.write_all(&line).and_then(|()| to.flush()).map_err(|e| Error::io("a worker process", e))
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
    use crate::workload::PassOutcome;

    type Parsed = Reply<PassOutcome>;

    #[test]
    fn lines_are_read_as_they_were_written_and_damage_is_refused() {
        let mut line = Vec::new();
        send(&mut line, &Request::Arrange { order: Order::Desc, start: Some(-5), seed: u64::MAX })
            .unwrap();
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(matches!(
            parse::<Request>(&text).unwrap(),
            Request::Arrange { order: Order::Desc, start: Some(-5), seed: u64::MAX }
        ));
        for text in host::mutilations(&line) {
            let _ = parse::<Request>(&String::from_utf8_lossy(&text));
        }
        let reply = r#"{"done":[{"process":1,"operations":5,"start_ns":1,"end_ns":9,"counters":[["a",3]],
            "outcome":{"tally":{"bytes":1,"missing":0,"wrong":0,"present":0,"short":0,"first":null},
            "clock":null,"lags":null,"background":[]}}]}"#;
        assert!(matches!(parse::<Parsed>(reply).unwrap(), Reply::Done(done) if done.len() == 1));
        for text in host::mutilations(reply.as_bytes()) {
            let _ = parse::<Parsed>(&String::from_utf8_lossy(&text));
        }
        let error = parse::<Parsed>("thread panicked").err().unwrap().to_string();
        assert!(error.contains("\"thread panicked\"") && !error.contains('\n'), "{error}");
    }
}
