//! Worker processes, seen from the one that started them.
//!
//! They are asked through their standard input and reply through their standard output. What is
//! measured comes back in the clock that all processes share. One whose input ends ends itself.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use host::{now_ns, unix_ns};
use model::{Error, HostClock, Order, Result, count_requests, variables};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Workers,
    blobs::StoreRequest,
    message::{JobRequest, PROTOCOL, Reply, VERSION, WorkerRequest, parse},
    worker_process::{ENDING, Launch, WorkerProcess},
};
use crate::{
    Stop,
    dataset::{Dataset, Part, PoolSpec},
};

/// The worker processes, which are started and use the same protocol.
pub(crate) struct Processes<'a> {
    members: RefCell<Vec<WorkerProcess>>,
    /// The first that ended by itself.
    lost: RefCell<Option<Lost>>,
    lines: Receiver<(usize, Option<String>)>,
    /// How long each may take to end after a failure.
    ending: Duration,
    stop: &'a Stop,
}

/// A process that ended by itself.
struct Lost {
    /// The host that it ran on; `None` for this one.
    host: Option<String>,
    error: String,
}

/// How long before its start a pass is announced: several times what a line takes to be read and
/// all workers to wake.
pub(super) const AHEAD_NS: u64 = 5_000_000;
/// How long before its start a pass is announced, in round trips to the host that is furthest away.
const ROUND_TRIPS_AHEAD: u64 = 4;
/// The number of round trips by which a clock is compared: the shortest of them counts.
const ROUND_TRIPS: usize = 9;
/// The interval at which a wish to stop is checked while the processes work.
pub(super) const LOOK: Duration = Duration::from_millis(50);

impl<'a> Processes<'a> {
    /// Starts a process by each of `launches`, and gives each the values to read and the payloads to
    /// write, for jobs that need them.
    pub(crate) fn start(
        launches: &[Launch],
        values: Option<(&Dataset, PoolSpec)>,
        stop: &'a Stop,
    ) -> Result<Self> {
        let (sender, lines) = channel();
        let start = |(number, launch)| WorkerProcess::start(number, launch, &sender);
        let members = launches.iter().enumerate().map(start).collect::<Result<Vec<_>>>()?;
        // Workers on values may write to a store of the user. Those on rows have tables that are
        // removed, and cannot stop within a statement.
        let ending = if values.is_some() { ENDING } else { Duration::ZERO };
        let (members, lost) = (RefCell::new(members), RefCell::default());
        let processes = Self { members, lost, lines, ending, stop };
        processes.replies::<()>().map_err(|error| processes.not_started(error))?;
        for member in processes.members.borrow_mut().iter_mut() {
            let values_there = values.map(|(dataset, pool)| (dataset.metadata(), pool));
            // One on this host has them in its environment.
            let variables = member.host.as_ref().map(|_| variables()).unwrap_or_default();
            member.ask(&WorkerRequest::<()>::Start { values: values_there, variables }, stop);
            values.inspect(|(dataset, _)| member.send_data(dataset, stop));
        }
        processes.replies::<()>()?;
        Ok(processes)
    }

    pub(crate) fn ids(&self) -> Vec<u32> {
        self.members.borrow().iter().map(WorkerProcess::id).collect()
    }

    /// Returns the host of the first process that ended by itself; `None` if that was on this host.
    pub(crate) fn lost_host(&self) -> Option<String> {
        self.lost.borrow().as_ref()?.host.clone()
    }

    /// Returns the other hosts and their clocks, by process; empty if all processes are on this
    /// host. Either all are here or none is.
    pub(crate) fn hosts(&self) -> Vec<(String, HostClock)> {
        let members = self.members.borrow();
        members.iter().filter_map(|of| Some((of.host.clone()?, of.clock))).collect()
    }

    /// Makes each process on another host open a store and read some of its values.
    pub(crate) fn try_reads(&self, store: &StoreRequest) -> Result<()> {
        if self.hosts().is_empty() {
            return Ok(());
        }
        self.ask::<(), ()>(|_| WorkerRequest::Look(Box::new(store.clone()))).map(drop)
    }

    /// Compares the clocks of other hosts with this one's, and sets those of their workers to it. The
    /// offset is taken in the middle of the shortest of several round trips.
    fn set_clocks(&self) -> Result<()> {
        for (process, (_, HostClock { offset_ns, .. })) in self.hosts().into_iter().enumerate() {
            let trip = |_| self.round_trip(process, offset_ns);
            let trips = (0..ROUND_TRIPS).map(trip).collect::<Result<Vec<_>>>()?;
            let best = trips.into_iter().min_by_key(|clock| clock.uncertainty_ns);
            let best = best.expect("there are several round trips");
            let clock = HostClock { offset_ns: offset_ns + best.offset_ns, ..best };
            self.members.borrow_mut()[process].clock = clock;
            self.round_trip(process, clock.offset_ns)?;
        }
        Ok(())
    }

