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

/// Objects whose keys have the same start.
struct Part {
    start: String,
    /// The first of them.
    first: (String, u64),
}

/// Returns a page of keys from each of up to `most` parts, which are keys with the same start. `ask` lists
/// so many objects after a key, all of whose keys start with `prefix`.
pub(super) fn pages(
    prefix: &str,
    most: usize,
    ask: &dyn Fn(&str, usize) -> Result<Objects>,
) -> Result<Vec<Objects>> {
    let first = ask(prefix, 1)?.into_iter().next();
    let whole = first.map(|first| Part { start: prefix.to_owned(), first });
    let (mut parts, mut alone, mut asked) = (VecDeque::from_iter(whole), Objects::new(), 1);
    while parts.len() < most && asked < most * PROBES {
        let Some(part) = parts.pop_front() else { break };
        let split = split(part, ask, most * PROBES - asked)?;
        asked += split.asked;
        parts.extend(split.parts);
        alone.extend(split.alone);
    }
    let page = |Part { first, .. }| {
        let next = ask(&first.0, PAGE - 1)?;
        Ok([first].into_iter().chain(next).collect())
    };
    let alone = Some(alone).filter(|alone| !alone.is_empty()).map(Ok);
    alone.into_iter().chain(parts.into_iter().take(most).map(page)).collect()
}

/// The parts of a part.
#[derive(Default)]
struct Split {
    /// Those whose start is one character longer.
    parts: Vec<Part>,
    /// The object whose key is the start itself.
    alone: Option<(String, u64)>,
    /// The requests that this took.
    asked: usize,
}

/// Splits a part by `most` requests at most; what they do not reach is left out.
fn split(
    Part { start, first }: Part,
    ask: &dyn Fn(&str, usize) -> Result<Objects>,
    most: usize,
) -> Result<Split> {
    let mut split = Split::default();
    let mut next = Some(first);
    while let Some(object) = next.filter(|(key, _)| key.starts_with(&start)) {
        let after = match object.0[start.len()..].chars().next() {
            None => {
                split.alone = Some(object);
                start.clone()
            }
            Some(longer) => {
                let start = format!("{start}{longer}");
                let after = format!("{start}{LAST}");
                split.parts.push(Part { start, first: object });
                after
            }
        };
        if split.asked == most {
            break;
        }
        split.asked += 1;
        next = ask(&after, 1)?.into_iter().next();
    }
    Ok(split)
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
        assert_eq!(found, keys);
        assert!(pages("p/", 64, &lister(&BTreeSet::new())).unwrap().is_empty());
    }
}
