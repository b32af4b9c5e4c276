//! Lists of values where a run takes one: a run for each combination.

use std::collections::BTreeMap;

use super::{
    RunSpec,
    value::{Kind, Written},
};
use crate::{Error, Result};

/// More runs than anyone waits for.
const MOST: usize = 1000;

/// A run of a sweep, or the only one.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The options that vary, with their values here.
    pub varied: BTreeMap<String, String>,
    /// What is asked for here: one value where a run takes one.
    pub spec: RunSpec,
}

/// The values of an option that takes one in a run.
pub(super) trait List {
    fn len(&self) -> usize;
    /// Keeps the value at `place` alone, and returns its text.
    fn keep(&mut self, place: usize) -> String;
}

impl<K: Kind> List for Vec<Written<K>> {
    fn len(&self) -> usize {
        self.len()
    }

    fn keep(&mut self, place: usize) -> String {
        *self = vec![self.swap_remove(place)];
        self[0].to_string()
    }
}

impl RunSpec {
    /// A run for each combination of what varies, at least one.
    pub fn points(&self) -> Result<Vec<Run>> {
        let mut spec = self.clone();
        let (lists, zip) = spec.lists();
        let lists: Vec<_> =
            lists.iter().map(|(name, list)| (format!("--{name}"), list.len())).collect();
        Ok(combinations(&lists, zip)?.iter().map(|places| self.point(places)).collect())
    }

    /// The run with the values at `places` of the lists.
    fn point(&self, places: &[usize]) -> Run {
        let mut spec = self.clone();
        let keep = |((name, list), place): ((&str, &mut dyn List), &usize)| {
            (name.to_owned(), list.keep(*place))
        };
        let varied = spec.lists().0.into_iter().zip(places).map(keep).collect();
        Run { varied, spec }
    }

    /// Options that vary, and whether their lists are gone through together.
    fn lists(&mut self) -> (Vec<(&'static str, &mut dyn List)>, bool) {
        let Self::Run(spec) = self else { return (Vec::new(), false) };
        let zip = spec.ways.zip;
        let mut lists = spec.lists();
        lists.retain(|(_, list)| list.len() > 1);
        (lists, zip)
    }
}

/// Places in lists of these names and lengths: every combination, the last list the fastest, or
/// with `zip` the first of each, the second of each and so on.
pub fn combinations(lists: &[(String, usize)], zip: bool) -> Result<Vec<Vec<usize>>> {
    let shown =
        || lists.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ");
    if let Some((_, length)) = lists.first().filter(|_| zip) {
        if lists.iter().any(|(_, other)| other != length) {
            return Err(Error::usage(format!(
                "--zip: lists of one length are accepted, not {}",
                shown()
            )));
        }
        return Ok((0..*length).map(|place| vec![place; lists.len()]).collect());
    }
    let count = lists.iter().try_fold(1_usize, |all, (_, length)| all.checked_mul(*length));
    if count.is_none_or(|count| count > MOST) {
        return Err(Error::usage(format!(
            "up to {MOST} combinations are accepted; the lists have: {}",
            shown()
        )));
    }
    let all = lists.iter().fold(vec![vec![]], |all, (_, length)| {
        all.iter()
            .flat_map(|head| (0..*length).map(|place| [head.as_slice(), &[place]].concat()))
            .collect()
    });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(lengths: &[usize], zip: bool) -> Result<Vec<Vec<usize>>> {
        let lists: Vec<_> = lengths.iter().map(|length| ("x".to_owned(), *length)).collect();
        combinations(&lists, zip)
    }

    #[test]
    fn lists_are_crossed_or_zipped() {
        assert_eq!(places(&[], false).unwrap(), [[0; 0]]);
        assert_eq!(places(&[2, 2], false).unwrap(), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(places(&[2, 2], true).unwrap(), [[0, 0], [1, 1]]);
        assert!(places(&[2, 3], true).unwrap_err().to_string().contains("x 2, x 3"));
    }

    #[test]
    fn too_many_are_counted_before_they_are_made() {
        assert!(places(&[usize::MAX, usize::MAX], false).is_err());
        assert!(places(&[11, 100], false).is_err());
    }
}
