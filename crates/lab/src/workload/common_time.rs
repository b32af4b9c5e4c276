//! The time in which all workers of a pass worked: those of several hosts do not start and end
//! together, and what one does alone says nothing about what all do at once.

use super::{PassOutcome, WorkerReport, worker_report};

/// The time in which all workers worked, and their operations in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CommonTime {
    pub(crate) ns: u64,
    pub(crate) operations: f64,
}

/// The part of a pass that is too short to show anything, as a divisor.
const SHORT: u64 = 10;

/// Returns the time from the start of the last worker that started to the end of the first that
/// ended; 0 if there is hardly any. Operations are those of the slices in it, and a part of those
/// at its ends.
pub(crate) fn common_time(done: &[WorkerReport<PassOutcome>]) -> CommonTime {
    let start = done.iter().map(|worker| worker.start_ns).max().unwrap_or(0);
    let end = done.iter().map(|worker| worker.end_ns).min().unwrap_or(0);
    let ns = end.saturating_sub(start);
    let operations = done.iter().map(|worker| share(worker, start, end) * worker.operations as f64);
    let operations = operations.sum::<f64>();
    let hardly = ns <= worker_report::passed(done).wall_ns / SHORT || operations < 1.0;
    if hardly { CommonTime::default() } else { CommonTime { ns, operations } }
}

/// Returns the share of a worker's operations from `start` to `end`.
fn share(worker: &WorkerReport<PassOutcome>, start: u64, end: u64) -> f64 {
    let slices = worker.outcome.latencies.as_ref().map(|latencies| &latencies.slices);
    let noted = slices.and_then(|slices| {
        let until = |at| slices.until(at, (worker.start_ns, worker.end_ns));
        let all = until(worker.end_ns);
        (all > 0.0).then(|| (until(end) - until(start)) / all)
    });
    let evenly =
        || end.saturating_sub(start) as f64 / (worker.end_ns - worker.start_ns).max(1) as f64;
    noted.unwrap_or_else(evenly).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Tally;

    fn worker(start_ns: u64, end_ns: u64, operations: u64) -> WorkerReport<PassOutcome> {
        let outcome =
            PassOutcome { tally: Tally::default(), latencies: None, background: Vec::new() };
        let (process, waited_ns, counters) = (0, None, Vec::new());
        WorkerReport { process, operations, start_ns, end_ns, waited_ns, counters, outcome }
    }

    #[test]
    fn only_the_time_in_which_all_worked_counts() {
        let common = common_time(&[worker(0, 1000, 100), worker(500, 2500, 400)]);
        // The half of the first, and a quarter of the second.
        assert_eq!(common, CommonTime { ns: 500, operations: 150.0 });
    }

    #[test]
    fn there_is_none_where_one_ended_before_another_started() {
        let apart = [worker(0, 1000, 100), worker(1000, 2000, 100)];
        assert_eq!(common_time(&apart), CommonTime::default());
        let hardly = [worker(0, 1000, 100), worker(990, 2000, 100)];
        assert_eq!(common_time(&hardly), CommonTime::default());
        assert_eq!(common_time(&[worker(5, 5, 0)]).ns, 0);
        assert_eq!(common_time(&[]).ns, 0);
    }
}
