//! Trials as comma-separated values.

use std::collections::BTreeMap;

use model::record::{Point, Record};
use storemark_report::{csv, csv_columns};

use crate::fixture::typical;

/// Rows by the names of their columns.
fn rows(records: &[Record]) -> Vec<BTreeMap<String, String>> {
    let mut bytes = Vec::new();
    csv(records, &mut bytes).unwrap();
    let mut reader = ::csv::Reader::from_reader(bytes.as_slice());
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn every_trial_is_a_row() {
    let record = typical();
    let rows = rows(std::slice::from_ref(&record));
    assert_eq!(rows.len(), record.samples.len());
    let row = &rows[1];
    let cell = |name: &str| row[name].as_str();
    assert_eq!([cell("run"), cell("round"), cell("target")], ["1", "1", "sqlite api=blob"]);
    assert_eq!([cell("wall_ns"), cell("ns_per_operation")], ["3120000", "3120"]);
    assert_eq!([cell("latency_p99_ns"), cell("other_cpus")], ["3120", "0"]);
    assert_eq!([cell("baseline"), cell("in_state"), cell("read_calls")], ["false", "true", ""]);
}

#[test]
fn what_varies_in_a_sweep_stands_in_columns() {
    let run = |number: usize, size: &str| {
        let mut record = typical();
        let varied = [("size".to_owned(), size.to_owned())].into();
        let point = Some(Point { number, of: 2, varied });
        record.header.point = point;
        record
    };
    let rows = rows(&[run(0, "1k"), run(1, "4k")]);
    let told: Vec<_> =
        rows.iter().map(|row| (row["run"].as_str(), row["sweep_size"].as_str())).collect();
    assert_eq!((told[0], told[59], told.len()), (("1", "1k"), ("2", "4k"), 60));
}

#[test]
fn names_are_shown_and_never_run() {
    let mut record = typical();
    record.header.plan.targets[0].label = "=cmd|' /C calc'!A0".to_owned();
    record.header.plan.targets[1].location = "\t=1+1\n\"x\",y".to_owned();
    let mut bytes = Vec::new();
    csv(std::slice::from_ref(&record), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.lines().count(), record.samples.len() + 1, "no cell breaks a line");
    let rows = rows(&[record]);
    assert_eq!(rows[0]["target"], "'=cmd|' /C calc'!A0");
    assert!(rows[1]["location"].ends_with("\"x\",y"));
    for cell in rows.iter().flat_map(BTreeMap::values) {
        assert!(!cell.starts_with(['=', '+', '@', '\t']), "{cell}");
    }
}

#[test]
fn a_sample_of_no_target_is_no_row() {
    let mut record = typical();
    record.samples[0].target = 99;
    assert_eq!(rows(&[record]).len(), 29);
}

#[test]
fn the_columns_are_documented() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report-forms.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    for (name, about) in csv_columns() {
        let line = format!("| `{name}` | {about} |");
        assert!(docs.contains(&line), "missing in docs/report-forms.md: {line}");
    }
}
