//! Worker processes, seen from the one that started them.
//!
//! They are asked through their standard input and reply through their standard output. What is
//! measured comes back in the clock that all processes share. One whose input ends ends itself.

use std::{
    cell::RefCell,
    ffi::OsString,
    io::{BufRead, BufReader, BufWriter, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use host::now_ns;
use model::{Error, Order, Result};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Workers,
    message::{JobRequest, PROTOCOL, Reply, Request, parse, send},
};
use crate::{
    Stop,
    dataset::{Dataset, PoolSpec},
};

/// Worker processes that are started and speak the same protocol.
pub(crate) struct Processes<'a> {
    members: RefCell<Vec<WorkerProcess>>,
    lines: Receiver<(usize, Option<String>)>,
    /// How long each may take to end after a failure.
    ending: Duration,
    stop: &'a Stop,
}

/// How long before its start a pass is announced: several times what a line takes to be read and
/// all workers to wake.
const AHEAD_NS: u64 = 5_000_000;
/// How often a wish to stop is looked for while the processes work.
const LOOK: Duration = Duration::from_millis(50);

impl<'a> Processes<'a> {
    /// Starts `count` processes by `command`, and gives each the values to read and the payloads to
    /// write, for jobs that need them.
    pub(crate) fn start(
        command: &[OsString],
        count: u32,
        values: Option<(&Dataset, PoolSpec)>,
        stop: &'a Stop,
    ) -> Result<Self> {
        let (sender, lines) = channel();
        let start = |number| WorkerProcess::start(number, command, &sender);
        let members = (0..count as usize).map(start).collect::<Result<Vec<_>>>()?;
        // Workers on values may write to a store of the user. Those on rows have tables that are
        // removed, and cannot stop within a statement.
        let ending = if values.is_some() { ENDING } else { Duration::ZERO };
        let processes = Self { members: RefCell::new(members), lines, ending, stop };
        processes.replies::<()>()?;
        let start = values.map(|(dataset, pool)| (dataset.luggage(), pool));
        for member in processes.members.borrow_mut().iter_mut() {
            member.ask(&Request::<()>::Start(start));
            values.inspect(|(dataset, _)| member.send_data(dataset));
        }
        processes.replies::<()>()?;
        Ok(processes)
    }

    /// The ids of the processes.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.members.borrow().iter().map(WorkerProcess::id).collect()
    }

    /// Puts the keys of each process into the order of a round, as [`Dataset::arrange`] does here.
    pub(crate) fn arrange(&self, order: Order, start: Option<i64>, seed: u64) -> Result<()> {
        self.ask::<(), ()>(|_| Request::Arrange { order, start, seed }).map(drop)
    }

    /// Opens the workers of all processes, and lets `work` have them make passes, as
    /// [`threads::with`](super::threads::with) does in one process; `job` is what each process does.
    /// After an error no process works any longer.
    pub(crate) fn with<P: Copy + Serialize, O: DeserializeOwned, T>(
        &self,
        job: impl Fn(u32) -> JobRequest,
        work: impl FnOnce(&mut Workers<'_, P, O>) -> Result<T>,
    ) -> Result<T> {
        let trial = || {
            self.ask::<P, O>(|process| Request::Open(Box::new(job(process))))?;
            let result = work(&mut |pass, start_ns| {
                let start_ns = start_ns.max(now_ns() + AHEAD_NS);
                self.ask(|_| Request::Pass { pass, start_ns })
            })?;
            self.ask::<P, O>(|_| Request::Close).map(|_| result)
        };
        let outcome = trial();
        if outcome.is_err() {
            // Before anything that they use is closed or removed.
            self.end();
        }
        outcome
    }

    /// Has all processes end, and waits for each.
    fn end(&self) {
        let mut members = std::mem::take(&mut *self.members.borrow_mut());
        for member in &mut members {
            drop(member.input.take());
        }
        let until = Instant::now() + self.ending;
        for member in &mut members {
            member.wait(until);
        }
    }

    /// Asks each process, and waits until all have replied.
    fn ask<P: Serialize, O: DeserializeOwned>(
        &self,
        request: impl Fn(u32) -> Request<P>,
    ) -> Result<Vec<O>> {
        for (process, member) in (0..).zip(self.members.borrow_mut().iter_mut()) {
            member.ask(&request(process));
        }
        self.replies()
    }

    /// What all workers did, in the order of the processes. The first failure is an error.
    fn replies<O: DeserializeOwned>(&self) -> Result<Vec<O>> {
        let count = self.members.borrow().len();
        let mut replies: Vec<(usize, Vec<O>)> = Vec::with_capacity(count);
        while replies.len() < count {
            let (process, line) = self.next()?;
            let done = match line {
                Some(line) => parse(&line).and_then(done),
                None => Err(self.members.borrow_mut()[process].lost()),
            };
            if done.is_err() {
                // Whoever stops this process may have stopped the workers before.
                self.stop.check()?;
            }
            let named = |e: Error| e.context(format_args!("worker process {}", process + 1));
            replies.push((process, done.map_err(named)?));
        }
        replies.sort_by_key(|(process, _)| *process);
        Ok(replies.into_iter().flat_map(|(_, done)| done).collect())
    }

    fn next(&self) -> Result<(usize, Option<String>)> {
        loop {
            self.stop.check()?;
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::failed("the worker processes have ended"));
                }
            }
        }
    }
}

