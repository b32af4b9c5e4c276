//! Reads of several open stores in turns of a few milliseconds, so that whatever the machine does
//! meanwhile happens to all of them.

use std::{
    cell::OnceCell,
    ops::ControlFlow::{Break, Continue},
    path::PathBuf,
    time::{Duration, Instant},
};

use host::{Spent, ThreadMeter, now_ns};
use model::{Error, Mode, Result, Scan, Session, Store};
use serde::{Deserialize, Serialize};

use super::{
    clock::{Clock, NoClock},
    every_nth::EveryNth,
    op::{self, Op},
    pass::PassInput,
    turns::{LaneDone, Lanes, Turns, take_turns},
};

/// The warm-up of a store, after which it is as in a program that has read at random for long.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WarmUp {
    /// Bytes that it keeps in a cache of its own, which is filled.
    pub(crate) cache: u64,
    /// Whether the files that it has mapped are in memory, so that their pages are mapped.
    pub(crate) in_memory: bool,
}

/// A function that opens the stores of an epoch, by their number.
pub(crate) trait Opener {
    fn open(&self, store: usize) -> Result<Box<dyn Store>>;

    /// Returns the files and folders of a store.
    fn files(&self, _store: usize) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Opens a store for each of `warm_ups` on this thread in random order, and reads all of them in turns.
/// A store that fails leaves, and the others go on.
pub(crate) fn epoch(
    input: &PassInput<'_>,
    turns: Turns,
    warm_ups: &[WarmUp],
    opener: &impl Opener,
) -> Vec<Result<LaneDone>> {
    let (done, closed) = with_lanes(input, turns, warm_ups, opener, |lanes| {
        take_turns(turns, warm_ups.len(), lanes)
    });
    done.into_iter().zip(closed).map(|(done, closed)| closed.and(done)).collect()
}

/// Lets `work` read a store for each of `warm_ups` on this thread. Also returns how closing each went.
pub(crate) fn with_lanes<T>(
    input: &PassInput<'_>,
    turns: Turns,
    warm_ups: &[WarmUp],
    opener: &impl Opener,
    work: impl FnOnce(&mut dyn Lanes) -> T,
) -> (T, Vec<Result<()>>) {
    let places: Vec<OnceCell<Box<dyn Store>>> = warm_ups.iter().map(|_| OnceCell::new()).collect();
    let meter = ThreadMeter::of_this_thread();
    let epoch = EpochInput { input, turns, warm_ups, opener, places: &places, meter: &meter };
    let done = match &input.ops {
        None => work(&mut OwnLanes::new(epoch, || input.walk(0, 0))),
        Some(ops) => {
            let drawn = || ops.ops(input.dataset, 0, input.workload.count).cycle();
            work(&mut OwnLanes::new(epoch, drawn))
        }
    };
    let closed = places.into_iter().map(|store| store.into_inner().map_or(Ok(()), Store::close));
    (done, closed.collect())
}

/// The input of an epoch of this thread.
#[derive(Clone, Copy)]
struct EpochInput<'a, O> {
    input: &'a PassInput<'a>,
    turns: Turns,
    warm_ups: &'a [WarmUp],
    opener: &'a O,
    /// Where the stores are once they are open.
    places: &'a [OnceCell<Box<dyn Store>>],
    meter: &'a ThreadMeter,
}

/// The stores that this thread reads, with their operations.
struct OwnLanes<'a, O, F, I> {
    epoch: EpochInput<'a, O>,
    ops: F,
    lanes: Vec<Option<Lane<'a>>>,
    /// The operations of each slice, the first of which do not count, and how many do.
    slices: Vec<(I, u64)>,
}

impl<'a, 'op, O: Opener, F: Fn() -> I, I: Iterator<Item = Op<'op>> + Clone> OwnLanes<'a, O, F, I> {
    fn new(epoch: EpochInput<'a, O>, ops: F) -> Self {
        let lanes = epoch.warm_ups.iter().map(|_| None).collect();
        let slices = located(ops(), epoch.turns);
        Self { epoch, ops, lanes, slices }
    }

    fn lane(&mut self, store: usize) -> Result<&mut Lane<'a>> {
        self.lanes[store].as_mut().ok_or_else(not_open)
    }
}

impl<'op, O: Opener, F: Fn() -> I, I: Iterator<Item = Op<'op>> + Clone> Lanes
    for OwnLanes<'_, O, F, I>
{
    fn open(&mut self, store: usize) -> Result<()> {
        let EpochInput { input, turns, warm_ups, opener, places, meter } = self.epoch;
        let place = (store, &places[store], &warm_ups[store]);
        self.lanes[store] = Some(Lane::open(input, turns, (meter, opener), place, (self.ops)())?);
        Ok(())
    }

    fn start(&mut self) {
        let largest = self.lanes.iter().flatten().map(|lane| lane.buffer.len()).max();
        keep_room(largest.unwrap_or(0));
    }

    fn slice(&mut self, store: usize, slice: usize) -> Result<()> {
        let EpochInput { input, turns, .. } = self.epoch;
        let Some((ops, count)) = self.slices.get(slice).cloned() else {
            return Err(Error::failed("an epoch has fewer slices"));
        };
        let read = self.lane(store)?.slice(input, turns, ops, count);
        if read.is_err() {
            self.lanes[store] = None;
        }
        read
    }

    fn finish(&mut self, store: usize) -> Result<LaneDone> {
        self.lanes[store].take().map(Lane::finish).ok_or_else(not_open)
    }
}

