//! Checks that a store holds the dataset: the same keys and lengths, and the right bytes.

use std::{
    ops::{ControlFlow, Range},
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
pub(crate) const MOST_SESSIONS: usize = 8;

/// The bytes of values that sessions may have in memory at once.
const IN_MEMORY: u32 = 256 << 20;

/// How values are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// Until when; `None`: all of them.
    pub(crate) until: Option<Instant>,
    pub(crate) most_sessions: usize,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) stop: &'a Stop,
}

impl Reading<'_> {
    /// Limits the sessions to those that a store of `engine` can have: one, if it belongs to another process.
    pub(crate) fn for_engine(self, engine: &dyn Blobs) -> Self {
        let is_here = !engine.capabilities().remote && engine.program().is_none();
        Self { most_sessions: if is_here { self.most_sessions } else { 1 }, ..self }
    }

    /// Returns how many sessions read the values of `dataset`.
    fn sessions(&self, dataset: &Dataset) -> usize {
        let entries = dataset.entries();
        let largest = entries.iter().map(|entry| entry.size).max().unwrap_or(0);
        let fit = (IN_MEMORY / largest.max(1)).max(1) as usize;
        let processors = available_parallelism().map_or(1, usize::from);
        processors.min(self.most_sessions).min(fit).min(entries.len().div_ceil(TOGETHER))
    }
}

/// A pass over the values of a dataset, in its order until the time is over.
struct Pass<'a> {
    reading: Reading<'a>,
    count: usize,
    /// Returns keys of the dataset with the lengths of their values.
    keys: &'a (dyn Fn(Range<usize>) -> Vec<(OwnedKey, u64)> + Sync),
    /// Is called with the place of each value in the dataset, and its bytes.
    visit: &'a (dyn Fn(usize, &[u8]) -> Result<()> + Sync),
    /// Returns the error of a key that is no longer there.
    absent: fn(Key<'_>) -> Error,
    /// The place of the first value that no session has taken.
    next: AtomicUsize,
    read: AtomicU64,
}

