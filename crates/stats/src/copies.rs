//! Copies of a store differ from each other, each in the same way in every round: so many rounds of a
//! few copies are not as good as their number.

use std::collections::BTreeMap;

/// What a figure of a series is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A round. Rounds of one run follow each other, and have something in common with the one before.
    #[default]
    Round,
    /// The mean of a run. Runs of one record are taken as independent.
    Run,
    /// The mean of a record, one of several that were measured minutes apart.
    Record,
}

/// A series of figures in the order in which they were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The figures.
    pub values: Vec<f64>,
    /// The copy that each figure was measured on; empty if there is only one copy.
    pub copies: Vec<u64>,
    /// What each figure is about.
    pub unit: Unit,
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Self { values, ..Self::default() }
    }
}

impl Values {
    /// Adds a figure of a copy.
    pub fn push(&mut self, value: f64, copy: u64) {
        self.values.push(value);
        self.copies.push(copy);
    }
}

/// Returns the variance of the mean `all` of `logs` and its degrees of freedom, as the `copies`
/// that they were measured on show it, taken as a random choice of all possible ones: the mean
/// square between groups of a one-way analysis of variance (R. A. Fisher, "Statistical Methods for
/// Research Workers", 1925), divided by the number of values. Returns `None` without several
/// copies.
pub(crate) fn between(logs: &[f64], copies: &[u64], all: f64) -> Option<(f64, f64)> {
    let mut groups = BTreeMap::<u64, Vec<f64>>::new();
    for (log, copy) in logs.iter().zip(copies) {
        groups.entry(*copy).or_default().push(*log);
    }
    let apart = |group: &Vec<f64>| {
        let (n, sum) = (group.len() as f64, group.iter().sum::<f64>());
        n * (sum / n - all).powi(2)
    };
    let between: f64 = groups.values().map(apart).sum();
    let freedom = groups.len().checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    Some((between / freedom / logs.len() as f64, freedom))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], copies: &[u64]) -> Option<(f64, f64)> {
        between(values, copies, values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Three groups of three: their means are 2, 3 and 7, the mean square between them is 21.
    #[test]
    fn agrees_with_an_analysis_of_variance_by_hand() {
        let values = [1.0, 2.0, 6.0, 2.0, 3.0, 7.0, 3.0, 4.0, 8.0];
        let (variance, freedom) =
            of(&values, &[0, 1, 2, 0, 1, 2, 0, 1, 2]).expect("there are three");
        assert!((variance - 21.0 / 9.0).abs() < 1e-12 && (freedom - 2.0).abs() < 1e-12);
    }

    #[test]
    fn one_copy_shows_nothing() {
        assert!(of(&[1.0, 2.0, 3.0], &[]).is_none());
        assert!(of(&[1.0, 2.0, 3.0], &[4, 4, 4]).is_none());
    }
}