fn not_open() -> Error {
    Error::failed("the store is not open")
}

/// How long filling the cache of a store may take.
const FILLING: Duration = Duration::from_secs(2);

/// Reads values in key order until the store's own cache of so many bytes is full, as it is after a
/// while in a program that reads at random. Returns the share that was filled.
fn fill_cache(session: &mut dyn Session, cache: u64) -> Result<f64> {
    let (start, mut bytes, mut is_whole) = (Instant::now(), 0_u64, true);
    if cache == 0 {
        return Ok(1.0);
    }
    session.begin(Mode::Read)?;
    session.scan(Scan::ALL, &mut |item| {
        bytes += item.value.len() as u64;
        is_whole = bytes >= cache || start.elapsed() < FILLING;
        Ok(if bytes >= cache || !is_whole { Break(()) } else { Continue(()) })
    })?;
    session.commit()?;
    Ok(if is_whole { 1.0 } else { bytes as f64 / cache as f64 })
}

/// The most bytes for which an allocator keeps room: glibc maps more of them each time
/// (mallopt(3), `M_MMAP_THRESHOLD`).
const MOST_KEPT: usize = 32 << 20;
/// A store allocates a value with something around it, one byte in so many.
const AROUND: usize = 8;

/// Makes the allocator keep room for a value of `largest` bytes, as it does in a program that has run
/// for long and read such a value before: the first touch of each page takes as long as a small read.
fn keep_room(largest: usize) {
    let length = (largest + largest / AROUND).min(MOST_KEPT);
    // glibc keeps what is freed after it was asked for as much once.
    for _ in 0..2 {
        std::hint::black_box(vec![0xa5_u8; length]);
    }
}

/// Returns the operations of each slice, the first of which do not count, and how many do.
fn located<I: Iterator + Clone>(mut ops: I, turns: Turns) -> Vec<(I, u64)> {
    let mut after = |count| {
        (0..count).zip(ops.by_ref()).for_each(drop);
        ops.clone()
    };
    let mut from = after(turns.first - turns.lead);
    let located = |count| (std::mem::replace(&mut from, after(count)), count);
    turns.slices().map(located).collect()
}

/// An open store, and what came of its reads so far.
struct Lane<'a> {
    session: Box<dyn Session + 'a>,
    buffer: Vec<u8>,
    clock: EveryNth,
    meter: &'a ThreadMeter,
    done: LaneDone,
}

impl<'a> Lane<'a> {
    /// Opens a store into its place, and makes its first pass.
    fn open<'op>(
        input: &PassInput<'_>,
        turns: Turns,
        (meter, opener): (&'a ThreadMeter, &impl Opener),
        (number, place, warm_up): (usize, &'a OnceCell<Box<dyn Store>>, &WarmUp),
        ops: impl Iterator<Item = Op<'op>>,
    ) -> Result<Self> {
        let mut buffer = input.buffer();
        let (before, start_ns) = (host::occupied_bytes(&[]), now_ns());
        let store = opener.open(number)?;
        let open_ns = now_ns().saturating_sub(start_ns);
        let mut session = place.get_or_init(|| store).session()?;
        let cache_filled = fill_cache(&mut *session, warm_up.cache)?;
        let mut first = Spent::default();
        let tally = meter.measure(&mut first, || {
            let part = input.part(turns.first, 0);
            op::run(&part, ops, &mut *session, &mut buffer, &mut NoClock)
        })?;
        if warm_up.in_memory {
            // Where that cannot be done, reads map pages as they come to them.
            let _ = pagecache::populate(&opener.files(number));
        }
        let memory = before.zip(host::occupied_bytes(&[]));
        let memory_bytes = memory.map(|(before, after)| after.saturating_sub(before));
        let clock = EveryNth::new(input.work.operation.actions(), now_ns());
        let (latencies, spent, bytes, counters) = Default::default();
        let done = LaneDone {
            open_ns,
            cache_filled,
            memory_bytes,
            first,
            spent,
            tally,
            bytes,
            counters,
            latencies,
        };
        Ok(Self { session, buffer, clock, meter, done })
    }

    /// Makes `count` reads that count, after a few that do not.
    fn slice<'op>(
        &mut self,
        input: &PassInput<'_>,
        turns: Turns,
        mut ops: impl Iterator<Item = Op<'op>>,
        count: u64,
    ) -> Result<()> {
        let Self { session, buffer, clock, meter, done } = self;
        let session = &mut **session;
        let lead = input.part(turns.lead, 0);
        done.tally.add(&op::run(&lead, ops.by_ref(), session, buffer, &mut NoClock)?);
        // Counts before belong to no slice.
        session.statistics();
        let counted = input.part(count, 0);
        let tally = meter.measure(&mut done.spent, || {
            clock.begin_slice(now_ns());
            let tally = op::run(&counted, ops, session, buffer, clock);
            clock.end_slice(now_ns());
            tally
        })?;
        for (name, value) in session.statistics() {
            *done.counters.entry(name.to_owned()).or_default() += value;
        }
        done.bytes += tally.bytes;
        done.tally.add(&tally);
        Ok(())
    }

