//! Pages of keys from many parts of a store that has too many keys to list all.

use std::collections::VecDeque;

use model::Result;

/// The objects of a page: their keys and lengths.
pub(super) type Objects = Vec<(String, u64)>;

/// The most requests that finding a part takes.
const PROBES: usize = 3;
/// The most keys of a page.
const PAGE: usize = 1000;
/// A character behind all others.
const LAST: char = char::MAX;

/// Returns a page of keys from each of up to `most` parts, which are keys with the same start. `ask` lists
/// so many objects after a key, all of whose keys start with `prefix`.
pub(super) fn pages(
    prefix: &str,
    most: usize,
    ask: &dyn Fn(&str, usize) -> Result<Objects>,
) -> Result<Vec<Objects>> {
    let (mut parts, mut asked) = (VecDeque::from([prefix.to_owned()]), 0);
    while parts.len() < most && asked < most * PROBES {
        let Some(part) = parts.pop_front() else { break };
        let (next, probes) = split(&part, ask, most * PROBES - asked)?;
        asked += probes;
        parts.extend(next);
    }
    let pages = parts.iter().take(most).map(|part| ask(part, PAGE));
    pages.filter(|page| !matches!(page, Ok(page) if page.is_empty())).collect()
}

/// Returns the starts of keys that are one character longer than `part`, with the number of requests
/// that this took, at most `most`.
fn split(
    part: &str,
    ask: &dyn Fn(&str, usize) -> Result<Objects>,
    most: usize,
) -> Result<(Vec<String>, usize)> {
    let (mut found, mut after) = (Vec::new(), part.to_owned());
    for asked in 1..=most {
        let first = ask(&after, 1)?.into_iter().next();
        let rest = first.as_ref().and_then(|(key, _)| key.strip_prefix(part));
        let Some(next) = rest.and_then(|rest| rest.chars().next()) else {
            return Ok((found, asked));
        };
        let start = format!("{part}{next}");
        after = format!("{start}{LAST}");
        found.push(start);
    }
    Ok((found, most))
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::BTreeSet, ops::Bound};

    use super::*;

    /// Lists keys as a service does.
    fn lister(keys: &BTreeSet<String>) -> impl Fn(&str, usize) -> Result<Objects> + '_ {
        move |after, most| {
            let range = (Bound::Excluded(after.to_owned()), Bound::Unbounded);
            Ok(keys.range(range).take(most).map(|key| (key.clone(), 1)).collect())
        }
    }

    #[test]
    fn pages_are_from_all_over_the_store() {
        let keys: BTreeSet<_> = (0..100_000).map(|n| format!("p/2026/{n:05}.jpg")).collect();
        let (list, requests) = (lister(&keys), Cell::new(0));
        let ask = |after: &str, most| {
            requests.set(requests.get() + 1);
            list(after, most)
        };
        let pages = pages("p/", 64, &ask).unwrap();
        assert!(requests.get() <= 64 * (PROBES + 1), "{}", requests.get());
        let tenth = |key: &str| key.as_bytes()["p/2026/".len()] - b'0';
        let seen: BTreeSet<_> = pages.iter().flatten().map(|(key, _)| tenth(key)).collect();
        assert_eq!(seen.len(), 10, "{seen:?}");
    }

    #[test]
    fn few_keys_are_all_found() {
        let keys = BTreeSet::from(["p/a", "p/ab", "p/b/c", "p/\u{e9}"].map(str::to_owned));
        let found = pages("p/", 64, &lister(&keys)).unwrap();
        let found: BTreeSet<_> = found.into_iter().flatten().map(|(key, _)| key).collect();
        assert!(found.is_subset(&keys) && found.contains("p/b/c"), "{found:?}");
        assert!(pages("p/", 64, &lister(&BTreeSet::new())).unwrap().is_empty());
    }
}
