//! Compares what a store holds with the commits that were acknowledged.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use model::Durability;
use serde::Serialize;

use super::history::{History, Number, name};

/// The keys that a commit may have changed are compared up to this many commits after the last
/// acknowledged one: the one that was under way.
const UNDER_WAY: Number = 1;

/// What a store holds of the commits made to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CommitsFound {
    /// The first thing that breaks the promise of the store's class; `None` if nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The number of acknowledged commits.
    pub acked: u64,
    /// The number of acknowledged commits that are not in the store.
    pub lost: u64,
    /// The number of values that are whole but of no version of their key.
    pub wrong: u64,
    /// The number of values of which only a part is right.
    pub torn: u64,
    /// The number of deleted values that came back.
    pub returned: u64,
    /// Whether the store could be opened and read.
    pub opened: bool,
    /// The repair that was needed, and what it saved; `None` if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repaired: Option<String>,
}

impl CommitsFound {
    /// Creates the result for a store that cannot be opened or read.
    pub fn unopened(acknowledged: Number) -> Self {
        Self { acked: acknowledged, lost: acknowledged, ..Self::default() }
    }
}

/// The state of a key in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The value of this commit.
    Version(Number),
    /// A value of which only a part is that of a commit.
    Torn,
    /// Another value.
    Wrong,
}

/// The promise of a store whose power was cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    pub(super) class: Durability,
    /// Whether a batch is stored as a whole or not at all, in the order of commits.
    pub(super) atomic: bool,
    /// Whether the system lives on, so that nothing is lost that the process handed to it.
    pub(super) killed: bool,
    /// The number of commits that were in the store, closed and flushed, before the first one.
    pub(super) before: Number,
    /// The last acknowledged commit.
    pub(super) acknowledged: Number,
}

impl Promise {
    /// Returns whether acknowledged commits may not be lost.
    fn keeps_all(&self) -> bool {
        self.class == Durability::Durable || self.class == Durability::Consistent && self.killed
    }

    fn last(&self) -> Number {
        self.acknowledged + UNDER_WAY
    }
}

/// Returns which version of `key` the `value` is.
pub(super) fn recognise(history: &History, key: u64, value: &[u8], last: Number) -> Seen {
    /// The unit in which parts of values are compared.
    const PART: usize = 64;
    let versions = || {
        let versions = history.versions(key, last);
        versions.filter_map(|(number, length)| Some((number, length?)))
    };
    let mut as_long = versions().filter(|(_, length)| *length == value.len());
    let same = as_long.find(|(number, length)| history.value(key, *number, *length) == value);
    if let Some((number, _)) = same {
        return Seen::Version(number);
    }
    let is_part = |(number, length)| {
        let expected = history.value(key, number, length);
        expected.chunks(PART).zip(value.chunks(PART)).any(|(one, other)| one == other)
    };
    let partly = value.iter().all(|byte| *byte == 0) || versions().any(is_part);
    if partly { Seen::Torn } else { Seen::Wrong }
}

/// Compares the keys that a store has with the commits.
pub(super) fn judge(
    history: &History,
    seen: &BTreeMap<u64, Seen>,
    promise: Promise,
) -> CommitsFound {
    let count = |wanted| seen.values().filter(|state| **state == wanted).count() as u64;
    let mut found = CommitsFound {
        acked: promise.acknowledged,
        wrong: count(Seen::Wrong),
        torn: count(Seen::Torn),
        returned: returned(history, seen, promise.acknowledged),
        opened: true,
        ..CommitsFound::default()
    };
    let moment = promise.atomic.then(|| moment(history, seen, promise.last())).flatten();
    let missing = match moment {
        Some(moment) => (moment + 1..=promise.acknowledged).collect(),
        None => missing(history, seen, 1..=promise.acknowledged),
    };
    found.lost = missing.len() as u64;
    if promise.class != Durability::None {
        found.reason = reason(history, seen, promise, &found, moment, missing.first().copied());
    }
    found
}

/// Returns the first thing that breaks the promise, in words.
fn reason(
    history: &History,
    seen: &BTreeMap<u64, Seen>,
    promise: Promise,
    found: &CommitsFound,
    moment: Option<Number>,
    missing: Option<Number>,
) -> Option<String> {
    let damaged = seen.iter().find(|(_, state)| !matches!(state, Seen::Version(_)));
    if let Some((key, state)) = damaged {
        let how = if *state == Seen::Torn { "torn" } else { "of no commit" };
        return Some(format!("the value of key {} is {how}", name(*key)));
    }
    if promise.atomic && moment.is_none() {
        return Some(out_of_order(history, seen));
    }
    let commit = missing.filter(|first| promise.keeps_all() || *first <= promise.before)?;
    let count = match found.lost {
        1 => "1 acknowledged commit is lost".to_owned(),
        more => format!("{more} acknowledged commits are lost"),
    };
    Some(format!("{count}, the first is {commit} of {}", promise.acknowledged))
}

