//! Checks that a store holds the dataset: the same keys and lengths, and the right bytes.

use std::{
    ops::ControlFlow,
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, available_parallelism},
    time::Instant,
};

use model::{
    Blobs, Error, ErrorKind, Item, Key, Mode, OwnedKey, Result, Scan, Session, Store,
    units::show_count,
};

use super::ReadyStore;
use crate::{
    Progress, Stop,
    dataset::{Dataset, Entry, Sampler, Use, checksum, derive},
    join,
    progress::tick,
};

/// Returns the seed of the order in which values are checked.
pub(crate) fn seed(seed: u64) -> u64 {
    derive(seed, Use::Check, 0)
}

/// Walks the keys of `session` along with the dataset's, both ascending; the first difference is an
/// error, and so is what `check_type` refuses.
pub(crate) fn same_keys(
    dataset: &Dataset,
    session: &mut dyn Session,
    check_type: fn(&Item<'_>) -> Result<()>,
    stop: &Stop,
) -> Result<()> {
    const HINT: &str =
        "the stores of a run have the same values; `storemark verify` names all differences";
    let mut expected = dataset.entries().iter();
    session.scan(Scan::LENGTHS, &mut |item| {
        stop.check()?;
        check_type(&item)?;
        let Item { key, length, .. } = item;
        let Some(entry) = expected.next() else {
            return Err(Error::usage(format!("key {key} is in no other target; {HINT}")));
        };
        let wanted = dataset.key(entry);
        if key != wanted {
            let (absent, place) =
                if key > wanted { (wanted, "missing here") } else { (key, "only here") };
            return Err(Error::usage(format!("key {absent} is {place}; {HINT}")));
        }
        if length != u64::from(entry.size) {
            return Err(Error::usage(format!(
                "key {key} has {} bytes here and {} in the data compared with; {HINT}",
                show_count(length),
                show_count(u64::from(entry.size))
            )));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    match expected.next() {
        None => Ok(()),
        Some(entry) => {
            Err(Error::usage(format!("key {} is missing here; {HINT}", dataset.key(entry))))
        }
    }
}

/// Returns the error of a value that was written and cannot be read as it was.
pub(crate) fn not_as_written(key: &str) -> Error {
    let what = format!(
        "key {key} does not hold what was written to it: the store lost it, or another program writes to it"
    );
    Error::new(ErrorKind::Differs, what)
}

/// The number of values that are read even if the time is over: fewer would give no figure.
const FEWEST: usize = 200;

/// The number of values that are asked for at once.
const TOGETHER: usize = 64;

/// The most sessions that read at once: each may have a cache of its own.
const MOST_SESSIONS: usize = 8;

/// How values are read: for so long, and how many times each.
#[derive(Clone, Copy)]
pub(crate) struct Reads<'a> {
    pub(crate) times: u32,
    /// `None`: all of them are read.
    pub(crate) until: Option<Instant>,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) stop: &'a Stop,
}

/// The values of a dataset, which are read in its order until the time is over.
struct Reading<'a> {
    dataset: &'a Dataset,
    reads: Reads<'a>,
    /// Is called with the place of each value in the dataset, and its bytes.
    visit: &'a (dyn Fn(usize, &[u8]) -> Result<()> + Sync),
    /// Returns the error of a key that is no longer there.
    absent: fn(Key<'_>) -> Error,
    /// The place of the first value that no session has taken.
    next: AtomicUsize,
    read: AtomicU64,
}

impl<'a> Reading<'a> {
    fn new(
        dataset: &'a Dataset,
        reads: Reads<'a>,
        visit: &'a (dyn Fn(usize, &[u8]) -> Result<()> + Sync),
        absent: fn(Key<'_>) -> Error,
    ) -> Self {
        Self { dataset, reads, visit, absent, next: AtomicUsize::new(0), read: AtomicU64::new(0) }
    }

    /// Reads values from `store` in so many sessions at once at most. Returns how many were read without a gap.
    fn run(&self, store: &dyn Store, sessions: usize) -> Result<usize> {
        let sessions = sessions.min(self.dataset.entries().len().div_ceil(TOGETHER));
        let read = || {
            let end = store.session().and_then(|mut session| self.read_parts(&mut *session));
            // What one leaves is not for another to take.
            self.next.store(self.dataset.entries().len(), Relaxed);
            end
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..sessions).map(|_| scope.spawn(read)).collect();
            let own = read();
            let ends = others.into_iter().map(join).chain([own]).collect::<Result<Vec<_>>>()?;
            Ok(ends.into_iter().min().unwrap_or(0))
        })
    }

    /// Reads the parts that no other session has taken. Returns the place of the first value that there was no
    /// time for, or the end.
    fn read_parts(&self, session: &mut dyn Session) -> Result<usize> {
        let entries = self.dataset.entries();
        session.begin(Mode::Read)?;
        let end = loop {
            let start = self.next.fetch_add(TOGETHER, Relaxed).min(entries.len());
            let part = entries[start..].iter().take(TOGETHER);
            let key = |entry: &Entry| (self.dataset.key(entry).into(), entry.size.into());
            let keys: Vec<_> = part.map(key).collect();
            let mut read = keys.len();
            for time in 0..self.reads.times {
                read = self.show(session, start, &keys[..read], time == 0)?;
            }
            if read < TOGETHER {
                break start + read;
            }
        };
        session.commit().map(|()| end)
    }

    /// Reads the values of `keys`, which start at a place in the dataset, and shows those that are `new`. Returns how
    /// many there was time for.
    fn show(
        &self,
        session: &mut dyn Session,
        start: usize,
        keys: &[(OwnedKey, u64)],
        new: bool,
    ) -> Result<usize> {
        let Reads { until, progress, stop, .. } = self.reads;
        let (mut read, mut is_over) = (0, keys.is_empty());
        session.visit_each(keys, &mut |item| {
            stop.check()?;
            let key = keys[read].0.as_key();
            if key != item.key {
                return Err((self.absent)(key));
            }
            if new {
                (self.visit)(start + read, item.value)?;
                tick(progress, self.read.fetch_add(1, Relaxed) + 1);
            }
            read += 1;
            is_over = start + read >= FEWEST && until.is_some_and(|until| Instant::now() >= until);
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        match keys.get(read) {
            Some((key, _)) if !is_over => Err((self.absent)(key.as_key())),
            _ => Ok(read),
        }
    }
}

/// Reads the values of `dataset` from `store`, notes their lengths and checksums, and shows them to `sampler`.
/// Returns how many it read.
pub(crate) fn note_values(
    dataset: &mut Dataset,
    store: &dyn Store,
    sessions: usize,
    sampler: &mut Sampler,
    reads: Reads<'_>,
) -> Result<usize> {
    let noted = Mutex::new((Vec::new(), sampler));
    let note = |place, value: &[u8]| {
        let sum = checksum(value);
        let (values, sampler) = &mut *noted.lock().expect("no thread panics while it has it");
        sampler.add(value);
        values.push((place, value.len(), sum));
        Ok(())
    };
    let read = Reading::new(dataset, reads, &note, changed).run(store, sessions)?;
    let (values, _) = noted.into_inner().expect("no thread panics while it has it");
    for (place, length, sum) in values {
        dataset.note_value(place, length, sum)?;
    }
    Ok(read)
}

/// Returns the error of a key that has gone since it was listed.
pub(crate) fn changed(key: Key<'_>) -> Error {
    Error::failed(format!("key {key} changed while storemark read the data"))
}

/// Reads the values of the data again until one is not as it was noted, and returns its key.
pub(crate) fn first_changed(
    dataset: &Dataset,
    session: &mut dyn Session,
    stop: &Stop,
) -> Result<Option<String>> {
    let mut buffer = Vec::new();
    session.begin(Mode::Read)?;
    // Without a checksum a value was not read yet.
    for entry in dataset.entries().iter().filter(|entry| entry.check != 0) {
        stop.check()?;
        buffer.resize(entry.size as usize, 0);
        let key = dataset.key(entry);
        let length = session.get(key, &mut buffer)?;
        let same = length == Some(buffer.len()) && checksum(&buffer) == entry.check;
        if !same {
            return Ok(Some(key.to_string()));
        }
    }
    session.commit().map(|()| None)
}

/// Reads values through the target's own path, in the dataset's order, until the time is over. Returns
/// the first key whose bytes are not the dataset's, and how many it read. A missing key is an error.
pub(crate) fn bytes(
    dataset: &Dataset,
    ready: &ReadyStore,
    reads: Reads<'_>,
) -> Result<(Option<String>, usize)> {
    let first = AtomicUsize::new(usize::MAX);
    let compare = |place: usize, value: &[u8]| {
        if !is_same(value, &dataset.entries()[place]) {
            first.fetch_min(place, Relaxed);
        }
        Ok(())
    };
    let reading = Reading::new(dataset, reads, &compare, unreadable);
    let (read, _) = ready.with(|store| reading.run(store, sessions(ready.engine)))?;
    let differs = dataset.entries().get(first.into_inner());
    Ok((differs.map(|entry| dataset.key(entry).to_string()), read))
}

/// Returns how many sessions read the values of a store of `engine` at once to check them. Those of a server or
/// a worker send several requests at once by themselves.
pub(crate) fn sessions(engine: &dyn Blobs) -> usize {
    let is_here = !engine.capabilities().remote && engine.program().is_none();
    if is_here { available_parallelism().map_or(1, usize::from).min(MOST_SESSIONS) } else { 1 }
}

fn unreadable(key: Key<'_>) -> Error {
    Error::corrupt(format!("key {key} is listed but cannot be read"))
}

/// Reports whether a value is that of an entry. One that was not read yet has no checksum.
fn is_same(value: &[u8], entry: &Entry) -> bool {
    value.len() == entry.size as usize && [checksum(value), 0].contains(&entry.check)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{Generated, KeyKind};

    use super::*;
    use crate::{Silent, dataset::Generator};

    const COUNT: u64 = 1000;

    /// Reads `count` keys of a store of 1,000 with three sessions. Returns how many were read without a gap, and
    /// how often each was shown.
    fn read(
        count: i64,
        times: u32,
        until: Option<Instant>,
    ) -> Result<(usize, BTreeMap<usize, u32>)> {
        let spec = Generated { count: COUNT, size: 20, variance: 5, random_percent: 100, seed: 1 };
        let store = Generator::new(spec).unwrap();
        let mut dataset = Dataset::new(KeyKind::Integers);
        (1..=count).for_each(|key| dataset.push_sized(Key::Int(key), 20).unwrap());
        let shown = Mutex::new(BTreeMap::new());
        let visit = |place, value: &[u8]| {
            assert!((15..=25).contains(&value.len()));
            *shown.lock().unwrap().entry(place).or_default() += 1;
            Ok(())
        };
        let reads = Reads { times, until, progress: &Silent, stop: &Stop::new() };
        let read = Reading::new(&dataset, reads, &visit, changed).run(&store, 3)?;
        Ok((read, shown.into_inner().unwrap()))
    }

    #[test]
    fn sessions_share_the_values_and_each_is_shown_once() {
        for (count, times) in [(1, 1), (640, 2), (1000, 1), (1000, 3)] {
            let (read, shown) = read(count, times, None).unwrap();
            let expected = usize::try_from(count).unwrap();
            assert_eq!((read, shown.len()), (expected, expected));
            assert!(shown.values().all(|shown| *shown == 1));
        }
    }

    #[test]
    fn the_first_values_are_read_without_a_gap_when_the_time_is_over() {
        for times in 1..=2 {
            let (read, shown) = read(1000, times, Some(Instant::now())).unwrap();
            assert!((FEWEST..FEWEST + 3 * TOGETHER).contains(&read), "{read}");
            assert!((0..read).all(|place| shown[&place] == 1));
        }
    }

    #[test]
    fn a_key_that_has_gone_is_an_error_whichever_session_finds_it() {
        let error = read(1001, 2, None).unwrap_err();
        assert!(error.to_string().contains("key 1001 changed"), "{error}");
    }
}
