//! Figures from samples.

use checks::{Figures, Verdict, figures, stores};
use model::{Durability, Judge, Latency, Operation, TableFacts, record::Record};

use crate::fixture::{
    available, close, histogram, passes, record, sample, store, typical, whole_page, workload,
};

fn row(record: &Record, target: usize) -> Figures {
    figures(record).into_iter().find(|row| row.target == target).unwrap()
}

#[test]
fn time_is_the_geometric_mean_over_rounds() {
    let mut record = record(&["files"]);
    record.samples = vec![sample(0, 0, 1_000), sample(1, 0, 4_000)];
    let row = row(&record, 0);
    assert!(close(row.us_per_op.unwrap().point, 2.0));
    // 10 kB in 1 and in 4 µs: 10,000 and 2,500 MB/s.
    assert!(close(row.mb_per_s.unwrap().point, 5_000.0));
    assert_eq!(row.rounds, 2);
    assert_eq!(row.verdict, Verdict::Baseline);
}

#[test]
fn processor_time_is_per_operation() {
    let mut record = record(&["files"]);
    record.samples = vec![sample(0, 0, 4_000), sample(1, 0, 4_000)];
    let row = row(&record, 0);
    assert!(close(row.user_us_per_op.unwrap(), 0.5), "{row:?}");
    assert!(close(row.system_us_per_op.unwrap(), 1.5), "{row:?}");
}

#[test]
fn latencies_of_all_rounds_count() {
    let mut record = record(&["files"]);
    record.samples = vec![sample(0, 0, 1_000), sample(1, 0, 1_500), sample(2, 0, 2_000)];
    passes(&mut record.samples[1]).latency.max_ns = 9_000;
    passes(&mut record.samples[2]).latency.histogram = histogram(2_000, 50);
    let latency = row(&record, 0).latency.unwrap();
    assert_eq!((latency.p50, latency.p99, latency.max), (1.5, 2.0, 9.0));
}

#[test]
fn a_ratio_is_paired_by_round() {
    let mut record = record(&["files", "sqlite"]);
    for round in 0..6 {
        record.samples.push(sample(round, 0, 1_000 << round));
        record.samples.push(sample(round, 1, 780 << round));
    }
    let ratio = row(&record, 1).ratio.unwrap();
    assert!(close(ratio.point, 0.78) && ratio.half_width() < 1e-9);
    assert_eq!(row(&record, 1).verdict, Verdict::Faster);
    assert!(row(&record, 0).ratio.is_none());
}

#[test]
fn only_rounds_that_both_have_are_paired() {
    let mut record = typical();
    record.samples.retain(|s| s.target != 0 || s.round >= 2);
    record.samples.retain(|s| s.target != 1 || s.round != 5);
    let row = row(&record, 1);
    assert_eq!((row.rounds, row.ratio.unwrap().n), (9, 7));
}

#[test]
fn a_target_without_samples_has_no_figures() {
    let mut record = typical();
    record.samples.retain(|s| s.target != 1);
    let row = row(&record, 1);
    assert!(row.us_per_op.is_none() && row.latency.is_none() && row.cpu_us_per_op().is_none());
    assert_eq!(row.verdict, Verdict::NotMeasured);
}

#[test]
fn samples_of_nothing_do_no_harm() {
    let mut record = record(&["files", "sqlite"]);
    record.samples = vec![sample(0, 0, 0), sample(0, 1, 5), sample(1, 1, 5)];
    record.samples[1].operations = 0;
    record.samples[2].bytes = 0;
    passes(&mut record.samples[2]).latency.histogram = "not base64!".to_owned();
    assert!(row(&record, 0).us_per_op.is_none());
    assert!(row(&record, 1).mb_per_s.is_none() && row(&record, 1).latency.is_none());
    assert_eq!(row(&record, 1).rounds, 1);
}

#[test]
fn writes_of_other_durability_are_not_compared() {
    let mut record = typical();
    assert_eq!(row(&record, 1).verdict, Verdict::Faster, "reads are");
    record.header.plan.workloads[0] = workload(Operation::Update);
    assert_eq!(row(&record, 1).verdict, Verdict::DurabilityDiffers);
    assert!(row(&record, 1).ratio.is_some());
    assert_eq!(row(&record, 2).verdict, Verdict::Same);
}

#[test]
fn few_rounds_get_no_verdict() {
    let mut record = typical();
    record.samples.retain(|s| s.round < 4);
    assert_eq!(row(&record, 1).verdict, Verdict::TooFewRounds);
    assert!(row(&record, 1).ratio.is_some());
}

