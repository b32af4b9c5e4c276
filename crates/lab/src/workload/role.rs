//! The part of one session of a role: operations until the time of the pass is over.
//!
//! Keys and kinds of operations are drawn before any clock starts, into a ring that is gone through
//! again and again. Readers and writers touch the values of the dataset, which nobody removes. A
//! session inserts keys of its own, and deletes only these, the oldest first.

use host::RunClock;
use model::{
    Action, BUSY_ERRORS, BackgroundWork, ErrorKind, Key, KeyKind, LONGEST_SCAN, Mode, Order,
    Result, Role, Session,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{
    background_work,
    clock::{Clock, EachOperation, Latencies, OpSchedule},
    op::{Op, Tally, WorkerPass, operate},
    op_stream::keys::KeyChooser,
    worker_report::{WorkerReport, named},
};
use crate::{
    Stop,
    dataset::{Dataset, Pool, Use, below, derive},
};

/// A pass of all roles that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RolePass {
    /// The time in which operations start.
    pub(crate) length_ns: u64,
    /// The index of the only role that works; `None` if all do.
    pub(crate) only: Option<usize>,
    /// Names the pass, so that its payloads are its own.
    pub(crate) salt: u64,
}

/// The report of a session on a pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct RoleOutcome {
    /// The index of its role.
    pub(crate) role: usize,
    pub(crate) tally: Tally,
    pub(crate) latencies: Latencies,
    /// The time in operations that the store refused or undid.
    pub(crate) refused_ns: u64,
    pub(crate) background: Vec<BackgroundWork>,
}

/// The number of drawn operations of a session.
const RING: usize = 1 << 16;

/// An operation of the ring, with the index of its key.
#[derive(Clone, Copy)]
struct DrawnOp {
    action: Action,
    entry: u32,
    items: u8,
}

/// A session's place among all sessions.
#[derive(Clone, Copy)]
pub(crate) struct SessionPlace {
    /// Its number among the sessions of its role.
    in_role: u32,
    /// Its number among all sessions.
    number: u64,
    /// The number of all sessions.
    of: u64,
}

/// What one session of a role works with.
pub(crate) struct RoleInput<'a> {
    dataset: &'a Dataset,
    pool: &'a Pool,
    role: &'a Role,
    index: usize,
    place: SessionPlace,
    ring: Vec<DrawnOp>,
    /// The operations of the ring that were done.
    done: usize,
    own: OwnKeys,
    open: Option<Transaction>,
    stop: &'a Stop,
}

#[derive(Clone, Copy)]
struct Transaction {
    operations: u64,
    since_ns: u64,
    /// The session's own keys before it.
    keys: KeyCounts,
    /// The bytes before it.
    bytes: u64,
}

impl<'a> RoleInput<'a> {
    /// Creates the input of session `number` of all sessions of `roles`.
    pub(crate) fn new(
        roles: &'a [Role],
        number: usize,
        (dataset, pool): (&'a Dataset, &'a Pool),
        (order, seed): (Order, u64),
        stop: &'a Stop,
    ) -> Self {
        let counts = || roles.iter().map(|role| role.sessions as usize);
        let (mut index, mut in_role) = (0, number);
        for sessions in counts() {
            if in_role < sessions {
                break;
            }
            in_role -= sessions;
            index += 1;
        }
        let (role, of) = (&roles[index], counts().sum::<usize>() as u64);
        let in_role = u32::try_from(in_role).expect("a role has few sessions");
        let place = SessionPlace { in_role, number: number as u64, of };
        let keys = u32::try_from(dataset.entries().len()).unwrap_or(u32::MAX);
        // All sessions draw by the same law: what is popular is so for all of them. Keys that a session adds
        // are not drawn, and need no room.
        let chooser = KeyChooser::new(keys, 0, order, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let ring = ring(role, chooser, derive(seed, Use::Keys, number as u64));
        let own = OwnKeys::new(dataset);
        Self { dataset, pool, role, index, place, ring, done: 0, own, open: None, stop }
    }

    /// Returns room for the largest value, with its pages touched so that no pass pays for that.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let largest = self.dataset.entries().iter().map(|entry| entry.size).max().unwrap_or(0);
        let mut buffer = vec![0; largest as usize];
        buffer.fill(0xa5);
        buffer
    }

