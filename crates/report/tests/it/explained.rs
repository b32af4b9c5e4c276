//! What coincides with the time.

use checks::{Explained, Verdict, differences, explained, figures};
use model::{Cache, Cost, First, Residency, Sample, record::Record};

use crate::fixture::{self, OPERATIONS, asked, passes, record, sample};

fn row(record: &Record, target: usize) -> Explained {
    explained(record, &figures(record)).remove(target)
}

/// Samples that [`asked`] for something are cold ones.
fn cold(labels: &[&str]) -> Record {
    let mut record = record(labels);
    record.header.plan.caches = vec![Cache::DataCold];
    record
}

fn close(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| fixture::close(value, expected))
}

/// Processor time in nanoseconds per operation.
fn cpu(sample: &mut Sample, user: u64, system: u64) {
    sample.cost =
        Cost { user_ns: OPERATIONS * user, system_ns: OPERATIONS * system, ..sample.cost };
}

/// Six rounds of files (4 µs: 0.5 in user mode, 3 in the kernel, 0.5 off the processor) and of a target
/// that takes `ns` and is changed by `change`.
fn against_files(ns: u64, change: impl Fn(&mut Sample)) -> Record {
    let mut record = cold(&["files", "other"]);
    for round in 0..6 {
        let (mut files, mut other) = (sample(round, 0, 4_000), sample(round, 1, ns));
        for sample in [&mut files, &mut other] {
            asked(sample, 400);
            cpu(sample, 500, 3_000);
        }
        change(&mut other);
        record.samples.extend([files, other]);
    }
    record
}

/// What coincides with the other target's verdict.
fn along(record: &Record) -> Vec<&'static str> {
    let figures = figures(record);
    let explained = explained(record, &figures);
    let differences = differences(&explained[0], &figures[1], &explained[1]);
    differences.into_iter().map(|difference| difference.aspect.name).collect()
}

#[test]
fn the_parts_add_up_to_the_time() {
    let record = against_files(4_000, |_| {});
    let row = row(&record, 0);
    assert!(close(row.user, 0.5) && close(row.kernel, 3.0) && close(row.off_cpu, 0.5));
}

#[test]
fn waiting_for_a_processor_is_left_out_of_the_time_and_shown() {
    let record = against_files(6_000, |s| s.waited_ns = Some(OPERATIONS * 2_000));
    let (files, other) = (row(&record, 0), row(&record, 1));
    assert_eq!((files.waited, files.wall), (None, Some(4.0)), "not known");
    assert!(close(other.waited, 2.0) && close(other.wall, 6.0) && close(other.off_cpu, 0.5));
    assert_eq!(figures(&record)[1].verdict, Verdict::Same);
}

#[test]
fn processor_time_beyond_the_time_leaves_nothing_else() {
    let record = against_files(4_000, |s| cpu(s, 3_000, 3_000));
    assert_eq!(row(&record, 1).off_cpu, Some(0.0));
}

#[test]
fn several_workers_overlap() {
    let mut record = against_files(2_000, |s| cpu(s, 100, 100));
    record.header.plan.workloads[0].threads = 2;
    assert_eq!(row(&record, 0).off_cpu, None);
    assert!(close(row(&record, 0).user, 0.5));
    assert_eq!(along(&record), [""; 0]);
}

#[test]
fn sums_are_divided_by_the_sums_of_those_that_have_it() {
    let mut record = cold(&["files"]);
    record.samples = (0..3).map(|round| sample(round, 0, 4_000)).collect();
    asked(&mut record.samples[0], 100);
    asked(&mut record.samples[1], 500);
    record.samples[1].operations *= 3;
    let row = row(&record, 0);
    assert!(close(row.minor_faults, 0.15), "600 of 4,000: {row:?}");
    assert!(close(row.switches, 1.05) && close(row.read_calls, 0.75), "{row:?}");
    assert!(close(row.device_read, 2.7), "54 MB of 20 MB: {row:?}");
}

#[test]
fn states_opening_and_first_passes_are_known() {
    let residency = |resident| Some(Residency { pages: 100, resident, ..Residency::default() });
    let record = against_files(4_000, |s| {
        s.before = residency(0);
        s.after = residency(50);
        passes(s).first = Some(First { operations: 10, ns: 80_000 });
    });
    let row = row(&record, 1);
    assert_eq!((row.cached_before, row.cached_after), (Some(0.0), Some(50.0)));
    assert!(close(row.opening_ms, 0.25) && close(row.first_over_steady, 2.0));
}

#[test]
fn a_system_that_reports_nothing_leaves_nothing() {
    let mut record = record(&["files", "other"]);
    for round in 0..6 {
        record.samples.extend([sample(round, 0, 4_000), sample(round, 1, 2_000)]);
    }
    record.samples.iter_mut().for_each(|s| s.cost = Cost::default());
    let row = row(&record, 1);
    assert_eq!((row.user, row.kernel, row.off_cpu), (None, None, None));
    assert_eq!((row.minor_faults, row.read_calls, row.device_written), (None, None, None));
    assert_eq!(along(&record), [""; 0]);
}

#[test]
fn less_time_in_the_kernel_coincides_with_fewer_calls() {
    let record = against_files(2_000, |s| {
        cpu(s, 600, 900);
        s.io.as_mut().unwrap().read_calls = Some(0);
    });
    assert_eq!(along(&record), ["in the kernel per blob", "read and write calls per blob"]);
}

#[test]
fn what_goes_the_other_way_is_not_named() {
    let record = against_files(2_000, |s| {
        cpu(s, 600, 900);
        asked(s, 900);
    });
    assert_eq!(along(&record), ["in the kernel per blob"]);
}

#[test]
fn a_slower_target_that_reads_more_from_the_device_is_off_the_processor() {
    let record = against_files(9_000, |s| {
        cpu(s, 400, 3_200);
        *s.io.as_mut().unwrap().device_read_bytes.as_mut().unwrap() *= 3;
    });
    assert_eq!(along(&record), ["off the processor per blob", "bytes from the device per byte"]);
}

#[test]
fn a_little_more_of_a_figure_is_not_named() {
    let record = against_files(9_000, |s| {
        cpu(s, 500, 3_000);
        *s.io.as_mut().unwrap().device_read_bytes.as_mut().unwrap() += 100;
    });
    assert_eq!(along(&record), ["off the processor per blob"]);
}

#[test]
fn nothing_coincides_with_no_difference() {
    assert_eq!(along(&against_files(4_000, |s| cpu(s, 3_000, 500))), [""; 0]);
}

#[test]
fn memory_is_the_mean_of_those_rounds_that_have_it() {
    let mut record = cold(&["files"]);
    record.samples = (0..3).map(|round| sample(round, 0, 4_000)).collect();
    record.samples.iter_mut().for_each(|sample| asked(sample, 400));
    assert_eq!(row(&record, 0).memory_mb, None);
    record.samples[0].memory_bytes = Some(4_000_000);
    record.samples[2].memory_bytes = Some(8_000_000);
    assert!(close(row(&record, 0).memory_mb, 6.0));
}
