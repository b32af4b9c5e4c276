//! A worker process, from inside.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use model::{Blobs, Error, Requests, Result, Rows, give_variables, requests_sent};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Workers,
    message::{BEAT, JobRequest, PROTOCOL, Reply, VERSION, WorkerRequest, parse, send},
};
use crate::{
    Stop,
    dataset::{Dataset, Pool},
};

/// The functions with which a worker process finds engines by their names.
#[derive(Clone, Copy)]
pub struct Finders {
    /// Finds an engine of blobs.
    pub blobs: fn(&str) -> Result<&'static dyn Blobs>,
    /// Finds an engine of rows.
    pub rows: fn(&str) -> Result<&'static dyn Rows>,
}

/// Serves the requests from `input` until it ends.
///
/// # Errors
///
/// Fails if `input` cannot be read, `output` cannot be written, or a request is not understood.
pub fn serve(
    find: Finders,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    stop: &'static Stop,
) -> Result<()> {
    let mut input = BufReader::new(input);
    let (sender, requests) = channel();
    let output = Arc::new(Mutex::new(output));
    let mut client = Client { requests, output: output.clone() };
    client.reply(&Reply::<()>::Hello { protocol: PROTOCOL, version: VERSION.to_owned() })?;
    thread::spawn(move || beat(&output));
    if input.fill_buf().map_err(|e| Error::io("standard input", e))?.is_empty() {
        // Whoever started this process wants it no longer.
        return Ok(());
    }
    let mut values = start(&mut input)?;
    client.acknowledge()?;
    thread::spawn(move || listen(input, sender, stop));
    // The end of the requests is an interruption; between trials it is in order.
    while let Ok(request) = client.request::<()>() {
        let done = match (request, &mut values) {
            (WorkerRequest::Clock { shift_ns }, _) => {
                host::set_clock(shift_ns);
                let (now_ns, unix_ns) = (host::now_ns(), host::unix_ns());
                client.reply(&Reply::<()>::Clock { now_ns, unix_ns })?;
                continue;
            }
            (WorkerRequest::Look(store), Some((dataset, _))) => {
                store.try_reads(find.blobs, dataset)
            }
            (WorkerRequest::Arrange { order, start, part, seed }, Some((dataset, _))) => {
                dataset.arrange(order, start, part, seed);
                Ok(())
            }
            (WorkerRequest::Open(job), values) => match (*job, values) {
                (JobRequest::Rows(job), _) => {
                    (find.rows)(&job.engine).and_then(|rows| job.with(rows, |to| client.trial(to)))
                }
                (JobRequest::Blobs(job), Some(values)) => {
                    job.with(find.blobs, values, stop, |to| client.trial(to))
                }
                (JobRequest::Roles(job), Some(values)) => {
                    job.with(find.blobs, values, stop, |to| client.trial(to))
                }
                (JobRequest::Epoch(job), Some(values)) => {
                    job.with(find.blobs, values, stop, |to| client.trial(to))
                }
                _ => return Err(unexpected()),
            },
            _ => return Err(unexpected()),
        };
        match done {
            Ok(()) => client.acknowledge()?,
            Err(error) => client.reply(&Reply::<()>::Failed(error.to_string()))?,
        }
    }
    Ok(())
}

/// Reads the first request: the dataset and the payloads, for workers on values.
fn start(input: &mut impl BufRead) -> Result<Option<(Dataset, Pool)>> {
    let mut line = String::new();
    // No first line is nearly as long.
    let read = input.by_ref().take(1 << 20).read_line(&mut line);
    read.map_err(|e| Error::io("standard input", e))?;
    match parse(&line) {
        Ok(WorkerRequest::<()>::Start { values, variables }) => {
            give_variables(variables);
            let Some((metadata, pool)) = values else { return Ok(None) };
            let dataset = Dataset::receive(metadata, input);
            let dataset = dataset.map_err(|e| Error::io("the dataset", e))?;
            Ok(Some((dataset, Pool::from(pool))))
        }
        _ => Err(Error::usage(
            "this is started by `storemark run --processes` and `storemark rows`, not by hand",
        )),
    }
}

/// Shows every now and then that this process runs, so that one that is stopped, or whose host is, is
/// noticed.
fn beat(output: &Mutex<impl Write>) {
    loop {
        thread::sleep(BEAT);
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = send_requests(&mut *output);
        if sent.and_then(|()| send(&mut *output, &Reply::<()>::Alive)).is_err() {
            return;
        }
    }
}

/// The requests that [`send_requests`] has shown.
static SHOWN: Mutex<Requests> = Mutex::new(Requests::NONE);

/// Shows the requests that this process has sent to services since they were last shown, if any.
fn send_requests(output: &mut impl Write) -> io::Result<()> {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = requests_sent();
    let new = sent - *shown;
    *shown = sent;
    let is_new = new.count() > 0 || new.received_bytes > 0;
    if is_new { send(output, &Reply::<()>::Requests(new)) } else { Ok(()) }
}

/// How long work may go on after it is no longer wanted.
const GRACE: Duration = Duration::from_secs(1);

/// Passes requests on. When the input ends, so does this process, whatever it does: it never
/// outlives the one that started it.
fn listen(input: impl BufRead, requests: Sender<String>, stop: &Stop) {
    let lines = input.lines().map_while(std::io::Result::ok);
    lines.take_while(|line| requests.send(line.clone()).is_ok()).for_each(drop);
    stop.set();
    drop(requests);
    thread::sleep(GRACE);
    std::process::exit(2);
}

/// Returns the reply of a worker process that ends because of a failure, as a line.
pub fn failure(why: &str) -> String {
    let reply = serde_json::to_string(&Reply::<()>::Failed(why.to_owned()));
    reply.expect("a sentence is JSON") + "\n"
}

fn unexpected() -> Error {
    Error::failed("was asked for what cannot be done now")
}

/// The process that asks.
struct Client<W> {
    requests: Receiver<String>,
    /// Shared with what shows that this process runs.
    output: Arc<Mutex<W>>,
}

impl<W: Write> Client<W> {
    fn request<P: DeserializeOwned>(&self) -> Result<WorkerRequest<P>> {
        parse(&self.requests.recv().map_err(|_| Error::interrupted())?)
    }

    fn reply<O: Serialize>(&mut self, reply: &Reply<O>) -> Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = send_requests(&mut *output).and_then(|()| send(&mut *output, reply));
        sent.map_err(|e| Error::io("standard output", e))
    }

    fn acknowledge(&mut self) -> Result<()> {
        self.reply(&Reply::<()>::Done(Vec::new()))
    }

    /// Makes `workers` carry out the requested passes. Between the passes the requesting process
    /// may examine this one with its sessions open.
    fn trial<P, O>(&mut self, workers: &mut Workers<'_, P, O>) -> Result<()>
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
