//! A worker process, from inside.

use std::{
    io::{BufRead, BufReader, Read, Write},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Duration,
};

use model::{Blobs, Error, Result, Rows};
use serde::Serialize;

use super::{
    Watch,
    message::{Data, JobRequest, PROTOCOL, Reply, Request, parse, send},
};
use crate::{
    Stop,
    dataset::{Dataset, Pool},
    workload::Done,
};

/// Where a worker process finds engines by their names.
#[derive(Clone, Copy)]
pub struct Finders {
    pub blobs: fn(&str) -> Result<&'static dyn Blobs>,
    pub rows: fn(&str) -> Result<&'static dyn Rows>,
}

/// Does what is asked for through `input` until that ends.
pub fn serve(
    find: Finders,
    input: impl Read + Send + 'static,
    mut output: impl Write,
    stop: &'static Stop,
) -> Result<()> {
    send(&mut output, &Reply::<()>::Hello { protocol: PROTOCOL })?;
    let mut input = BufReader::new(input);
    let (sender, requests) = channel();
    let mut values = None;
    match first(&mut input)? {
        Some(Request::Data(Data { dataset, pool })) => {
            let dataset = Dataset::receive(dataset, &mut input);
            let dataset = dataset.map_err(|e| Error::io("the dataset", e))?;
            values = Some((dataset, Pool::from(pool)));
            send(&mut output, &Reply::<()>::Ready)?;
        }
        Some(open @ Request::Open(_)) => {
            // It is received below.
            let _ = sender.send(Ok(open));
        }
        _ => {
            return Err(Error::usage(
                "this is started by `storemark run --processes` and `storemark rows`, not by hand",
            ));
        }
    }
    thread::spawn(move || listen(input, &sender, stop));
    Server { find, values, requests, output, stop }.serve()
}

fn first(input: &mut impl BufRead) -> Result<Option<Request>> {
    let mut line = String::new();
    // No first line is nearly as long.
    input.take(1 << 20).read_line(&mut line).map_err(|e| Error::io("standard input", e))?;
    Ok(parse(&line).ok())
}

/// How long work may go on once nobody wants it any longer.
const GRACE: Duration = Duration::from_secs(3);

/// Passes requests on. When the input ends, so does this process, whatever it does: it never
/// outlives the one that started it.
fn listen(input: impl BufRead, requests: &Sender<Result<Request>>, stop: &Stop) {
    for line in input.lines().map_while(std::io::Result::ok) {
        if requests.send(parse(&line)).is_err() {
            break;
        }
    }
    stop.set();
    let _ = requests.send(Err(Error::interrupted()));
    thread::sleep(GRACE);
    std::process::exit(2);
}

struct Server<W> {
    find: Finders,
    /// The dataset and the payloads, for workers on values.
    values: Option<(Dataset, Pool)>,
    requests: Receiver<Result<Request>>,
    output: W,
    stop: &'static Stop,
}

impl<W: Write> Server<W> {
    fn serve(&mut self) -> Result<()> {
        // The end of the requests is an interruption; between trials it is in order.
        while let Ok(Ok(request)) = self.requests.recv() {
            match request {
                Request::Arrange { order, start, seed } => {
                    let (dataset, _) = self.values.as_mut().ok_or_else(unexpected)?;
                    dataset.arrange(order, start, seed);
                }
                Request::Open(job) => {
                    let reply = match self.trial(&job) {
                        Ok(()) => Reply::<()>::Closed,
                        Err(error) => Reply::failed(&error),
                    };
                    send(&mut self.output, &reply)?;
                }
                Request::Data(_) | Request::Pass { .. } | Request::Close => {
                    return Err(unexpected());
                }
            }
        }
        Ok(())
    }

    fn trial(&mut self, job: &JobRequest) -> Result<()> {
        let Self { find, values, requests, output, stop } = self;
        let mut asked = Asked { requests, output, next: None };
        match job {
            JobRequest::Blobs(job) => {
                let (dataset, pool) = values.as_ref().ok_or_else(unexpected)?;
                job.run((find.blobs)(&job.engine)?, (dataset, pool), stop, &mut asked)
            }
            JobRequest::Rows(job) => job.run((find.rows)(&job.engine)?, &mut asked),
        }
    }
}

fn unexpected() -> Error {
    Error::failed("was asked for what cannot be done now")
}

/// Starts passes when it is asked to, and replies with what they gave.
struct Asked<'a, W> {
    requests: &'a Receiver<Result<Request>>,
    output: &'a mut W,
    /// What was asked for after the last pass.
    next: Option<Request>,
}

impl<W: Write> Asked<'_, W> {
    fn request(&self) -> Result<Request> {
        self.requests.recv().unwrap_or_else(|_| Err(Error::interrupted()))
    }
}

impl<W: Write, P, O: Serialize> Watch<P, O> for Asked<'_, W> {
    fn starts(&mut self, _: &P) -> Result<u64> {
        let request = if let Some(request) = self.next.take() {
            request
        } else {
            send(self.output, &Reply::<()>::Ready)?;
            self.request()?
        };
        match request {
            Request::Pass { start_ns } => Ok(start_ns),
            _ => Err(unexpected()),
        }
    }

    /// Returns once the next pass, or the end, is asked for: until then the one who asks may look
    /// at this process with its sessions open.
    fn ended(&mut self, _: &P, done: Vec<Done<O>>) -> Result<()> {
        send(self.output, &Reply::Done(done))?;
        self.next = Some(self.request()?);
        Ok(())
    }
}
