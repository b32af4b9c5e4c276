//! Stalls are found where they were, and named after what went on meanwhile.

use model::{Cache, Case, Chore, Longest, OverTime, Sample, Slice, record::Record};
use storemark_report::{Stall, Timeline, timelines};

use crate::made::{record, sample};

const MS: u64 = 1_000_000;
const CASE: Case = Case { workload: 0, cache: Cache::Warm };

/// Slices of operations of which the longest took as many milliseconds, and ended with its slice.
fn over(longest_ms: &[u64]) -> OverTime {
    let slice = |(index, ms): (u64, &u64)| {
        let longest =
            Longest { max_ns: ms * MS, max_end_ns: (index + 1) * 100 * MS, max_commits: false };
        Slice { operations: u64::from(*ms > 0) * 500, p99_ns: ms * MS, longest }
    };
    let slices = (0..).zip(longest_ms).map(slice).collect();
    OverTime { slice_ns: 100 * MS, slices, chores: Vec::new() }
}

pub(crate) fn with(over_time: OverTime) -> Sample {
    let mut sample = sample(0, 0, 4000);
    sample.latency.wall_ns = over_time.slices.len() as u64 * 100 * MS;
    Sample { over_time: Some(over_time), ..sample }
}

fn line(over_time: OverTime) -> Timeline {
    let mut record: Record = record(&["files"]);
    record.samples.push(with(over_time));
    timelines(&record, CASE, 0).remove(0)
}

fn stalls(over_time: OverTime) -> Vec<(f64, f64, Option<String>)> {
    let told = |stall: Stall| (stall.start_ms, stall.length_ms, stall.cause);
    line(over_time).stalls.into_iter().map(told).collect()
}

fn chore(name: &str, start_ms: u64, end_ms: u64) -> Chore {
    Chore { name: name.to_owned(), start_ns: start_ms * MS, end_ns: end_ms * MS }
}

#[test]
fn a_stall_is_ten_times_as_long_as_the_longest_of_an_ordinary_slice() {
    assert_eq!(stalls(over(&[2, 2, 2, 20, 2])), [(380.0, 20.0, None)]);
    assert_eq!(stalls(over(&[2, 2, 2, 19, 2])), []);
    // Ten times next to nothing is not much.
    assert_eq!(stalls(over(&[0, 1, 1, 9, 1])), []);
    assert_eq!(stalls(over(&[1, 1, 1, 10, 1])), [(390.0, 10.0, None)]);
    // Where most slices hold one, it is the ordinary course.
    assert_eq!(stalls(over(&[30, 2, 30, 2, 30])), []);
}

#[test]
fn nothing_ends_in_the_slices_that_a_stall_fills() {
    assert_eq!(stalls(over(&[1, 0, 0, 0, 0, 0, 0, 550])), [(250.0, 550.0, None)]);
    assert_eq!(stalls(over(&[])), []);
    assert_eq!(stalls(over(&[500])), [], "one alone has nothing to stand out of");
}

#[test]
fn stalls_of_several_workers_that_overlap_are_one() {
    assert_eq!(stalls(over(&[1, 1, 1, 1, 150, 250, 1, 1])), [(350.0, 250.0, None)]);
    assert_eq!(stalls(over(&[1, 1, 1, 90, 90, 1, 1])), [(310.0, 90.0, None), (410.0, 90.0, None)]);
}

#[test]
fn a_stall_has_the_name_of_the_chore_that_fills_half_of_it() {
    let mut over = over(&[1, 1, 1, 1, 1, 0, 200, 1]);
    assert_eq!(stalls(over.clone())[0].2, None);
    over.slices[6].longest.max_commits = true;
    assert_eq!(stalls(over.clone())[0].2.as_deref(), Some("commit"));
    over.chores = vec![chore("flush", 0, 599), chore("checkpoint", 650, 700)];
    assert_eq!(stalls(over.clone())[0].2.as_deref(), Some("commit"), "neither does");
    over.chores.push(chore("checkpoint", 500, 560));
    assert_eq!(stalls(over)[0].2.as_deref(), Some("checkpoint"));
}

#[test]
fn a_line_tells_rates_percentiles_and_chores() {
    let mut over = over(&[1, 0, 3]);
    over.chores = vec![chore("checkpoint", 10, 30), chore("checkpoint", 50, 55)];
    let mut sample = with(over);
    sample.latency.wall_ns = 250 * MS;
    let mut record = record(&["files"]);
    record.samples.push(sample);
    let line = timelines(&record, CASE, 0).remove(0);
    let told: Vec<_> =
        line.points.iter().map(|p| (p.start_ms, p.whole, p.per_second, p.p99_us)).collect();
    assert_eq!(
        told,
        [
            (0.0, true, 5000.0, Some(1000.0)),
            (100.0, true, 0.0, None),
            (200.0, false, 10_000.0, Some(3000.0))
        ]
    );
    assert_eq!((line.chores["checkpoint"].count, line.chores["checkpoint"].total_ms), (2, 25.0));
    assert!((line.wall_ms - 250.0).abs() < 1e-9);
}