impl<'a> Pass<'a> {
    fn new(
        (reading, count): (Reading<'a>, usize),
        keys: &'a (dyn Fn(Range<usize>) -> Vec<(OwnedKey, u64)> + Sync),
        visit: &'a (dyn Fn(usize, &[u8]) -> Result<()> + Sync),
        absent: fn(Key<'_>) -> Error,
    ) -> Self {
        let (next, read) = Default::default();
        Self { reading, count, keys, visit, absent, next, read }
    }

    /// Reads values from `store` in so many sessions at once at most. Returns how many were read without a gap.
    fn run(&self, store: &dyn Store, sessions: usize) -> Result<usize> {
        let mut own = store.session()?;
        let help = || match store.session() {
            Ok(mut session) => self.read_parts(&mut *session),
            // Some builds of an engine serve one thread.
            Err(_) => Ok(self.count),
        };
        thread::scope(|scope| {
            let helpers: Vec<_> = (1..sessions).map(|_| scope.spawn(help)).collect();
            let end = self.read_parts(&mut *own);
            let ends = helpers.into_iter().map(join).chain([end]).collect::<Result<Vec<_>>>()?;
            Ok(ends.into_iter().min().unwrap_or(0))
        })
    }

    /// Reads the parts that no other session has taken. Returns the place of the first value that there was no
    /// time for, or the end.
    fn read_parts(&self, session: &mut dyn Session) -> Result<usize> {
        let end = self.read_until(session);
        // What this one leaves is not for another to take.
        self.next.store(self.count, Relaxed);
        end
    }

    fn read_until(&self, session: &mut dyn Session) -> Result<usize> {
        session.begin(Mode::Read)?;
        let end = loop {
            let start = self.next.fetch_add(TOGETHER, Relaxed).min(self.count);
            let keys = (self.keys)(start..self.count.min(start + TOGETHER));
            let read = self.show(session, start, &keys)?;
            if read < TOGETHER {
                break start + read;
            }
        };
        session.commit().map(|()| end)
    }

    /// Shows the values of `keys`, which start at a place in the dataset. Returns how many there was time for.
    fn show(
        &self,
        session: &mut dyn Session,
        start: usize,
        keys: &[(OwnedKey, u64)],
    ) -> Result<usize> {
        let Reading { until, progress, stop, .. } = self.reading;
        let (mut left, mut read, mut is_over) = (keys.iter(), 0, keys.is_empty());
        session.visit_each(keys, &mut |item| {
            stop.check()?;
            if let Some((key, _)) = left.next().filter(|(key, _)| key.as_key() != item.key) {
                return Err((self.absent)(key.as_key()));
            }
            (self.visit)(start + read, item.value)?;
            read += 1;
            tick(progress, self.read.fetch_add(1, Relaxed) + 1);
            is_over = start + read >= FEWEST && until.is_some_and(|until| Instant::now() >= until);
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        match left.next() {
            Some((key, _)) if !is_over => Err((self.absent)(key.as_key())),
            _ => Ok(read),
        }
    }
}

/// Returns keys of `dataset` with the lengths of their values.
fn keys(dataset: &Dataset, range: Range<usize>) -> Vec<(OwnedKey, u64)> {
    let key = |entry: &Entry| (dataset.key(entry).into(), entry.size.into());
    dataset.entries()[range].iter().map(key).collect()
}

/// Reads the values of `dataset` from `store`, notes their lengths and checksums, and shows them to `sampler`.
/// Returns how many it read.
pub(crate) fn note_values(
    dataset: &mut Dataset,
    store: &dyn Store,
    sampler: &mut Sampler,
    reading: Reading<'_>,
) -> Result<usize> {
    const NOTING: &str = "no session panics while it notes a value";
    let (count, sessions) = (dataset.entries().len(), reading.sessions(dataset));
    let noted = Mutex::new((dataset, sampler));
    let keys = |range| keys(noted.lock().expect(NOTING).0, range);
    let visit = |place, value: &[u8]| {
        let sum = checksum(value);
        let (dataset, sampler) = &mut *noted.lock().expect(NOTING);
        sampler.add(place as u64, value);
        dataset.note_value(place, value.len(), sum)
    };
    Pass::new((reading, count), &keys, &visit, changed).run(store, sessions)
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
    reading: Reading<'_>,
) -> Result<(Option<String>, usize)> {
    let count = dataset.entries().len();
    let first = AtomicUsize::new(usize::MAX);
    let keys = |range| keys(dataset, range);
    let visit = |place: usize, value: &[u8]| {
        if !is_same(value, &dataset.entries()[place]) {
            first.fetch_min(place, Relaxed);
        }
        Ok(())
    };
    let pass = Pass::new((reading, count), &keys, &visit, unreadable);
    let sessions = reading.for_engine(ready.engine).sessions(dataset);
    let (read, _) = ready.with(|store| pass.run(store, sessions))?;
    let differs = dataset.entries().get(first.into_inner());
    Ok((differs.map(|entry| dataset.key(entry).to_string()), read))
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

    /// Reads `count` keys of a store of 1,000 with three sessions. Returns how many were read without a gap, and
    /// how often each was shown.
    fn read(count: i64, until: Option<Instant>) -> Result<(usize, BTreeMap<usize, u32>)> {
        let spec = Generated { count: 1000, size: 20, variance: 5, random_percent: 100, seed: 1 };
        let store = Generator::new(spec).unwrap();
        let mut dataset = Dataset::new(KeyKind::Integers);
        (1..=count).for_each(|key| dataset.push_sized(Key::Int(key), 20).unwrap());
        let shown = Mutex::new(BTreeMap::new());
        let visit = |place, value: &[u8]| {
            assert!((15..=25).contains(&value.len()));
            *shown.lock().unwrap().entry(place).or_default() += 1;
            Ok(())
        };
        let reading = Reading { until, most_sessions: 3, progress: &Silent, stop: &Stop::new() };
        let (keys, count) = (|range| keys(&dataset, range), dataset.entries().len());
        let read = Pass::new((reading, count), &keys, &visit, changed).run(&store, 3)?;
        Ok((read, shown.into_inner().unwrap()))
    }

    #[test]
    fn sessions_share_the_values_and_each_is_shown_once() {
        for count in [0, 1, 640, 1000] {
            let (read, shown) = read(count, None).unwrap();
            let expected = usize::try_from(count).unwrap();
            assert_eq!((read, shown.len()), (expected, expected));
            assert!(shown.values().all(|shown| *shown == 1));
        }
    }

    #[test]
    fn the_first_values_are_read_without_a_gap_when_the_time_is_over() {
        let (read, shown) = read(1000, Some(Instant::now())).unwrap();
        assert!((FEWEST..FEWEST + 3 * TOGETHER).contains(&read), "{read}");
        assert!((0..read).all(|place| shown[&place] == 1));
    }

    #[test]
    fn a_key_that_has_gone_is_an_error_whichever_session_finds_it() {
        let error = read(1001, None).unwrap_err();
        assert!(error.to_string().contains("key 1001 changed"), "{error}");
    }

    #[test]
    fn large_values_are_read_by_fewer_sessions() {
        let reading =
            Reading { until: None, most_sessions: 8, progress: &Silent, stop: &Stop::new() };
        let sessions = |count, size| {
            let mut dataset = Dataset::new(KeyKind::Integers);
            (0..count).for_each(|key| dataset.push_sized(Key::Int(key), size).unwrap());
            reading.sessions(&dataset)
        };
        let processors = available_parallelism().map_or(1, usize::from);
        assert_eq!(sessions(1000, 1000), processors.min(8));
        assert_eq!(sessions(1000, 100 << 20), processors.min(2));
        assert_eq!(sessions(64, 1000), 1, "all are read together");
        assert_eq!((sessions(1000, 200 << 20), sessions(1000, u32::MAX)), (1, 1));
    }
}
