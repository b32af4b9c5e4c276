//! Destinations that are refused, and stay as they are.

use std::fs;

use model::ErrorKind;

use crate::common::*;

#[test]
fn what_exists_is_not_replaced_unasked() {
    let (folder, source) = source(5);
    integers(&at("pack", folder.path(), "other"), 5);
    fs::write(folder.path().join("text"), "mine").unwrap();
    fs::create_dir_all(folder.path().join("folder/sub")).unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (engine, name) in
        [("sqlite", "text"), ("files", "text"), ("files", "folder"), ("sqlite", "empty")]
    {
        let (kind, line) = complaint(copy(&source, &at(engine, folder.path(), name)));
        assert_eq!(kind, ErrorKind::Exists, "{line}");
        // --force would not replace it either, so it is not offered.
        assert!(line.contains(&format!("{name} is not replaced: ")), "{line}");
    }
    let (kind, line) = complaint(copy(&source, &at("pack", folder.path(), "other")));
    assert_eq!(kind, ErrorKind::Exists, "{line}");
    assert!(line.ends_with("other exists; --force replaces it"), "{line}");
    assert_eq!(fs::read(folder.path().join("text")).unwrap(), b"mine");
    assert_eq!(entries(folder.path()), ["empty", "folder", "other", "source", "text"]);
}

#[test]
fn an_empty_folder_may_be_there_already() {
    let folder = tempfile::tempdir().unwrap();
    let [source, copied] = ["pack", "files"].map(|engine| at(engine, folder.path(), engine));
    integers(&source, 5);
    fs::create_dir(folder.path().join("files")).unwrap();
    copy(&source, &copied).unwrap();
    assert_equal(&source, &copied);
}

#[test]
fn a_store_is_not_copied_onto_into_or_over_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = at("files", folder.path(), "top/source");
    fs::create_dir(path("top")).unwrap();
    integers(&source, 5);
    let pack = at("pack", folder.path(), "pack");
    integers(&pack, 5);
    fs::hard_link(path("pack"), path("linked")).unwrap();
    for (from, to, word) in [
        (&source, at("files", folder.path(), "top/source"), "same"),
        (&source, at("files", folder.path(), "top/../top/source"), "same"),
        (&source, at("sqlite", folder.path(), "top/source/db"), "is inside"),
        (&source, at("files", folder.path(), "top"), "contains"),
        (&pack, at("pack", folder.path(), "linked"), "same"),
    ] {
        let (kind, line) = complaint(force(from, &to));
        assert_eq!(kind, ErrorKind::Usage, "{line}");
        assert!(line.contains(word), "{line}");
    }
    assert_eq!(entries(&path("top/source")).len(), 5);
}

#[test]
fn the_parent_must_be_a_folder_that_can_be_written() {
    let (folder, source) = source(5);
    let (kind, line) = complaint(copy(&source, &at("pack", folder.path(), "absent/copy")));
    assert_eq!(kind, ErrorKind::Missing);
    assert!(line.contains("absent: No such file"), "{line}");
    let (kind, line) = complaint(copy(&source, &at("pack", folder.path(), "source/copy")));
    assert_eq!(kind, ErrorKind::Usage);
    assert!(line.contains("source is not a folder"), "{line}");
    // Not even root may write here.
    let (_, line) = complaint(copy(&source, "pack:/proc/copy"));
    assert!(line.starts_with("cannot write to /proc: "), "{line}");
}

#[test]
fn odd_destinations_are_refused() {
    let (folder, source) = source(5);
    let (_, line) = complaint(copy(&source, "memory:x"));
    assert!(line.starts_with("memory keeps nothing"), "{line}");
    let (_, line) = complaint(copy(&source, "files:.."));
    assert!(line.contains("does not end in the name"), "{line}");
    fs::write(folder.path().join("db-journal"), "left").unwrap();
    let (kind, line) = complaint(copy(&source, &at("sqlite", folder.path(), "db")));
    assert_eq!(kind, ErrorKind::Exists);
    assert!(line.contains("db-journal exists without"), "{line}");
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_refused_even_with_force() {
    let (folder, source) = source(5);
    std::os::unix::fs::symlink("elsewhere", folder.path().join("link")).unwrap();
    let (_, line) = complaint(force(&source, &at("pack", folder.path(), "link")));
    assert!(line.contains("symbolic link"), "{line}");
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let (_, line) = complaint(force(&source, &at("pack", folder.path(), "socket")));
    assert!(line.contains("neither a file nor a folder"), "{line}");
    assert_eq!(entries(folder.path()), ["link", "socket", "source"]);
}

#[test]
fn a_source_that_is_absent_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let absent = at("pack", folder.path(), "absent");
    let (kind, line) = complaint(copy(&absent, &at("pack", folder.path(), "copy")));
    assert_eq!(kind, ErrorKind::Missing);
    assert!(line.contains("absent"), "{line}");
    assert!(entries(folder.path()).is_empty());
}
