//! What `--force` replaces and what it does not.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use model::{ErrorKind, Key};

use crate::common::*;

/// All files below a folder with their bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for name in entries(folder) {
        let path = folder.join(name);
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    all
}

#[test]
fn datasets_are_replaced() {
    let (folder, source) = source(10);
    for (target, also) in [("files", ""), ("files", "?layout=tree"), ("pack", ""), ("sqlite", "")] {
        let to = at(target, folder.path(), "old");
        integers(&format!("{to}{also}"), 3);
        force(&source, &to).unwrap();
        assert_equal(&source, &to);
        assert_eq!(entries(folder.path()), ["old", "source"]);
        let old = folder.path().join("old");
        if old.is_dir() { fs::remove_dir_all(old).unwrap() } else { fs::remove_file(old).unwrap() }
    }
}

#[cfg(unix)]
#[test]
fn the_mode_stays() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, source) = source(10);
    for (engine, mode) in [("sqlite", 0o600), ("files", 0o750)] {
        let (to, path) = (at(engine, folder.path(), engine), folder.path().join(engine));
        integers(&to, 3);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        force(&source, &to).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
    }
}

#[test]
fn a_users_own_folder_is_never_replaced() {
    let (folder, source) = source(10);
    let own = folder.path().join("own");
    let to = at("files", folder.path(), "own");
    for names in [&["letter.txt"][..], &["000001", "letter.txt"], &["00/00/01", "00/00/x"], &["1"]]
    {
        for name in names {
            fs::create_dir_all(own.join(name).parent().unwrap()).unwrap();
            fs::write(own.join(name), "mine").unwrap();
        }
        let before = contents(folder.path());
        let (kind, line) = complaint(force(&source, &to));
        assert_eq!(kind, ErrorKind::Exists, "{line}");
        assert!(line.contains("own is not replaced: "), "{line}");
        assert_eq!(contents(folder.path()), before);
        fs::remove_dir_all(&own).unwrap();
    }
}

#[test]
fn files_of_another_kind_are_not_replaced() {
    let (folder, source) = source(10);
    fs::write(folder.path().join("text"), "mine").unwrap();
    integers(&at("pack", folder.path(), "pack"), 1);
    let torn = [&b"SQLite format 3\0"[..], &[7; 4096]].concat();
    fs::write(folder.path().join("torn"), torn).unwrap();
    let before = contents(folder.path());
    for (engine, name) in
        [("sqlite", "text"), ("sqlite", "pack"), ("files", "pack"), ("sqlite", "torn")]
    {
        let (kind, line) = complaint(force(&source, &at(engine, folder.path(), name)));
        assert_eq!(kind, ErrorKind::Exists, "{line}");
        assert!(line.contains(" is not replaced: "), "{line}");
        assert_eq!(
            line.ends_with(&format!("it is not a {engine} store")),
            name != "torn",
            "{line}"
        );
    }
    assert_eq!(contents(folder.path()), before);
}

/// Runs SQL in the `sqlite3` shell; `false`, with a line that says so, where there is none.
fn sql(database: &Path, statements: &str) -> bool {
    let ran = Command::new("sqlite3").arg(database).arg(statements).status();
    let ran = ran.is_ok_and(|status| status.success());
    if !ran {
        println!("skipped: no sqlite3 shell");
    }
    ran
}

#[test]
fn a_database_that_holds_more_is_not_replaced() {
    let (folder, source) = source(10);
    let database = folder.path().join("db");
    let to = at("sqlite", folder.path(), "db");
    for (statement, named) in [
        ("CREATE TABLE users(id)", "table users"),
        ("CREATE VIEW large AS SELECT k FROM kv", "view large"),
        ("CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode, mtime, sz, data)", "table sqlar"),
        ("ALTER TABLE kv ADD COLUMN note", "column note"),
    ] {
        integers(&to, 3);
        if !sql(&database, statement) {
            return;
        }
        let before = contents(folder.path());
        let (kind, line) = complaint(force(&source, &to));
        assert_eq!(kind, ErrorKind::Exists, "{line}");
        assert!(line.ends_with(&format!("db is not replaced: it also holds {named}")), "{line}");
        assert_eq!(contents(folder.path()), before);
        fs::remove_file(&database).unwrap();
    }
}

