//! The process that asks, seen from a worker process.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError, mpsc::Receiver},
};

use model::{Error, Requests, Result, requests_sent};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Workers,
    message::{Reply, WorkerRequest, parse, send},
};

/// The requests and flushes that [`send_counts`] has shown.
static SHOWN: Mutex<(Requests, u64)> = Mutex::new((Requests::NONE, 0));

/// Shows the requests that this process has sent to services, and the flushes that it has made, since
/// they were last shown, if any.
pub(super) fn send_counts(output: &mut impl Write) -> io::Result<()> {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let (sent, flushes) = (requests_sent(), host::flushes().unwrap_or(0));
    let (new, more) = (sent - shown.0, flushes - shown.1);
    *shown = (sent, flushes);
    if new.count() > 0 || new.received_bytes > 0 {
        send(output, &Reply::<()>::Requests(new))?;
    }
    if more > 0 { send(output, &Reply::<()>::Flushes(more)) } else { Ok(()) }
}

/// The process that asks.
pub(super) struct Client<W> {
    pub(super) requests: Receiver<String>,
    /// Shared with what shows that this process runs.
    pub(super) output: Arc<Mutex<W>>,
}

impl<W: Write> Client<W> {
    pub(super) fn request<P: DeserializeOwned>(&self) -> Result<WorkerRequest<P>> {
        parse(&self.requests.recv().map_err(|_| Error::interrupted())?)
    }

    pub(super) fn reply<O: Serialize>(&mut self, reply: &Reply<O>) -> Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = send_counts(&mut *output).and_then(|()| send(&mut *output, reply));
        sent.map_err(|e| Error::io("standard output", e))
    }

    pub(super) fn acknowledge(&mut self) -> Result<()> {
        self.reply(&Reply::<()>::Done(Vec::new()))
    }

    /// Makes `workers` carry out the requested passes. Between the passes the requesting process
    /// may examine this one with its sessions open.
    pub(super) fn trial<P, O>(&mut self, workers: &mut Workers<'_, P, O>) -> Result<()>
    where
        P: DeserializeOwned,
        O: Serialize,
    {
        self.acknowledge()?;
        loop {
            match self.request()? {
                WorkerRequest::Pass { pass, start_ns } => {
                    let done = workers(pass, start_ns)?;
                    self.reply(&Reply::Done(done))?;
                }
                WorkerRequest::Close => return Ok(()),
                _ => return Err(unexpected()),
            }
        }
    }
}

/// Returns the error of a request that does not belong here.
pub(super) fn unexpected() -> Error {
    Error::failed("was asked for what cannot be done now")
}
