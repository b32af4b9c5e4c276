//! Keys drawn at random from a store that has too many to be listed with their lengths.

use std::{
    ops::ControlFlow::Break,
    thread::{self, available_parallelism},
    time::{Duration, Instant},
};

use model::{ErrorKind, Key, KeyKind, Mode, Order, Result, Scan, Session};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    Job,
    listing::{KEPT, Listing},
};
use crate::{
    Amount,
    dataset::{Dataset, Entry, Part, Use, below, check_type, derive, value_size},
    join,
};

/// The number of draws after which it is known how many integers of the range are keys.
const TRIED: u64 = 1000;
/// The smallest number of keys among them: with fewer, drawing takes longer than listing.
const FEWEST: u64 = 50;

/// Draws keys for so long: integers of the range in which keys are, of which those count that are
/// keys, so that each key has the same chance. Returns `None` if too few are, or if the store reads no keys
/// from one on.
pub(super) fn keys(
    session: &mut dyn Session,
    job: Job<'_>,
    within: Option<Duration>,
) -> Result<Option<Listing>> {
    job.progress.stage("drawing keys", None);
    session.begin(Mode::Read)?;
    let drawn = match range(session) {
        Ok(Some(range)) => drawn(session, range, job, within)?,
        // A table without an index on the key refuses to read from a key on.
        Err(error) if error.kind() != ErrorKind::Usage => return Err(error),
        _ => None,
    };
    session.commit()?;
    Ok(drawn)
}

fn drawn(
    session: &mut dyn Session,
    (first, last): (i64, i64),
    job: Job<'_>,
    within: Option<Duration>,
) -> Result<Option<Listing>> {
    let until = within.map(|within| Instant::now() + within);
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(derive(job.request.seed, Use::Sample, 2));
    let integers = last.abs_diff(first).saturating_add(1);
    let (mut lengths, mut tries) = (Vec::new(), 0_u64);
    while lengths.len() < KEPT && tries < integers {
        job.stop.check()?;
        if tries == TRIED && (lengths.len() as u64) < FEWEST {
            return Ok(None);
        }
        if tries > TRIED && until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        tries += 1;
        let key = first.wrapping_add_unsigned(below(random, integers));
        if let Some(length) = session.length(Key::Int(key))? {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            lengths.push((key, value_size(Key::Int(key), length)?));
        }
    }
    let all = estimated(integers, tries, &lengths);
    lengths.sort_unstable();
    lengths.dedup();
    let mut dataset = Dataset::new(KeyKind::Integers);
    for (key, length) in lengths {
        dataset.push_sized(Key::Int(key), length)?;
    }
    Ok(Some(Listing { dataset, all, took: Duration::ZERO, is_drawn: true, largest: None }))
}

