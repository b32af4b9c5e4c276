//! Checks that a store holds the dataset: the same keys and lengths, and the right bytes.

use std::{ops::ControlFlow, time::Instant};

use model::{
    Error, ErrorKind, Item, Key, Mode, OwnedKey, Result, Scan, Session, units::show_count,
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

/// The number of values that are asked for at once.
const TOGETHER: usize = 64;

/// The values of a dataset, which are read in its order until the time is over.
struct Reading<'a> {
    session: &'a mut dyn Session,
    until: Option<Instant>,
    progress: &'a dyn Progress,
    stop: &'a Stop,
    /// How many were read.
    read: usize,
    is_over: bool,
}

impl<'a> Reading<'a> {
    fn new(
        session: &'a mut dyn Session,
        until: Option<Instant>,
        (progress, stop): (&'a dyn Progress, &'a Stop),
    ) -> Self {
        Self { session, until, progress, stop, read: 0, is_over: false }
    }

    /// Returns the next keys with the lengths of their values; `None` if there are none, or the time is over.
    fn next_keys(&self, dataset: &Dataset) -> Option<Vec<(OwnedKey, u64)>> {
        let left = &dataset.entries()[self.read..];
        let key = |entry: &Entry| (dataset.key(entry).into(), entry.size.into());
        let next = left.iter().take(TOGETHER).map(key);
        (!self.is_over && !left.is_empty()).then(|| next.collect())
    }

    /// Shows the values of `keys`, with their places in the dataset, to `visit`. A key that is no longer there
    /// has the error of `absent`.
    fn show(
        &mut self,
        keys: &[(OwnedKey, u64)],
        absent: fn(Key<'_>) -> Error,
        mut visit: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let Self { session, until, progress, stop, read, is_over } = self;
        let mut keys_left = keys.iter().map(|(key, _)| key.as_key());
        session.visit_each(keys, &mut |item| {
            stop.check()?;
            if let Some(key) = keys_left.next().filter(|key| *key != item.key) {
                return Err(absent(key));
            }
            visit(*read, item.value)?;
            *read += 1;
            tick(*progress, *read as u64);
            *is_over = *read >= FEWEST && until.is_some_and(|until| Instant::now() >= until);
            Ok(if *is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        match keys_left.next() {
            Some(key) if !*is_over => Err(absent(key)),
            _ => Ok(()),
        }
    }
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
    session.begin(Mode::Read)?;
    let mut reading = Reading::new(session, until, job);
    while let Some(keys) = reading.next_keys(dataset) {
        reading.show(&keys, changed, |place, value| {
            sampler.add(value);
            dataset.note_value(place, value)
        })?;
    }
    let read = reading.read;
    session.commit().map(|()| read)
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
    until: Option<Instant>,
    job: (&dyn Progress, &Stop),
) -> Result<(Option<String>, usize)> {
    let (read, _) = ready.with(|store| {
        let (mut session, mut differs) = (store.session()?, None);
        session.begin(Mode::Read)?;
        let mut reading = Reading::new(&mut *session, until, job);
        while let Some(keys) = reading.next_keys(dataset) {
            reading.show(&keys, unreadable, |place, value| {
                let entry = &dataset.entries()[place];
                if !is_same(value, entry) {
                    differs = differs.take().or_else(|| Some(dataset.key(entry).to_string()));
                }
                Ok(())
            })?;
        }
        let read = reading.read;
        session.commit()?;
        Ok((differs, read))
    })?;
    Ok(read)
}

fn unreadable(key: Key<'_>) -> Error {
    Error::corrupt(format!("key {key} is listed but cannot be read"))
}

/// Reports whether a value is that of an entry. One that was not read yet has no checksum.
fn is_same(value: &[u8], entry: &Entry) -> bool {
    value.len() == entry.size as usize && [checksum(value), 0].contains(&entry.check)
}
