//! A worker: a process of its own that does what the first one says. It ends with it: when nobody
//! can speak to it any more.

use std::{
    io::{self, BufRead, Write},
    path::Path,
    sync::mpsc::{Receiver, channel},
    thread,
};

use model::{
    Error, Result, Rows,
    rows::{Operation, RowSession},
};

use super::message::{Answer, Done, Held, Job, Order};
use crate::host;

/// What every row is made greater by.
pub(super) const ADDED: i64 = 2;

/// Works until standard input ends; `find` knows the engines. Only a process that was started for
/// it calls this.
pub fn rows_worker(find: fn(&str) -> Result<&'static dyn Rows>) -> Result<()> {
    let lines = lines();
    let done = serve(&lines, find);
    // Whoever started this process asks after the answer, not after its exit code.
    done.or_else(|error| answer(&Answer::from(&error)))
}

fn serve(lines: &Receiver<String>, find: fn(&str) -> Result<&'static dyn Rows>) -> Result<()> {
    let Ok(first) = lines.recv() else { return Ok(()) };
    let job: Job = parse(&first)?;
    let tables = find(&job.engine)?.join(Path::new(&job.location), &job.settings)?;
    let mut session = tables.session(job.database)?;
    answer(&Answer::Ready)?;
    while let Ok(line) = lines.recv() {
        answer(&match parse(&line)? {
            Order::Work { operation, at_ns } => {
                Answer::Done(work(&job, &mut *session, operation, at_ns)?)
            }
            Order::Check => Answer::Checked(Held { count: session.count()?, sum: session.sum()? }),
        })?;
    }
    Ok(())
}

fn work(job: &Job, session: &mut dyn RowSession, operation: Operation, at_ns: u64) -> Result<Done> {
    session.statistics();
    host::wait_until(at_ns);
    let started_ns = host::now_ns();
    let result = match operation {
        Operation::Insert => session.insert(job.rows.clone(), job.style, job.batch).map(|()| 0),
        Operation::Sum => session.sum(),
        Operation::Add => session.add(ADDED).map(u64::cast_signed),
    }?;
    let ended_ns = host::now_ns();
    let counters = session.statistics().into_iter().map(|(name, n)| (name.to_owned(), n));
    Ok(Done { started_ns, ended_ns, result, counters: counters.collect() })
}

/// The lines of standard input. When it ends, so does this process, whatever it is doing: the one
/// that started it is gone, or has no more use for it.
fn lines() -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
        std::process::exit(0);
    });
    receiver
}

fn parse<'a, T: serde::Deserialize<'a>>(line: &'a str) -> Result<T> {
    serde_json::from_str(line).map_err(|e| Error::usage(format!("no line for a worker: {e}")))
}

fn answer(answer: &Answer) -> Result<()> {
    let line = serde_json::to_string(answer).map_err(|e| Error::failed(e.to_string()))?;
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|e| Error::io("standard output", e))
}