/// Asks for the lengths of all listed keys, on each processor those of a part in their order, in which files
/// are often next to each other on the device. Leaves out keys that were removed since.
pub(super) fn all_lengths<'s>(
    session: &(dyn Fn() -> Result<Box<dyn Session + 's>> + Sync),
    listing: &Listing,
    job: Job<'_>,
) -> Result<Listing> {
    job.progress.stage("asking for lengths", None);
    let (listed, stop) = (&listing.dataset, job.stop);
    let ask = &|part: &[Entry]| {
        let mut session = session()?;
        let size = |entry: &Entry| {
            stop.check()?;
            let key = listed.key(entry);
            let size = |length| value_size(key, usize::try_from(length).unwrap_or(usize::MAX));
            session.length(key)?.map(size).transpose()
        };
        part.iter().map(size).collect::<Result<Vec<_>>>()
    };
    let processors = available_parallelism().map_or(1, usize::from);
    let parts = listed.entries().chunks(listed.entries().len().div_ceil(processors).max(1));
    let sizes = thread::scope(|scope| {
        let asking: Vec<_> = parts.map(|part| scope.spawn(move || ask(part))).collect();
        asking.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    let mut dataset = Dataset::new(listed.keys());
    for (entry, size) in listed.entries().iter().zip(sizes.into_iter().flatten()) {
        size.map_or(Ok(()), |size| dataset.push_sized(listed.key(entry), size))?;
    }
    let all = Amount { count: dataset.entries().len() as u64, bytes: dataset.summary().bytes };
    Ok(Listing { dataset, all, took: listing.took, is_drawn: false, largest: None })
}

/// Asks for the lengths of listed keys for so long, in a random order, and leaves out the others.
pub(super) fn lengths(
    session: &mut dyn Session,
    Listing { mut dataset, mut all, took, .. }: Listing,
    job: Job<'_>,
    within: Option<Duration>,
) -> Result<Listing> {
    job.progress.stage("asking for lengths", None);
    let until = within.map(|within| Instant::now() + within);
    let seed = derive(job.request.seed, Use::Sample, 3);
    dataset.arrange(Order::Permutation, None, Part::ALL, seed);
    let mut asked = 0;
    // A key that was removed since then is one without bytes, and is noticed when it is read.
    while asked < dataset.entries().len()
        && (asked < FEWEST_LENGTHS || until.is_none_or(|until| Instant::now() < until))
    {
        job.stop.check()?;
        let key = dataset.key(&dataset.entries()[asked]);
        let length = session.length(key)?.unwrap_or(0);
        let size = value_size(key, usize::try_from(length).unwrap_or(usize::MAX))?;
        dataset.note_size(asked, size);
        asked += 1;
    }
    let is_drawn = asked < dataset.entries().len();
    dataset.truncate(asked);
    dataset.arrange(Order::Asc, None, Part::ALL, 0);
    let bytes = u128::from(dataset.summary().bytes) * u128::from(all.count);
    all.bytes = u64::try_from(bytes / asked.max(1) as u128).unwrap_or(u64::MAX);
    Ok(Listing { dataset, all, took, is_drawn, largest: None })
}

/// The smallest number of keys whose lengths are asked for, however long that takes.
const FEWEST_LENGTHS: usize = 1000;

/// Estimates how much there is if `tries` tries among the integers found these keys and lengths.
fn estimated(integers: u64, tries: u64, found: &[(i64, u32)]) -> Amount {
    let whole = |part: u64| {
        let whole = u128::from(part) * u128::from(integers) / u128::from(tries.max(1));
        u64::try_from(whole).unwrap_or(u64::MAX)
    };
    let bytes = found.iter().map(|(_, length)| u64::from(*length)).sum();
    Amount { count: whole(found.len() as u64), bytes: whole(bytes) }
}

/// Returns the first and the last key; `None` if there is none.
fn range(session: &mut dyn Session) -> Result<Option<(i64, i64)>> {
    let Some(first) = next(session, i64::MIN)? else { return Ok(None) };
    // The last key is at `low` or behind it, and before `high`.
    let (mut low, mut high, mut step) = (first, None::<i64>, 1_i64);
    while high.is_none_or(|high| low < high - 1) {
        let middle = match high {
            Some(high) => low.midpoint(high),
            None => low.saturating_add(step),
        };
        match next(session, middle)? {
            Some(key) => low = key,
            None => high = Some(middle),
        }
        if low == i64::MAX {
            break;
        }
        step = step.saturating_mul(2);
    }
    Ok(Some((first, low)))
}

/// Returns the first key that is not below `from`; `None` if there is none.
fn next(session: &mut dyn Session, from: i64) -> Result<Option<i64>> {
    let mut found = None;
    let scan = Scan { from: Some(Key::Int(from)), limit: 1, ..Scan::LENGTHS };
    session.scan(scan, &mut |item| {
        check_type(&item)?;
        if let Key::Int(key) = item.key {
            found = Some(key);
        }
        Ok(Break(()))
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{Error, Item, Put, Rounds, Visitor};

    use super::*;
    use crate::{Data, Request, Silent, Stop};

    /// Keys with the lengths of their values.
    struct Keys(BTreeMap<i64, u64>);

    impl Session for Keys {
        fn get(&mut self, key: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
            let Key::Int(key) = key else { return Ok(None) };
            Ok(self.0.get(&key).map(|length| usize::try_from(*length).unwrap()))
        }

        fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
            Ok(false)
        }

        fn delete(&mut self, _: Key<'_>) -> Result<bool> {
            Ok(false)
        }

        fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
            let Some(Key::Int(from)) = scan.from else { return Ok(()) };
            if self.0.is_empty() {
                return Err(Error::usage("it has no index"));
            }
            for (key, length) in self.0.range(from..) {
                let item = Item::new(Key::Int(*key), &[], None).with_length(*length);
                if visit(item)?.is_break() {
                    break;
                }
            }
            Ok(())
        }
    }

    fn keys(keys: impl IntoIterator<Item = i64>) -> Keys {
        Keys(keys.into_iter().map(|key| (key, key.unsigned_abs() % 100)).collect())
    }

    /// Returns the listing of keys without their lengths.
    fn listed(dataset: Dataset, all: Amount) -> Listing {
        Listing { dataset, all, took: Duration::ZERO, is_drawn: false, largest: Some(0) }
    }

    /// Calls `draw` with a job that reads.
    fn with_job<T>(draw: impl FnOnce(Job<'_>) -> T) -> T {
        let rounds = Rounds::within(1.0);
        let request = Request::reading(Data::Targets, Vec::new(), rounds, 1);
        let part = request.blobs().unwrap();
        let stop = Stop::new();
        draw(Job::new(&request, part, &Silent, &stop))
    }

    fn drawn(session: &mut Keys) -> Option<Listing> {
        with_job(|job| super::keys(session, job, Some(Duration::from_millis(200))).unwrap())
    }

    #[test]
    fn lengths_are_asked_for_in_the_time_that_there_is() {
        let session = &mut keys(0..10_000);
        let truth: u64 = session.0.values().sum();
        for (within, asked) in [(None, 10_000), (Some(Duration::ZERO), FEWEST_LENGTHS)] {
            let mut dataset = Dataset::new(KeyKind::Integers);
            for key in session.0.keys() {
                dataset.push_sized(Key::Int(*key), 0).unwrap();
            }
            let all = Amount { count: 10_000, bytes: 0 };
            let listing = listed(dataset, all);
            let drawn = with_job(|job| lengths(session, listing, job, within)).unwrap();
            let entries = drawn.dataset.entries();
            assert_eq!((entries.len(), drawn.all.count), (asked, 10_000));
            assert_eq!((drawn.is_drawn, drawn.largest), (asked < 10_000, None));
            let key = |place: usize| drawn.dataset.key(&entries[place]);
            assert!((1..entries.len()).all(|place| key(place - 1) < key(place)), "in key order");
            let ratio = drawn.all.bytes as f64 / truth as f64;
            assert!((ratio - 1.0).abs() < if within.is_none() { 1e-9 } else { 0.1 }, "{ratio}");
        }
    }

    #[test]
    fn all_lengths_are_those_of_the_keys_that_are_still_there() {
        let mut dataset = Dataset::new(KeyKind::Integers);
        (0..300).for_each(|key| dataset.push_sized(Key::Int(key), 0).unwrap());
        let all = Amount { count: 300, bytes: 0 };
        let listing = listed(dataset, all);
        let session = || Ok(Box::new(keys(100..300)) as Box<dyn Session>);
        let found = with_job(|job| all_lengths(&session, &listing, job)).unwrap();
        assert!(found.is_whole() && !found.is_drawn);
        assert_eq!((found.all.count, found.all.bytes), (200, keys(100..300).0.values().sum()));
        assert_eq!(found.dataset.summary().bytes, found.all.bytes);
    }

    #[test]
    fn the_first_and_the_last_key_are_found() {
        for (first, last) in [(1, 1), (1, 2), (-7, 1_000), (i64::MIN, i64::MAX), (5, i64::MAX)] {
            let found = range(&mut keys([first, last, first.midpoint(last)])).unwrap();
            assert_eq!(found, Some((first, last)));
        }
        let mut without_index = keys([]);
        assert!(range(&mut without_index).is_err());
        assert!(drawn(&mut without_index).is_none());
    }

    #[test]
    fn keys_are_drawn_with_equal_chances_and_counted() {
        // Two of three integers are keys, the first half less densely.
        let all = (0..100_000).filter(|key| key % 4 != 3 && (*key > 50_000 || key % 2 == 0));
        let mut session = keys(all);
        let listing = drawn(&mut session).unwrap();
        let (count, truth) = (listing.all.count as f64, session.0.len() as f64);
        assert!((count / truth - 1.0).abs() < 0.05, "{count} of {truth}");
        let entries = listing.dataset.entries();
        let key = |place: usize| listing.dataset.key(&entries[place]);
        assert!((1..entries.len()).all(|place| key(place - 1) < key(place)), "in key order");
        let low = (0..entries.len()).filter(|place| key(*place) <= Key::Int(50_000)).count();
        let share = low as f64 / entries.len() as f64;
        let truth = session.0.range(..=50_000).count() as f64 / truth;
        assert!((share - truth).abs() < 0.05, "{share} {truth}");
    }

    #[test]
    fn keys_that_are_far_apart_are_not_drawn() {
        assert!(drawn(&mut keys((0..1000).map(|key| key << 20))).is_none());
        assert!(drawn(&mut keys([])).is_none());
    }
}
