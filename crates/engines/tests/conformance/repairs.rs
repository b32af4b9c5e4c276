//! What the repair of an engine's own makes of stores that do not open.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use model::{Access, KeyKind, Scan};
use storemark_engines::registry;

use crate::{
    case::{Case, Ease, StoreFolder, checked},
    servers::engine_unless_left_out,
};

/// The keys of a store: integers from 1, with values of 100 bytes.
const KEYS: i64 = 200;
const PAGE: usize = 4096;

fn case(name: &str, pairs: &[(&str, &str)]) -> Option<Case> {
    // Another feature set may lack it.
    let engine = registry::blobs(name).ok()?;
    Some(Case::new(engine, KeyKind::Integers, checked(engine, pairs)))
}

/// Returns how many keys the store at `path` has; `None` if it cannot be opened or read.
fn keys(case: &Case, path: &Path) -> Option<i64> {
    let store = case.open(path, Access::Write).ok()?;
    let mut count = 0;
    let mut counted = |_: model::Item<'_>| {
        count += 1;
        Ok(ControlFlow::Continue(()))
    };
    store.session().ok()?.scan(Scan::ALL, &mut counted).ok()?;
    store.close().ok()?;
    Some(count)
}

/// Returns the files in a folder whose names contain `part`.
fn files(folder: &Path, part: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| {
        path.is_file() && path.file_name().unwrap().to_string_lossy().contains(part)
    };
    entries.filter(is_one).collect()
}

/// Empties each page of the store's file in turn, and returns how many keys were saved of those that did
/// not open, each.
fn saved_of_pages(case: &Case, place: &StoreFolder, file: &Path, command: &str) -> Vec<i64> {
    let good = fs::read(file).unwrap();
    let mut saved = Vec::new();
    for page in 1..good.len() / PAGE {
        let mut bytes = good.clone();
        bytes[page * PAGE..][..PAGE].fill(0);
        fs::write(file, bytes).unwrap();
        if keys(case, &place.path).is_none()
            && let Some(said) = case.engine.repair(&place.path)
        {
            assert!(said.starts_with(command), "{said}");
            saved.extend(keys(case, &place.path));
        }
    }
    saved
}

#[cfg(feature = "sqlite")]
#[test]
fn what_can_be_read_of_a_database_is_saved() {
    for (name, file) in [("sqlite", ""), ("hybrid", "hybrid.db")] {
        let case = case(name, &[]).unwrap();
        let place = StoreFolder::new().unwrap();
        case.create_filled(&place.path, KEYS).unwrap();
        let file = if file.is_empty() { place.path.clone() } else { place.path.join(file) };
        let saved = saved_of_pages(&case, &place, &file, "sqlite3 DATABASE .");
        assert!(saved.iter().any(|count| (1..KEYS).contains(count)), "{name}: {saved:?}");
    }
}

#[cfg(feature = "rocksdb")]
#[test]
fn a_lost_list_of_tables_is_made_again() {
    for blobs in ["off", "on"] {
        let case = case("rocksdb", &[("blobs", blobs)]).unwrap();
        let place = StoreFolder::new().unwrap();
        case.create_filled(&place.path, KEYS).unwrap();
        for manifest in files(&place.path, "MANIFEST") {
            fs::write(manifest, [0; 100]).unwrap();
        }
        assert_eq!(keys(&case, &place.path), None);
        assert_eq!(case.engine.repair(&place.path).as_deref(), Some("rocksdb::RepairDB"));
        assert_eq!(keys(&case, &place.path), Some(KEYS), "blobs={blobs}");
    }
}

#[test]
fn the_log_of_a_server_is_cut_off_or_replaced() {
    let cases = [
        ("postgres", "data/pg_wal", "0000", "pg_resetwal -f -D data"),
        ("valkey", "data/appendonlydir", ".incr.aof", "-check-aof --fix"),
    ];
    for (name, folder, log, command) in cases {
        if engine_unless_left_out(name).is_none() {
            continue;
        }
        let case = case(name, &[]).unwrap();
        let place = StoreFolder::new().unwrap();
        let store = case.create(&place.path).unwrap();
        for n in 1..=KEYS {
            store.session().unwrap().write(&case.key(n), b"a value");
        }
        store.close().unwrap();
        let logs = files(&place.path.join(folder), log);
        assert!(!logs.is_empty(), "{name}");
        for log in logs {
            let mut bytes = fs::read(&log).unwrap();
            let half = bytes.len() / 2;
            let damaged = if name == "postgres" { 0..bytes.len() } else { half..half + 50 };
            bytes[damaged].fill(0);
            fs::write(log, bytes).unwrap();
        }
        assert_eq!(keys(&case, &place.path), None, "{name}");
        let said = case.engine.repair(&place.path).unwrap();
        assert!(said.contains(command), "{said}");
        let saved = keys(&case, &place.path).unwrap();
        assert!((1..=KEYS).contains(&saved), "{name}: {saved}");
    }
}

#[test]
fn an_engine_without_a_repair_says_so() {
    for name in ["files", "fjall", "lmdb", "mariadb", "redb"] {
        let Some(case) = case(name, &[]) else { continue };
        assert_eq!(case.engine.repair(Path::new("absent")), None, "{name}");
    }
}
