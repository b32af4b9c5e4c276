//! One trial: a throughput pass without a clock per operation, then a latency pass with one, in
//! the same sessions.

use std::time::{Duration, Instant};

use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2DeflateSerializer},
};
use model::{Error, ErrorKind, Latency, Operation, Result, Sample, Store, units::show_count};

use crate::{
    host,
    pass::{Passed, Round, latency_salt},
    ready::Ready,
    worker::{EachOperation, NoClock, Tally},
};

/// Operations of a latency pass: enough for a 99th percentile from a few rounds.
const LATENCY_OPERATIONS: u64 = 2_500;

/// Where a trial stands in its run.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) round: u32,
    pub(crate) position: u32,
    pub(crate) target: usize,
    pub(crate) workload: usize,
    /// Names the trial, so that its payloads are its own.
    pub(crate) salt: u64,
}

/// Runs one trial over `ready`.
pub(crate) fn run(place: Place, round: &Round<'_>, ready: &Ready) -> Result<Sample> {
    let (mut sample, opening) = ready.with(|store| measure(place, round, ready, store))?;
    sample.open_ns = nanoseconds(opening);
    if round.workload.operation == Operation::Update {
        flush(ready)?;
    }
    Ok(sample)
}

fn measure(place: Place, round: &Round<'_>, ready: &Ready, store: &dyn Store) -> Result<Sample> {
    let timed = round.workload.count.min(LATENCY_OPERATIONS);
    let (mut sample, passed) =
        round.passes(store, place.salt, timed, host::Meter::start, |passed, meter| {
            throughput(place, round, ready, store, passed, meter)
        })?;
    settle(round, store)?;
    check(round, ready, &passed.tally, timed)?;
    after_writes(latency_salt(place.salt), timed, round, ready, store)?;
    sample.latency = summarise(&passed, timed)?;
    Ok(sample)
}

/// After the throughput pass, the workers waiting: pays what is owed on the clock, then checks.
fn throughput(
    place: Place,
    round: &Round<'_>,
    ready: &Ready,
    store: &dyn Store,
    passed: Passed<NoClock>,
    meter: host::Meter,
) -> Result<Sample> {
    let operations = round.workload.count;
    let owed = settle(round, store)?;
    let (cost, load) = meter.stop();
    check(round, ready, &passed.tally, operations)?;
    let background = after_writes(place.salt, operations, round, ready, store)?;
    Ok(Sample {
        round: place.round,
        position: place.position,
        target: place.target,
        workload: place.workload,
        operations,
        bytes: passed.tally.bytes,
        open_ns: 0,
        wall_ns: nanoseconds(passed.wall + owed),
        owed_ns: nanoseconds(owed),
        background_ns: nanoseconds(background),
        cost,
        load,
        latency: Latency::default(),
        counters: passed.counters,
    })
}

/// Pays what the durability class still owes, on the clock.
fn settle(round: &Round<'_>, store: &dyn Store) -> Result<Duration> {
    if round.workload.operation == Operation::Read {
        return Ok(Duration::ZERO);
    }
    let start = Instant::now();
    store.settle()?;
    Ok(start.elapsed())
}

/// After an update pass: flushes what was left to the background, so that the next pass does
/// not pay for it, and reads the last writes back.
fn after_writes(
    salt: u64,
    count: u64,
    round: &Round<'_>,
    ready: &Ready,
    store: &dyn Store,
) -> Result<Duration> {
    if round.workload.operation == Operation::Read {
        return Ok(Duration::ZERO);
    }
    let start = Instant::now();
    flush(ready)?;
    let background = start.elapsed();
    if ready.retains() {
        let lost = round.read_back(&mut *store.session()?, count, salt)?;
        if let Some(entry) = lost {
            let key = round.dataset.key(&entry);
            return Err(Error::corrupt(format!("key {key} does not hold what was written to it")));
        }
    }
    Ok(background)
}

fn flush(ready: &Ready) -> Result<()> {
    ready.files().iter().try_for_each(|file| host::sync(file))
}

fn summarise(passed: &Passed<EachOperation>, operations: u64) -> Result<Latency> {
    let mut all = EachOperation::new();
    for clock in &passed.clocks {
        all.sum += clock.sum;
        all.histogram += &clock.histogram;
    }
    Ok(Latency {
        operations,
        wall_ns: nanoseconds(passed.wall),
        sum_ns: nanoseconds(all.sum),
        p50_ns: all.histogram.value_at_quantile(0.5),
        p99_ns: all.histogram.value_at_quantile(0.99),
        max_ns: all.histogram.max(),
        histogram: encode(&all.histogram)?,
    })
}

fn encode(histogram: &Histogram<u64>) -> Result<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|e| Error::failed(format!("a histogram could not be written: {e}")))?;
    Ok(base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes))
}

/// A miss is not a fast read: it ends the run.
fn check(round: &Round<'_>, ready: &Ready, tally: &Tally, count: u64) -> Result<()> {
    let Some(first) = tally.first.filter(|_| ready.retains()) else { return Ok(()) };
    let key = round.dataset.key(&first);
    let (bad, what) = match tally.missing {
        0 => (tally.wrong, "have another length than before"),
        missing => (missing, "are missing"),
    };
    Err(Error::new(
        ErrorKind::Missing,
        format!("{} of {} keys asked for {what}, first {key}", show_count(bad), show_count(count)),
    ))
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