    /// Asks a process for the time by a clock that is `offset_ns` behind its host's, and compares it.
    fn round_trip(&self, process: usize, offset_ns: i64) -> Result<HostClock> {
        let before = (now_ns(), unix_ns());
        self.members.borrow_mut()[process]
            .ask(&WorkerRequest::<()>::Clock { shift_ns: -offset_ns }, self.stop);
        let (answered, line) = self.next()?;
        let took_ns = now_ns() - before.0;
        let Some(line) = line else { return Err(self.ended(answered)) };
        let Reply::Clock { now_ns, unix_ns } = parse::<Reply<()>>(&line)? else {
            return Err(Error::failed("a worker was asked for the time and said something else"));
        };
        let half = took_ns / 2;
        Ok(HostClock {
            offset_ns: now_ns.wrapping_sub(before.0 + half).cast_signed(),
            uncertainty_ns: half,
            time_of_day_ns: unix_ns - before.1 - half.cast_signed(),
        })
    }

    /// Returns the error of a process that has ended.
    fn ended(&self, process: usize) -> Error {
        let member = &mut self.members.borrow_mut()[process];
        let error = member.lost();
        self.note_lost(member, process, error)
    }

    /// Notes that a process ended by itself, if it is the first, and names it in the error.
    fn note_lost(&self, member: &WorkerProcess, process: usize, error: Error) -> Error {
        let error = error.context(member.name(process));
        let lost = || Lost { host: member.host.clone(), error: error.to_string() };
        self.lost.borrow_mut().get_or_insert_with(lost);
        error
    }

    /// Returns the error of workers that have not sent a greeting; if they are on other hosts, it
    /// has a command to try.
    fn not_started(&self, error: Error) -> Error {
        let Some(host) = self.lost_host() else { return error };
        let members = self.members.borrow();
        let of = members.iter().find(|member| member.host.as_ref() == Some(&host));
        let command = of.and_then(|member| member.command.last()?.to_str()).unwrap_or_default();
        Error::usage(format!(
            "no worker starts there; try `{command} < /dev/null`, which must print a line \
             and end"
        ))
        .at(&error)
    }

    /// Returns how long before its start a pass is announced.
    fn ahead_ns(&self) -> u64 {
        let furthest = self.members.borrow().iter().map(|of| of.clock.uncertainty_ns).max();
        (2 * ROUND_TRIPS_AHEAD * furthest.unwrap_or(0)).max(AHEAD_NS)
    }

