//! What a trial of values costs, as a short one of it showed.

use std::time::Duration;

use model::{Sample, Workload};

/// The seconds of a trial on one target in one cache state.
pub(crate) struct TrialCost {
    /// Its first pass is the one that counts.
    has_one_pass: bool,
    /// An operation of the first pass after opening.
    first: f64,
    /// An operation of the pass that counts.
    pub(crate) operation: f64,
    /// An operation without waits for a processor.
    judged: f64,
    /// The bytes of a value that it read or wrote, on average.
    bytes: f64,
    /// All that is not one of these: the cache state, opening, checking, flushing.
    pub(crate) apart: f64,
}

impl TrialCost {
    /// Returns the costs of a trial that gave `sample` in the time `took`.
    pub(crate) fn from_sample(sample: &Sample, took: Duration) -> Self {
        let per = |ns: u64, operations: u64| ns.max(1) as f64 / 1e9 / operations.max(1) as f64;
        let first = sample.first_pass();
        let passes = sample.wall_ns + first.map_or(0, |first| first.ns);
        let operation = per(sample.wall_ns, sample.operations);
        Self {
            has_one_pass: sample.cache.is_lost_by_reading(),
            first: first.map_or(operation, |first| per(first.ns, first.operations)),
            operation,
            judged: per(sample.judged_ns(), sample.operations),
            bytes: sample.bytes as f64 / sample.operations.max(1) as f64,
            apart: took.saturating_sub(Duration::from_nanos(passes)).as_secs_f64(),
        }
    }

    /// Returns the seconds of a trial of `workload` over so many `keys`, with `first` operations in
    /// its first pass.
    pub(crate) fn seconds(&self, workload: &Workload, keys: u64, first: u64) -> f64 {
        let count = workload.count;
        if self.has_one_pass {
            return self.apart + self.operation * count.min(keys) as f64;
        }
        let scheduled = workload.work.rate().map_or(0.0, |rate| count as f64 / rate);
        self.apart + self.first * first as f64 + (self.operation * count as f64).max(scheduled)
    }
}

/// The costs of a workload's trials on one target, one in each cache state.
pub(crate) type TrialCosts = Vec<TrialCost>;

/// Returns the seconds of an operation of a target in the state in which it is fastest.
pub(crate) fn fastest_operation(states: &[TrialCost]) -> f64 {
    states.iter().map(|cost| cost.judged).fold(f64::INFINITY, f64::min)
}

/// Returns the seconds of an operation, in the state in which it is fastest, on values of `mean` bytes: one
/// large value among those that were tried says little of all others.
pub(crate) fn fastest_of_size(states: &[TrialCost], mean: f64) -> f64 {
    let sized =
        |cost: &TrialCost| cost.judged * if cost.bytes > 0.0 { mean / cost.bytes } else { 1.0 };
    states.iter().map(sized).fold(f64::INFINITY, f64::min)
}

/// Returns the factor by which warm operations take longer by the wall clock, because they wait for
/// a processor.
pub(crate) fn stretched(tried: &[&TrialCosts]) -> f64 {
    let warm = || tried.iter().flat_map(|own| own.iter()).filter(|cost| !cost.has_one_pass);
    let sum = |of: fn(&TrialCost) -> f64| warm().map(of).sum::<f64>();
    sum(|cost| cost.operation) / sum(|cost| cost.judged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_a_processor_stretch_warm_operations() {
        let cost = |has_one_pass, operation, judged| TrialCost {
            has_one_pass,
            first: 0.0,
            operation,
            judged,
            bytes: 0.0,
            apart: 0.0,
        };
        let (warm, cold) = (cost(false, 3e-6, 1e-6), cost(true, 9e-3, 1e-6));
        let costs = [vec![warm, cold], vec![cost(false, 5e-6, 3e-6)]];
        let found = stretched(&costs.each_ref());
        assert!((found - 2.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn an_operation_takes_as_long_as_its_value_is_large() {
        let cost = |judged, bytes| TrialCost {
            has_one_pass: false,
            first: 0.0,
            operation: judged,
            judged,
            bytes,
            apart: 0.0,
        };
        let with_a_large_value = vec![cost(2.6e-4, 260e3)];
        assert!((fastest_of_size(&with_a_large_value, 20e3) - 2e-5).abs() < 1e-9);
        assert!((fastest_of_size(&[cost(1e-6, 0.0)], 20e3) - 1e-6).abs() < 1e-12, "no bytes");
    }
}