#[test]
fn an_archive_with_a_column_of_the_users_is_not_replaced() {
    let (folder, source) = source(10);
    let to = at("sqlite", folder.path(), "db");
    names(&to);
    if sql(&folder.path().join("db"), "ALTER TABLE sqlar ADD COLUMN note") {
        let (kind, line) = complaint(force(&source, &to));
        assert_eq!(kind, ErrorKind::Exists, "{line}");
        assert!(line.ends_with("it also holds column note"), "{line}");
    }
}

#[test]
fn a_store_that_another_program_made_is_not_replaced() {
    let (folder, source) = source(10);
    for (engine, word) in [("lmdb", "database"), ("fjall", "keyspace")] {
        let to = at(engine, folder.path(), "store");
        names(&format!("{to}?{word}=photos"));
        let (kind, line) = complaint(force(&source, &to));
        assert_eq!(kind, ErrorKind::Exists, "{line}");
        assert!(line.ends_with("store is not replaced: another program made it"), "{line}");
        assert_equal(&format!("{to}?{word}=photos"), &to);
        fs::remove_dir_all(folder.path().join("store")).unwrap();
    }
}

#[test]
fn a_folder_with_files_of_others_is_not_replaced() {
    let (folder, source) = source(10);
    for engine in ["lmdb", "hybrid"] {
        let to = at(engine, folder.path(), "store");
        integers(&to, 3);
        fs::write(folder.path().join("store/notes.txt"), "mine").unwrap();
        let before = contents(folder.path());
        let (kind, line) = complaint(force(&source, &to));
        assert_eq!(kind, ErrorKind::Exists, "{line}");
        assert!(line.ends_with("it also holds the file notes.txt"), "{line}");
        assert_eq!(contents(folder.path()), before);
        fs::remove_file(folder.path().join("store/notes.txt")).unwrap();
        force(&source, &to).unwrap();
        fs::remove_dir_all(folder.path().join("store")).unwrap();
    }
}

#[test]
fn an_unmerged_log_of_the_old_database_does_not_reach_the_new_one() {
    let (folder, source) = source(10);
    let to = at("sqlite", folder.path(), "db");
    let aside = folder.path().join("aside");
    fs::create_dir(&aside).unwrap();
    integers(&format!("{to}?journal=wal"), 3);
    // A copy of the files while a session has them open is what a killed writer leaves.
    let place = place(&format!("{to}?journal=wal"));
    let options = model::OpenOptions {
        settings: place.settings.clone(),
        access: model::Access::Write,
        keys: model::KeyKind::Integers,
    };
    let store = place.engine.open(&place.path, &options).unwrap();
    store.session().unwrap().put(Key::Int(4), b"in the log", &model::Put::default()).unwrap();
    for name in ["db", "db-wal"] {
        fs::copy(folder.path().join(name), aside.join(name)).unwrap();
    }
    store.close().unwrap();
    let left = at("sqlite", &aside, "db");
    assert!(fs::metadata(aside.join("db-wal")).unwrap().len() > 0);
    force(&source, &left).unwrap();
    assert_equal(&source, &left);
    assert_eq!(entries(&aside), ["db"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_nobody_may_change_is_replaced_by_its_owner() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, source) = source(10);
    let (to, path) = (at("files", folder.path(), "old"), folder.path().join("old"));
    integers(&to, 3);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).unwrap();
    force(&source, &to).unwrap();
    assert_equal(&source, &to);
    assert_eq!(entries(folder.path()), ["old", "source"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o555);
}
