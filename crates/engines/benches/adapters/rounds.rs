//! Shuffled rounds. Within one, both sides of a row take turns, a block of keys each, so that
//! what else the machine does meets both; the figure of a side is its median block, which a
//! burst of other work does not move.

use std::time::{Duration, Instant};

use model::{Error, How, Key, Mode, Put, Result, Session};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::{Estimate, paired_ratio};

use crate::{
    bare::{Bare, Work},
    data::{self, Data, LONGEST},
    scratch::Stop,
    subjects::Subject,
};

/// Keys between two turns: long enough for a transaction's own cost to vanish, short enough to
/// fit between two bursts.
const BLOCK: usize = 1000;
/// A row's part of a round ends after this and some blocks: rows of servers would take most of an hour.
const ENOUGH: Duration = Duration::from_secs(1);
const FEWEST_BLOCKS: usize = 4;

/// What is done with each key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Get,
    /// Asks for the length of the value.
    Length,
    Update,
    /// Writes the value, whether or not there is one.
    #[cfg_attr(not(feature = "s3"), expect(dead_code, reason = "only objects are put so"))]
    Put,
    /// Adds the value, which was removed before the clock started.
    Create,
    /// Removes the value, which is put back after the clock.
    Delete,
}

impl Op {
    pub(crate) fn mode(self) -> Mode {
        if matches!(self, Self::Get | Self::Length) { Mode::Read } else { Mode::Write }
    }
}

/// What a row took: microseconds an operation, one a round.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) limit: f64,
    pub(crate) adapter: Vec<f64>,
    pub(crate) bare: Vec<f64>,
}

impl Row {
    pub(crate) fn ratio(&self) -> Estimate {
        paired_ratio(&self.adapter, &self.bare).expect("times are positive")
    }

    /// The whole interval is above the limit.
    pub(crate) fn over(&self) -> bool {
        self.ratio().low > self.limit
    }
}

/// Both sides of a row, with the session that lasts through all rounds.
struct Pair<'a> {
    session: Box<dyn Session + 'a>,
    bare: Option<&'a mut dyn Bare>,
    op: Op,
    buffer: Vec<u8>,
    /// Passes so far.
    passes: u64,
    row: Row,
}

/// Measures for that many rounds after one that warms everything.
pub(crate) fn measure(
    mut subjects: Vec<Subject>,
    data: &Data,
    rounds: usize,
    stop: &Stop,
) -> Result<Vec<Row>> {
    let mut pairs = subjects.iter_mut().map(Pair::new).collect::<Result<Vec<_>>>()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut keys: Vec<i64> = data.keys().collect();
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    for round in 0..=rounds {
        eprintln!("round {round} of {rounds}");
        data::shuffle(&mut keys, &mut random);
        data::shuffle(&mut order, &mut random);
        for pair in &order {
            let [adapter, bare] = pairs[*pair].round(data, &keys, &mut random, stop)?;
            if round > 0 {
                pairs[*pair].row.adapter.push(adapter);
                pairs[*pair].row.bare.push(bare);
            }
        }
    }
    Ok(pairs.into_iter().map(|pair| pair.row).collect())
}

impl<'a> Pair<'a> {
    fn new(subject: &'a mut Subject) -> Result<Self> {
        let Subject { name, op, limit, store, bare } = subject;
        Ok(Self {
            session: store.session()?,
            bare: bare.as_deref_mut().map(|bare| bare as &mut dyn Bare),
            op: *op,
            buffer: vec![0; LONGEST],
            passes: 0,
            row: Row { name, limit: *limit, adapter: Vec::new(), bare: Vec::new() },
        })
    }

    /// Microseconds an operation of adapter and bare loop. Each goes through the keys, the bare
    /// loop half of them ahead, so that neither finds in a processor's cache what the other
    /// left there.
    fn round(
        &mut self,
        data: &Data,
        keys: &[i64],
        random: &mut impl Rng,
        stop: &Stop,
    ) -> Result<[f64; 2]> {
        let blocks: Vec<&[i64]> = keys.chunks(BLOCK).collect();
        let mut sides = [Vec::new(), Vec::new()];
        let began = Instant::now();
        for turn in 0..blocks.len() {
            stop.check()?;
            if turn >= FEWEST_BLOCKS && began.elapsed() > ENOUGH {
                break;
            }
            let ahead = (turn + blocks.len() / 2) % blocks.len();
            let bare_first = random.next_u64() & 1 == 1;
            for bare in [bare_first, !bare_first] {
                self.passes += 1;
                let keys = if bare { blocks[ahead] } else { blocks[turn] };
                let work = Work { data, keys, salt: self.passes };
                let taken = if bare { self.bare(&work)? } else { self.adapter(&work)? };
                sides[usize::from(bare)].push(taken.as_secs_f64() * 1e6 / keys.len() as f64);
            }
        }
        Ok(sides.map(|mut blocks| median(&mut blocks)))
    }