#[test]
fn a_baseline_outside_the_plan_compares_nothing() {
    let mut record = typical();
    record.header.plan.baseline = 7;
    assert!(figures(&record).iter().all(|row| row.verdict == Verdict::NotMeasured));
}

#[test]
fn space_is_per_byte_of_data() {
    let store = &stores(&typical())[1];
    assert!(close(store.length_per_byte.unwrap(), 1.02));
    assert!(close(store.on_disk_per_byte.unwrap(), 1.1));
    assert_eq!((store.fill_s, store.open_ms), (Some(1.5), Some(0.25)));
    assert_eq!(store.durability, Some("durable".to_owned()));
}

#[test]
fn a_table_in_files_with_others_has_the_space_of_its_own_pages() {
    let mut record = typical();
    let mut per_byte = |own_bytes| {
        let table = TableFacts { shares_files: true, own_bytes, ..TableFacts::default() };
        record.stores[1].table = Some(table);
        let store = &stores(&record)[1];
        (store.length_per_byte, store.on_disk_per_byte, store.on_disk_mb)
    };
    assert_eq!(per_byte(Some(5_000_000)), (Some(0.5), Some(0.5), Some(5.0)));
    assert_eq!(per_byte(None), (None, None, None), "nothing is better than the others' space");
}

#[test]
fn space_of_a_store_known_in_part_is_told_in_bytes() {
    let mut record = typical();
    *available(&mut record) = 5_000;
    let store = &stores(&record)[1];
    assert!(close(store.length_mb.unwrap(), 10.2) && store.length_per_byte.is_none());
}

#[test]
fn a_store_without_files_takes_no_space() {
    let mut record = record(&["memory"]);
    record.stores = vec![store(0, Durability::None, &[])];
    record.stores[0].allocated_bytes = 0;
    assert_eq!(stores(&record)[0].on_disk_mb, None);
}

/// The 99th percentiles of SQLite are twice those of files, its times 0.78 of theirs.
#[test]
fn a_percentile_has_a_table_of_its_own_if_it_is_judged() {
    let mut record = typical();
    for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
        sample.latency_mut().unwrap().p99_ns = 8000 + 20 * u64::from(sample.round);
    }
    let table = "read, warm: p99";
    assert!(!whole_page(&record, 100).contains(table));
    record.header.plan.rounds.judge = Judge::P99;
    let page = whole_page(&record, 100);
    let (_, after) = page.split_once(table).unwrap();
    let row = |name: &str| after.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("files").ends_with("baseline"), "{after}");
    assert!(row("sqlite api=blob").ends_with("2.0× slower"), "{after}");
    assert!(row("pack").ends_with("same within ±3 %"), "{after}");
    // Without latencies there is nothing to judge.
    record.samples.iter_mut().for_each(|s| *s.latency_mut().unwrap() = Latency::default());
    let page = whole_page(&record, 100);
    let (_, after) = page.split_once(table).unwrap();
    assert!(after.lines().any(|line| line.starts_with("pack") && line.ends_with("not measured")));
}

/// Ten rounds without a stall show that fewer than one in three has one; one with a stall is counted.
#[test]
fn rounds_with_a_stall_are_counted_and_none_says_how_rare_they_are() {
    let mut record = typical();
    let note = "rounds with an operation of 10 ms or more: ";
    let page = whole_page(&record, 200);
    assert!(page.contains(&format!("{note}none of 10, so fewer than one in 3 (95 %)")), "{page}");
    let mut of_sqlite = record.samples.iter_mut().filter(|sample| sample.target == 1);
    of_sqlite.next().unwrap().latency_mut().unwrap().max_ns = 10_000_000;
    let page = whole_page(&record, 200);
    let shown = "sqlite api=blob 1 of 10; none of 10 of files, pack, so fewer than one in 3 (95 %)";
    assert!(page.contains(&format!("{note}{shown}")), "{page}");
    // Where one operation in a hundred takes as long, it is no stall, and nothing is said of them.
    let mut slow = record.clone();
    for sample in slow.samples.iter_mut().filter(|sample| sample.target == 0) {
        let latency = sample.latency_mut().unwrap();
        (latency.p99_ns, latency.max_ns) = (12_000_000, 12_000_000);
    }
    let page = whole_page(&slow, 200);
    assert!(page.contains("1 of 10; none of 10 of pack, so"), "{page}");
    record.samples.retain(|sample| sample.round < 2);
    let page = whole_page(&record, 200);
    assert!(page.contains(&format!("{note}sqlite api=blob 1 of 2\n")), "{page}");
}