/// Returns the last commit after which a store has exactly this state; `None` if it never had it.
fn moment(history: &History, seen: &BTreeMap<u64, Seen>, last: Number) -> Option<Number> {
    (0..=last).rev().find(|moment| differing(history, seen, *moment).is_none())
}

/// Returns a key that is not as commit `moment` left it.
fn differing(history: &History, seen: &BTreeMap<u64, Seen>, moment: Number) -> Option<u64> {
    keys(history, seen, moment).find(|key| {
        let latest = history.versions(*key, moment).next();
        let expected = latest.filter(|(_, length)| length.is_some());
        let expected = expected.map(|(number, _)| Seen::Version(number));
        seen.get(key).copied() != expected
    })
}

/// Returns the keys of a store and of the commits up to `last`.
fn keys(history: &History, seen: &BTreeMap<u64, Seen>, last: Number) -> impl Iterator<Item = u64> {
    let changed = (1..=last).flat_map(|number| history.changes(number)).map(|change| change.key);
    changed.chain(seen.keys().copied()).collect::<BTreeSet<_>>().into_iter()
}

/// Describes a state that the store had at no moment.
fn out_of_order(history: &History, seen: &BTreeMap<u64, Seen>) -> String {
    let version = |(key, state): (&u64, &Seen)| match state {
        Seen::Version(number) => Some((*number, *key)),
        Seen::Torn | Seen::Wrong => None,
    };
    // An empty store is as it was at the start.
    let (moment, with) = seen.iter().filter_map(version).max().unwrap_or_default();
    let without = differing(history, seen, moment).unwrap_or(with);
    let lacks = history.versions(without, moment).next().map_or(0, |(number, _)| number);
    let (with, without) = (name(with), name(without));
    format!("commit {moment} is there (key {with}), but not all of commit {lacks} (key {without})")
}

/// Returns the commits among `commits` that are not in the store, of which a key is older.
fn missing(
    history: &History,
    seen: &BTreeMap<u64, Seen>,
    commits: RangeInclusive<Number>,
) -> Vec<Number> {
    let last = commits.end() + UNDER_WAY;
    let is_missing = |number: &Number| {
        history.changes(*number).iter().any(|change| age(history, seen, change.key, last) < *number)
    };
    commits.filter(is_missing).collect()
}

/// Returns the latest commit that may have left the key as it is. A damaged value is that of no commit.
fn age(history: &History, seen: &BTreeMap<u64, Seen>, key: u64, last: Number) -> Number {
    match seen.get(&key) {
        Some(Seen::Version(number)) => *number,
        Some(_) => 0,
        None => {
            let mut deleted = history.versions(key, last).filter(|(_, length)| length.is_none());
            deleted.next().map_or(0, |(number, _)| number)
        }
    }
}