    /// Carries out its part of a pass that starts at `start_ns`.
    pub(crate) fn run(
        &mut self,
        pass: RolePass,
        start_ns: u64,
        session: &mut dyn Session,
        buffer: &mut [u8],
        run_clock: &RunClock,
    ) -> Result<WorkerReport<RoleOutcome>> {
        let worker = (self.place.in_role as usize, self.role.sessions);
        let schedule = self.role.rate.map(|rate| OpSchedule::new(rate, worker, self.stop));
        let mix = self.role.mix;
        // A session that deletes inserts first.
        let inserts = (mix.share(Action::Delete) > 0).then_some(Action::Insert);
        let mut clock = EachOperation::new(mix.actions().chain(inserts), start_ns, schedule);
        let part = WorkerPass {
            pool: self.pool,
            batch: model::Batch::Of(self.role.batch),
            writes: mix.writes(),
            count: u64::MAX,
            salt: derive(pass.salt, Use::Payloads, self.place.number),
            stop: self.stop,
        };
        // Counts between passes belong to none.
        session.statistics();
        session.background_work();
        let start = run_clock.now();
        let works = pass.only.is_none_or(|only| only == self.index);
        let end_ns = start_ns.saturating_add(if works { pass.length_ns } else { 0 });
        let (tally, refused) = self.until(end_ns, &part, session, buffer, &mut clock)?;
        let passed = run_clock.now().since(start);
        let mut counters = named(session.statistics());
        let count = i64::try_from(refused.count).unwrap_or(i64::MAX);
        counters.push((BUSY_ERRORS.to_owned(), count));
        let background =
            session.background_work().iter().map(background_work::on_shared_clock).collect();
        let latencies = clock.finish().expect("every operation is timed");
        let operations = latencies.timed;
        let (role, refused_ns) = (self.index, refused.ns);
        let outcome = RoleOutcome { role, tally, latencies, refused_ns, background };
        let process = u32::try_from(self.place.number).unwrap_or(u32::MAX);
        let report = WorkerReport::new(start, passed, operations, outcome);
        Ok(WorkerReport { process, counters, ..report })
    }

    /// Carries out operations until `end_ns`. One that the store refuses because it is busy is counted,
    /// and its transaction undone: operations that write count once they are committed.
    fn until(
        &mut self,
        end_ns: u64,
        part: &WorkerPass<'_>,
        session: &mut dyn Session,
        buffer: &mut [u8],
        clock: &mut EachOperation<'_>,
    ) -> Result<(Tally, Refused)> {
        let (mut tally, mut refused) = (Tally::default(), Refused::default());
        for position in 0.. {
            if clock.is_over(end_ns) {
                break;
            }
            self.stop.check()?;
            clock.start()?;
            let action = self.next_action();
            let now_ns = clock.last_ns();
            match self.attempt(action, position, part, session, buffer, &mut tally, now_ns) {
                Ok(committed) => {
                    self.own.counts.add(action);
                    if self.open.is_some() && part.writes {
                        clock.end_open(action);
                    } else {
                        clock.end(action);
                    }
                    if committed {
                        clock.committed();
                    }
                }
                Err(error) if error.kind() == ErrorKind::Busy => {
                    refused.add(clock.refuse());
                    self.roll_back(session, part, &mut tally);
                }
                Err(error) => return Err(error),
            }
        }
        if self.open.is_some() {
            match session.commit() {
                Err(error) if error.kind() == ErrorKind::Busy => {
                    refused.add(clock.refuse());
                    self.roll_back(session, part, &mut tally);
                }
                done => done?,
            }
            clock.keep();
            self.open = None;
        }
        Ok((tally, refused))
    }

    /// Undoes what is open, and what the session noted meanwhile.
    fn roll_back(&mut self, session: &mut dyn Session, part: &WorkerPass<'_>, tally: &mut Tally) {
        session.roll_back();
        if let Some(before) = self.open.take().filter(|_| part.writes) {
            self.own.counts = before.keys;
            tally.bytes = before.bytes;
        }
    }

    /// Returns what the next operation does. One that deletes inserts instead if the session has no
    /// key of its own.
    fn next_action(&self) -> Action {
        match self.ring[self.done % RING].action {
            Action::Delete if self.own.counts.inserted == self.own.counts.deleted => Action::Insert,
            action => action,
        }
    }

    /// Carries out an operation with what is due of its transaction; returns whether it ended with
    /// the commit of several.
    #[expect(
        clippy::too_many_arguments,
        reason = "the state of a loop, taken apart for its errors"
    )]
    fn attempt(
        &mut self,
        action: Action,
        position: u64,
        part: &WorkerPass<'_>,
        session: &mut dyn Session,
        buffer: &mut [u8],
        tally: &mut Tally,
        now_ns: u64,
    ) -> Result<bool> {
        let Self { role, ring, done, own, open, dataset, place, .. } = self;
        let drawn = ring[*done % RING];
        *done += 1;
        let (keys, bytes) = (own.counts, tally.bytes);
        let entry = &dataset.entries()[drawn.entry as usize];
        let key = match action {
            Action::Insert => own.key(own.counts.inserted, *place),
            Action::Delete => own.key(own.counts.deleted, *place),
            _ => dataset.key(entry),
        };
        let op =
            Op { action, key, size: entry.size, items: drawn.items, least: drawn.items.min(1) };
        let in_transaction = role.has_transactions() || action == Action::Modify;
        if in_transaction && open.is_none() {
            session.begin(match (role.mix.writes(), role.deferred) {
                (false, _) => Mode::Read,
                (true, false) => Mode::Write,
                (true, true) => Mode::Deferred,
            })?;
            *open = Some(Transaction { operations: 0, since_ns: now_ns, keys, bytes });
        }
        operate(part, session, op, position, buffer, tally)?;
        let Some(transaction) = open else { return Ok(false) };
        transaction.operations += 1;
        let is_over = match role.held_ns {
            Some(held_ns) => now_ns.saturating_sub(transaction.since_ns) >= held_ns,
            None => transaction.operations >= role.batch,
        };
        if !is_over {
            return Ok(false);
        }
        let several = transaction.operations > 1;
        session.commit()?;
        *open = None;
        Ok(several)
    }
}

