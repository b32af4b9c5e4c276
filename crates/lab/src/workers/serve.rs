//! A worker process, from inside.

use std::{
    io::{BufRead, BufReader, Read, Write},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use model::{Blobs, Error, Result, Rows, give_variables};

use super::{
    client::{Client, Replies, send_requests, unexpected},
    message::{
        BEAT, Failure, JobRequest, PROTOCOL, ProgramFacts, Reply, VERSION, WorkerRequest, parse,
        send,
    },
    program,
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

/// Serves the requests from `input` until it ends. `program` is what the program consists of.
///
/// # Errors
///
/// Fails if `input` cannot be read, `output` cannot be written, or a request is not understood.
pub fn serve(
    find: Finders,
    program: ProgramFacts,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    stop: &'static Stop,
) -> Result<()> {
    let mut input = BufReader::new(input);
    let (sender, requests) = channel();
    let output = Arc::new(Mutex::new(Replies::new(output)));
    let mut client = Client { requests, output: output.clone() };
    let version = VERSION.to_owned();
    client.reply(&Reply::<()>::Hello { protocol: PROTOCOL, version, program })?;
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
            (WorkerRequest::Open(job), values) => carry_out(*job, find, values, &mut client, stop),
            _ => return Err(unexpected()),
        };
        match done {
            Ok(()) => client.acknowledge()?,
            Err(error) => client.reply(&Reply::<()>::Failed((&error).into()))?,
        }
    }
    Ok(())
}

/// Carries out a job until the process that asks closes it.
fn carry_out<W: Write>(
    job: JobRequest,
    find: Finders,
    values: &mut Option<(Dataset, Pool)>,
    client: &mut Client<W>,
    stop: &Stop,
) -> Result<()> {
    match (job, values) {
        (JobRequest::Rows(job), _) => {
            (find.rows)(&job.engine).and_then(|rows| job.with(rows, |to| client.measured_trial(to)))
        }
        (JobRequest::Blobs(job), Some(values)) => {
            job.with(find.blobs, values, stop, |to| client.measured_trial(to))
        }
        (JobRequest::Roles(job), Some(values)) => {
            job.with(find.blobs, values, stop, |to| client.measured_trial(to))
        }
        (JobRequest::Epoch(job), Some(values)) => {
            job.with(find.blobs, values, stop, |to| client.trial(to))
        }
        (JobRequest::Lane(job), Some(values)) => {
            job.with_lane(find.blobs, values, stop, |to| client.trial(to))
        }
        (JobRequest::Store(job), _) => program::serve::serve(&job, find.blobs, client, stop),
        _ => Err(unexpected()),
    }
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
    let failure = Failure::from(&Error::failed(why));
    let reply = serde_json::to_string(&Reply::<()>::Failed(failure));
    reply.expect("a sentence is JSON") + "\n"
}