fn done<O>(reply: Reply<O>) -> Result<Vec<O>> {
    match reply {
        Reply::Hello { protocol: PROTOCOL } => Ok(Vec::new()),
        Reply::Hello { protocol } => Err(Error::failed(format!(
            "speaks version {protocol} of the protocol, this storemark version {PROTOCOL}: start \
             the same version of storemark"
        ))),
        Reply::Done(done) => Ok(done),
        Reply::Failed(why) => Err(Error::failed(why)),
    }
}

/// A process that ends with its owner.
struct WorkerProcess {
    child: Child,
    /// Its standard input; none once it is to end.
    input: Option<ChildStdin>,
}

/// How long a process may take to end by itself before it is killed.
const ENDING: Duration = Duration::from_secs(2);

impl WorkerProcess {
    /// Starts process number `number`; the lines that it writes go to `lines`, `None` at their end.
    fn start(
        number: usize,
        command: &[OsString],
        lines: &Sender<(usize, Option<String>)>,
    ) -> Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Error::usage("no command starts a worker"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        leave_group(&mut command);
        let mut child = command.spawn().map_err(|e| {
            Error::io(format!("a worker process ({}) cannot be started", program.display()), e)
        })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let lines = lines.clone();
        let pass_on = move |output| read(output, |line| lines.send((number, line)).is_ok());
        output.map(|output| thread::spawn(move || pass_on(output)));
        Ok(Self { child, input })
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    /// A process that has ended cannot be asked; why it ended is found when it does not reply.
    fn ask<P: Serialize>(&mut self, request: &Request<P>) {
        let _ = self.input.as_mut().map(|input| send(input, request));
    }

    /// Sends what [`Request::Start`] announced.
    fn send_data(&mut self, dataset: &Dataset) {
        let Some(input) = &mut self.input else { return };
        let mut to = BufWriter::with_capacity(1 << 16, input);
        // As in `ask`.
        let _ = dataset.send(&mut to).and_then(|()| to.flush());
    }

    /// Waits until it has ended, and kills it if it has not by `until`.
    fn wait(&mut self, until: Instant) {
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() >= until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The error of a process that ended in the middle.
    fn lost(&mut self) -> Error {
        let how = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        Error::failed(format!("ended before its work was done ({how})"))
    }
}

fn read(output: ChildStdout, pass_on: impl Fn(Option<String>) -> bool) {
    for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
        if !pass_on(Some(line)) {
            return;
        }
    }
    pass_on(None);
}

impl Drop for WorkerProcess {
    /// Lets it end, and kills it if it does not.
    fn drop(&mut self) {
        drop(self.input.take());
        self.wait(Instant::now() + ENDING);
    }
}

/// In a group of its own, so that a terminal's Ctrl-C reaches only the first process, which ends
/// the others.
#[cfg(unix)]
fn leave_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn leave_group(_: &mut Command) {}
