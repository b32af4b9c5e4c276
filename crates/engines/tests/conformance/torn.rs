//! What a power cut leaves of a log that was not flushed: its last pages, in any order. Nothing
//! that is read from it is torn.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{Access, ErrorKind, KeyKind};
use storemark_engines::registry;

use crate::case::{Case, Ease, StoreFolder, bytes, checked};

const VALUE: usize = 20_000;
const PAGE: usize = 4096;

/// Engines with a log, the ending of its name, and whether they open it whatever is missing: fjall
/// 3.1 refuses what is torn before the end.
const LOGS: [(&str, &str, bool); 2] = [("fjall", "jnl", false), ("rocksdb", "log", true)];

/// The files of a store that is open, as a killed process would leave them.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in from.read_dir().unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn log(store: &Path, ending: &str) -> PathBuf {
    let files = store.read_dir().unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|e| e == ending)).max().unwrap()
}

/// Ten values, the page lost that ends that many bytes before the end of the log.
fn cut_short(case: &Case, place: &StoreFolder, ending: &str, before_end: usize) -> PathBuf {
    let store = case.create(&place.path).unwrap();
    for n in 0..10 {
        store.session().unwrap().write(&case.key(n), &bytes(n, VALUE));
    }
    let left = place.folder.join("left");
    copy(&place.path, &left);
    store.close().unwrap();
    let log = log(&left, ending);
    let mut text = fs::read(&log).unwrap();
    let end = text.iter().rposition(|byte| *byte != 0).unwrap() + 1 - before_end;
    text[end - PAGE..end].fill(0);
    fs::write(log, text).unwrap();
    left
}

#[test]
fn a_log_that_lost_a_page_gives_whole_values_or_is_refused() {
    for (name, ending, opens) in LOGS {
        // Another feature set may lack it.
        let Ok(engine) = registry::blobs(name) else { continue };
        let case = Case::new(engine, KeyKind::Integers, checked(engine, &[]));
        for (before_end, whole) in [(0, 9), (VALUE / 2, 9), (VALUE * 3 / 2, 8)] {
            let place = StoreFolder::new().unwrap();
            let left = cut_short(&case, &place, ending, before_end);
            match case.open(&left, Access::Write) {
                Ok(store) => {
                    let items = store.session().unwrap().items();
                    let expected = (0..whole).map(|n| (case.key(n), bytes(n, VALUE)));
                    assert!(expected.eq(items), "{name}, {before_end} bytes before the end");
                }
                Err(error) => {
                    assert!(!opens && before_end > 0, "{name}: {error}");
                    assert_eq!(error.kind(), ErrorKind::Corrupt);
                }
            }
        }
    }
}
