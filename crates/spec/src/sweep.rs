//! Sweeps: a run for each combination of the values in lists where a run takes one value.

use std::collections::BTreeMap;

use model::{Error, Result};

use crate::run_spec::{RunSpec, text};

/// The greatest number of runs that is accepted: more take longer than anyone waits.
const MOST: usize = 1000;

/// A run of a sweep, or the only one.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The options that vary, with their values in this run.
    pub varied: BTreeMap<String, String>,
    /// The options of this run, with one value where a run takes one.
    pub spec: RunSpec,
}

/// The options that take one value in a run: a list of values makes a sweep.
const SWEPT: &str = "batch bytes count durability image-size keys max-id memory processes \
    rounds seed size start threads variance";

impl RunSpec {
    /// Returns a run for each combination of the options that vary, at least one.
    ///
    /// # Errors
    ///
    /// Fails if there are too many combinations, or lists of different lengths with `--zip`.
    pub fn points(&self) -> Result<Vec<Run>> {
        let given = self.given_options();
        let list = |name: &'static str| Some((name, given.get(name)?.as_array()?));
        let lists: Vec<_> =
            SWEPT.split(' ').filter_map(list).filter(|(_, values)| values.len() > 1).collect();
        let (Self::Run(blobs), [_, ..]) = (self, lists.as_slice()) else {
            return Ok(vec![Run { varied: BTreeMap::new(), spec: self.clone() }]);
        };
        let options = self.options()?;
        let point = |places: Vec<usize>| {
            let (mut varied, mut options) = (BTreeMap::new(), options.clone());
            for ((name, values), place) in lists.iter().zip(places) {
                varied.insert((*name).to_owned(), text(&values[place]));
                options.insert((*name).to_owned(), values[place].clone());
            }
            Ok(Run { varied, spec: Self::from_options(self.command(), &options)? })
        };
        let lengths: Vec<_> =
            lists.iter().map(|(name, values)| (format!("--{name}"), values.len())).collect();
        combinations(&lengths, blobs.ways.zip)?.into_iter().map(point).collect()
    }
}

/// Returns indices into lists of these names and lengths: every combination, with the last list
/// varying fastest, or with `zip` the first of each, the second of each and so on.
///
/// # Errors
///
/// Fails if there are too many combinations, or lists of different lengths with `zip`.
pub fn combinations(lists: &[(String, usize)], zip: bool) -> Result<Vec<Vec<usize>>> {
    let shown =
        || lists.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ");
    let zipped = lists.first().filter(|_| zip).map(|(_, length)| *length);
    if zipped.is_some_and(|length| lists.iter().any(|(_, other)| *other != length)) {
        return Err(Error::usage(format!(
            "--zip: lists of one length are accepted, not {}",
            shown()
        )));
    }
    let product = || lists.iter().try_fold(1_usize, |all, (_, length)| all.checked_mul(*length));
    if zipped.or_else(product).is_none_or(|count| count > MOST) {
        return Err(Error::usage(format!(
            "up to {MOST} combinations are accepted; the lists have: {}",
            shown()
        )));
    }
    if let Some(length) = zipped {
        return Ok((0..length).map(|place| vec![place; lists.len()]).collect());
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
        assert!(places(&[1001, 1001], true).is_err());
    }
}
