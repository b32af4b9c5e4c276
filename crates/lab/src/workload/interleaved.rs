//! Reads of several open stores in turns of a few milliseconds, so that whatever the machine does
//! meanwhile happens to all of them.

use std::{
    cell::OnceCell,
    collections::BTreeMap,
    ops::ControlFlow::{Break, Continue},
    path::PathBuf,
    time::{Duration, Instant},
};

use host::{Spent, ThreadMeter, now_ns};
use model::{Mode, Result, Scan, Session, Store};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{
    clock::{Clock, Latencies, NoClock},
    every_nth::EveryNth,
    op::{self, Op, Tally},
    pass::PassInput,
};
use crate::dataset::shuffle;

/// The reads of an epoch, equal for all stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// Operations of the first pass after opening.
    pub(crate) first: u64,
    /// Operations after which the same keys come again.
    pub(crate) pass: u64,
    /// Operations that count after it.
    pub(crate) count: u64,
    /// Operations that count in a slice.
    pub(crate) slice: u64,
    /// Operations before each slice that do not count: the last ones before it again, so that each key
    /// of a pass counts once. At most as many as the first pass has.
    pub(crate) lead: u64,
    /// The seed from which the orders of stores are drawn.
    pub(crate) seed: u64,
}

impl Turns {
    /// Returns the operations of each slice of a store; the last slice has the rest.
    fn slices(self) -> impl Iterator<Item = u64> {
        let starts = (0..self.count).step_by(usize::try_from(self.slice).unwrap_or(usize::MAX));
        starts.map(move |start| self.slice.min(self.count - start))
    }

    /// Returns the slice that store `number` of `stores` does at a step. All stores do the same
    /// slices, but those of a pass over the keys in orders of their own: what one store has just
    /// read is in the processor's cache, and would be read from there by another one of the same
    /// files.
    fn slice_of(self, number: usize, stores: usize, step: usize, slices: usize) -> usize {
        let in_a_pass = self.pass / self.slice.max(1);
        let in_a_pass = usize::try_from(in_a_pass).unwrap_or(usize::MAX).max(1);
        let start = step / in_a_pass * in_a_pass;
        let length = in_a_pass.min(slices - start);
        start + (step - start + number * length / stores) % length
    }
}

/// The result of one store of an epoch.
#[derive(Serialize, Deserialize)]
pub(crate) struct LaneDone {
    /// Opening it, before its session.
    pub(crate) open_ns: u64,
    /// Share of its own cache that was filled before its first pass.
    pub(crate) cache_filled: f64,
    /// Memory that the process occupied more once the store was open and read; `None` if it is not
    /// known.
    pub(crate) memory_bytes: Option<u64>,
    /// The first pass after opening.
    pub(crate) first: Spent,
    /// The slices.
    pub(crate) spent: Spent,
    /// The tally of all reads.
    pub(crate) tally: Tally,
    /// Bytes that the slices read.
    pub(crate) bytes: u64,
    /// The engine's own counters over the slices.
    pub(crate) counters: BTreeMap<String, i64>,
    /// The latencies of the slices; `None` until they are over.
    pub(crate) latencies: Option<Latencies>,
}

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
    match &input.ops {
        None => run(input, turns, warm_ups, opener, || input.walk(0, 0)),
        Some(ops) => {
            let drawn = || ops.ops(input.dataset, 0, input.workload.count).cycle();
            run(input, turns, warm_ups, opener, drawn)
        }
    }
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

fn run<'a, I: Iterator<Item = Op<'a>> + Clone>(
    input: &PassInput<'_>,
    turns: Turns,
    warm_ups: &[WarmUp],
    opener: &impl Opener,
    ops: impl Fn() -> I,
) -> Vec<Result<LaneDone>> {
    let stores = warm_ups.len();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(turns.seed);
    let mut shuffled = || {
        let mut order: Vec<usize> = (0..stores).collect();
        shuffle(&mut order, &mut random);
        order
    };
    let meter = ThreadMeter::of_this_thread();
    let places: Vec<OnceCell<Box<dyn Store>>> = (0..stores).map(|_| OnceCell::new()).collect();
    let mut lanes: Vec<_> = (0..stores).map(|_| None).collect();
    for number in shuffled() {
        let store = (number, &places[number], &warm_ups[number]);
        let lane = Lane::open(input, turns, (&meter, opener), store, ops());
        lanes[number] = Some(lane);
    }
    let mut lanes: Vec<_> = lanes.into_iter().flatten().collect();
    let largest = lanes.iter().flatten().map(|lane| lane.buffer.len()).max();
    keep_room(largest.unwrap_or(0));
    let (labels, orders) = (shuffled(), balanced_orders(stores));
    let slices = located(ops(), turns);
    for (order, step) in orders.iter().cycle().zip(0..slices.len()) {
        for number in order.iter().map(|place| labels[*place]) {
            let Ok(lane) = &mut lanes[number] else { continue };
            let (ops, count) = &slices[turns.slice_of(number, stores, step, slices.len())];
            if let Err(error) = lane.slice(input, turns, ops.clone(), *count) {
                lanes[number] = Err(error);
            }
        }
    }
    let done: Vec<_> = lanes.into_iter().map(|lane| lane.map(Lane::finish)).collect();
    let closed = places.into_iter().map(|store| store.into_inner().map_or(Ok(()), Store::close));
    done.into_iter().zip(closed).map(|(done, closed)| closed.and(done)).collect()
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

/// Orders of `n` in which each comes at every place equally often, and directly after every other
/// one equally often (E. J. Williams, "Experimental designs balanced for the estimation of residual
/// effects of treatments", Australian Journal of Scientific Research A 2, 1949): of two, AB and BA.
pub(crate) fn balanced_orders(n: usize) -> Vec<Vec<usize>> {
    // 0, 1, n - 1, 2, n - 2, …: neighbours differ by another amount each time.
    let zigzag =
        |place: usize| if place.is_multiple_of(2) { n - place / 2 } else { place.div_ceil(2) };
    let shifted = |by: usize| (0..n).map(|place| (zigzag(place) + by) % n).collect::<Vec<_>>();
    let orders = (0..n).map(shifted);
    if n.is_multiple_of(2) {
        return orders.collect();
    }
    // With an odd number the amounts repeat: each order comes backwards, too.
    orders.flat_map(|order| [order.iter().rev().copied().collect(), order]).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
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

    #[test]
    fn each_store_is_everywhere_and_after_each_other_one_equally_often() {
        for n in 2..8 {
            let orders = balanced_orders(n);
            let (mut places, mut neighbours) = (BTreeMap::new(), BTreeMap::new());
            for order in &orders {
                for (place, store) in order.iter().enumerate() {
                    *places.entry((place, *store)).or_insert(0) += 1;
                }
                for pair in order.windows(2) {
                    *neighbours.entry((pair[0], pair[1])).or_insert(0) += 1;
                }
            }
            let each = orders.len() / n;
            assert_eq!((places.len(), neighbours.len()), (n * n, n * (n - 1)), "{n}");
            assert!(places.values().chain(neighbours.values()).all(|count| *count == each), "{n}");
        }
        assert_eq!(balanced_orders(1), [[0], [0]]);
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
