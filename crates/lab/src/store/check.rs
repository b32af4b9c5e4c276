//! Checks that a store holds the dataset: the same keys and lengths, and the right bytes.

use std::{ops::ControlFlow, time::Instant};

use model::{
    Error, ErrorKind, Item, Mode, OwnedKey, Result, Scan, Session, Store, units::show_count,
};

use super::ReadyStore;
use crate::{
    Progress, Stop,
    dataset::{Dataset, Entry, Sampler, Use, checksum, derive},
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

/// Reads values with `read` until the time is over; returns how many of `entries` were read.
fn read_until(
    entries: usize,
    until: Option<Instant>,
    (progress, stop): (&dyn Progress, &Stop),
    mut read: impl FnMut(usize) -> Result<()>,
) -> Result<usize> {
    for place in 0..entries {
        stop.check()?;
        if place >= FEWEST && until.is_some_and(|until| Instant::now() >= until) {
            return Ok(place);
        }
        tick(progress, place as u64 + 1);
        read(place)?;
    }
    Ok(entries)
}

/// Reads the values of `dataset` from `session` in its order until the time is over, notes their
/// lengths and checksums, and shows them to `sampler`. Returns how many it read.
pub(crate) fn note_values(
    dataset: &mut Dataset,
    session: &mut dyn Session,
    sampler: &mut Sampler,
    until: Option<Instant>,
    job: (&dyn Progress, &Stop),
) -> Result<usize> {
    let mut buffer = Vec::new();
    session.begin(Mode::Read)?;
    let count = read_until(dataset.entries().len(), until, job, |place| {
        let entry = dataset.entries()[place];
        buffer.resize(entry.size as usize, 0);
        let key = dataset.key(&entry);
        let length = session.get(key, &mut buffer)?;
        let Some(value) = length.and_then(|length| buffer.get(..length)) else {
            return Err(Error::failed(format!("key {key} changed while storemark read the data")));
        };
        sampler.add(value);
        dataset.note_value(place, value)
    })?;
    session.commit()?;
    Ok(count)
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
    until: Option<Instant>,
    job: (&dyn Progress, &Stop),
) -> Result<(Option<String>, usize)> {
    let largest = dataset.entries().iter().map(|entry| entry.size).max().unwrap_or(0);
    let mut buffer = vec![0; largest as usize];
    let (read, _) = ready.with(|store| {
        if store.in_worker().is_some() {
            return bytes_in_worker(dataset, store, until, job);
        }
        let mut session = store.session()?;
        let mut differs = None;
        session.begin(Mode::Read)?;
        let count = read_until(dataset.entries().len(), until, job, |place| {
            let entry = &dataset.entries()[place];
            let key = dataset.key(entry);
            let length = session.get(key, &mut buffer)?;
            let Some(value) = length.and_then(|length| buffer.get(..length)) else {
                return Err(Error::corrupt(format!("key {key} is listed but cannot be read")));
            };
            if !is_same(value, entry) {
                differs = differs.take().or_else(|| Some(key.to_string()));
            }
            Ok(())
        })?;
        session.commit()?;
        Ok((differs, count))
    })?;
    Ok(read)
}

/// Reports whether a value is that of an entry. One that was not read yet has no checksum.
fn is_same(value: &[u8], entry: &Entry) -> bool {
    value.len() == entry.size as usize && [checksum(value), 0].contains(&entry.check)
}

/// The number of values for which a worker is asked at once.
const TOGETHER: usize = 64;

/// Compares as [`bytes`] does, over a store that a worker has open, some values at a time: asking takes as
/// long as several reads.
fn bytes_in_worker(
    dataset: &Dataset,
    store: &dyn Store,
    until: Option<Instant>,
    job: (&dyn Progress, &Stop),
) -> Result<(Option<String>, usize)> {
    let (mut session, mut differs) = (store.session()?, None);
    session.begin(Mode::Read)?;
    let parts: Vec<_> = dataset.entries().chunks(TOGETHER).collect();
    let read = read_until(parts.len(), until, job, |place| {
        let keys: Vec<_> = parts[place]
            .iter()
            .map(|entry| (OwnedKey::from(dataset.key(entry)), u64::from(entry.size)))
            .collect();
        let mut expected = parts[place].iter();
        session.visit_each(&keys, &mut |item| {
            let entry = expected.next().filter(|entry| dataset.key(entry) == item.key);
            if !entry.is_some_and(|entry| is_same(item.value, entry)) {
                differs = differs.take().or_else(|| Some(item.key.to_string()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let absent = expected.next().map(|entry| dataset.key(entry));
        absent.map_or(Ok(()), |key| {
            Err(Error::corrupt(format!("key {key} is listed but cannot be read")))
        })
    })?;
    session.commit()?;
    Ok((differs, (read * TOGETHER).min(dataset.entries().len())))
}
