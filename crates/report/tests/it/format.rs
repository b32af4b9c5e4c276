//! The form of the file: its schema, old files that must stay readable, and older ones that are refused.

use std::{fs, path::PathBuf};

use model::record::Line;
use serde_json::Value;
use storemark_report::{pages::Detail, read};

use crate::fixture::{doubtful, file, page};

/// Set, `docs/record.schema.json` is written anew instead of compared.
const BLESS: &str = "STOREMARK_BLESS";

fn schema_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/record.schema.json")
}

fn generated() -> String {
    let mut schema = schemars::schema_for!(Line);
    schema.insert("$id".to_owned(), "urn:storemark:record:3".into());
    schema.insert("title".to_owned(), "One line of a storemark record, format 3".into());
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

fn unmet(schema: &Value, text: &str) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .flat_map(|line: Value| {
            validator.iter_errors(&line).map(|e| e.to_string()).collect::<Vec<_>>()
        })
        .collect()
}

fn stored(name: &str) -> String {
    let records = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    fs::read_to_string(records.join(name)).unwrap()
}

#[test]
fn the_schema_is_that_of_the_model() {
    if std::env::var_os(BLESS).is_some() {
        fs::write(schema_path(), generated()).unwrap();
    }
    let committed = fs::read_to_string(schema_path()).unwrap_or_default();
    // Not `assert_eq`: nobody wants to read two schemas on one line.
    assert!(committed == generated(), "{BLESS}=1 cargo test -p storemark-report rewrites it");
}

#[test]
fn every_line_meets_the_schema() {
    let schema = serde_json::from_str(&generated()).unwrap();
    assert_eq!(unmet(&schema, &file(&doubtful())), [""; 0]);
    assert_eq!(unmet(&schema, &stored("format-3.jsonl")), [""; 0]);
    assert!(!unmet(&schema, "{\"line\":\"sample\"}").is_empty(), "the schema says something");
}

#[test]
fn format_3_stays_readable() {
    let text = stored("format-3.jsonl");
    let (records, warnings) = read(text.as_bytes()).unwrap();
    let record = &records[0];
    assert_eq!(warnings, [""; 0]);
    assert_eq!((record.header.format, record.stores.len(), record.samples.len()), (3, 2, 12));
    let page = page(record, 100, Detail::default());
    assert!(page.contains("0.78 (0.7"), "{page}");
    assert!(page.contains("1.29× faster"), "{page}");
}

#[test]
fn format_1_is_refused() {
    let refused = read(stored("format-1.jsonl").as_bytes()).unwrap_err().to_string();
    assert_eq!(
        refused,
        "this record has format 1, older than format 3, which this storemark reads; measure again, \
         or use the storemark that wrote it"
    );
}
