//! Rounds of both measures. Every round draws anew; its figure is the median of several passes,
//! which a burst of other work does not move.

use std::{path::Path, time::Duration};

use model::{
    Access, Error, Key, KeyKind, Mode, OpenOptions, Put, Result, Session, Settings, Store, Ycsb,
};
use storemark_lab::{Op, Probe, ProbePass, Tally};

use crate::bare::Map;

/// Passes of a round.
const PASSES: u64 = 5;
const KEYS: u32 = 100_000;
/// Operations of a pass over `null`: as many as a short pass of a run has, and more than a
/// processor's branch predictor learns by heart.
const NULL_COUNT: u64 = 1 << 18;
/// Over `memory`: a few milliseconds, to fit between two bursts.
const MEMORY_COUNT: u64 = 1 << 14;

#[expect(clippy::cast_possible_truncation, reason = "a thousand bytes")]
const RECORD: usize = Ycsb::RECORD as usize;

/// What every value and the buffer holds before.
const UNREAD: [u8; RECORD] = [0xa5; RECORD];

/// Nanoseconds an operation of passes over `null`, one a round, after one that warms everything.
pub(crate) fn null(ycsb: Ycsb, rounds: u64) -> Result<Vec<f64>> {
    let probe = Probe::new(ycsb, KEYS, NULL_COUNT)?;
    let store = store("null")?;
    let mut session = store.session()?;
    let round = |seed| {
        let drawn = probe.draw(seed)?;
        let passes = (0..PASSES).map(|salt| {
            let (taken, _) = drawn.pass(&mut *session, &mut UNREAD.clone(), salt)?;
            Ok(each_ns(taken, NULL_COUNT))
        });
        Ok(median(passes.collect::<Result<_>>()?))
    };
    Ok(warmed((0..=rounds).map(round).collect::<Result<_>>()?))
}

/// The same of `memory` through the lab, and of the bare loop.
pub(crate) fn memory(ycsb: Ycsb, rounds: u64) -> Result<[Vec<f64>; 2]> {
    let probe = Probe::new(ycsb, KEYS, MEMORY_COUNT)?;
    let store = store("memory")?;
    let mut session = store.session()?;
    fill(&mut *session)?;
    let mut pair = Pair { session, map: Map::new(KEYS, &UNREAD), buffer: UNREAD, passes: 0 };
    let rounds = (0..=rounds).map(|seed| pair.round(&probe.draw(seed)?));
    let (lab, bare) = rounds.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    Ok([warmed(lab), warmed(bare)])
}

/// Without the first round.
fn warmed(mut rounds: Vec<f64>) -> Vec<f64> {
    rounds.remove(0);
    rounds
}

struct Pair<'a> {
    session: Box<dyn Session + 'a>,
    map: Map,
    buffer: [u8; RECORD],
    passes: u64,
}

impl Pair<'_> {
    /// Nanoseconds an operation through the lab, and of the bare loop. Who comes first changes from
    /// pass to pass.
    fn round(&mut self, drawn: &ProbePass<'_>) -> Result<(f64, f64)> {
        let ops: Vec<_> = drawn.ops().collect();
        let (mut lab, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..PASSES {
            self.passes += 1;
            let first = self.passes.is_multiple_of(2).then(|| self.bare(drawn, &ops));
            let (taken, tally) = self.lab(drawn)?;
            let (bare_taken, bytes) = first.unwrap_or_else(|| self.bare(drawn, &ops));
            check(&tally, bytes)?;
            lab.push(each_ns(taken, MEMORY_COUNT));
            bare.push(each_ns(bare_taken, MEMORY_COUNT));
        }
        Ok((median(lab), median(bare)))
    }

    fn lab(&mut self, drawn: &ProbePass<'_>) -> Result<(Duration, Tally)> {
        let done = drawn.pass(&mut *self.session, &mut self.buffer, self.passes)?;
        drawn.restore(&mut *self.session, self.passes)?;
        Ok(done)
    }

    fn bare(&mut self, drawn: &ProbePass<'_>, ops: &[Op<'_>]) -> (Duration, u64) {
        let done = self.map.pass(drawn, ops, &mut self.buffer, self.passes);
        self.map.restore(KEYS);
        done
    }
}

/// That both moved the same bytes, and the lab missed nothing.
fn check(tally: &Tally, bare: u64) -> Result<()> {
    let amiss = tally.missing + tally.wrong + tally.present + tally.short;
    if amiss == 0 && tally.bytes == bare {
        return Ok(());
    }
    Err(Error::corrupt(format!("{tally:?}, and {bare} bytes of the bare loop")))
}

fn store(engine: &str) -> Result<Box<dyn Store>> {
    let options = OpenOptions {
        settings: Settings::default(),
        access: Access::Write,
        keys: KeyKind::Integers,
    };
    engines::registry::blobs(engine)?.create(Path::new(""), &options)
}

fn fill(session: &mut dyn Session) -> Result<()> {
    session.begin(Mode::Write)?;
    for key in 1..=KEYS {
        session.put(Key::Int(key.into()), &UNREAD, &Put::default())?;
    }
    session.commit()
}

fn each_ns(taken: Duration, count: u64) -> f64 {
    taken.as_nanos() as f64 / count as f64
}

/// Of an odd number the middle value, else the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}
