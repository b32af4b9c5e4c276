//! Worker processes, seen from the one that started them.
//!
//! They are asked through their standard input and reply through their standard output. What is
//! measured comes back in the clock that all processes share. One whose input ends ends itself.

use std::{
    cell::RefCell,
    ffi::OsString,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::Duration,
};

use host::now_ns;
use model::{Error, ErrorKind, Order, Result};
use serde::de::DeserializeOwned;

use super::{
    Watch,
    child::WorkerProcess,
    message::{Data, JobRequest, PROTOCOL, Reply, Request, parse},
};
use crate::{
    Stop,
    dataset::{Dataset, PoolSpec},
    workload::Done,
};

/// Worker processes that are started and have said which protocol they speak.
pub(crate) struct Processes<'a> {
    members: RefCell<Vec<WorkerProcess>>,
    lines: Receiver<(usize, Option<String>)>,
    stop: &'a Stop,
}

/// How long before its start a pass is announced: several times what a line takes to be read and
/// all workers to wake.
const AHEAD_NS: u64 = 5_000_000;
/// How often a wish to stop is looked for while the processes work.
const LOOK: Duration = Duration::from_millis(50);

impl<'a> Processes<'a> {
    /// Starts `count` processes by `command`.
    pub(crate) fn start(command: &[OsString], count: u32, stop: &'a Stop) -> Result<Self> {
        let (sender, lines) = channel();
        let start = |number| WorkerProcess::start(number, command, &sender);
        let members = (0..count as usize).map(start).collect::<Result<Vec<_>>>()?;
        let processes = Self { members: RefCell::new(members), lines, stop };
        processes.replies(|reply: Reply<()>| match reply {
            Reply::Hello { protocol: PROTOCOL } => Ok(()),
            Reply::Hello { protocol } => Err(Error::failed(format!(
                "speaks version {protocol} of the protocol, this storemark version {PROTOCOL}: \
                 start the same version of storemark"
            ))),
            _ => Err(unexpected()),
        })?;
        Ok(processes)
    }

    /// Gives each process the dataset; may only be done first.
    pub(crate) fn load(&self, dataset: &Dataset, pool: PoolSpec) -> Result<()> {
        let data = Request::Data(Data { dataset: dataset.luggage(), pool });
        for member in self.members.borrow_mut().iter_mut() {
            member.ask(&data)?;
            member.send_data(dataset);
        }
        self.all_ready()
    }

    /// The ids of the processes.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.members.borrow().iter().map(WorkerProcess::id).collect()
    }

    /// Puts the keys of each process into the order of a round, as [`Dataset::arrange`] does here.
    pub(crate) fn arrange(&self, order: Order, start: Option<i64>, seed: u64) -> Result<()> {
        self.ask(&Request::Arrange { order, start, seed })
    }

    /// Runs `passes` one after the other, as [`threads::run`](super::threads::run) does in one
    /// process; `job` is what each process does. After an error no process works any longer.
    pub(crate) fn run<P, O: DeserializeOwned>(
        &self,
        job: impl Fn(u32) -> JobRequest,
        passes: &[P],
        watch: &mut dyn Watch<P, O>,
    ) -> Result<()> {
        let outcome = self.try_run(job, passes, watch);
        if outcome.is_err() {
            // Before anything that they use is closed or removed.
            self.members.borrow_mut().clear();
        }
        outcome
    }

    fn try_run<P, O: DeserializeOwned>(
        &self,
        job: impl Fn(u32) -> JobRequest,
        passes: &[P],
        watch: &mut dyn Watch<P, O>,
    ) -> Result<()> {
        for (process, member) in (0..).zip(self.members.borrow_mut().iter_mut()) {
            member.ask(&Request::Open(Box::new(job(process))))?;
        }
        self.all_ready()?;
        for pass in passes {
            let start_ns = watch.starts(pass)?.max(now_ns() + AHEAD_NS);
            self.ask(&Request::Pass { start_ns })?;
            let done = self.replies(|reply: Reply<O>| match reply {
                Reply::Done(done) => Ok(done),
                _ => Err(unexpected()),
            })?;
            watch.ended(pass, done.into_iter().flatten().collect::<Vec<Done<O>>>())?;
        }
        self.ask(&Request::Close)?;
        self.replies(|reply: Reply<O>| match reply {
            Reply::Closed => Ok(()),
            _ => Err(unexpected()),
        })?;
        Ok(())
    }

    fn ask(&self, request: &Request) -> Result<()> {
        self.members.borrow_mut().iter_mut().try_for_each(|member| member.ask(request))
    }

    fn all_ready(&self) -> Result<()> {
        let ready = self.replies(|reply: Reply<()>| match reply {
            Reply::Ready => Ok(()),
            _ => Err(unexpected()),
        });
        ready.map(drop)
    }

    /// One reply of each process, in their order. The first that is not as expected is an error.
    fn replies<O: DeserializeOwned, T>(
        &self,
        expected: impl Fn(Reply<O>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut replies: Vec<Option<T>> = Vec::new();
        replies.resize_with(self.members.borrow().len(), || None);
        while replies.iter().any(Option::is_none) {
            let (process, line) = self.next()?;
            let reply = match line {
                Some(line) => parse::<Reply<O>>(&line).and_then(Reply::checked).and_then(&expected),
                None => Err(self.members.borrow_mut()[process].lost()),
            };
            let named = |e: Error| match e.kind() {
                ErrorKind::Interrupted => e,
                _ => e.context(format_args!("worker process {}", process + 1)),
            };
            replies[process] = Some(reply.map_err(named)?);
        }
        Ok(replies.into_iter().flatten().collect())
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

fn unexpected() -> Error {
    Error::failed("answered what it was not asked for")
}
