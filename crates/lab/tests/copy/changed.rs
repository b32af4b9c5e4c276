//! A source that changes while it is copied.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lab::{CopyJob, Progress, Stop};
use model::{ErrorKind, Key};

use crate::common::*;

/// Calls a function as soon as a stage starts.
struct At<'a>(&'a str, &'a (dyn Fn() + Sync));

impl Progress for At<'_> {
    fn stage(&self, what: &str, _: Option<u64>) {
        if what == self.0 {
            self.1();
        }
    }
    fn advance_to(&self, _: u64) {}
    fn say(&self, _: &str) {}
}

/// How a change is named, and what another program does to a folder.
type Change = (&'static str, fn(&Path));

const CHANGES: [Change; 6] = [
    ("1 file added: new", |folder| fs::write(folder.join("new"), "x").unwrap()),
    ("1 file added: b/new", |folder| {
        fs::create_dir(folder.join("b")).unwrap();
        fs::write(folder.join("b/new"), "x").unwrap();
    }),
    ("1 file removed: a/b", |folder| fs::remove_file(folder.join("a/b")).unwrap()),
    ("1 file changed: a/b", |folder| {
        let bytes = fs::read(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b"), [&bytes[..], b"more"].concat()).unwrap();
    }),
    // A program that saves by renaming, with the same length.
    ("1 file changed: a/b", |folder| {
        fs::copy(folder.join("a/b"), folder.join("next")).unwrap();
        fs::rename(folder.join("next"), folder.join("a/b")).unwrap();
    }),
    ("1 file added: c; 1 file removed: a/b", |folder| {
        fs::rename(folder.join("a/b"), folder.join("c")).unwrap();
    }),
];

#[test]
fn what_changed_is_named_and_the_copy_takes_no_name() {
    for engine in ["files", "sqlite", "pack"] {
        for stage in ["copying", "flushing to disk"] {
            for (named, change) in CHANGES {
                let folder = tempfile::tempdir().unwrap();
                let [from, to] =
                    [("files", "from"), (engine, "to")].map(|(e, n)| at(e, folder.path(), n));
                names(&from);
                let source: PathBuf = folder.path().join("from");
                let listener = At(stage, &|| change(&source));
                let (kind, line) = complaint(lab::copy(&job(&from, &to), &listener, &Stop::new()));
                assert_eq!(kind, ErrorKind::Failed, "{line}");
                assert!(line.ends_with(&format!("changed while it was copied: {named}")), "{line}");
                assert!(line.contains("--resume continues with"), "{line}");
                assert_eq!(entries(folder.path()), ["from", "to.storemark-partial"]);
                resume(&from, &to).unwrap();
                assert_equal(&from, &to);
            }
        }
    }
}

#[test]
fn a_source_that_nobody_changes_is_copied_and_a_replaced_store_stays() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| at("files", folder.path(), name));
    integers(&from, 5);
    integers(&to, 3);
    let source = folder.path().join("from");
    let listener = At("copying", &|| fs::write(source.join("000006"), "x").unwrap());
    let job = CopyJob { force: true, ..job(&from, &to) };
    complaint(lab::copy(&job, &listener, &Stop::new()));
    assert_eq!(entries(&folder.path().join("to")).len(), 3);
    run(&CopyJob { resume: true, ..job }).unwrap();
    assert_equal(&from, &to);
}

#[test]
fn a_database_that_nobody_had_open_must_not_be_written_meanwhile() {
    for (engine, setting, file) in [("sqlite", "?journal=wal", ""), ("lmdb", "", "data.mdb")] {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = [(engine, "from"), ("pack", "to")].map(|(e, n)| at(e, folder.path(), n));
        let from = format!("{from}{setting}");
        integers(&from, 5);
        // Another program opens it, writes and closes it: SQLite then puts its log into the database. LMDB
        // would not let this one do it.
        let write = || put(&from, Key::Int(2), b"other");
        let touch = || {
            let data = fs::File::open(folder.path().join("from").join(file)).unwrap();
            data.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        };
        let listener = At("copying", if engine == "sqlite" { &write } else { &touch });
        let (kind, line) = complaint(lab::copy(&job(&from, &to), &listener, &Stop::new()));
        assert_eq!(kind, ErrorKind::Failed, "{line}");
        assert!(line.contains("changed while it was copied: 1 file changed: "), "{line}");
        assert!(line.contains(file) && !folder.path().join("to").exists(), "{line}");
        resume(&from, &to).unwrap();
        assert_equal(&from, &to);
    }
}

#[test]
fn what_is_put_into_a_table_must_not_change_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = [("files", "from"), ("sqlite", "to")].map(|(e, n)| at(e, folder.path(), n));
    names(&from);
    integers(&to, 1);
    let made = "CREATE TABLE photos(name TEXT PRIMARY KEY, data BLOB)";
    let shell =
        std::process::Command::new("sqlite3").arg(folder.path().join("to")).arg(made).status();
    if !shell.is_ok_and(|status| status.success()) {
        return println!("skipped: no sqlite3 shell");
    }
    let to = format!("{to}?table=photos");
    let source = folder.path().join("from");
    let listener = At("copying", &|| fs::write(source.join("a/b"), "other").unwrap());
    let copied = lab::copy_in_place(&job(&from, &to), &listener, &Stop::new());
    let (kind, line) = complaint(copied);
    assert_eq!(kind, ErrorKind::Failed, "{line}");
    assert!(line.ends_with("1 file changed: a/b; nothing was written"), "{line}");
    assert_eq!(verify(&to, &from).totals[0].values, 0, "{line}");
    lab::copy_in_place(&job(&from, &to), &lab::Silent, &Stop::new()).unwrap();
}
