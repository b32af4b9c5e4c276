//! The table of the page is what the engines of this build declare.

use std::{env, fmt::Write, fs};

use model::{DurabilitySettings, Engine};
use storemark_engines::registry;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/durability.md");

/// What is between these is written by this test when `STOREMARK_BLESS` is set.
const BEGIN: &str = "<!-- table -->\n";
const END: &str = "<!-- end of table -->\n";

/// A line for each class that `engine` gives.
fn rows(engine: &dyn Engine) -> String {
    let mut rows = String::new();
    for DurabilitySettings { class, settings, how, .. } in engine.declaration().durability {
        let settings = settings.iter().map(|(name, value)| format!("`{name}={value}`"));
        let (name, settings) = (engine.name(), settings.collect::<Vec<_>>().join(" "));
        writeln!(rows, "| `{name}` | {class} | {settings} | {how} |").unwrap();
    }
    rows
}

#[test]
fn the_table_is_what_the_engines_declare() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    // Engines that this build leaves out keep their rows.
    let mut engines: Vec<_> = registry::engines().map(|e| (e.name(), rows(e))).collect();
    engines.extend(registry::left_out().map(|name| {
        let own = |row: &&str| row.starts_with(&format!("| `{name}` |"));
        (name, table.lines().filter(own).fold(String::new(), |rows, row| rows + row + "\n"))
    }));
    engines.sort();
    let rows: String = engines.into_iter().map(|(_, rows)| rows).collect();
    let head = "\n| engine | class | settings | what it does, and what a power cut leaves |\n| --- | --- | --- | --- |\n";
    let expected = format!("{head}{rows}\n");
    if env::var_os("STOREMARK_BLESS").is_some() {
        fs::write(PAGE, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    // Only what differs is shown, of two tables of 10 kB.
    let lacks = |of: &'_ str, than: &str| {
        let rows = of.lines().filter(|row| !than.lines().any(|other| other == *row));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(
        table == expected,
        "STOREMARK_BLESS=1 in front of this test writes it; it lacks {:#?} and has {:#?}",
        lacks(&expected, table),
        lacks(table, &expected)
    );
}
