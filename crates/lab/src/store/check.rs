//! Checks that a store holds the dataset: the same keys and lengths, and the right bytes.

use std::ops::ControlFlow;

use model::{Error, Item, Mode, Result, Scan, Session, units::show_count};

use super::ReadyStore;
use crate::{
    Progress, Stop,
    dataset::{Dataset, Use, checksum, derive},
    progress::tick,
};

/// Seed of the order in which values are checked.
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
    const HINT: &str = "`storemark verify` names all differences";
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

/// The error of a value that was written and cannot be read as it was.
pub(crate) fn not_as_written(key: &str) -> Error {
    Error::corrupt(format!("key {key} does not hold what was written to it"))
}

/// Reads every value through the target's own path, in the dataset's order, and returns the
/// first key whose bytes are not the dataset's. A missing key is an error.
pub(crate) fn bytes(
    dataset: &Dataset,
    ready: &ReadyStore,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Option<String>> {
    let largest = dataset.entries().iter().map(|entry| entry.size).max().unwrap_or(0);
    let mut buffer = vec![0; largest as usize];
    let (differs, _) = ready.with(|store| {
        let mut session = store.session()?;
        let mut differs = None;
        session.begin(Mode::Read)?;
        for (entry, done) in dataset.entries().iter().zip(1..) {
            stop.check()?;
            tick(progress, done);
            let key = dataset.key(entry);
            let length = session.get(key, &mut buffer)?;
            let Some(value) = length.and_then(|length| buffer.get(..length)) else {
                return Err(Error::corrupt(format!("key {key} is listed but cannot be read")));
            };
            if value.len() != entry.size as usize || checksum(value) != entry.check {
                differs = differs.or(Some(key.to_string()));
            }
        }
        session.commit()?;
        Ok(differs)
    })?;
    Ok(differs)
}