/// Counts the values that an acknowledged commit deleted and that are there.
fn returned(history: &History, seen: &BTreeMap<u64, Seen>, acknowledged: Number) -> u64 {
    let came_back = |(key, state): &(&u64, &Seen)| {
        let Seen::Version(version) = state else { return false };
        let mut later = history.versions(**key, acknowledged);
        later.any(|(number, length)| number > *version && length.is_none())
    };
    seen.iter().filter(came_back).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: Number = 60;

    /// Returns the keys as commit `moment` left them.
    fn state(history: &History, moment: Number) -> BTreeMap<u64, Seen> {
        let latest = |key| history.versions(key, moment).next();
        let present = (0..100).filter_map(|key| {
            let (number, length) = latest(key)?;
            length.map(|_| (key, Seen::Version(number)))
        });
        present.collect()
    }

    fn promise(class: Durability) -> Promise {
        Promise { class, atomic: true, killed: false, before: 0, acknowledged: LAST }
    }

    /// Returns a commit of several keys, none of which a commit changes afterwards.
    fn batch(history: &History) -> (Number, Vec<u64>) {
        let found = (1..=LAST).rev().find_map(|number| {
            let puts = history.changes(number).iter().filter(|change| change.length.is_some());
            let keys: Vec<_> = puts.map(|change| change.key).collect();
            let last = |key: &u64| history.versions(*key, LAST).next().map(|(last, _)| last);
            (keys.len() > 1 && keys.iter().all(|key| last(key) == Some(number)))
                .then_some((number, keys))
        });
        found.unwrap()
    }

    #[test]
    fn every_moment_is_recognised_and_what_is_lost_after_it() {
        let history = History::new(1, LAST + 1);
        for moment in 0..=LAST + 1 {
            let seen = state(&history, moment);
            let durable = judge(&history, &seen, promise(Durability::Durable));
            assert_eq!(durable.lost, LAST.saturating_sub(moment), "{moment}");
            assert_eq!(durable.reason.is_none(), moment >= LAST, "{durable:?}");
            let consistent = judge(&history, &seen, promise(Durability::Consistent));
            assert_eq!((consistent.lost, consistent.reason), (durable.lost, None));
            // Without batches, a key may be as an older commit left it as well.
            let each = Promise { atomic: false, ..promise(Durability::Durable) };
            assert!(judge(&history, &seen, each).lost <= durable.lost);
        }
    }

    #[test]
    fn a_class_decides_what_may_be_lost() {
        let history = History::new(2, LAST + 1);
        let seen = state(&history, LAST - 3);
        let reason = |promise| judge(&history, &seen, promise).reason;
        let consistent = promise(Durability::Consistent);
        assert_eq!(reason(consistent), None);
        let lost = "3 acknowledged commits are lost, the first is 58 of 60";
        assert_eq!(reason(Promise { killed: true, ..consistent }).unwrap(), lost);
        assert_eq!(reason(Promise { before: LAST - 3, ..consistent }), None);
        assert_eq!(reason(Promise { before: LAST - 2, ..consistent }).unwrap(), lost);
        assert_eq!(reason(Promise { killed: true, ..promise(Durability::None) }), None);
    }

    #[test]
    fn a_batch_in_parts_is_found_unless_nothing_is_promised() {
        let history = History::new(3, LAST + 1);
        let (number, keys) = batch(&history);
        let mut seen = state(&history, LAST);
        let before = history.versions(keys[0], number - 1).next();
        match before.filter(|(_, length)| length.is_some()) {
            Some((older, _)) => seen.insert(keys[0], Seen::Version(older)),
            None => seen.remove(&keys[0]),
        };
        let found = judge(&history, &seen, promise(Durability::Consistent));
        assert!(found.reason.unwrap().contains(&format!("but not all of commit {number} ")));
        assert_eq!(found.lost, 1);
        let each = Promise { atomic: false, ..promise(Durability::Consistent) };
        assert_eq!(judge(&history, &seen, each).reason, None);
        assert_eq!(judge(&history, &seen, promise(Durability::None)).reason, None);
    }

    #[test]
    fn a_deleted_value_that_came_back_is_counted() {
        let history = History::new(4, LAST + 1);
        let mut seen = state(&history, LAST);
        let deleted = (0..60).find_map(|key| {
            let mut versions = history.versions(key, LAST);
            let (_, None) = versions.next()? else { return None };
            versions.next().map(|(older, _)| (key, older))
        });
        let (key, older) = deleted.unwrap();
        seen.insert(key, Seen::Version(older));
        let found = judge(&history, &seen, promise(Durability::Durable));
        assert_eq!((found.returned, found.lost), (1, 1));
    }

    #[test]
    fn whole_torn_and_foreign_values_are_told_apart() {
        let history = History::new(5, LAST);
        let put = history.changes(1).iter().find_map(|change| Some((change.key, change.length?)));
        let (key, length) = put.unwrap();
        let value = history.value(key, 1, length);
        let seen = |value: &[u8]| recognise(&history, key, value, LAST);
        assert_eq!(seen(&value), Seen::Version(1));
        assert_eq!(seen(&value[..length - 1]), Seen::Torn);
        assert_eq!(seen(&vec![0; length]), Seen::Torn);
        assert_eq!(seen(&[]), Seen::Torn);
        let mut mixed = value.clone();
        mixed[length - 1] ^= 1;
        assert_eq!(seen(&mixed), Seen::Torn);
        assert_eq!(seen(&history.value(key + 1, 1, length)), Seen::Wrong);
        let found = judge(&history, &[(key, Seen::Wrong)].into(), promise(Durability::Consistent));
        assert!(found.reason.unwrap().ends_with("is of no commit"));
    }

    #[test]
    fn the_same_seed_gives_the_same_commits() {
        let (short, long) = (History::new(6, 10), History::new(6, 20));
        assert!((1..=10).all(|number| short.changes(number) == long.changes(number)));
        assert!((1..=10).any(|number| History::new(7, 10).changes(number) != long.changes(number)));
        let first = long.changes(1).first().unwrap().key;
        assert_eq!(super::super::history::key(name(first).as_bytes()), Some(first));
        assert_eq!(super::super::history::key(b"9/001"), None);
    }
}
