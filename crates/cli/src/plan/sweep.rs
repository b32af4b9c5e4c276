//! Lists of values where a run takes one: a run for each combination.

use std::{collections::BTreeMap, ffi::OsString};

use model::{Error, Result};

use super::{
    Asked,
    options::{self, Takes},
};

/// More runs than anyone waits for.
const MOST: usize = 1000;

/// The runs of `asked`: what varies in each, and all that is asked for in it. One where nothing
/// varies.
pub(super) fn points(asked: &Asked) -> Result<Vec<(BTreeMap<String, String>, Asked)>> {
    let command = options::strict();
    let is_list = |name: &str, values: &[OsString]| {
        let arg = options::find(&command, name);
        values.len() > 1 && arg.is_some_and(|arg| options::takes(arg) == Takes::Swept)
    };
    let lists: Vec<_> = asked.0.iter().filter(|(name, values)| is_list(name, values)).collect();
    let named: Vec<_> =
        lists.iter().map(|(name, values)| (format!("--{name}"), values.len())).collect();
    let point = |places: Vec<usize>| {
        let (mut varied, mut point) = (BTreeMap::new(), asked.clone());
        for ((name, values), place) in lists.iter().zip(places) {
            varied.insert((*name).clone(), values[place].display().to_string());
            point.set(name, vec![values[place].clone()]);
        }
        (varied, point)
    };
    Ok(combinations(&named, asked.get("zip").is_some())?.into_iter().map(point).collect())
}

/// Places in lists of these names and lengths: every combination, the last list the fastest, or
/// with `zip` the first of each, the second of each and so on.
pub(crate) fn combinations(lists: &[(String, usize)], zip: bool) -> Result<Vec<Vec<usize>>> {
    let told =
        || lists.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ");
    if let Some((_, length)) = lists.first().filter(|_| zip) {
        if lists.iter().any(|(_, other)| other != length) {
            let told = told();
            return Err(Error::usage(format!(
                "--zip: lists of one length are accepted, not {told}"
            )));
        }
        return Ok((0..*length).map(|place| vec![place; lists.len()]).collect());
    }
    let count = lists.iter().try_fold(1_usize, |all, (_, length)| all.checked_mul(*length));
    if count.is_none_or(|count| count > MOST) {
        return Err(Error::usage(format!(
            "up to {MOST} combinations are accepted; the lists have: {}",
            told()
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
