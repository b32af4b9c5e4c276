//! The worker processes of a trial: started together, spoken to one line at a time, and ended with
//! it, however it ends.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use model::{Error, ErrorKind, Result, rows::Operation};
use serde::Serialize;

use super::message::{Answer, Done, Held, Job, Order};
use crate::{Stop, host};

/// How long before the common start the workers are told: longer than a line takes to arrive.
const LEAD_NS: u64 = 5_000_000;
/// How often to ask whether the user wants to stop.
const STOP_EVERY: Duration = Duration::from_millis(50);
/// How long a worker may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Crew<'a> {
    workers: Vec<Worker>,
    answers: Receiver<(usize, Option<Answer>)>,
    stop: &'a Stop,
}

struct Worker {
    child: Child,
    /// Closed: it ends.
    orders: Option<ChildStdin>,
}

impl<'a> Crew<'a> {
    /// Starts a worker for each job; all have their session when it returns.
    pub(super) fn start(program: &[OsString], jobs: &[Job], stop: &'a Stop) -> Result<Self> {
        let (sender, answers) = channel();
        let mut crew = Self { workers: Vec::new(), answers, stop };
        for (index, job) in jobs.iter().enumerate() {
            crew.workers.push(Worker::start(program, index, &sender)?);
            crew.workers[index].tell(job)?;
        }
        crew.gather(|answer| matches!(answer, Answer::Ready).then_some(()))?;
        Ok(crew)
    }

    /// The ids of the processes.
    pub(super) fn processes(&self) -> impl Iterator<Item = u32> {
        self.workers.iter().map(|worker| worker.child.id())
    }

    /// Has all do `operation`, beginning together at the time that is returned.
    pub(super) fn work(&mut self, operation: Operation) -> Result<(u64, Vec<Done>)> {
        let at_ns = host::now_ns() + LEAD_NS;
        self.tell_all(Order::Work { operation, at_ns })?;
        let done = self.gather(|answer| match answer {
            Answer::Done(done) => Some(done),
            _ => None,
        })?;
        Ok((at_ns, done))
    }

    /// What the database of each holds.
    pub(super) fn check(&mut self) -> Result<Vec<Held>> {
        self.tell_all(Order::Check)?;
        self.gather(|answer| match answer {
            Answer::Checked(held) => Some(held),
            _ => None,
        })
    }

    /// Lets the workers end, so that their sessions are closed.
    pub(super) fn end(mut self) -> Result<()> {
        for worker in &mut self.workers {
            worker.orders = None;
        }
        let begun = Instant::now();
        for worker in &mut self.workers {
            while worker.ended()?.is_none() && begun.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(())
    }

    fn tell_all(&mut self, order: Order) -> Result<()> {
        self.workers.iter_mut().try_for_each(|worker| worker.tell(&order))
    }

    /// An answer of each worker, in their order.
    fn gather<T>(&mut self, wanted: impl Fn(Answer) -> Option<T>) -> Result<Vec<T>> {
        let mut gathered: Vec<Option<T>> = self.workers.iter().map(|_| None).collect();
        while gathered.iter().any(Option::is_none) {
            let (index, answer) = self.next()?;
            gathered[index] = match answer {
                Some(Answer::Failed { message, unsupported }) => {
                    let kind = if unsupported { ErrorKind::Unsupported } else { ErrorKind::Failed };
                    return Err(Error::new(kind, message));
                }
                Some(answer) => wanted(answer),
                None => return Err(self.workers[index].lost()),
            };
        }
        Ok(gathered.into_iter().flatten().collect())
    }

    fn next(&self) -> Result<(usize, Option<Answer>)> {
        loop {
            self.stop.check()?;
            match self.answers.recv_timeout(STOP_EVERY) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::failed("no worker process answers"));
                }
            }
        }
    }
}

impl Worker {
    fn start(
        program: &[OsString],
        index: usize,
        answers: &Sender<(usize, Option<Answer>)>,
    ) -> Result<Self> {
        let (name, arguments) = program.split_first().expect("a worker is a program");
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        apart(&mut command);
        let wrong = |e| Error::io(format!("a worker process ({})", name.display()), e);
        let mut child = command.spawn().map_err(wrong)?;
        let orders = child.stdin.take();
        let out = child.stdout.take().expect("its output is a pipe");
        let answers = answers.clone();
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = answers.send((index, serde_json::from_str(&line).ok()));
            }
            let _ = answers.send((index, None));
        });
        Ok(Self { child, orders })
    }

    fn tell(&mut self, message: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(message).map_err(|e| Error::failed(e.to_string()))?;
        let orders = self.orders.as_mut().expect("it is open until the crew ends");
        // One that has ended is missed when its answer is.
        let _ = writeln!(orders, "{line}").and_then(|()| orders.flush());
        Ok(())
    }

    fn ended(&mut self) -> Result<Option<std::process::ExitStatus>> {
        self.child.try_wait().map_err(|e| Error::io("a worker process", e))
    }

    fn lost(&mut self) -> Error {
        let how = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        Error::failed(format!("a worker process ended in the middle ({how})"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In a group of its own, so that a terminal's Ctrl-C reaches only the first process, which ends
/// the others.
#[cfg(unix)]
fn apart(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn apart(_: &mut Command) {}
