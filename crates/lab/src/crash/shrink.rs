//! Shrinks what a broken state lacks to what breaks it: anything else is kept, and the check still fails.

use std::collections::BTreeSet;

use crash::{Loss, Record};
use model::{CrashModel, Result};

use super::{checker::Checker, states::Checked};

/// The most checks that the search takes.
const MOST_CHECKS: usize = 60;

/// Returns a smaller loss with which the check still fails.
pub(super) fn shrink(checker: &Checker<'_>, record: &Record, state: &Checked) -> Result<Loss> {
    let loss = Loss::choose(record, state.cut, state.model, state.seed);
    let mut search = Shrinking { checker, record, state, checks: 0 };
    let loss = search.keep_metadata(&loss)?;
    search.keep_files(&loss)
}

struct Shrinking<'a> {
    checker: &'a Checker<'a>,
    record: &'a Record,
    state: &'a Checked,
    checks: usize,
}

impl Shrinking<'_> {
    /// Returns whether the check fails with this loss. After too many checks every loss is taken as
    /// too small.
    fn fails(&mut self, loss: &Loss) -> Result<bool> {
        self.checks += 1;
        if self.checks > MOST_CHECKS {
            return Ok(false);
        }
        let Checked { cut, model, .. } = *self.state;
        Ok(!self.checker.check_loss(self.record, cut, model, loss)?.holds)
    }

    /// Keeps as many changes of metadata as possible: all, or one half after the other. A journal
    /// loses its end, so that there the first ones are kept.
    fn keep_metadata(&mut self, loss: &Loss) -> Result<Loss> {
        let none = loss.with_metadata(BTreeSet::new());
        if loss.metadata.is_empty() || self.fails(&none)? {
            return Ok(none);
        }
        if self.state.model == CrashModel::Strict {
            self.keep_any(loss)
        } else {
            self.keep_first(loss)
        }
    }

    /// Finds the longest start of the lost operations that may be kept.
    fn keep_first(&mut self, loss: &Loss) -> Result<Loss> {
        let numbers: Vec<_> = loss.metadata.iter().copied().collect();
        let from = |kept: usize| loss.with_metadata(numbers[kept..].iter().copied().collect());
        // With `low` kept it fails, with `high` it does not.
        let (mut low, mut high) = (0, numbers.len());
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.fails(&from(middle))? { low = middle } else { high = middle }
        }
        Ok(from(low))
    }

    /// Keeps parts of the lost operations, smaller and smaller ones (delta debugging; Zeller and
    /// Hildebrandt 2002).
    fn keep_any(&mut self, loss: &Loss) -> Result<Loss> {
        let mut numbers: Vec<_> = loss.metadata.iter().copied().collect();
        let mut size = numbers.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < numbers.len() && numbers.len() > 1 {
                let end = (at + size).min(numbers.len());
                let rest: Vec<_> = numbers[..at].iter().chain(&numbers[end..]).copied().collect();
                if self.fails(&loss.with_metadata(rest.iter().copied().collect()))? {
                    numbers = rest;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
        Ok(loss.with_metadata(numbers.into_iter().collect()))
    }

    /// Keeps the data of as many files as possible.
    fn keep_files(&mut self, loss: &Loss) -> Result<Loss> {
        let all = loss.files();
        let without = loss.keeping_files(&all);
        if all.is_empty() || self.fails(&without)? {
            return Ok(without);
        }
        let mut kept = BTreeSet::new();
        for file in all {
            kept.insert(file);
            if !self.fails(&loss.keeping_files(&kept))? {
                kept.remove(&file);
            }
        }
        Ok(loss.keeping_files(&kept))
    }
}
