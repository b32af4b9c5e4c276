//! The page of traps names tests and findings that there are.

use std::{collections::BTreeSet, fs, path::PathBuf};

/// A file of the repository.
fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The cells of each row of the table, its two lines of head left out.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let rows = page.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// What stands in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The kinds of findings that the schema of the record has.
fn kinds(schema: &serde_json::Value) -> BTreeSet<&str> {
    let kinds = schema["$defs"]["Finding"]["oneOf"].as_array().unwrap();
    kinds.iter().map(|kind| kind["properties"]["finding"]["const"].as_str().unwrap()).collect()
}

/// Whether `source` has a test of that name, also one that is attributed further, or a line of the list of
/// which a macro makes tests.
fn has_test(source: &str, name: &str) -> bool {
    let is_check = |line: &str| line.trim().trim_end_matches(';') == name;
    if source.contains("\nchecks! {\n") && source.lines().any(is_check) {
        return true;
    }
    let Some((before, _)) = source.split_once(&format!("fn {name}()")) else { return false };
    let attributes = before.trim_end().lines().rev().map(str::trim);
    attributes.take_while(|line| line.starts_with("#[")).any(|line| line == "#[test]")
}

#[test]
fn what_the_page_names_is_there() {
    let (page, schema) = (read("docs/traps.md"), read("docs/record.schema.json"));
    let schema = serde_json::from_str(&schema).unwrap();
    let kinds = kinds(&schema);
    let rows = rows(&page);
    assert!(rows.iter().map(|row| row[0]).eq((1..=35).map(|n| n.to_string())), "{rows:?}");
    for row in rows {
        let [number, _, _, findings, tests] = row[..] else { panic!("{row:?}") };
        quoted(findings).for_each(|kind| assert!(kinds.contains(kind), "{number}: {kind}"));
        for test in quoted(tests) {
            let (path, name) = test.split_once("::").unwrap();
            assert!(has_test(&read(path), name), "{number}: no test {test}");
        }
        assert!(number == "19" || quoted(tests).next().is_some(), "{number} is not shown");
    }
}