/// How often the store refused, and the time of what was undone.
#[derive(Clone, Copy, Default)]
struct Refused {
    count: u64,
    ns: u64,
}

impl Refused {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.ns += ns;
    }
}

/// Draws the operations of a session.
#[expect(clippy::cast_possible_truncation, reason = "below the number of items")]
fn ring(role: &Role, mut keys: KeyChooser, seed: u64) -> Vec<DrawnOp> {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draw = || {
        let mut chance = below(random, 100);
        let action = role.mix.actions().find(|action| {
            let share = u64::from(role.mix.share(*action));
            let here = chance < share;
            chance = chance.saturating_sub(share);
            here
        });
        let action = action.expect("the shares of a mix add up to 100");
        let entry = keys.choose(random).expect("a dataset has keys, which nobody removes");
        let items = 1 + below(random, LONGEST_SCAN.into()) as u8;
        DrawnOp { action, entry, items: if action == Action::Scan { items } else { 0 } }
    };
    (0..RING).map(|_| draw()).collect()
}

/// The keys that a session inserts: session `i` of `n` has the keys `i`, `i + n`, `i + 2n`, … behind
/// those of the dataset.
struct OwnKeys {
    counts: KeyCounts,
    /// The largest integer of the dataset.
    greatest: i64,
    /// The name of the current key, whose last digits change; empty for integers.
    name: Vec<u8>,
}

/// How many keys of its own a session inserted and deleted.
#[derive(Clone, Copy, Default)]
struct KeyCounts {
    inserted: u64,
    deleted: u64,
}

impl KeyCounts {
    /// Counts an operation that was done.
    fn add(&mut self, action: Action) {
        match action {
            Action::Insert => self.inserted += 1,
            Action::Delete => self.deleted += 1,
            _ => {}
        }
    }
}

/// The digits at the end of a name.
const DIGITS: usize = 16;

impl OwnKeys {
    fn new(dataset: &Dataset) -> Self {
        let keys = || dataset.entries().iter().map(|entry| dataset.key(entry));
        let integer = |key: Key<'_>| if let Key::Int(key) = key { Some(key) } else { None };
        let name = match dataset.keys() {
            KeyKind::Integers => Vec::new(),
            KeyKind::Names => [dataset.unused_prefix().as_bytes(), &[b'0'; DIGITS]].concat(),
        };
        let greatest = keys().filter_map(integer).max().unwrap_or(0);
        Self { counts: KeyCounts::default(), greatest, name }
    }

    fn key(&mut self, number: u64, place: SessionPlace) -> Key<'_> {
        let mut number = number.saturating_mul(place.of).saturating_add(place.number + 1);
        if self.name.is_empty() {
            return Key::Int(self.greatest.saturating_add_unsigned(number));
        }
        for digit in self.name.iter_mut().rev().take(DIGITS) {
            *digit = b'0' + u8::try_from(number % 10).expect("a digit");
            number /= 10;
        }
        Key::Name(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::dataset::PoolSpec;

    #[test]
    fn popular_keys_are_the_same_for_all_sessions() {
        let mut dataset = Dataset::new(KeyKind::Integers);
        (0..1000).for_each(|key| dataset.push(Key::Int(key), b"value").unwrap());
        let pool = Pool::from(PoolSpec { seed: 1, largest: 5, random_percent: 100 });
        let roles = "readers=2".parse::<model::Roles>().unwrap().0;
        let (stop, law) = (Stop::new(), Order::Hotspot { keys: 2, operations: 90 });
        let drawn = |number| -> Vec<u32> {
            let input = RoleInput::new(&roles, number, (&dataset, &pool), (law, 7), &stop);
            input.ring.iter().map(|op| op.entry).collect()
        };
        let popular = |drawn: &[u32]| -> BTreeSet<u32> {
            let count = |key: &u32| drawn.iter().filter(|other| *other == key).count();
            // Each of 20 keys has 4.5 % of the operations, and each other one a hundredth of a percent.
            (0..1000).filter(|key| count(key) > drawn.len() / 100).collect()
        };
        let (first, second) = (drawn(0), drawn(1));
        assert_ne!(first, second);
        assert_eq!(popular(&first).len(), 20);
        assert_eq!(popular(&first), popular(&second));
    }
}
