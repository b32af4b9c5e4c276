//! A worker process, as it is from inside.

use std::{
    io::{BufRead, BufReader, Read, Write},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Duration,
};

use model::{Blobs, Error, Result};

use super::message::{Answer, Ask, Begin, Job, heard, say};
use crate::{
    Stop,
    dataset::Dataset,
    pass::{Leg, Round, Watch, Worked},
    payload::Pool,
};

/// Does what a crew asks for through `input` until that ends. `find` knows engines by
/// their names.
pub fn serve(
    find: fn(&str) -> Result<&'static dyn Blobs>,
    input: impl Read + Send + 'static,
    output: impl Write,
    stop: &'static Stop,
) -> Result<()> {
    let mut input = BufReader::new(input);
    let Some(Ask::Begin(begin)) = first(&mut input)? else {
        return Err(Error::usage("this is started by `storemark run --processes`, not by hand"));
    };
    let Begin { process, luggage, pool_seed, largest, random_percent } = begin;
    let dataset = Dataset::receive(luggage, &mut input).map_err(|e| Error::io("the dataset", e))?;
    let pool = Pool::new(pool_seed, largest, random_percent);
    let (tell, asks) = channel();
    thread::spawn(move || listen(input, &tell, stop));
    let mut served = Served { find, process, dataset, pool, asks, output, stop };
    served.say(&Answer::Ready)?;
    served.serve()
}

fn first(input: &mut impl BufRead) -> Result<Option<Ask>> {
    let mut line = String::new();
    // No first line is nearly as long.
    input.take(1 << 12).read_line(&mut line).map_err(|e| Error::io("standard input", e))?;
    if line.is_empty() { Ok(None) } else { Ok(heard(&line).ok()) }
}

/// How long work may go on once nobody wants it any more.
const GRACE: Duration = Duration::from_secs(3);

/// Passes on what is asked for. When the input ends, so does this process, whatever it is at: it
/// never outlives the one that started it.
fn listen(input: impl BufRead, tell: &Sender<Result<Ask>>, stop: &Stop) {
    for line in input.lines().map_while(std::io::Result::ok) {
        if tell.send(heard(&line)).is_err() {
            break;
        }
    }
    stop.set();
    let _ = tell.send(Err(Error::interrupted()));
    thread::sleep(GRACE);
    std::process::exit(2);
}

struct Served<W> {
    find: fn(&str) -> Result<&'static dyn Blobs>,
    process: u32,
    dataset: Dataset,
    pool: Pool,
    asks: Receiver<Result<Ask>>,
    output: W,
    stop: &'static Stop,
}

impl<W: Write> Served<W> {
    fn serve(&mut self) -> Result<()> {
        // The end of what is asked for is an interruption; between trials it is in order.
        while let Ok(Ok(ask)) = self.asks.recv() {
            match ask {
                Ask::Arrange { order, start, seed } => self.dataset.arrange(order, start, seed),
                Ask::Open(job) => {
                    let answer = match self.trial(&job) {
                        Ok(()) => Answer::Closed,
                        Err(error) => Answer::failed(&error),
                    };
                    self.say(&answer)?;
                }
                Ask::Begin(_) | Ask::Go { .. } | Ask::End => return Err(unexpected()),
            }
        }
        Ok(())
    }

    fn say(&mut self, answer: &Answer) -> Result<()> {
        say(&mut self.output, answer)
    }

    fn trial(&mut self, job: &Job) -> Result<()> {
        let engine = (self.find)(&job.engine)?;
        let store = engine.join(&job.path, &job.options())?;
        let Self { process, dataset, pool, asks, output, stop, .. } = self;
        let round = Round::new(&job.workload, dataset, pool, job.seed, stop)?.of_process(*process);
        let mut told = Told { asks, output, next: None };
        round.passes(&*store, &job.legs, &mut told)?;
        store.close()
    }
}

fn unexpected() -> Error {
    Error::failed("was asked for what cannot be done now")
}

/// Begins passes when it is told to, and tells what came of them.
struct Told<'a, W> {
    asks: &'a Receiver<Result<Ask>>,
    output: &'a mut W,
    /// What was asked for after the last pass.
    next: Option<Ask>,
}

impl<W: Write> Told<'_, W> {
    fn ask(&self) -> Result<Ask> {
        self.asks.recv().unwrap_or_else(|_| Err(Error::interrupted()))
    }
}

impl<W: Write> Watch for Told<'_, W> {
    fn starts(&mut self) -> Result<u64> {
        let ask = if let Some(ask) = self.next.take() {
            ask
        } else {
            say(self.output, &Answer::Ready)?;
            self.ask()?
        };
        match ask {
            Ask::Go { start_ns } => Ok(start_ns),
            _ => Err(unexpected()),
        }
    }

    /// Returns once the next pass, or the end, is asked for: until then the one who asks may look
    /// at this process with its sessions open.
    fn ended(&mut self, _: &Leg, worked: Vec<Worked>) -> Result<()> {
        say(self.output, &Answer::Worked(worked))?;
        self.next = Some(self.ask()?);
        Ok(())
    }
}