    fn finish(self) -> LaneDone {
        LaneDone { latencies: self.clock.finish(), ..self.done }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        sync::{Arc, Mutex},
    };

    use model::{
        BlobWork, Key, KeyKind, Operation, Order, Put, Result, Session, Store, Visitor, Workload,
    };

    use super::*;
    use crate::{
        Stop,
        dataset::{Dataset, Pool},
    };

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_value_as_large_as_the_largest_takes_no_new_pages() {
        let meter = ThreadMeter::of_this_thread();
        let faults = |length| {
            let mut spent = Spent::default();
            meter.measure(&mut spent, || std::hint::black_box(vec![1_u8; length]));
            spent.cost.minor_faults.unwrap_or(0)
        };
        // Other tests may take the room: one of a few sizes, each larger than any before, shows it.
        let is_kept = |megabytes: usize| {
            keep_room(megabytes << 20);
            faults(megabytes << 20) < 100
        };
        assert!([5, 10, 15, 20, 25].into_iter().any(is_kept));
    }

    /// Which store was asked for which key, in order.
    type Log = Arc<Mutex<Vec<(usize, i64)>>>;

    /// Has values as long as their keys are large, and notes who reads them.
    #[derive(Clone)]
    struct Noting(usize, Log);

    /// Opens stores that note who reads them.
    struct Logged(Log);

    impl Opener for Logged {
        fn open(&self, store: usize) -> Result<Box<dyn Store>> {
            Ok(Box::new(Noting(store, self.0.clone())))
        }
    }

    impl Store for Noting {
        fn keys(&self) -> KeyKind {
            KeyKind::Integers
        }

        fn session(&self) -> Result<Box<dyn Session + '_>> {
            Ok(Box::new(self.clone()))
        }
    }

    impl Session for Noting {
        fn get(&mut self, key: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
            let Key::Int(key) = key else { return Ok(None) };
            self.1.lock().unwrap().push((self.0, key));
            Ok(usize::try_from(key).ok())
        }

        fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
            Ok(false)
        }

        fn delete(&mut self, _: Key<'_>) -> Result<bool> {
            Ok(false)
        }

        fn scan(&mut self, _: Scan<'_>, _: &mut Visitor<'_>) -> Result<()> {
            Ok(())
        }
    }

    const STORES: usize = 3;

    /// Reads keys 1 to 100 of stores in turns; returns what they read, and the order of the reads.
    fn read_in_turns(turns: Turns) -> (Vec<LaneDone>, Vec<(usize, i64)>) {
        let mut dataset = Dataset::new(KeyKind::Integers);
        for key in 1..=100 {
            dataset.push_sized(Key::Int(key.into()), key).unwrap();
        }
        let work = BlobWork { operation: Operation::Read, order: Order::Permutation, rate: None };
        let (pool, stop) = (Pool::new(0, 100, 100), Stop::new());
        let workload = Workload::alone(work, turns.count);
        let input = PassInput::new(workload, &dataset, &pool, None, &stop).unwrap();
        let log = Log::default();
        let warm_ups = vec![WarmUp::default(); STORES];
        let done = epoch(&input, turns, &warm_ups, &Logged(log.clone()));
        let read = log.lock().unwrap().clone();
        (done.into_iter().flatten().collect(), read)
    }

    const TURNS: Turns = Turns { first: 100, pass: 100, count: 180, slice: 9, lead: 1, seed: 1 };

    #[test]
    fn stores_read_the_same_but_never_what_another_one_has_just_read() {
        let (done, read) = read_in_turns(TURNS);
        assert_eq!(done.len(), STORES);
        assert!(done[0].bytes > 0 && done.iter().all(|lane| lane.bytes == done[0].bytes));
        for step in read[100 * STORES..].chunks(10 * STORES) {
            let stores = step.iter().map(|(store, _)| store).collect::<BTreeSet<_>>();
            let keys = step.iter().map(|(_, key)| key).collect::<BTreeSet<_>>();
            assert_eq!((stores.len(), keys.len()), (STORES, step.len()), "{step:?}");
        }
    }

    #[test]
    fn each_key_of_a_pass_counts_once() {
        let (done, _) = read_in_turns(Turns { count: 200, ..TURNS });
        // Keys 1 to 100 have as many bytes each, and are read twice.
        assert!(done.iter().all(|lane| lane.bytes == 2 * 5050), "{}", done[0].bytes);
    }

    #[test]
    fn slices_add_up_to_the_count() {
        let slices = |count, slice| Turns { count, slice, ..TURNS }.slices().collect::<Vec<_>>();
        assert_eq!(slices(10, 4), [4, 4, 2]);
        assert_eq!(slices(8, 4), [4, 4]);
        assert_eq!(slices(3, 4), [3]);
    }
}
