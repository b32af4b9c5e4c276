//! The process that asks, seen from a worker process.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Receiver},
};

use host::UsageMeter;
use model::{Error, Io, Requests, Result, requests_sent};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Workers,
    message::{Reply, WorkerRequest, parse, send},
};

/// The requests that [`send_requests`] has shown.
static SHOWN: Mutex<Requests> = Mutex::new(Requests::NONE);

/// Shows the requests that this process has sent to services since they were last shown, if any.
pub(super) fn send_requests(output: &mut impl Write) -> io::Result<()> {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = requests_sent();
    let new = sent - *shown;
    *shown = sent;
    if new.count() > 0 || new.received_bytes > 0 {
        send(output, &Reply::<()>::Requests(new))?;
    }
    Ok(())
}

/// What a worker process writes its replies to.
pub(super) struct Replies<W> {
    to: W,
    /// The calls and bytes of that.
    written: (u64, u64),
}

impl<W> Replies<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, written: (0, 0) }
    }
}

impl<W: Write> Write for Replies<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.0 += 1;
        let length = self.to.write(bytes)?;
        self.written.1 += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The process that asks.
pub(super) struct Client<W> {
    pub(super) requests: Receiver<String>,
    /// Shared with what shows that this process runs.
    pub(super) output: Arc<Mutex<Replies<W>>>,
}

impl<W: Write> Client<W> {
    pub(super) fn request<P: DeserializeOwned>(&self) -> Result<WorkerRequest<P>> {
        parse(&self.requests.recv().map_err(|_| Error::interrupted())?)
    }

    fn output(&self) -> MutexGuard<'_, Replies<W>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn reply<O: Serialize>(&mut self, reply: &Reply<O>) -> Result<()> {
        let mut output = self.output();
        let sent = send_requests(&mut *output).and_then(|()| send(&mut *output, reply));
        sent.map_err(|e| Error::io("standard output", e))
    }

    pub(super) fn acknowledge(&mut self) -> Result<()> {
        self.reply(&Reply::<()>::Done(Vec::new()))
    }

    /// Runs work, and shows what it cost this process, without what shows meanwhile that it runs.
    pub(super) fn measured<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        // Nothing is written while counters are read: it would be in one of them alone.
        let (output, meter) = (self.output(), UsageMeter::start());
        let (calls, bytes) = output.written;
        drop(output);
        let done = work()?;
        let output = self.output();
        let (spent, (all_calls, all_bytes)) = (meter.stop(), output.written);
        drop(output);
        let written = Io {
            write_calls: Some(all_calls - calls),
            written_bytes: Some(all_bytes - bytes),
            ..Io::default()
        };
        self.reply(&Reply::<()>::Usage(spent.without_calls(written)))?;
        Ok(done)
    }

    /// Makes `workers` carry out the requested passes, and shows what each cost.
    pub(super) fn measured_trial<P, O>(&mut self, workers: &mut Workers<'_, P, O>) -> Result<()>
    where
        P: DeserializeOwned,
        O: Serialize,
    {
        self.passes(|client, pass, start_ns| client.measured(|| workers(pass, start_ns)))
    }

    /// Makes `workers` carry out the requested passes, which measure themselves.
    pub(super) fn trial<P, O>(&mut self, workers: &mut Workers<'_, P, O>) -> Result<()>
    where
        P: DeserializeOwned,
        O: Serialize,
    {
        self.passes(|_, pass, start_ns| workers(pass, start_ns))
    }

    /// Carries out passes until they end. Between them the requesting process may examine this one with
    /// its sessions open.
    fn passes<P, O>(
        &mut self,
        mut carry_out: impl FnMut(&mut Self, P, u64) -> Result<Vec<O>>,
    ) -> Result<()>
    where
        P: DeserializeOwned,
        O: Serialize,
    {
        self.acknowledge()?;
        loop {
            match self.request()? {
                WorkerRequest::Pass { pass, start_ns } => {
                    let done = carry_out(self, pass, start_ns)?;
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