    /// Puts the keys of each process into the order of a round, as [`Dataset::arrange`] does here.
    pub(crate) fn arrange(
        &self,
        order: Order,
        start: Option<i64>,
        part: Part,
        seed: u64,
    ) -> Result<()> {
        self.ask::<(), ()>(|_| WorkerRequest::Arrange { order, start, part, seed }).map(drop)
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
            self.set_clocks()?;
            self.ask::<P, O>(|process| WorkerRequest::Open(Box::new(job(process))))?;
            let ahead_ns = self.ahead_ns();
            let result = work(&mut |pass, start_ns| {
                let start_ns = start_ns.max(now_ns() + ahead_ns);
                self.ask(|_| WorkerRequest::Pass { pass, start_ns })
            })?;
            self.ask::<P, O>(|_| WorkerRequest::Close).map(|_| result)
        };
        let outcome = trial();
        if outcome.is_err() {
            // Before anything that they use is closed or removed.
            self.end();
        }
        outcome
    }

    /// Opens a worker in each process, and lets `work` have them make passes one at a time; `job` is what
    /// each process does. One that has failed is asked no more.
    pub(crate) fn with_each<P: Serialize, O: DeserializeOwned, T>(
        &self,
        job: impl Fn(u32) -> JobRequest,
        work: impl FnOnce(&mut dyn FnMut(u32, P) -> Result<Vec<O>>) -> T,
    ) -> Result<T> {
        self.ask::<P, O>(|process| WorkerRequest::Open(Box::new(job(process))))?;
        let mut failed = BTreeSet::new();
        let done = work(&mut |process, pass| {
            let done = self.ask_one(process, &WorkerRequest::Pass { pass, start_ns: 0 });
            done.inspect_err(|_| {
                failed.insert(process);
            })
        });
        let count = u32::try_from(self.members.borrow().len()).unwrap_or(u32::MAX);
        for process in (0..count).filter(|process| !failed.contains(process)) {
            self.ask_one::<P, O>(process, &WorkerRequest::Close)?;
        }
        Ok(done)
    }

    /// Asks one process, and waits until it has replied.
    pub(super) fn ask_one<P: Serialize, O: DeserializeOwned>(
        &self,
        process: u32,
        request: &WorkerRequest<P>,
    ) -> Result<Vec<O>> {
        self.members.borrow_mut()[process as usize].ask(request, self.stop);
        self.reply_of(process)
    }

    /// Returns the next reply of one process, while no other one was asked.
    pub(super) fn reply_of<O: DeserializeOwned>(&self, process: u32) -> Result<Vec<O>> {
        loop {
            let (number, line) = self.next()?;
            // Another one has ended, and is asked no more.
            if number == process as usize {
                return self.outcomes_in(number, line);
            }
        }
    }

    /// Returns what the workers of a process did, as it says in a line; an error if it has ended.
    fn outcomes_in<O: DeserializeOwned>(
        &self,
        process: usize,
        line: Option<String>,
    ) -> Result<Vec<O>> {
        let done = match line {
            Some(line) => {
                let member = &self.members.borrow()[process];
                let done = parse(&line);
                let done = done.and_then(|reply| outcomes(reply, member.program.is_some()));
                done.map_err(|error| error.context(member.name(process)))
            }
            None => Err(self.ended(process)),
        };
        // Whoever stops this process may have stopped the workers before.
        done.or_else(|error| self.stop.check().and(Err(error)))
    }

    /// Ends all processes, and waits for each.
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
        request: impl Fn(u32) -> WorkerRequest<P>,
    ) -> Result<Vec<O>> {
        for (process, member) in (0..).zip(self.members.borrow_mut().iter_mut()) {
            member.ask(&request(process), self.stop);
        }
        self.replies()
    }

    /// Returns what all workers did, in the order of the processes. Fails with the first failure.
    fn replies<O: DeserializeOwned>(&self) -> Result<Vec<O>> {
        if let Some(lost) = &*self.lost.borrow() {
            return Err(Error::failed(&lost.error));
        }
        let count = self.members.borrow().len();
        let mut replies: Vec<(usize, Vec<O>)> = Vec::with_capacity(count);
        while replies.len() < count {
            let (process, line) = self.next()?;
            replies.push((process, self.outcomes_in(process, line)?));
        }
        replies.sort_by_key(|(process, _)| *process);
        Ok(replies.into_iter().flat_map(|(_, done)| done).collect())
    }

    /// Adds to the time that no process has said anything; an error if that is too long for one. What
    /// this process was stopped for is not counted.
    fn waited(&self) -> Result<()> {
        let mut members = self.members.borrow_mut();
        members.iter_mut().for_each(|member| member.silent += LOOK);
        let silent = members.iter_mut().enumerate().max_by_key(|(_, member)| member.silent);
        let Some((process, member)) = silent.filter(|(_, member)| member.silent > member.limit)
        else {
            return Ok(());
        };
        let error = member.given_up();
        Err(self.note_lost(member, process, error))
    }

    fn next(&self) -> Result<(usize, Option<String>)> {
        loop {
            self.stop.check()?;
            match self.lines.recv_timeout(LOOK) {
                Ok((process, line)) => {
                    let is_beat = line.as_deref().is_some_and(is_unasked);
                    if let Some(member) = self.members.borrow_mut().get_mut(process) {
                        member.silent = Duration::ZERO;
                    }
                    if !is_beat {
                        return Ok((process, line));
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.waited()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::failed("the worker processes have ended"));
                }
            }
        }
    }
}

/// Reports whether a line answers no request: it shows that a process runs, which requests it has sent,
/// or what a pass cost it.
fn is_unasked(line: &str) -> bool {
    let begins = ["\"alive\"", "{\"requests\":", "{\"usage\":"];
    if !begins.into_iter().any(|begin| line.starts_with(begin)) {
        return false;
    }
    match parse(line) {
        Ok(Reply::<()>::Alive) => true,
        Ok(Reply::<()>::Requests(sent)) => {
            count_requests(sent);
            true
        }
        Ok(Reply::<()>::Usage(usage)) => {
            host::add_usage(usage);
            true
        }
        _ => false,
    }
}

/// Returns what workers did; `is_other` if their program may be of another version that has this
/// protocol.
pub(super) fn outcomes<O>(reply: Reply<O>, is_other: bool) -> Result<Vec<O>> {
    match reply {
        Reply::Hello { protocol: PROTOCOL, version, .. } if is_other || version == VERSION => {
            Ok(Vec::new())
        }
        Reply::Hello { protocol, version, .. } => {
            let version = if version.is_empty() { "another version" } else { &*version };
            let advice = if is_other {
                format!("a program with protocol {PROTOCOL} is accepted")
            } else {
                "install the same version there".to_owned()
            };
            Err(Error::usage(format!(
                "it is storemark {version} (protocol {protocol}), this is {VERSION} (protocol \
                 {PROTOCOL}): {advice}"
            )))
        }
        Reply::Clock { .. } => Err(Error::failed("it shows a clock unasked")),
        Reply::Alive | Reply::Requests(_) | Reply::Usage(_) => {
            Err(Error::failed("it shows that it runs, and nothing else"))
        }
        Reply::Done(done) => Ok(done),
        Reply::Failed(failure) => Err(failure.into_error()),
    }
}
