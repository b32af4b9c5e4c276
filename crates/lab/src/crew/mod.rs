//! Worker processes: storemark itself, started again, each with some of the workers of a pass.
//!
//! This process tells them what to do through their standard input and hears from them through
//! their standard output. Their loop is the one of `pass.rs`; what is measured comes back in the
//! clock that all processes share. One whose input ends ends itself.

mod member;
mod message;
mod serve;

use std::{
    cell::RefCell,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::Duration,
};

use model::{Error, Order, Result};

use crate::{
    Stop,
    dataset::Dataset,
    host::now_ns,
    pass::{Leg, Round, Watch},
    ready::Ready,
    request::Processes,
};
use member::{Heard, Member};
use message::{Answer, Ask, Begin, Job};

pub use serve::serve;

/// The worker processes of a run.
pub(crate) struct Crew<'a> {
    members: RefCell<Vec<Member>>,
    answers: Receiver<(usize, Heard)>,
    stop: &'a Stop,
}

/// How long before its start a pass is announced: several times what a line takes to be read and
/// all workers to wake.
const AHEAD_NS: u64 = 5_000_000;
/// How often a wish to stop is looked for while the processes work.
const LOOK: Duration = Duration::from_millis(50);

impl<'a> Crew<'a> {
    /// Starts the processes and gives each the dataset.
    pub(crate) fn start(
        processes: &Processes,
        dataset: &Dataset,
        (pool_seed, random_percent): (u64, u8),
        stop: &'a Stop,
    ) -> Result<Self> {
        let (tell, answers) = channel();
        let crew = Self { members: RefCell::default(), answers, stop };
        for process in 0..processes.count {
            crew.members.borrow_mut().push(Member::start(process, &processes.command, &tell)?);
        }
        let largest = dataset.summary().largest;
        for (process, member) in (0..).zip(crew.members.borrow_mut().iter_mut()) {
            let luggage = dataset.luggage();
            let begin = Ask::Begin(Begin { process, luggage, pool_seed, largest, random_percent });
            // One that cannot be told anything has ended, and why shows in what it said.
            let _ = member.tell(&begin).and_then(|()| member.send(dataset));
        }
        crew.all_ready()?;
        Ok(crew)
    }

    /// The ids of the processes.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.members.borrow().iter().map(Member::id).collect()
    }

    /// Puts the keys of each process into the order of a round, as [`Dataset::arrange`] does here.
    pub(crate) fn arrange(&self, order: Order, start: Option<i64>, seed: u64) -> Result<()> {
        self.tell(&Ask::Arrange { order, start, seed })
    }

    /// Runs `legs` one after the other over the store of `ready`, as [`Round::passes`] does in
    /// one process. After an error nobody works any more.
    pub(crate) fn passes(
        &self,
        round: &Round<'_>,
        ready: &Ready,
        legs: &[Leg],
        watch: &mut dyn Watch,
    ) -> Result<()> {
        let outcome = self.work(round, ready, legs, watch);
        if outcome.is_err() {
            // Before anything that they use is closed or removed.
            self.members.borrow_mut().clear();
        }
        outcome
    }

    fn work(
        &self,
        round: &Round<'_>,
        ready: &Ready,
        legs: &[Leg],
        watch: &mut dyn Watch,
    ) -> Result<()> {
        self.tell(&Ask::Open(Box::new(Job::new(round, ready, legs))))?;
        self.all_ready()?;
        for leg in legs {
            let start_ns = watch.starts()?.max(now_ns() + AHEAD_NS);
            self.tell(&Ask::Go { start_ns })?;
            let worked = self.answers(|answer| match answer {
                Answer::Worked(worked) => Some(worked),
                _ => None,
            })?;
            watch.ended(leg, worked.into_iter().flatten().collect())?;
        }
        self.tell(&Ask::End)?;
        self.answers(|answer| matches!(answer, Answer::Closed).then_some(())).map(drop)
    }

    fn tell(&self, ask: &Ask) -> Result<()> {
        let mut members = self.members.borrow_mut();
        members.iter_mut().try_for_each(|member| match member.tell(ask) {
            // It has ended; why shows in what it said last.
            Err(error) if error.kind() == model::ErrorKind::Failed => Ok(()),
            other => other,
        })
    }

    fn all_ready(&self) -> Result<()> {
        self.answers(|answer| matches!(answer, Answer::Ready).then_some(())).map(drop)
    }

    /// One answer of each process, in their order. The first that is not as `expected` is an
    /// error.
    fn answers<T>(&self, expected: impl Fn(Answer) -> Option<T>) -> Result<Vec<T>> {
        let mut answers: Vec<Option<T>> = Vec::new();
        answers.resize_with(self.members.borrow().len(), || None);
        while answers.iter().any(Option::is_none) {
            let (process, heard) = self.next()?;
            let answer = heard.understood().and_then(|answer| {
                expected(answer).ok_or_else(|| Error::failed("answered what it was not asked for"))
            });
            let named = |e: Error| match e.kind() {
                model::ErrorKind::Interrupted => e,
                _ => e.context(format_args!("worker process {}", process + 1)),
            };
            answers[process] = Some(answer.map_err(named)?);
        }
        Ok(answers.into_iter().flatten().collect())
    }

    fn next(&self) -> Result<(usize, Heard)> {
        loop {
            self.stop.check()?;
            match self.answers.recv_timeout(LOOK) {
                Ok(heard) => return Ok(heard),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::failed("the worker processes have ended"));
                }
            }
        }
    }
}
