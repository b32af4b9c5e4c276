//! Stalls are found where they were, and named after what went on meanwhile.

use checks::{MergedFinding, Stall, Timeline, all_findings, figures, timelines};
use model::{
    BackgroundWork, Cache, Case, FindingKind, Longest, OverTime, Residency, Sample, Slice,
    record::Record,
};
use storemark_report::pages::Detail;

use crate::fixture::{page, passes, record, sample};

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
    OverTime { slice_ns: 100 * MS, slices, background_work: Vec::new() }
}

pub(crate) fn with(over_time: OverTime) -> Sample {
    let mut sample = sample(0, 0, 4000);
    passes(&mut sample).latency.wall_ns = over_time.slices.len() as u64 * 100 * MS;
    passes(&mut sample).over_time = Some(over_time);
    sample
}

fn over_time_page(record: &Record) -> String {
    page(record, 80, Detail { over_time: true, all: true, ..Detail::default() })
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

fn work(name: &str, start_ms: u64, end_ms: u64) -> BackgroundWork {
    BackgroundWork { name: name.to_owned(), start_ns: start_ms * MS, end_ns: end_ms * MS }
}

#[test]
fn a_stall_is_five_times_as_long_as_the_longest_of_an_ordinary_slice() {
    assert_eq!(stalls(over(&[4, 4, 4, 20, 4])), [(380.0, 20.0, None)]);
    assert_eq!(stalls(over(&[4, 4, 4, 19, 4])), []);
    // Many times next to nothing is not much.
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
fn a_stall_has_the_name_of_the_background_work_that_fills_half_of_it() {
    let mut told = over(&[1, 1, 1, 1, 1, 0, 200, 1]);
    assert_eq!(stalls(told.clone())[0].2, None);
    told.slices[6].longest.max_commits = true;
    assert_eq!(stalls(told.clone())[0].2.as_deref(), Some("commit"));
    told.background_work = vec![work("flush", 0, 599), work("checkpoint", 650, 700)];
    assert_eq!(stalls(told.clone())[0].2.as_deref(), Some("commit"), "neither does");
    told.background_work.push(work("checkpoint", 500, 560));
    assert_eq!(stalls(told)[0].2.as_deref(), Some("checkpoint"));
}

#[test]
fn stalls_that_fill_a_twentieth_of_the_passes_are_a_remark() {
    let doubts = |longest_ms: &[u64]| {
        let mut record = record(&["files"]);
        record.samples.push(with(over(longest_ms)));
        let findings = all_findings(std::slice::from_ref(&record), &[figures(&record)]);
        let stalled = |finding: MergedFinding| match finding.kind {
            FindingKind::Stalled { share, cause } => Some((share, cause)),
            _ => None,
        };
        findings.into_iter().filter_map(stalled).collect::<Vec<_>>()
    };
    assert_eq!(doubts(&[1, 1, 1, 1, 0, 0, 200, 1, 1, 1]), [(0.2, None)]);
    assert_eq!(doubts(&[1, 1, 1, 1, 1, 1, 50, 1, 1, 1]), []);
}

#[test]
fn a_line_shows_rates_percentiles_and_background_work() {
    let mut told = over(&[1, 0, 3]);
    told.background_work = vec![work("checkpoint", 10, 30), work("checkpoint", 50, 55)];
    let mut sample = with(told);
    passes(&mut sample).latency.wall_ns = 250 * MS;
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
    assert_eq!(
        (line.background_work["checkpoint"].count, line.background_work["checkpoint"].total_ms),
        (2, 25.0)
    );
    assert!((line.wall_ms - 250.0).abs() < 1e-9);
}

#[test]
fn the_page_fits_eighty_columns_and_shows_stalls_and_background_work() {
    let mut told = over(&[1, 1, 1, 1, 1, 0, 200, 1]);
    told.background_work = vec![work("checkpoint", 505, 700), work("checkpoint", 5, 10)];
    let mut record = record(&["sqlite api=blob journal=wal mmap=1GiB page_size=65536"]);
    record.samples.push(with(told));
    let page = over_time_page(&record);
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    for said in [
        "5,000",
        "stalled for 200 ms: round 1 at 0.50 s, checkpoint",
        "2 × checkpoint, 0.20 s of",
        "25.0 %",
    ] {
        let flowing = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.contains(said), "{said} in {page}");
    }
}

#[test]
fn a_record_without_it_says_so_once() {
    let mut record = record(&["files", "pack"]);
    record.samples = vec![sample(0, 0, 4000), sample(0, 1, 4000)];
    let page = over_time_page(&record);
    assert_eq!(page.matches("this record has no slices").count(), 1, "{page}");
    passes(&mut record.samples[0]).over_time = Some(over(&[1, 1, 1]));
    record.samples[0].before = Some(Residency { pages: 100, ..Residency::default() });
    let page = over_time_page(&record);
    assert!(page.contains("no pass with slices in this record was in its cache state"), "{page}");
}

#[test]
fn what_cannot_be_never_panics() {
    let longest = Longest { max_ns: u64::MAX, max_end_ns: u64::MAX, max_commits: true };
    let slice = Slice { operations: u64::MAX, p99_ns: u64::MAX, longest };
    let short = Slice { operations: 1, ..Slice::default() };
    let background_work =
        vec![work("a", 9, 1), work("\u{1b}", 0, u64::MAX / MS), work("b", 0, u64::MAX / MS)];
    for slice_ns in [0, 1, u64::MAX] {
        for slices in [vec![], vec![slice], vec![short, slice, short], vec![slice, short]] {
            let mut sample = sample(u32::MAX, 0, 4000);
            passes(&mut sample).over_time =
                Some(OverTime { slice_ns, slices, background_work: background_work.clone() });
            let mut record = record(&["files"]);
            record.samples.push(sample);
            let page = over_time_page(&record);
            assert!(!page.contains(['\u{1b}']) && !page.contains("NaN"), "{page}");
            all_findings(std::slice::from_ref(&record), &[figures(&record)]);
        }
    }
}