    fn adapter(&mut self, work: &Work<'_>) -> Result<Duration> {
        self.make_ready(work)?;
        let start = Instant::now();
        let bytes = all(&mut *self.session, self.op, work, &mut self.buffer)?;
        let taken = start.elapsed();
        self.check(work, bytes)?;
        Ok(taken)
    }

    fn bare(&mut self, work: &Work<'_>) -> Result<Duration> {
        self.make_ready(work)?;
        let Some(bare) = &mut self.bare else {
            return Ok(Duration::from_nanos(work.keys.len() as u64));
        };
        let start = Instant::now();
        let bytes = bare.pass(work, &mut self.buffer);
        let taken = start.elapsed();
        self.check(work, bytes)?;
        Ok(taken)
    }

    /// Before the clock starts.
    fn make_ready(&mut self, work: &Work<'_>) -> Result<()> {
        self.buffer.fill(UNREAD);
        if self.op == Op::Create {
            for key in work.keys {
                self.session.delete(Key::Int(*key))?;
            }
        }
        Ok(())
    }

    /// That all bytes passed, and that the last ones are right; after deletes, that the values are gone,
    /// which are put back.
    fn check(&mut self, work: &Work<'_>, bytes: usize) -> Result<()> {
        let (Some(last), Some(_)) = (work.keys.last(), &self.bare) else { return Ok(()) };
        let expected: usize = work.keys.iter().map(|key| work.data.value(*key).len()).sum();
        let last_key = Key::Int(*last);
        let is_right = match self.op {
            Op::Get => self.buffer.starts_with(work.data.value(*last)),
            Op::Length => true,
            Op::Update | Op::Put | Op::Create => {
                self.session.get(last_key, &mut self.buffer)?;
                self.buffer.starts_with(work.data.payload(*last, work.salt))
            }
            Op::Delete => {
                let gone = self.session.length(last_key)?.is_none();
                gone && all(&mut *self.session, Op::Create, work, &mut [])? == expected
            }
        };
        if bytes == expected && is_right {
            return Ok(());
        }
        Err(Error::corrupt(format!("{}: {bytes} of {expected} bytes, or others", self.row.name)))
    }
}

/// Fills a buffer before a pass, so that what an earlier one left there is not taken for read.
const UNREAD: u8 = 0xa5;

/// Of an odd number the middle value, else the mean of the two in the middle.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

const UPDATE: Put = Put::new(How::Update);
const INSERT: Put = Put::new(How::Insert);

/// Returns the bytes that were read or written, or that were those of a removed value.
fn all(session: &mut dyn Session, op: Op, work: &Work<'_>, buffer: &mut [u8]) -> Result<usize> {
    session.begin(op.mode())?;
    let bytes = match op {
        Op::Get => each(work, |key| Ok(session.get(key, buffer)?.unwrap_or(0))),
        Op::Length => each(work, |key| {
            let length = session.length(key)?.unwrap_or(0);
            Ok(usize::try_from(length).unwrap_or(usize::MAX))
        }),
        Op::Update => put_all(session, work, &UPDATE),
        Op::Put => put_all(session, work, &Put::new(How::Upsert)),
        Op::Create => put_all(session, work, &INSERT),
        Op::Delete => delete_all(session, work),
    }?;
    session.commit()?;
    Ok(bytes)
}

#[inline]
fn each(work: &Work<'_>, mut op: impl FnMut(Key<'_>) -> Result<usize>) -> Result<usize> {
    let mut bytes = 0;
    for key in work.keys {
        bytes += op(Key::Int(*key))?;
    }
    Ok(bytes)
}

fn put_all(session: &mut dyn Session, work: &Work<'_>, put: &Put) -> Result<usize> {
    let mut bytes = 0;
    for key in work.keys {
        let payload = work.data.payload(*key, work.salt);
        if session.put(Key::Int(*key), payload, put)? {
            bytes += payload.len();
        }
    }
    Ok(bytes)
}

fn delete_all(session: &mut dyn Session, work: &Work<'_>) -> Result<usize> {
    let mut bytes = 0;
    for key in work.keys {
        if session.delete(Key::Int(*key))? {
            bytes += work.data.value(*key).len();
        }
    }
    Ok(bytes)
}
