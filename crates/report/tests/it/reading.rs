//! What is read from files, whole and broken.

use model::{
    ErrorKind,
    record::{Point, Record},
};
use proptest::prelude::*;
use storemark_report::{pages::Detail, read};

use crate::fixture::{doubtful, file, page, passes, record, sample, typical};

fn read_text(text: &str) -> (Record, Vec<String>) {
    let (mut records, warnings) = read(text.as_bytes()).unwrap();
    assert_eq!(records.len(), 1);
    (records.remove(0), warnings)
}

/// The whole sentence of the error.
fn refused(text: &[u8]) -> String {
    let error = read(text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    error.to_string()
}

/// Lines of a short record: header, three stores, four samples, ten findings, end.
fn short() -> Record {
    let mut record = doubtful();
    record.samples.truncate(4);
    record
}

#[test]
fn a_record_survives_writing_and_reading() {
    assert_eq!(read_text(&file(&doubtful())), (doubtful(), vec![]));
}

#[test]
fn a_last_line_cut_short_is_left_out() {
    let mut cut = typical();
    cut.samples.truncate(4);
    cut.end = None;
    let text = file(&cut);
    let (read, warnings) = read_text(&text[..text.len() - 9]);
    assert_eq!(read.samples.len(), 3);
    assert_eq!(warnings, ["line 8 is cut short; the 3 samples before it are shown"]);
}

#[test]
fn a_last_line_without_its_line_feed_counts() {
    let text = file(&typical());
    assert_eq!(read_text(text.trim_end()), (typical(), vec![]));
}

#[test]
fn truncation_anywhere_is_a_warning_or_a_clear_error() {
    let text = file(&short());
    let header = text.find('\n').unwrap();
    for end in 0..text.len() {
        match read(&text.as_bytes()[..end]) {
            Ok((records, warnings)) => {
                assert!(end >= header, "{end}");
                let whole = text[..=end].ends_with('\n') || text[..end].ends_with('\n');
                assert_eq!(warnings.is_empty(), whole, "{end}: {warnings:?}");
                assert!(records[0].samples.len() <= 4);
            }
            Err(error) => assert!(end < header, "{end}: {error}"),
        }
    }
}

#[test]
fn what_is_no_record_is_named() {
    assert_eq!(refused(b""), "this is not a record: there is nothing in it");
    assert_eq!(refused(b"SQLite format 3\0\x10"), "this is not a record: line 1 is not JSON");
    assert_eq!(refused(b"\n{}\n"), "this is not a record: line 1 is not JSON");
    assert!(refused(b"{\"results\":[]}").ends_with("it is no header (\"line\":\"header\")"));
    assert!(refused(b"[]").contains("line 1 is JSON, but it is no header"));
    assert!(refused(b"{\"line\":\"header\",\"format\":3}\n").contains("missing field"));
    assert!(refused(b"{\"line\":\"header\",").contains("cut short within line 1"));
    assert_eq!(refused(b"{\n  \"format\": 3\n}\n"), "this is not a record: line 1 is not JSON");
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_record() {
    let (read, warnings) = read_text(&format!("\u{feff}{}", file(&typical())));
    assert_eq!((read, warnings), (typical(), Vec::new()));
}

#[test]
fn a_newer_format_is_read_as_far_as_it_goes() {
    let newer = file(&typical()).replacen("\"format\":3", "\"format\":4", 1);
    let changed = newer.replace("\"round\":3,", "\"lap\":3,");
    let (read, warnings) = read_text(&changed);
    assert_eq!(read.samples.len(), typical().samples.len() - 3);
    assert_eq!(
        warnings,
        [
            "this record has format 4, newer than 3: what of it can be read is shown",
            "3 lines are left out: this storemark does not know their kind",
        ]
    );
    let older = file(&typical()).replacen("\"format\":3", "\"format\":2", 1);
    assert!(refused(older.as_bytes()).contains("older than format 3"));
    let refusal = refused(b"{\"line\":\"header\",\"format\":9}\n");
    assert!(
        refusal.contains("format 9") && refusal.contains("this one reads format 3"),
        "{refusal}"
    );
}

#[test]
fn unknown_lines_and_findings_are_counted() {
    let more = "{\"line\":\"weather\"}\n{\"line\":\"finding\",\"finding\":\"full-moon\"}\n";
    let (read, warnings) = read_text(&(file(&typical()) + more));
    assert_eq!(read, typical());
    assert_eq!(warnings, ["2 lines are left out: this storemark does not know their kind"]);
}

#[test]
fn samples_of_what_the_plan_does_not_have_are_damage() {
    for place in ["target", "workload"] {
        let text = file(&typical());
        let (head, samples) = text.split_at(text.find(r#"{"line":"sample""#).unwrap());
        let of = |number| format!("\"{place}\":{number},");
        let strange = head.to_owned() + &samples.replacen(&of(0), &of(9), 1);
        let (read, warnings) = read_text(&strange);
        assert_eq!(read.samples.len(), typical().samples.len() - 1, "{place}");
        assert!(warnings[0].contains("that the plan does not have"), "{warnings:?}");
    }
}

#[test]
fn damage_is_left_out_and_named() {
    let damaged = file(&typical()).replace("\"round\":3,", "\"round\":3.5,");
    let (read, warnings) = read_text(&damaged);
    assert_eq!(read.samples.len(), typical().samples.len() - 3);
    assert!(warnings[0].starts_with("3 lines are damaged and left out (first line 14: "));
}

#[test]
fn a_second_record_is_not_mixed_in() {
    let (read, warnings) = read_text(&(file(&typical()) + &file(&doubtful())));
    assert_eq!(read, typical());
    assert_eq!(warnings, ["line 36 begins another record; only the first is shown"]);
}

/// The runs of a sweep over `sizes`.
fn swept(sizes: &[&str]) -> Vec<Record> {
    let point = |(number, size): (usize, &&str)| {
        let varied = [("size".to_owned(), (*size).to_owned())].into();
        let point = Some(Point { number, of: sizes.len(), varied });
        let mut record = typical();
        record.header.point = point;
        record
    };
    sizes.iter().enumerate().map(point).collect()
}

#[test]
fn the_runs_of_a_sweep_are_read_one_after_the_other() {
    let runs = swept(&["1k", "4k", "16k"]);
    let text: String = runs.iter().map(file).collect();
    assert_eq!(read(text.as_bytes()).unwrap(), (runs.clone(), vec![]));
    // One that is missing ends it, and so does one that was cut off.
    let gap = file(&runs[0]) + &file(&runs[2]);
    let (read_runs, warnings) = read(gap.as_bytes()).unwrap();
    assert_eq!((read_runs.len(), warnings.len()), (1, 1), "{warnings:?}");
    let older = file(&runs[0]) + &file(&runs[1]).replacen("\"format\":3", "\"format\":2", 1);
    let (read_runs, warnings) = read(older.as_bytes()).unwrap();
    assert_eq!((read_runs.len(), warnings.len()), (1, 1), "{warnings:?}");
    let (read_runs, warnings) = read(&text.as_bytes()[..text.len() - 9]).unwrap();
    assert_eq!((read_runs.len(), read_runs[2].end.is_none()), (3, true));
    assert!(warnings[0].contains("cut short; the 90 samples"), "{warnings:?}");
}

#[test]
fn long_lines_are_lines() {
    let mut long = record(&["files"]);
    long.samples.push(sample(0, 0, 1000));
    passes(&mut long.samples[0]).latency.histogram = "A".repeat(8 << 20);
    assert_eq!(read_text(&file(&long)), (long, vec![]));
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes: Vec<u8>) {
        let _ = read(bytes.as_slice());
    }

    #[test]
    fn garbage_in_a_record_never_panics(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        place in 0_usize..1_000_000,
    ) {
        let mut text = file(&short()).into_bytes();
        let place = place % text.len();
        let end = (place + bytes.len()).min(text.len());
        text.splice(place..end, bytes);
        if let Ok((records, _)) = read(text.as_slice()) {
            page(&records[0], 100, Detail { all: true, ..Detail::default() });
        }
    }
}
